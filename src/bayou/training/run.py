"""A training run: reads batches, processes them, and writes checkpoints."""

from __future__ import annotations

import os
import stat
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayou.errors import OptionError
from bayou.persist.errors import CheckpointError
from bayou.persist.interrupts import Interrupts
from bayou.streams import Source
from bayou.streams.source import Followed, Remembering
from bayou.training.batches import Pace
from bayou.training.loop import Work, feed

if TYPE_CHECKING:  # a run without checkpoints does not import the code that writes them
    from bayou.persist.checkpoint import Checkpoint, Snapshot

Progress = Callable[[int, float | None], None]

SOURCE = "source."  # before the names of arrays that the source keeps in a checkpoint
SHARE = 50  # checkpoints by the clock take at most one part of so many of the time


@dataclass(frozen=True)
class Every:
    """When to write a checkpoint: after so many rows, after so many seconds, whichever comes first.

    By the clock, checkpoints never take more than a fiftieth of the time: where one takes long (a large model, a slow
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
        """The model, if there is exactly one."""
        (model,) = self.work.models.values()
        return model


class Run:
    """The training in one process: reads batches, processes them, and writes checkpoints when they are due.

    It begins at the first row of the source unless `go_on_from` is called.

    Parameters
    ----------
    work, source
        The task, and the rows it processes.
    checkpoint
        The folder, open for writing; None: no checkpoints are written.
    notes
        JSON values that every checkpoint holds, for resuming.
    limit, every, block, keep_going
        As in `train`.
    before_checkpoint
        Called before a checkpoint is written; when it returns, all output of the steps must have been delivered.
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
        before_checkpoint: Callable[[], None] | None = None,
    ) -> None:
        self._before_checkpoint = before_checkpoint
        self.work, self.source, self.checkpoint = work, source, checkpoint
        self.notes, self.limit, self.every, self.keep_going = dict(notes or {}), limit, every, keep_going
        self.rows, self.written, self._resumed = 0, 0, False
        self._pace = _UpToCheckpoint(self, block)
        self._source_file: tuple[int, ...] | None = None
        self._last = 0, time.monotonic(), 0.0  # rows and time of the last checkpoint, and the seconds it took

    def go_on_from(self, snapshot: Snapshot) -> None:
        """Continue at the position of a checkpoint; the state of the work is restored already."""
        from bayou.persist.checkpoint import check_same_source

        if isinstance(self.source, Followed):
            self.source.recall(snapshot.source)
        check_same_source(snapshot.source, self.source.identity)
        if isinstance(self.source, Remembering):
            source_arrays = {
                k.removeprefix(SOURCE): a for k, a in snapshot.evaluator.items() if k.startswith(SOURCE)
            }
            self.source.seek(snapshot.position, source_arrays)
        else:
            self.source.seek(snapshot.position)
        self.rows, self._resumed = snapshot.rows, True
        self._last = self.rows, time.monotonic(), 0.0

    def to_the_end(self, on_progress: Progress | None = None) -> Trained:
        """Run until the source ends, the limit is reached, or a signal arrives."""
        self._check_target()  # may wait for the first message of a stream, which Ctrl-C ends at once
        with Interrupts() as interrupts:
            self.begin()
            finished = interrupts.caught is None and self._feed(
                on_progress, lambda: interrupts.caught is not None
            )
            self.end(finished)
            return Trained(
                self.work, self.rows, finished, None if finished else interrupts.caught, self.written
            )

    def begin(self) -> None:
        """Declare the columns and write the first checkpoint, unless the run was resumed."""
        self._check_target()
        self._source_file = _fingerprint(self.source)
        if not self._resumed:
            self.work.declare_columns(self.source)
            self._write()

    def some(self, on_progress: Progress | None = None) -> bool:
        """Process one batch; returns whether the source has ended."""
        return self._feed(on_progress, lambda: True)

    def end(self, finished: bool) -> None:
        """Write the last checkpoint."""
        self._write(finished)

    def _feed(self, on_progress: Progress | None, stop: Callable[[], bool]) -> bool:
        before = self.rows

        def after(done: int) -> bool:
            self.rows = before + done
            if on_progress is not None:
                on_progress(self.rows, self._share())
            rows_of_last, time_of_last, seconds_of_last = self._last
            if self.rows > rows_of_last and self.every.due(
                self.rows - rows_of_last, time.monotonic() - time_of_last, seconds_of_last
            ):
                self._write()
            return stop()

        remaining = None if self.limit is None else self.limit - self.rows
        return feed(self.source, self.work.step, rows=remaining, pace=self._pace, after=after)

    def rows_to_checkpoint(self) -> int | None:
        """Rows up to the next checkpoint that is due by their number; None without such checkpoints."""
        if self.every.rows is None or self.checkpoint is None:
            return None
        return self._last[0] + self.every.rows - self.rows

    def _check_target(self) -> None:
        if self.source.target is None:
            raise OptionError("the source has no target to learn", remedy="open it with target=")

    def _share(self) -> float | None:
        """The share of the source, or of the limit, that is done; None if unknown."""
        share = self.source.progress()
        return share if not self.limit else max(share or 0.0, self.rows / self.limit)

    def _write(self, finished: bool = False) -> None:
        """Write a checkpoint; raises SourceChangedError if the file has changed since the run began."""
        if self.checkpoint is None:
            return
        from bayou.persist.checkpoint import Snapshot, SourceChangedError

        if _fingerprint(self.source) != self._source_file:
            raise SourceChangedError(
                f"{self.source.identity.get('path')} changed while it was read; the last checkpoint was made before "
                "that was noticed: train on a copy that nobody writes to"
            )
        begin = time.monotonic()
        if self._before_checkpoint is not None:
            self._before_checkpoint()
        snapshot = Snapshot(
            self.work.models,
            self.rows,
            self.source.identity,
            self.source.position(),
            {**self.work.arrays(), **_source_state(self.source)},
            finished,
            self.notes,
        )
        try:
            self.checkpoint.write(snapshot)
            self.written += 1
            if isinstance(self.source, Followed):
                self.source.commit()
        except CheckpointError as problem:
            if not self.keep_going:
                raise
            warnings.warn(f"training goes on without a checkpoint: {problem}", stacklevel=3)
        now = time.monotonic()
        self._last = self.rows, now, now - begin


def _source_state(source: Source) -> dict[str, Any]:
    """The arrays of a source for a checkpoint, besides its position."""
    if not isinstance(source, Remembering):
        return {}
    return {f"{SOURCE}{name}": array for name, array in source.arrays().items()}


class _UpToCheckpoint(Pace):
    """Sizes of batches that end where a checkpoint is due by its number of rows."""

    def __init__(self, run: Run, block: int | None) -> None:
        super().__init__(block)
        self._run = run

    def next(self) -> int:
        size, remaining = super().next(), self._run.rows_to_checkpoint()
        return size if remaining is None else min(size, remaining)


def _fingerprint(source: Source) -> tuple[int, ...] | None:
    """Inode, size and time of the source's file, to detect changes; None for a source that is not a file."""
    path = source.identity.get("path")
    if not isinstance(path, str) or path == "-":
        return None
    try:
        status = os.stat(path)
    except OSError:
        return (0,)
    return (status.st_ino, status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None
