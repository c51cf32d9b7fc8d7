"""`bayou learn`: one pass over a stream, into a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import INTERRUPTED, UsageError, guarded, note, out_json
from bayou.cli.meter import Meter, time_text

if TYPE_CHECKING:
    from bayou.cli.checkpoints import Checkpoints
    from bayou.streams.source import Source


@guarded
def learn(
    file: options.File,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="Where the model goes (.bayou).")],
    model: options.OneModel = "nb",
    target: options.Target = None,
    rows: options.RowCount = None,
    nominal: options.Nominal = [],  # noqa: B006
    numeric: options.Numeric = [],  # noqa: B006
    text: options.Text = [],  # noqa: B006
    ignore: options.Ignore = [],  # noqa: B006
    policy: options.Policy = "strict",
    dead_letters: options.DeadLetters = None,
    format: options.Format = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Save the state now and then; the same command goes on from there."
        ),
    ] = None,
    every: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Seconds between two checkpoints.")
    ] = 30.0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn a model from a stream and save it. Ctrl-C saves what is learned so far."""
    from bayou.cli import specs
    from bayou.cli.checkpoints import Checkpoints
    from bayou.cli.files import check_writable, save_model

    (learner,) = _only_one(specs.models([model]))
    check_writable(out)
    announce_compiling(quiet)
    meter = Meter("learn", quiet)
    with (
        options.opened(file, target, nominal, numeric, text, ignore, policy, dead_letters, format) as stream,
        Checkpoints(checkpoint, every, quiet) as saved,
    ):
        learner, before = saved.resumed(learner, stream)
        done, stopped = _learned(learner, stream, rows, meter, saved, before)
        rejects = dict(stream.rejects.counts)
        about = options.described(file, stream, done)
    learner.refresh()
    save_model(learner, out)
    rate = (done - before) / meter.seconds
    if json:
        out_json(
            {"model": repr(learner), "out": out, "rows": done, "rejects": rejects, "rows_per_second": rate}
        )
    elif not quiet:
        note(
            f"{about}, {time_text(meter.seconds)}; {learner!r} saved as {out} ({learner.memory_bytes:,} bytes of state)"
        )
    for reason, times in rejects.items():
        note(f"rejected: {times:,} x {reason}")
    if stopped:
        note(f"interrupted after {done:,} rows; what was learned until then is in {out}")
        raise typer.Exit(INTERRUPTED)


def _only_one(models: dict[str, Any]) -> tuple[Any]:
    if len(models) > 1:
        raise UsageError(f"learn takes one model, not {', '.join(models)}; evaluate and compare take several")
    return (next(iter(models.values())),)


def _learned(
    model: Any, stream: Source, rows: int | None, meter: Meter, saved: Checkpoints, done: int
) -> tuple[int, bool]:
    from bayou.evaluate.batches import batches
    from bayou.evaluate.contest import told
    from bayou.evaluate.prequential import rejected
    from bayou.persist.interrupts import Interrupts

    told(model, stream)
    with Interrupts() as interrupts:
        for batch in batches(stream, None, None if rows is None else max(0, rows - done)):
            model.learn_batch(batch.rows, batch.labels)
            done += batch.size
            share = stream.progress()
            meter.update(done, max(share or 0.0, done / rows) if rows else share, None, rejected(stream))
            saved.write(model, done, stream, now=interrupts.caught is not None)
            if interrupts.caught:
                break
        else:
            saved.write(model, done, stream, finished=True)
    meter.clear()
    return done, interrupts.caught is not None
