"""`bayou evaluate`: test-then-train on a stream, models side by side."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from bayou.cli import options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import (
    INTERRUPTED,
    UsageError,
    guarded,
    is_terminal,
    note,
    out,
    out_json,
    out_table,
    prose,
)
from bayou.cli.files import check_writable, shown_path
from bayou.cli.followed import tell_choice
from bayou.cli.jobs import (
    Done,
    Job,
    carry_out,
    check_some_rows,
    checkpoints,
    how_often,
    join_summary,
    tell_join,
    tell_rejects,
    tell_unlabelled,
    warn_of_numbers,
)
from bayou.cli.meter import time_text
from bayou.cli.report import write_page
from bayou.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayou.cli.sending import Sending
    from bayou.evaluate.evaluation import Evaluation
    from bayou.evaluate.prequential import Prequential
    from bayou.persist.checkpoint import Snapshot
    from bayou.streams.source import Source


@guarded
def evaluate(
    file: options.File,
    model: options.ModelList = [],
    target: options.Target = None,
    rows: options.RowCount = None,
    window: Annotated[
        int, typer.Option(min=1, metavar="N", help="Rows in the window of windowed metrics.")
    ] = 1000,
    nominal: options.Nominal = [],
    numeric: options.Numeric = [],
    text: options.Text = [],
    date: options.Date = [],
    ignore: options.Ignore = [],
    policy: options.Policy = "strict",
    dead_letters: options.DeadLetters = None,
    format: options.Format = None,
    confusion: Annotated[bool, typer.Option("--confusion", help="Show confusion matrices.")] = False,
    curve: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write the learning curves as CSV (-: to standard output, in place of the table).",
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write an HTML report: scores, curves, what the models learned."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Send every prediction (made before its row is learned) to kafka:// nats:// redis:// or a .jsonl "
            "file, with the place of its row. Delivery is at least once: after a crash some are sent again, with the "
            "same place.",
        ),
    ] = None,
    checkpoint: options.Checkpoint = None,
    every: options.Every = "30s",
    labels: options.Labels = None,
    label_topic: options.LabelTopic = None,
    join: options.JoinKey = None,
    within: options.Within = None,
    time: options.TimeColumn = None,
    waiting: options.Waiting = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Test-then-train: predict every row, then learn it; with no-change and majority class as baselines.

    From a broker or a growing file, labels may arrive later than their records, in a separate log (--labels, --join,
    --within): a record is predicted when it arrives, and scored and learned when its label does.
    """
    from bayou.cli import specs

    if json and curve == "-":
        raise UsageError("--json and --curve - both go to standard output", remedy="write one to a file")
    chosen = specs.models(model or [specs.UNNAMED])
    when = how_often(every)
    for path in (curve, report):
        if path not in (None, "-"):
            check_writable(path, file)
    announce_compiling(quiet)
    stream = options.stream(file, target, nominal, numeric, text, date, ignore, policy, dead_letters, format)
    if later := options.join(labels, label_topic, join, within, time, waiting):
        stream |= {**later, "at_arrival": True}
    results = {
        "curve": _absolute(curve),
        "report": _absolute(report),
        "confusion": confusion,
        "named": bool(model),
        "out": out if out is None or "://" in out else os.path.abspath(out),
    }
    job = Job.of_command("evaluate", stream, rows, {"model": list(chosen), "window": window}, results)
    with checkpoints(checkpoint) as (place, snapshot):
        if snapshot is not None and checkpoint is not None:
            job.check_same(Job.of(snapshot), checkpoint)
            work = restored_evaluation(snapshot, job)
        else:
            work = _protocol(job)(chosen, window=window)
        work.pipelined = True
        done = carry_out(job, work, place, snapshot, when, quiet, work.accuracy, sender(job, work))
        finish(done, job, checkpoint, json, quiet)


def restored_evaluation(snapshot: Snapshot, job: Job) -> Prequential:
    """The evaluation as it was when a checkpoint was written."""
    from bayou.training import restored

    window = job.settings.get("window")
    if type(window) is not int or window < 1:
        raise DataError("the checkpoint does not tell its window", remedy="start again in an empty folder")
    return cast("Prequential", restored(_protocol(job)(snapshot.models, window=window), snapshot))


