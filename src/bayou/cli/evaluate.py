"""`bayou evaluate`: test-then-train on a stream, models side by side."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import INTERRUPTED, guarded, is_terminal, note, out, out_json, out_table, prose
from bayou.cli.files import check_writable
from bayou.cli.meter import Meter, time_text
from bayou.cli.report import Drifts, write_page

if TYPE_CHECKING:
    from bayou.evaluate.evaluation import Evaluation
    from bayou.streams.source import Source


@guarded
def evaluate(
    file: options.File,
    model: options.ModelList = ["nb"],  # noqa: B006
    target: options.Target = None,
    rows: options.RowCount = None,
    window: Annotated[int, typer.Option(min=1, metavar="N", help="Rows of the windowed metrics.")] = 1000,
    nominal: options.Nominal = [],  # noqa: B006
    numeric: options.Numeric = [],  # noqa: B006
    text: options.Text = [],  # noqa: B006
    ignore: options.Ignore = [],  # noqa: B006
    policy: options.Policy = "strict",
    dead_letters: options.DeadLetters = None,
    format: options.Format = None,
    confusion: Annotated[bool, typer.Option("--confusion", help="Show confusion matrices.")] = False,
    curve: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the learning curves as CSV (- for standard output)."),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write a page with pictures (HTML): scores, curves, what models learned."
        ),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Test-then-train: predict every row, then learn it. No-change and majority class always run along."""
    from bayou.cli import specs

    chosen = specs.models(model)
    if report is not None:
        check_writable(report)
    announce_compiling(quiet)
    drifts = Drifts(chosen)
    with options.opened(file, target, nominal, numeric, text, ignore, policy, dead_letters, format) as stream:
        found, stopped = run(chosen, stream, rows, window, Meter("evaluate", quiet), drifts)
        about = options.described(file, stream, found.rows)
        rejects = dict(stream.rejects.counts)
    if json:
        out_json(
            {"file": file, "target": stream.target, "rejects": rejects, **_without_curves(found.to_dict())}
        )
    else:
        show(found, about, confusion, quiet)
    for reason, times in rejects.items():
        note(f"rejected: {times:,} x {reason}")
    if curve is not None:
        _write_curves(found, curve)
    if report is not None:
        write_page(report, found, chosen, about, stream.target, rejects, drifts.rows)
        if not quiet:
            note(f"report written to {report}")
    if stopped:
        note(f"interrupted after {found.rows:,} rows; the numbers are those so far")
        raise typer.Exit(INTERRUPTED)


def run(
    models: dict[str, Any],
    stream: Source,
    rows: int | None,
    window: int,
    meter: Meter,
    drifts: Drifts | None = None,
) -> tuple[Evaluation, bool]:
    """The evaluation, and whether somebody stopped it; what was found until then counts."""
    from bayou.evaluate.batches import batches
    from bayou.evaluate.prequential import Prequential, rejected
    from bayou.persist.interrupts import Interrupts

    work = Prequential(models, window=window)
    work.tell(stream)
    with Interrupts() as interrupts:
        for batch in batches(stream, None, rows):
            work.step(batch)
            if drifts is not None:
                drifts.look(work.rows)
            now = work.progress(stream)
            share = max(now.share or 0.0, now.rows / rows) if rows else now.share
            meter.update(now.rows, share, now.accuracy, now.rejected)
            if interrupts.caught:
                break
    meter.clear()
    return work.evaluation(rejected(stream)), interrupts.caught is not None


def show(found: Evaluation, about: str, confusion: bool = False, quiet: bool = False) -> None:
    """The table, and what to make of it."""
    prose(f"{about}, {found.protocol}, {time_text(found.seconds)}")
    out()
    width = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None
    out_table(found.table(width))
    if confusion:
        for name, result in found.results.items():
            if not result.baseline:
                out(f"\n{name}")
                out(result.confusion_text())
    if quiet or not found.rows:
        return
    out()
    prose(
        "In percent, but for the log-loss. kappa-T: errors of no-change avoided; kappa-M: of the majority class."
    )
    own = [result.accuracy for result in found.results.values() if not result.baseline]
    for name, result in found.results.items():
        if result.baseline and own and result.accuracy >= max(own):
            prose(f"No model beats {name} here{': labels come in runs' if name == 'no-change' else ''}.")


def _without_curves(data: dict[str, Any]) -> dict[str, Any]:
    for model in data["models"]:
        del model["curve"]
    return data


def _write_curves(found: Evaluation, path: str) -> None:
    import csv

    records = [{"model": name, **r} for name, result in found.results.items() for r in result.curve.records()]
    file = sys.stdout if path == "-" else open(path, "w", newline="", encoding="utf-8")
    try:
        writer = csv.DictWriter(file, list(records[0]) if records else ["model", "rows"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    finally:
        if path != "-":
            file.close()
