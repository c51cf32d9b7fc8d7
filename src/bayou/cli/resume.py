"""`bayou resume`: go on from a checkpoint."""

from __future__ import annotations

from typing import Annotated

import typer

from bayou.cli import evaluate, learn, options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import guarded
from bayou.cli.jobs import Job, carry_out, checkpoints, how_often
from bayou.errors import DataError


@guarded
def resume(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="The folder given as --checkpoint.")],
    every: options.Every = "30s",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Continue a learn or evaluate that was stopped or killed; the result is that of a run never interrupted.

    The folder holds the name of the file, the model and all options. It also says where the result is written, so
    resume only what you have started yourself.
    """
    from bayou.streams.brokers.address import is_balanced
    from bayou.training import Learning

    when = how_often(every)
    announce_compiling(quiet)
    with checkpoints(folder, new=False) as (place, snapshot):
        if snapshot is None:
            raise DataError(f"{folder} holds no checkpoint", remedy="give the folder that --checkpoint had")
        job = Job.of(snapshot)
        if is_balanced(job.stream["path"]):
            raise DataError(
                f"{folder} belongs to a group of learners",
                remedy="start any number of them again by the `bayou learn` that began it",
            )
        if job.command == "learn":
            done = carry_out(job, Learning(snapshot.model), place, snapshot, when, quiet)
            learn.finish(done, job, folder, json, quiet)
        else:
            work = evaluate.restored_evaluation(snapshot, job)
            send = evaluate.sender(job, work)
            done = carry_out(job, work, place, snapshot, when, quiet, work.accuracy, send)
            evaluate.finish(done, job, folder, json, quiet)