def _protocol(job: Job) -> type[Prequential]:
    """The class that evaluates the job: labels come with their rows, or later."""
    if job.stream.get("at_arrival"):
        from bayou.evaluate.delayed import Delayed

        return Delayed
    from bayou.evaluate.prequential import Prequential

    return Prequential


def finish(done: Done, job: Job, folder: str | None, json: bool, quiet: bool) -> None:
    """Print the table and write the files that the options name; a run that was stopped gives its results so far."""
    from bayou.streams.brokers.address import is_endless

    work = cast("Prequential", done.work)
    evaluation = work.evaluation(sum(done.rejects.values()))
    labels = next(iter(evaluation.results.values())).labels
    check_some_rows(done, job, labels)
    if json:
        summary = {"file": job.title, "target": done.target, "rejects": dict(done.rejects)}
        summary |= join_summary(done.join)
        out_json({**summary, **_without_curves(evaluation.to_dict())})
    elif job.results.get("curve") != "-":
        show(evaluation, done.about, bool(job.results.get("confusion")), quiet)
        if not quiet and evaluation.rows:
            tell_choice(work.models, bool(job.results.get("named", True)), prose)
    tell_rejects(done.rejects)
    tell_join(done.join)
    if done.join is None and not quiet:
        tell_unlabelled(evaluation.rows, next(iter(evaluation.results.values())).scores.weight)
    warn_of_numbers(labels, done.target)
    curve, page = job.results.get("curve"), job.results.get("report")
    if curve is not None:
        _write_curves(evaluation, curve)
    if page is not None:
        write_page(page, evaluation, work.models, done.about, done.target, done.rejects)
        if not quiet:
            note(f"report written to {shown_path(page)}")
    if done.stopped:
        if is_endless(str(job.stream["path"])):  # being stopped is how it ends
            note(
                f"stopped after {evaluation.rows:,} rows"
                + (f"; `bayou resume {folder}` goes on" if folder else "")
            )
            return
        rest = f"; `bayou resume {folder}` goes on" if folder else ""
        note(f"interrupted after {evaluation.rows:,} rows; the numbers are those so far{rest}")
        raise typer.Exit(INTERRUPTED)


def sender(job: Job, work: Prequential) -> Callable[[Source], Sending] | None:
    """A function that makes the sender of predictions from the stream; None without --out."""
    where = job.results.get("out")
    if where is None:
        return None
    from bayou.cli.sending import Sending

    return lambda stream: Sending(str(where), stream, work)


def _absolute(path: str | None) -> str | None:
    return path if path in (None, "-") else os.path.abspath(path)


def show(evaluation: Evaluation, about: str, confusion: bool = False, quiet: bool = False) -> None:
    """Print the table, and remarks on it."""
    prose(f"{about}, {evaluation.protocol}, {time_text(evaluation.seconds)}")
    out()
    width = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None
    out_table(evaluation.table(width))
    if confusion:
        for name, result in evaluation.results.items():
            if not result.baseline:
                out(f"\n{name}")
                out(result.confusion_text())
    if quiet or not evaluation.rows:
        return
    out()
    prose(
        "In percent, but for the log-loss. kappa-T: errors of no-change avoided; kappa-M: of the majority class."
    )
    accuracies = [result.accuracy for result in evaluation.results.values() if not result.baseline]
    for name, result in evaluation.results.items():
        if result.baseline and accuracies and result.accuracy >= max(accuracies):
            prose(f"No model beats {name} here{': labels come in runs' if name == 'no-change' else ''}.")


def _without_curves(data: dict[str, Any]) -> dict[str, Any]:
    for model in data["models"]:
        del model["curve"]
    return data


def _write_curves(evaluation: Evaluation, path: str) -> None:
    import csv

    records = [
        {"model": name, **r} for name, result in evaluation.results.items() for r in result.curve.records()
    ]
    file = sys.stdout if path == "-" else open(path, "w", newline="", encoding="utf-8")
    try:
        writer = csv.DictWriter(file, list(records[0]) if records else ["model", "rows"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    finally:
        if path != "-":
            file.close()
