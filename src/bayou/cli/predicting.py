"""`bayou predict` from a log to a topic: without end, from where it was left, at least once."""

from __future__ import annotations

import time
from typing import Any

from bayou.cli import options
from bayou.cli.console import note
from bayou.cli.jobs import checkpoints, how_often, tell_rejects
from bayou.cli.matching import compare_columns, matching, offered
from bayou.cli.meter import Meter, time_text
from bayou.cli.sending import messages, placed
from bayou.errors import DataError

BLOCK = 1_000


def predict_log(
    model: Any,
    name: str,
    file: str,
    out: str,
    *,
    target: str | None,
    rows: int | None,
    policy: options.PolicyName,
    format: str | None,
    folder: str | None,
    every: str,
    quiet: bool,
) -> None:
    """Send the predictions for all rows of a log to a topic, with the place of each row.

    What was sent has arrived before a checkpoint counts it as done; what was sent after the last checkpoint is sent
    again by whoever goes on from it.
    """
    from bayou.persist.checkpoint import Snapshot, check_same_source
    from bayou.persist.interrupts import Interrupts
    from bayou.streams.brokers.outlets import open_outlet
    from bayou.streams.source import Followed

    when, meter, done = how_often(every), Meter("predict", quiet), 0
    with (
        checkpoints(folder) as (place, snapshot),
        matching(model, file, target or "", policy, format) as stream,
        open_outlet(out) as outlet,
        Interrupts() as interrupts,
    ):
        log: Any = stream
        shown = placed(stream)
        if snapshot is not None:
            if snapshot.notes.get("command") != "predict":
                raise DataError(
                    f"{folder} holds a checkpoint of another command", remedy="give another folder"
                )
            if isinstance(stream, Followed):
                stream.recall(snapshot.source)
            check_same_source(snapshot.source, stream.identity)
            stream.seek(snapshot.position)
            done = snapshot.rows
        compare_columns(model, offered(stream), file, quiet)
        begin, saved, last = done, done, time.monotonic()

        def save(finished: bool = False) -> None:
            outlet.flush()
            if place is not None:
                notes = {"command": "predict", "out": out}
                place.write(
                    Snapshot({name: model}, done, stream.identity, stream.position(), {}, finished, notes)
                )

        while interrupts.caught is None and (rows is None or done < rows):
            got = stream.read(BLOCK if rows is None else min(BLOCK, rows - done))
            if got is None:
                break
            if len(got):
                proba = model.proba(model.encode(got))
                outlet.send(messages(shown, log.places(), name, model, proba))
                outlet.flush()  # predictions do not wait for the next checkpoint
                done += len(got)
                meter.update(done, stream.progress(), None)
            if done > saved and when.due(done - saved, time.monotonic() - last):
                save()
                saved, last = done, time.monotonic()
        save(interrupts.caught is None)
        rejects = dict(stream.rejects.counts)
    meter.clear()
    if not quiet:
        note(f"{done - begin:,} rows scored to {options.title(out)}, {time_text(meter.seconds)}")
        if interrupts.caught is not None and folder:
            note(f"stopped after {done:,} rows; the same command goes on")
    tell_rejects(rejects)
