"""`bayou learn` on more than one core: `--jobs` processes, or a Spark cluster."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayou.cli.console import UsageError, note
from bayou.cli.meter import Meter

if TYPE_CHECKING:
    from bayou.backends.pool import Learned
    from bayou.cli.jobs import Done, Job

EngineName = Literal["local", "spark"]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", min=0, metavar="N", help="Processes to learn with; 0: one per core.")
]
Engine = Annotated[EngineName, typer.Option(help="Where to learn; spark also reads tables by their name.")]
Master = Annotated[
    str | None, typer.Option(metavar="URL", help="Spark's master, such as local[2] or spark://host:7077.")
]


def learned_apart(
    job: Job, learner: Any, jobs: int, engine: EngineName, master: str | None, folder: str | None, quiet: bool
) -> Done:
    """Learn in shards; FILE may also be a folder or a pattern."""
    from bayou.cli.jobs import Done
    from bayou.training import Learning

    told = {"--rows": job.limit, "--checkpoint": folder, "--dead-letters": job.stream["dead_letters"]}
    for option, value in told.items():
        if value is not None:
            raise UsageError(f"{option} does not go with --jobs or --engine; learn in one process with it")
    if job.stream["path"] == "-":
        raise UsageError("standard input cannot be read in shards; store it in a file, or leave --jobs away")
    stream = {name: value for name, value in job.stream.items() if name not in ("path", "dead_letters")}
    meter = Meter("learn", quiet)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if engine == "spark":
            found = _on_spark(job.stream["path"], learner, stream, master, meter)
        else:
            from bayou.backends.pool import learn_files

            found = learn_files(job.stream["path"], learner, stream, jobs or None, None, meter.update)
    meter.clear()
    for warning in caught:
        note(str(warning.message))
    shards = f" in {found.shards:,} shard{'s' * (found.shards > 1)}" if found.shards else ""
    lost = f", {found.deaths} workers died and were replaced" if found.deaths else ""
    about = f"{job.title}: {found.rows:,} rows{shards}{lost}"
    return Done(
        Learning(found.model), found.rows, 0, meter.seconds, False, about, stream["target"], found.rejects
    )


def _on_spark(
    path: str, learner: Any, stream: Mapping[str, Any], master: str | None, meter: Meter
) -> Learned:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise UsageError("--engine spark needs pyspark: pip install 'bayou[spark]', and Java 17") from None
    import glob

    from bayou.backends.fold import check_law
    from bayou.backends.spark.fitting import FAN_IN, learn_files, learned

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("bayou learn").config("spark.ui.showConsoleProgress", "false")
    spark = (builder.master(master) if master else builder).getOrCreate()
    meter.update(0)
    try:
        if os.path.exists(path) or glob.has_magic(path):
            return learn_files(spark, path, learner, stream)
        check_law(learner, ordered=False)
        name = os.path.basename(path)
        if not spark.catalog.tableExists(name):
            raise UsageError(f"{name} is neither a file nor a table that Spark knows")
        return learned(spark.table(name), learner, stream, FAN_IN)
    finally:
        spark.stop()
