"""`bayou learn`: one pass over a stream, into a model file."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import INTERRUPTED, UsageError, guarded, note, out_json
from bayou.cli.engines import Engine, Jobs, Master, is_several, learned_apart, learned_in_group
from bayou.cli.files import shown_path
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
    warn_of_numbers,
)
from bayou.cli.meter import time_text


@guarded
def learn(
    files: options.Files,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="File to write the model to (.bayou).")
    ],
    model: options.OneModel = None,
    target: options.Target = None,
    rows: options.RowCount = None,
    nominal: options.Nominal = [],
    numeric: options.Numeric = [],
    text: options.Text = [],
    date: options.Date = [],
    ignore: options.Ignore = [],
    policy: options.Policy = "strict",
    dead_letters: options.DeadLetters = None,
    format: options.Format = None,
    checkpoint: options.Checkpoint = None,
    every: options.Every = "30s",
    labels: options.Labels = None,
    label_topic: options.LabelTopic = None,
    join: options.JoinKey = None,
    within: options.Within = None,
    time: options.TimeColumn = None,
    waiting: options.Waiting = None,
    jobs: Jobs = 1,
    engine: Engine = "local",
    master: Master = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn a model from a stream and save it. Ctrl-C saves what has been learned so far.

    The files of a list, a folder or a pattern are learned one by one, in --jobs processes, and merged. From a broker or
    a growing file, labels may arrive later than their records, in a separate log (--labels, --join, --within): a record
    is learned when its label arrives.
    """
    from bayou.cli import specs
    from bayou.cli.files import check_writable
    from bayou.streams.brokers.address import is_balanced
    from bayou.streams.opening import MAIL
    from bayou.training import Learning

    several = len(files) > 1 or (any(map(is_several, files)) and format not in MAIL)
    apart, balanced = several or jobs != 1 or engine != "local", is_balanced(files[0])
    named = model is not None
    model = model or (specs.MERGED if apart or balanced else specs.UNNAMED)
    learner = _only_one(specs.models([model]))
    when = how_often(every)
    check_writable(out, *files)
    announce_compiling(quiet)
    stream = options.stream(
        files[0], target, nominal, numeric, text, date, ignore, policy, dead_letters, format
    )
    later = options.join(labels, label_topic, join, within, time, waiting)
    if later and (apart or balanced):
        raise UsageError(
            "records and their labels are joined by one process",
            remedy="one log, without --jobs and balance=",
        )
    stream |= later
    results = {"out": os.path.abspath(out), "named": named}
    job = Job.of_command("learn", stream, rows, {"model": model}, results)
    if apart:
        done = learned_apart(job, files, learner, jobs, engine, master, checkpoint, quiet)
        return finish(done, job, None, json, quiet)
    if balanced:
        return finish(learned_in_group(job, learner, checkpoint, when, quiet), job, None, json, quiet)
    with checkpoints(checkpoint) as (place, snapshot):
        if snapshot is not None and checkpoint is not None:
            job.check_same(Job.of(snapshot), checkpoint)
            learner = snapshot.model
        finish(carry_out(job, Learning(learner), place, snapshot, when, quiet), job, checkpoint, json, quiet)


def finish(done: Done, job: Job, folder: str | None, json: bool, quiet: bool) -> None:
    """Save the model and print a summary; a stopped run with checkpoints prints how to continue it instead."""
    from bayou.cli.files import save_model
    from bayou.decisions import tell_unknown
    from bayou.streams.brokers.address import is_endless

    (learner,) = done.work.models.values()
    out = str(job.results["out"])
    shown = shown_path(out)
    labels = learner.labels() if learner.started else []
    check_some_rows(done, job, labels)
    warn_of_numbers(labels, done.target)
    tell_unknown(getattr(learner, "decision", None), labels)
    followed = is_endless(str(job.stream["path"]))
    if not done.stopped or folder is None or followed:
        learner.refresh()
        save_model(learner, out)
        summary = {"model": repr(learner), "out": out, "rows": done.rows, "rejects": done.rejects}
        summary |= join_summary(done.join)
        if json:
            rate = (done.rows - done.before) / done.seconds if done.seconds > 0 else 0.0
            out_json({**summary, "rows_per_second": rate})
        elif not quiet:
            note(
                f"{done.about}, {time_text(done.seconds)}; {learner!r} saved as {shown} "
                f"({learner.memory_bytes:,} bytes of state)"
            )
            tell_choice({str(job.settings["model"]): learner}, bool(job.results.get("named", True)), note)
    tell_rejects(done.rejects)
    tell_join(done.join)
    if done.stopped:
        if followed:  # being stopped is how it ends
            note(
                f"stopped after {done.rows:,} rows" + (f"; `bayou resume {folder}` goes on" if folder else "")
            )
            return
        rest = f"what was learned until then is in {shown}"
        note(
            f"interrupted after {done.rows:,} rows; "
            + (f"`bayou resume {folder}` goes on" if folder else rest)
        )
        raise typer.Exit(INTERRUPTED)


def _only_one(models: dict[str, Any]) -> Any:
    if len(models) > 1:
        raise UsageError(f"learn takes one model, not {', '.join(models)}; evaluate and compare take several")
    return next(iter(models.values()))
