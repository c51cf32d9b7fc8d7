"""Training that can be killed at any moment: every row of the source is learned exactly once.

A checkpoint holds the models together with the place in the source, so what was learned after it is learned again
from the same models, and gives the same bits. What a step sends elsewhere (predictions, logs) is not undone: it may
happen again after a crash.
"""

from __future__ import annotations

import os
import stat
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from bayou import files
from bayou.classifiers.model import Model
from bayou.errors import DataError
from bayou.evaluate.batches import Batch, Pace, labels_of
from bayou.evaluate.contest import told
from bayou.persist.checkpoint import Checkpoint, Snapshot, SourceChangedError, check_same_source
from bayou.persist.errors import CheckpointError
from bayou.persist.interrupts import Interrupts
from bayou.protocols import Arrays
from bayou.streams import Source, open_stream

Folder = str | os.PathLike[str]
Progress = Callable[[int, float | None], None]

SHARE = 50  # of the time, one part at most goes into checkpoints by the clock


class Work(Protocol):
    """What is done with the rows of a source, and all that a checkpoint keeps of it: models, and other arrays."""

    @property
    def models(self) -> Mapping[str, Any]: ...

    def tell(self, source: Source) -> object:
        """Take in what the source declares about its columns, before the first row."""

    def step(self, batch: Batch) -> None:
        """Work on the rows, in order."""

    def arrays(self) -> Arrays:
        """The whole state besides the models."""

    def restore(self, arrays: Arrays) -> None:
        """Take a state given by `arrays`, which belongs to the models."""


class Learning:
    """The usual work: a model learns the rows."""

    def __init__(self, model: Any) -> None:
        self.models = {"model": model}

    def tell(self, source: Source) -> None:
        told(self.models["model"], source)

    def step(self, batch: Batch) -> None:
        self.models["model"].learn_batch(batch.rows, batch.labels)

    def arrays(self) -> Arrays:
        return {}

    def restore(self, arrays: Arrays) -> None:
        if arrays:
            raise CheckpointError(
                "this checkpoint belongs to more than learning; resume it with the work it was made by"
            )


@dataclass(frozen=True)
class Every:
    """When to write a checkpoint: after so many rows, after so many seconds, whichever comes first.

    By the clock, checkpoints never take more than a fiftieth of the time: where one is dear (a large model, a slow
    disk), the next comes later.
    """

    rows: int | None = None
    seconds: float | None = None

    def due(self, rows: int, seconds: float, cost: float = 0.0) -> bool:
        """Whether it is time, so many rows and seconds after a checkpoint that took `cost` seconds.

        >>> Every(rows=100).due(100, 0.0), Every(seconds=5.0).due(100, 6.0), Every(seconds=5.0).due(100, 6.0, 0.2)
        (True, True, False)
        """
        if self.rows is not None and rows >= self.rows:
            return True
        return self.seconds is not None and seconds >= max(self.seconds, SHARE * cost)


@dataclass(frozen=True)
class Trained:
    """How training ended: with the source (`finished`), or earlier because of a signal (`stopped_by`)."""

    work: Work
    rows: int
    finished: bool
    stopped_by: str | None = None
    checkpoints: int = 0

    @property
    def model(self) -> Any:
        """The one model there is."""
        (model,) = self.work.models.values()
        return model


