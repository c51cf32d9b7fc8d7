"""A run of `learn` or `evaluate`: its options, as checkpoints store them, and the loop that carries it out."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import typer

from bayou.cli import options
from bayou.cli.console import UsageError, note, warn
from bayou.cli.meter import Meter
from bayou.errors import DataError

if TYPE_CHECKING:
    from bayou.cli.sending import Sending
    from bayou.persist.checkpoint import Checkpoint, Snapshot
    from bayou.streams.brokers.join import JoinCounts
    from bayou.streams.source import Source
    from bayou.training import Every, Trained, Work

QUANTITY = 100  # different numbers in a target, beyond which they hardly are classes
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Job:
    """The options of a run.

    `stream` are the arguments of `open_stream`, `title` is its name in messages; `settings` are the options that the
    result depends on, `results` those that say where it goes. All of it JSON values, and paths are absolute.
    """

    command: str
    title: str
    stream: Mapping[str, Any]
    limit: int | None
    settings: Mapping[str, Any]
    results: Mapping[str, Any]

    @staticmethod
    def of_command(
        command: str,
        stream: Mapping[str, Any],
        rows: int | None,
        settings: Mapping[str, Any],
        results: Mapping[str, Any],
    ) -> Job:
        """The job of a command as it was typed."""
        from bayou.training import portable

        return Job(command, options.title(stream["path"]), portable(stream), rows, settings, results)

    def notes(self) -> dict[str, Any]:
        """The job as JSON values, which a checkpoint stores."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @staticmethod
    def of(snapshot: Snapshot) -> Job:
        """The job of a checkpoint."""
        notes = snapshot.notes
        whole = all(isinstance(notes.get(key), dict) for key in ("stream", "settings", "results"))
        if not whole or notes.get("command") not in ("learn", "evaluate"):
            raise DataError(
                "this checkpoint was not made by `bayou learn` or `bayou evaluate`",
                remedy="go on from Python: bayou.training.resume",
            )
        return Job(**{field.name: notes.get(field.name) for field in fields(Job)})  # type: ignore[arg-type] # notes are JSON

    def check_same(self, other: Job, folder: str) -> None:
        """Refuse to continue a folder that belongs to another job; the path of the stream may differ."""
        if self.command != other.command:
            raise UsageError(
                f"{folder} belongs to `bayou {other.command}`; give another folder, or go on with "
                f"`bayou resume {folder}`"
            )
        mine, theirs = (
            {**job.stream, "path": "", "rows": job.limit, **job.settings} for job in (self, other)
        )
        differ = [name for name in mine if mine[name] != theirs.get(name)]
        if differ:
            raise UsageError(
                f"the checkpoint in {folder} was made with {_option(differ[0], theirs)}, not with "
                f"{_option(differ[0], mine)}; give the same options or another folder, or go on with "
                f"`bayou resume {folder}`"
            )


def _option(name: str, values: Mapping[str, Any]) -> str:
    value = values.get(name)
    shown = ",".join(map(str, value)) if isinstance(value, list) else value
    return f"--{name.replace('_', '-')} {shown}" if shown else f"no --{name.replace('_', '-')}"


@dataclass(frozen=True)
class Done:
    """How a job ended; `about` describes the stream in one line, `before` is the number of rows of earlier runs."""

    work: Work
    rows: int
    before: int
    seconds: float
    stopped: bool
    about: str
    target: str | None
    rejects: Mapping[str, int]
    join: JoinCounts | None = None


def how_often(text: str) -> Every:
    """When to write checkpoints: a number of rows, or a time.

    >>> how_often("10_000"), how_often("5s"), how_often("2min")
    (Every(rows=10000, seconds=None), Every(rows=None, seconds=5.0), Every(rows=None, seconds=120.0))
    """
    from bayou.training import Every

    time = re.fullmatch(r"\s*([0-9.]+)\s*(s|min|h)\s*", text)
    try:
        if time is not None and (seconds := float(time[1]) * _UNITS[time[2]]) > 0:
            return Every(seconds=seconds)
        if (rows := options.count(text)) > 0:
            return Every(rows=rows)
    except (ValueError, typer.BadParameter):
        pass
    raise UsageError(f"--every {text}: give a number of rows (10000) or a time (5s, 2min)")


@contextmanager
def checkpoints(folder: str | None, new: bool = True) -> Iterator[tuple[Checkpoint | None, Snapshot | None]]:
    """The folder, open for writing, and the newest checkpoint in it; a note is printed for a damaged one.

    With `new`, a folder that does not exist is created.
    """
    if folder is None or not (new or os.path.isdir(folder)):
        yield None, None
        return
    from bayou.files import kinds
    from bayou.persist.checkpoint import Checkpoint

    with Checkpoint(folder, kinds()) as place:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            snapshot = place.latest()
        for warning in caught:
            note(str(warning.message))
        yield place, snapshot


