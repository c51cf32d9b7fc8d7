"""Training that can be killed at any moment: every row of the source is learned exactly once.

A checkpoint holds the model together with the place in the source, so what was learned after it is learned again
from the same model, and gives the same bits. What a `step` sends elsewhere (predictions, logs) is not undone: it may
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
from bayou.errors import DataError
from bayou.persist.checkpoint import Checkpoint, Snapshot, SourceChangedError, check_same_source
from bayou.persist.errors import CheckpointError
from bayou.persist.interrupts import Interrupts
from bayou.protocols import Arrays
from bayou.streams import Rows, Source, open_stream

Folder = str | os.PathLike[str]
Step = Callable[[Any, Rows], None]
Progress = Callable[[int, float | None], None]


class Evaluator(Protocol):
    """What a checkpoint asks of an evaluator: its whole state as arrays."""

    def arrays(self) -> Arrays: ...

    def restore(self, arrays: Arrays) -> None: ...


@dataclass(frozen=True)
class Pace:
    """When to write a checkpoint: after so many rows, after so many seconds, whichever comes first.

    `block_rows` rows are learned at a time; it changes neither the model nor any file.
    """

    rows: int | None = None
    seconds: float | None = 10.0
    block_rows: int = 4_096


@dataclass(frozen=True)
class Trained:
    """How training ended: with the source (`finished`), or earlier because of a signal (`stopped_by`)."""

    model: Any
    rows: int
    finished: bool
    stopped_by: str | None
    checkpoints: int
    notes: Mapping[str, Any]


def train(
    model: Any,
    source: Source | Mapping[str, Any],
    folder: Folder,
    *,
    pace: Pace | None = None,
    step: Step | None = None,
    evaluator: Evaluator | None = None,
    notes: Mapping[str, Any] | None = None,
    on_progress: Progress | None = None,
    keep_going: bool = False,
) -> Trained:
    """Learn a whole source with checkpoints in an empty folder.

    Parameters
    ----------
    model
        A classifier, usually new.
    source
        An open source, or the arguments of `open_stream` as a mapping (`{"path": ..., "target": ...}`), which are
        kept so that `resume` can open it again.
    folder
        Where the checkpoints go; it must hold none.
    pace
        When to write checkpoints; every ten seconds by default.
    step
        What to do with the model and some rows; it learns them by default.
    evaluator
        Saved and restored with the model, for a `step` that also evaluates.
    notes
        JSON values kept in every checkpoint for whoever resumes.
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
    with Checkpoint(folder, files.kinds()) as checkpoint:
        found = checkpoint.latest()
        if found is not None:
            raise CheckpointError(
                f"{os.fspath(folder)} holds a checkpoint at row {found.rows:,}; resume it, or give an empty folder"
            )
        kept = dict(notes or {})
        if isinstance(source, Mapping):
            kept["stream"] = _portable(source)
            source = dict(kept["stream"])
        start = Snapshot(model, 0, {}, {}, notes=kept)
        with _opened(source) as opened:
            run = _Run(opened, checkpoint, start, pace or Pace(), step or learn_rows, evaluator, keep_going)
            run.write()  # so that from now on there is something to resume
            return run.to_the_end(on_progress)


def resume(
    folder: Folder,
    source: Source | Mapping[str, Any] | None = None,
    *,
    pace: Pace | None = None,
    step: Step | None = None,
    evaluator: Evaluator | None = None,
    on_progress: Progress | None = None,
    keep_going: bool = False,
) -> Trained:
    """Go on where the newest checkpoint was written: the result is that of a run never stopped, bit for bit.

    `source` is needed only if the source was not given by the arguments of `open_stream`; `step` and `evaluator`
    must be those of the first run. A source that has changed is refused.
    """
    with Checkpoint(folder, files.kinds()) as checkpoint:
        found = checkpoint.latest()
        if found is None:
            raise CheckpointError(f"{os.fspath(folder)} holds no checkpoint")
        if (found.evaluator is None) != (evaluator is None):
            made = "without" if found.evaluator is None else "with"
            raise CheckpointError(
                f"this checkpoint was made {made} an evaluator; resume it by the same command"
            )
        if evaluator is not None and found.evaluator is not None:
            evaluator.restore(found.evaluator)
        if found.finished:
            return Trained(found.model, found.rows, True, None, 0, found.notes)
        told = found.notes.get("stream") if source is None else source
        if told is None:
            raise CheckpointError(
                f"{os.fspath(folder)} does not say how its source is opened; give the source"
            )
        with _opened(told) as opened:
            check_same_source(found.source, opened.identity)
            opened.seek(found.position)
            run = _Run(opened, checkpoint, found, pace or Pace(), step or learn_rows, evaluator, keep_going)
            return run.to_the_end(on_progress)


def learn_rows(model: Any, rows: Rows) -> None:
    """The usual step: learn the rows."""
    model.learn_batch(rows, rows.labels)


class _Run:
    """One process's share of a training."""

    def __init__(
        self,
        source: Source,
        checkpoint: Checkpoint,
        start: Snapshot,
        pace: Pace,
        step: Step,
        evaluator: Evaluator | None,
        keep_going: bool,
    ) -> None:
        if source.target is None:
            raise DataError("the source has no target to learn", remedy="open it with target=")
        self.source, self.checkpoint, self.start, self.pace = source, checkpoint, start, pace
        self.step, self.evaluator, self.keep_going = step, evaluator, keep_going
        self.rows, self.written = start.rows, 0
        self._file = _fingerprint(source)

    def to_the_end(self, on_progress: Progress | None) -> Trained:
        rows_then, time_then = self.rows, time.monotonic()
        with Interrupts() as interrupts:
            while interrupts.caught is None:
                part = self.source.read(self.pace.block_rows)
                if part is None:
                    self.write(finished=True)
                    return self._trained(True, None)
                self.step(self.start.model, part)
                self.rows += len(part)
                if on_progress is not None:
                    on_progress(self.rows, self.source.progress())
                if self._due(self.rows - rows_then, time.monotonic() - time_then):
                    self.write()
                    rows_then, time_then = self.rows, time.monotonic()
            self.write()
            return self._trained(False, interrupts.caught)

    def _due(self, rows: int, seconds: float) -> bool:
        pace = self.pace
        return (pace.rows is not None and rows >= pace.rows) or (
            pace.seconds is not None and seconds >= pace.seconds
        )

    def write(self, finished: bool = False) -> None:
        if _fingerprint(self.source) != self._file:
            raise SourceChangedError(
                f"{self.source.identity.get('path')} changed while it was read; the last checkpoint was made before "
                "that was noticed: train on a copy that nobody writes to"
            )
        snapshot = Snapshot(
            self.start.model,
            self.rows,
            self.source.identity,
            self.source.position(),
            None if self.evaluator is None else self.evaluator.arrays(),
            finished,
            self.start.notes,
        )
        try:
            self.checkpoint.write(snapshot)
            self.written += 1
        except CheckpointError as problem:
            if not self.keep_going:
                raise
            warnings.warn(f"training goes on without a checkpoint: {problem}", stacklevel=3)

    def _trained(self, finished: bool, stopped_by: str | None) -> Trained:
        return Trained(self.start.model, self.rows, finished, stopped_by, self.written, self.start.notes)


@contextmanager
def _opened(source: Source | Mapping[str, Any]) -> Iterator[Source]:
    """A source by its arguments, closed afterwards; an open one is left open."""
    if isinstance(source, Mapping):
        with open_stream(**source) as opened:
            yield opened
    else:
        yield source


def _portable(options: Mapping[str, Any]) -> dict[str, Any]:
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
