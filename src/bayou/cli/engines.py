"""`bayou learn` on more than one core: `--jobs` processes, or a Spark cluster."""

from __future__ import annotations

import glob
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayou.cli.console import UsageError, as_options, warn
from bayou.cli.meter import Meter
from bayou.lazy import Absent

if TYPE_CHECKING:
    from bayou.backends.pool import Learned
    from bayou.cli.jobs import Done, Job
    from bayou.training import Every

EngineName = Literal["local", "spark"]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", min=0, metavar="N", help="Processes to learn with; 0: one per core.")
]
Engine = Annotated[EngineName, typer.Option(help="Where to learn; spark also reads tables by name.")]
Master = Annotated[
    str | None, typer.Option(metavar="URL", help="Spark's master, such as local[2] or spark://host:7077.")
]


def is_several(path: str) -> bool:
    """Whether a path stands for several files: a folder, or a pattern.

    >>> is_several("day-*.csv"), is_several("day.csv")
    (True, False)
    """
    from bayou.streams.brokers.address import is_address

    if is_address(path):
        return False
    return os.path.isdir(path) or (glob.has_magic(path) and not os.path.exists(path))


def learned_apart(
    job: Job,
    paths: Sequence[str],
    learner: Any,
    jobs: int,
    engine: EngineName,
    master: str | None,
    folder: str | None,
    quiet: bool,
) -> Done:
    """Learn the files in shards, one model each, and merge the models."""
    from bayou.cli.jobs import Done
    from bayou.streams.brokers.address import is_address
    from bayou.training import Learning

    refused = {"--rows": job.limit, "--checkpoint": folder, "--dead-letters": job.stream["dead_letters"]}
    for option, value in refused.items():
        if value is not None:
            raise UsageError(
                f"{option} does not go with several files, --jobs or --engine; learn one file in one process with it"
            )
    if any(is_address(path) for path in paths):
        raise UsageError("a stream of messages is learned alone, in one process; two of them can be merged")
    if "-" in paths:
        raise UsageError("standard input cannot be read in shards; store it in a file, or learn it alone")
    files = paths[0] if len(paths) == 1 else paths
    stream = {name: value for name, value in job.stream.items() if name not in ("path", "dead_letters")}
    meter = Meter("learn", quiet)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if engine == "spark":
            trained = _on_spark(paths, learner, stream, master, meter)
        else:
            from bayou.backends.pool import learn_files

            trained = learn_files(files, learner, stream, jobs or None, None, meter.update)
    meter.clear()
    for message in dict.fromkeys(str(warning.message) for warning in caught):  # every shard says it
        warn(as_options(message))
    shards = f" in {trained.shards:,} shard{'s' * (trained.shards > 1)}" if trained.shards else ""
    lost = f", {trained.deaths} worker processes died on the way" if trained.deaths else ""
    title = job.title if len(paths) == 1 else f"{job.title} and {len(paths) - 1} more"
    about = f"{title}: {trained.rows:,} rows{shards}{lost}"
    return Done(
        Learning(trained.model),
        trained.rows,
        0,
        meter.seconds,
        False,
        about,
        stream["target"],
        trained.rejects,
    )


def learned_in_group(job: Job, learner: Any, folder: str | None, when: Every, quiet: bool) -> Done:
    """Learn the partitions that a consumer group deals to this process; the model is that of the whole group."""
    from bayou.backends.group import learn_group
    from bayou.cli.jobs import Done, Job
    from bayou.training import Learning

    if folder is None:
        raise UsageError(
            "balance=yes needs --checkpoint FOLDER, one folder that all learners of the group share"
        )
    if job.limit is not None:
        raise UsageError("--rows does not go with balance=yes; a group ends with until=end")
    meter = Meter("learn", quiet)
    trained = learn_group(
        learner, job.stream, folder, notes=job.notes(), every=when, on_progress=meter.update,
        check=lambda start: job.check_same(Job.of(start), folder),
    )  # fmt: skip
    meter.clear()
    about = f"{job.title}: {trained.rows:,} rows of all partitions"
    stopped, target = not trained.finished, job.stream["target"]
    return Done(
        Learning(trained.model), trained.rows, 0, meter.seconds, stopped, about, target, trained.rejects
    )


def _on_spark(
    paths: Sequence[str], learner: Any, stream: Mapping[str, Any], master: str | None, meter: Meter
) -> Learned:
    # Spark needs them
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, Absent)]
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise UsageError("--engine spark needs pyspark: pip install 'bayou[spark]', and Java 17") from None
    from bayou.backends.fold import check_law
    from bayou.backends.spark.fitting import FAN_IN, learn_files, learned

    with _in_one_sentence():
        spark = _session(SparkSession.builder, master)
        meter.update(0)
        try:
            if len(paths) > 1 or is_several(paths[0]) or os.path.exists(paths[0]):
                return learn_files(spark, paths, learner, stream)
            check_law(learner, ordered=False)
            if not spark.catalog.tableExists(paths[0]):
                raise UsageError(f"{paths[0]} is neither a file nor a table that Spark knows")
            return learned(spark.table(paths[0]), learner, stream, FAN_IN)
        finally:
            spark.stop()


def _session(builder: Any, master: str | None) -> Any:
    """A session whose Python workers run this Python, without the current folder on their path."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ["PYTHONSAFEPATH"] = "1"  # of workers on this machine; a cluster's are told by the session
    builder = builder.appName("bayou learn").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.executorEnv.PYTHONSAFEPATH", "1")
    return (builder.master(master) if master else builder).getOrCreate()


@contextmanager
def _in_one_sentence() -> Iterator[None]:
    """Reduce errors of Spark, which fill a screen, to one sentence; BAYOU_DEBUG=1 shows them whole."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from bayou.backends.spark.trouble import SparkError, explained

    try:
        with explained():
            yield
    except (PySparkException, Py4JError) as error:
        if os.environ.get("BAYOU_DEBUG"):
            raise
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        causes = [line for line in lines if line.startswith(": ")] or lines[:1] or [type(error).__name__]
        raise SparkError(f"Spark says: {causes[0].removeprefix(': ')[:500]}") from None