def carry_out(
    job: Job,
    work: Work,
    place: Checkpoint | None,
    snapshot: Snapshot | None,
    when: Every,
    quiet: bool,
    accuracy: Callable[[], Mapping[str, float]] | None = None,
    send: Callable[[Source], Sending] | None = None,
) -> Done:
    """Run the job from its beginning or from a checkpoint, until its end or a signal.

    `send`, if predictions are sent to a topic or file, makes their sender from the stream.
    """
    from bayou.streams import open_stream
    from bayou.streams.rejects import Rejects
    from bayou.training import Run

    meter = Meter(job.command, quiet)
    before = 0 if snapshot is None else snapshot.rows
    if snapshot is not None and not quiet:
        state = "finished" if snapshot.finished else "going on"
        note(f"{state} after {snapshot.rows:,} rows, from the checkpoint in {place and place.folder}")
    if snapshot is not None and snapshot.finished:
        rejects = Rejects()
        rejects.seek(snapshot.position)
        join = _join_of(job, snapshot)
        rows = snapshot.rows if join is None else join.joined
        about, target = f"{job.title}: {rows:,} rows", job.stream.get("target")
        return Done(work, rows, before, 0.0, False, about, target, rejects.counts, join)
    with open_stream(**job.stream) as stream, nullcontext() if send is None else send(stream) as sending:
        flush = None if sending is None else sending.flush
        run = Run(
            work, stream, place, notes=job.notes(), limit=job.limit, every=when, before_checkpoint=flush
        )
        if snapshot is not None:
            run.go_on_from(snapshot)
            meter.begin(snapshot.rows, stream.progress())
        ended = run.to_the_end(progress_callback(meter, stream, accuracy))
        meter.clear()
        return _done(job, ended, before, stream, meter.seconds)


def progress_callback(
    meter: Meter, stream: Source, accuracy: Callable[[], Mapping[str, float]] | None
) -> Callable[[int, float | None], None]:
    """The callback by which a loop shows its progress."""

    def show(rows: int, share: float | None) -> None:
        rejected = stream.rejects.rows + stream.rejects.cells
        meter.update(rows, share, accuracy, rejected)

    return show


def _done(job: Job, ended: Trained, before: int, stream: Source, seconds: float) -> Done:
    join: JoinCounts | None = getattr(stream, "counts", None)
    rows = ended.rows if join is None else join.joined
    about = options.described(job.title, stream, rows)
    rejects = dict(stream.rejects.counts)
    stopped = not ended.finished
    return Done(ended.work, rows, before, seconds, stopped, about, stream.target, rejects, join)


def _join_of(job: Job, snapshot: Snapshot) -> JoinCounts | None:
    from bayou.streams.brokers.join import JoinCounts

    return JoinCounts.of(snapshot.position) if job.stream.get("join") else None


def check_some_rows(done: Done, job: Job, labels: Sequence[Any]) -> None:
    """Raise an error if there was no row to learn or to predict."""
    if done.stopped or labels:
        return
    left_out = sum(done.rejects.values())
    if done.join is not None:
        what = f"none of {done.join.records:,} records got one of {done.join.labels:,} labels"
        raise DataError(f"{job.title}: {what}", remedy="check --join and --within")
    if done.rows:
        what = f"no row has a label in column {done.target}"
    else:
        what = f"all {left_out:,} rows were rejected" if left_out else "the stream has no rows"
    raise DataError(f"{job.title}: {what}", remedy="check the file")


def tell_unlabelled(rows: int, labelled: float) -> None:
    """Print how many rows had no label, if any."""
    if labelled < rows:
        note(f"{rows - int(labelled):,} of {rows:,} rows have no label: they were neither scored nor learned")


def warn_of_numbers(labels: Sequence[Any], target: str | None) -> None:
    """Warn if the classes are so many numbers that the target seems to be a quantity."""
    numbers = [label for label in labels if isinstance(label, int | float) and not isinstance(label, bool)]
    if len(numbers) > QUANTITY:
        warn(
            f"the target {target} has {len(numbers):,} different numbers, and each was taken as a class of its own; "
            "a quantity has to be cut into a few ranges first"
        )


def join_summary(join: JoinCounts | None) -> dict[str, Any]:
    """The counts of the join of records and labels, for JSON."""
    return {} if join is None else {"join": {**asdict(join), "waiting": join.waiting}}


def tell_join(join: JoinCounts | None) -> None:
    """Print the counts of the join of records and labels, if there was one."""
    if join is None:
        return
    counts = {
        "got no label in time": join.unlabelled,
        "were given up, too many waited (--waiting)": join.crowded_out,
        "wait": join.waiting,
        "repeated a key": join.repeated_records,
    }
    rest = "".join(f"; {n:,} {what}" for what, n in counts.items() if n)
    note(f"records: {join.joined:,} of {join.records:,} got their label{rest}")
    counts = {
        "came before their record": join.early,
        "had no record in time": join.without_record,
        "repeated a key": join.repeated_labels,
    }
    rest = "".join(f"; {n:,} {what}" for what, n in counts.items() if n)
    note(f"labels: {join.joined:,} of {join.labels:,} met their record{rest}")
    if join.behind:
        note(f"{join.behind:,} messages were taken after one with a later time")


def tell_rejects(rejects: Mapping[str, int]) -> None:
    for reason, times in rejects.items():
        note(f"rejected: {times:,} x {reason}")