def train(
    work: Work | Model,
    source: Source | Mapping[str, Any],
    folder: Folder,
    *,
    rows: int | None = None,
    every: Every = Every(seconds=10.0),  # noqa: B008 - frozen
    block: int | None = None,
    on_progress: Progress | None = None,
    keep_going: bool = False,
) -> Trained:
    """Learn a whole source with checkpoints in an empty folder.

    Parameters
    ----------
    work
        A classifier, usually new; or what else is to be done with the rows, such as `Prequential`.
    source
        An open source, or the arguments of `open_stream` as a mapping (`{"path": ..., "target": ...}`), which are
        kept so that `resume` can open it again.
    folder
        Where the checkpoints go; it must hold none.
    rows
        Stop after so many rows.
    every
        When to write checkpoints.
    block
        Rows that are handled at once; as many as are quick if left out. It changes neither the model nor any file.
    on_progress
        Called with the rows learned and the share of the source done (None if unknown) after every block.
    keep_going
        Warn and go on when a checkpoint cannot be written (a full disk), instead of stopping.

    Ctrl-C and SIGTERM write a checkpoint and leave; the same signal again leaves at once.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayou import NaiveBayes
    >>> home = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (home / "day.csv").write_text("sky,move\\nblue,UP\\ngrey,DOWN\\n")
    >>> done = train(NaiveBayes(), {"path": home / "day.csv", "target": "move"}, home / "ck")
    >>> done.rows, done.finished, resume(home / "ck").rows
    (2, True, 2)
    """
    notes: dict[str, Any] = {"limit": rows}
    if isinstance(source, Mapping):
        notes["stream"] = source = portable(source)
    with Checkpoint(folder, files.kinds()) as checkpoint:
        found = checkpoint.latest()
        if found is not None:
            raise CheckpointError(
                f"{os.fspath(folder)} holds a checkpoint at row {found.rows:,}; resume it, or give an empty folder"
            )
        with _opened(source) as opened:
            run = Run(
                Learning(work) if isinstance(work, Model) else work, opened, checkpoint, notes=notes,
                limit=rows, every=every, block=block, keep_going=keep_going,
            )  # fmt: skip
            return run.to_the_end(on_progress)


def resume(
    folder: Folder,
    source: Source | Mapping[str, Any] | None = None,
    *,
    work: Callable[[Mapping[str, Any]], Work] | None = None,
    every: Every = Every(seconds=10.0),  # noqa: B008 - frozen
    block: int | None = None,
    on_progress: Progress | None = None,
    keep_going: bool = False,
) -> Trained:
    """Go on where the newest checkpoint was written: the result is that of a run never stopped, bit for bit.

    `source` is needed only if the source was not given by the arguments of `open_stream`; `work` only if more was
    done than learning: it makes the work from the models of the checkpoint. A source that has changed is refused.
    """
    with Checkpoint(folder, files.kinds()) as checkpoint:
        found = checkpoint.latest()
        if found is None:
            raise CheckpointError(f"{os.fspath(folder)} holds no checkpoint")
        doing = restored(Learning(found.model) if work is None else work(found.models), found)
        if found.finished:
            return Trained(doing, found.rows, True)
        told = found.notes.get("stream") if source is None else source
        if told is None:
            raise CheckpointError(
                f"{os.fspath(folder)} does not say how its source is opened; give the source"
            )
        with _opened(told) as opened:
            run = Run(
                doing, opened, checkpoint, notes=found.notes, limit=found.notes.get("limit"), every=every,
                block=block, keep_going=keep_going,
            )  # fmt: skip
            run.go_on_from(found)
            return run.to_the_end(on_progress)


def restored(work: Work, found: Snapshot) -> Work:
    """The work with the state of a checkpoint, whose models it has already."""
    try:
        work.restore(found.evaluator)
    except KeyError as missing:
        raise CheckpointError(
            f"this checkpoint lacks {missing}; resume it with the work it was made by"
        ) from missing
    return work


class Run:
    """One process's share of a training: reads, works, and writes checkpoints when they are due.

    It begins with the first row of the source unless it is told to go on from a checkpoint.

    Parameters
    ----------
    work, source
        What is done, and with what.
    checkpoint
        The folder, open for writing; None: nothing is written.
    notes
        JSON values kept in every checkpoint for whoever resumes.
    limit, every, block, keep_going
        As in `train`.
    """

    def __init__(
        self,
        work: Work,
        source: Source,
        checkpoint: Checkpoint | None,
        *,
        notes: Mapping[str, Any] | None = None,
        limit: int | None = None,
        every: Every = Every(seconds=10.0),  # noqa: B008 - frozen
        block: int | None = None,
        keep_going: bool = False,
    ) -> None:
        if source.target is None:
            raise DataError("the source has no target to learn", remedy="open it with target=")
        self.work, self.source, self.checkpoint = work, source, checkpoint
        self.notes, self.limit, self.every, self.keep_going = dict(notes or {}), limit, every, keep_going
        self.rows, self.written, self._gone_on = 0, 0, False
        self._size = Pace(block)
        self._file = _fingerprint(source)
        self._last = 0, time.monotonic(), 0.0  # rows and time of the last checkpoint, and the seconds it took

    def go_on_from(self, found: Snapshot) -> None:
        """From where a checkpoint was written; the work has its state already."""
        check_same_source(found.source, self.source.identity)
        self.source.seek(found.position)
        self.rows, self._gone_on = found.rows, True
        self._last = self.rows, time.monotonic(), 0.0

    def to_the_end(self, on_progress: Progress | None = None) -> Trained:
        """Work until the source ends, the limit is reached, or a signal comes."""
        with Interrupts() as interrupts:
            if not self._gone_on:
                self.work.tell(self.source)
                self._write()  # so that from now on there is something to resume
            while interrupts.caught is None:
                size = self._next()
                part = self.source.read(size) if size > 0 else None
                if part is None:
                    self._write(finished=True)
                    return self._trained(finished=True)
                self.work.step(Batch(part, labels_of(part), self.rows, len(part)))
                self.rows += len(part)
                if on_progress is not None:
                    on_progress(self.rows, self._share())
                rows, then, cost = self._last
                if self.every.due(self.rows - rows, time.monotonic() - then, cost):
                    self._write()
            self._write()
            return self._trained(finished=False, stopped_by=interrupts.caught)

    def _next(self) -> int:
        """How many rows to read: none behind the next checkpoint that is due by rows, none behind the limit."""
        size = self._size.next()
        if self.every.rows is not None and self.checkpoint is not None:
            size = min(size, self._last[0] + self.every.rows - self.rows)
        return size if self.limit is None else min(size, self.limit - self.rows)

    def _share(self) -> float | None:
        share = self.source.progress()
        return share if not self.limit else max(share or 0.0, self.rows / self.limit)

    def _write(self, finished: bool = False) -> None:
        if self.checkpoint is None:
            return
        if _fingerprint(self.source) != self._file:
            raise SourceChangedError(
                f"{self.source.identity.get('path')} changed while it was read; the last checkpoint was made before "
                "that was noticed: train on a copy that nobody writes to"
            )
        begin = time.monotonic()
        snapshot = Snapshot(
            self.work.models,
            self.rows,
            self.source.identity,
            self.source.position(),
            self.work.arrays(),
            finished,
            self.notes,
        )
        try:
            self.checkpoint.write(snapshot)
            self.written += 1
        except CheckpointError as problem:
            if not self.keep_going:
                raise
            warnings.warn(f"training goes on without a checkpoint: {problem}", stacklevel=3)
        now = time.monotonic()
        self._last = self.rows, now, now - begin

    def _trained(self, finished: bool, stopped_by: str | None = None) -> Trained:
        return Trained(self.work, self.rows, finished, stopped_by, self.written)


@contextmanager
def _opened(source: Source | Mapping[str, Any]) -> Iterator[Source]:
    """A source by its arguments, closed afterwards; an open one is left open."""
    if isinstance(source, Mapping):
        with open_stream(**source) as opened:
            yield opened
    else:
        yield source


def portable(options: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `open_stream` as JSON values, with paths that hold in every working folder."""
    out: dict[str, Any] = {}
    for name, value in options.items():
        if name in ("path", "dead_letters") and value is not None:
            text = os.fspath(value)
            out[name] = text if text == "-" else os.path.abspath(text)
        else:
            out[name] = value if value is None or isinstance(value, str) else sorted(value)
    return out


def _fingerprint(source: Source) -> tuple[int, ...] | None:
    """What changes when a file is replaced or written to; None for a source that is no file."""
    path = source.identity.get("path")
    if not isinstance(path, str) or path == "-":
        return None
    try:
        found = os.stat(path)
    except OSError:
        return (0,)
    return (found.st_ino, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None
