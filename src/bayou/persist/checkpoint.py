"""Checkpoints: models, source position, evaluator and counts in one atomic file; two generations of them."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayou.errors import BayouError, ModelFileError
from bayou.persist import model_file
from bayou.persist.atomic import SUFFIX, write_atomic
from bayou.persist.container import Arrays, Buffer, TooNewError, pack, unpack
from bayou.persist.errors import CheckpointError, DamagedCheckpointWarning
from bayou.persist.kinds import Kinds
from bayou.persist.lock import FolderLock

FORMAT = "bayou checkpoint"
GENERATIONS = 2
MODEL, EVALUATOR = "model.", "evaluator."
_NAME = re.compile(r"checkpoint-([0-9]{8,18})\.bayou\Z")
_KEYS = {"models", "rows", "source", "position", "finished", "notes"}


@dataclass(frozen=True)
class Snapshot:
    """A moment of training: everything needed to go on as if nothing had happened.

    Parameters
    ----------
    models
        The models after `rows` rows, by name.
    source, position
        What identifies the source, and where its next row comes from (counts of rejects included).
    evaluator
        What else there is, as arrays: all that was found about the models so far.
    finished
        Whether the source has ended.
    notes
        Whatever the caller wants back: how to open the source, where the model goes. JSON values only.
    """

    models: Mapping[str, Any]
    rows: int
    source: Mapping[str, str | int]
    position: Mapping[str, int]
    evaluator: Arrays = field(default_factory=dict)
    finished: bool = False
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def model(self) -> Any:
        """The one model there is."""
        if len(self.models) != 1:
            raise CheckpointError(
                f"this checkpoint holds {len(self.models)} models: {', '.join(self.models)}"
            )
        return next(iter(self.models.values()))


class Checkpoint:
    """A folder of checkpoints.

    `latest` may be called by anyone at any time. `write` takes the folder's lock first: a second writer is
    refused, and the lock of a process that was killed is free at once.

    Examples
    --------
    >>> import tempfile
    >>> from bayou import NaiveBayes, files
    >>> model = NaiveBayes()
    >>> model.learn_one({"sky": "blue"}, "dry")
    >>> with Checkpoint(tempfile.mkdtemp(), files.kinds()) as folder:
    ...     _ = folder.write(Snapshot({"nb": model}, 1, {"path": "sky.csv"}, {"row": 1}))
    ...     folder.latest().rows
    1
    """

    def __init__(self, folder: str | os.PathLike[str], kinds: Kinds) -> None:
        self.folder = Path(folder)
        self.kinds = kinds
        self._lock: FolderLock | None = None
        self._good: list[Path] = []

    def open(self) -> Self:
        """Make the folder if needed, become its only writer, and clear away what a killed writer left behind."""
        if self._lock is None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._lock = FolderLock(self.folder)
                for left in self.folder.glob(f".checkpoint-*{SUFFIX}"):
                    left.unlink()
            except CheckpointError:
                raise
            except OSError as problem:
                raise _trouble(self.folder, problem) from problem
        return self

    def close(self) -> None:
        """Let others write."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *exception: object) -> None:
        self.close()

    def write(self, snapshot: Snapshot) -> Path:
        """Write a new generation; on any failure the older ones are untouched."""
        self.open()
        newest = max((number for number, _ in self._found()), default=0)
        path = self.folder / f"checkpoint-{newest + 1:08d}.bayou"
        try:
            write_atomic(path, snapshot_buffers(snapshot, self.kinds))
        except OSError as problem:
            raise _trouble(self.folder, problem) from problem
        self._good.append(path)
        self._prune()
        return path

    def latest(self) -> Snapshot | None:
        """The newest checkpoint that is whole, None if the folder has none; a damaged one is warned about."""
        for _ in range(20):
            try:
                return self._latest()
            except FileNotFoundError:  # a writer has pruned it in the meantime: look again
                continue
        raise CheckpointError(f"{self.folder} changes faster than it can be read")

    def _latest(self) -> Snapshot | None:
        damage: list[str] = []
        for _, path in sorted(self._found(), reverse=True):
            try:
                snapshot = read_snapshot(path, self.kinds)
            except TooNewError:
                raise
            except (ModelFileError, OSError) as problem:
                if isinstance(problem, FileNotFoundError):
                    raise
                damage.append(f"{path.name}: {problem}")
                continue
            for line in damage:
                warnings.warn(
                    f"damaged checkpoint, going back to {path.name}: {line}",
                    DamagedCheckpointWarning,
                    stacklevel=3,
                )
            if self._lock is not None and path not in self._good:
                self._good.append(path)
            return snapshot
        if damage:
            raise CheckpointError(f"no checkpoint in {self.folder} can be read; {'; '.join(damage)}")
        return None

    def _found(self) -> list[tuple[int, Path]]:
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise CheckpointError(
                problem.errno, f"cannot look into {self.folder}: {problem.strerror}"
            ) from problem
        return [(int(match[1]), self.folder / name) for name in names if (match := _NAME.match(name))]

    def _prune(self) -> None:
        """Keep the newest generations known to be whole. What cannot be removed does no harm."""
        known = self._good[-GENERATIONS:]
        older = sorted((path for _, path in self._found() if path not in known), reverse=True)
        if len(known) < GENERATIONS:  # what was there before us may be the only one to fall back on
            older = older[1:]
        for path in older:
            with contextlib.suppress(OSError):
                path.unlink()
        self._good = known


def snapshot_buffers(snapshot: Snapshot, kinds: Kinds) -> list[Buffer]:
    """The checkpoint file as buffers to be written one after the other."""
    arrays: dict[str, NDArray[Any]] = {f"{EVALUATOR}{name}": a for name, a in snapshot.evaluator.items()}
    for i, model in enumerate(snapshot.models.values()):
        arrays[f"{MODEL}{i}"] = np.frombuffer(model_file.dumps(model, kinds), np.uint8)
    document = {
        "models": list(snapshot.models),
        "rows": snapshot.rows,
        "source": dict(snapshot.source),
        "position": dict(snapshot.position),
        "finished": snapshot.finished,
        "notes": dict(snapshot.notes),
    }
    return pack(FORMAT, document, arrays)


def read_snapshot(path: Path, kinds: Kinds) -> Snapshot:
    """The checkpoint in a file. Raises ModelFileError if it is not in order."""
    content = unpack(model_file.read_file(path), FORMAT)
    document, arrays = content.document, dict(content.arrays)
    if set(document) != _KEYS:
        raise ModelFileError(f"a checkpoint must have exactly: {', '.join(sorted(_KEYS))}")
    names, rows, finished = (document[key] for key in ("models", "rows", "finished"))
    if type(rows) is not int or rows < 0 or type(finished) is not bool:
        raise ModelFileError("rows or finished are of the wrong type")
    for key in ("source", "position", "notes"):
        if not isinstance(document[key], dict):
            raise ModelFileError(f"{key} must be an object")
    if not all(type(n) is int for n in document["position"].values()):
        raise ModelFileError("a position is made of numbers")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ModelFileError("models must be a list of names")
    if not names or len(set(names)) != len(names):
        raise ModelFileError("a checkpoint needs a model, and models need names of their own")
    models = {name: _model(arrays.pop(f"{MODEL}{i}", None), kinds) for i, name in enumerate(names)}
    if any(not name.startswith(EVALUATOR) for name in arrays):
        raise ModelFileError("arrays that do not belong into a checkpoint")
    evaluator = {name.removeprefix(EVALUATOR): array.copy() for name, array in arrays.items()}
    return Snapshot(
        models, rows, document["source"], document["position"], evaluator, finished, document["notes"]
    )


def _model(array: NDArray[Any] | None, kinds: Kinds) -> Any:
    if array is None or array.dtype != np.uint8 or array.ndim != 1:
        raise ModelFileError("a model of the checkpoint is missing")
    return model_file.loads(array.data, kinds)


def check_same_source(known: Mapping[str, str | int], found: Mapping[str, str | int]) -> None:
    """Refuse a source that is not the one the checkpoint belongs to; it may have moved, not changed."""
    changed = [
        f"its {key} was {known.get(key)!r} and is {found.get(key)!r}"
        for key in sorted({*known, *found} - {"path"})
        if known.get(key) != found.get(key)
    ]
    if changed:
        raise SourceChangedError(
            f"{found.get('path', 'the source')} is not the source this checkpoint was made from: "
            f"{'; '.join(changed)}; give the original, or start again in an empty folder"
        )


class SourceChangedError(BayouError, ValueError):
    """The source of a checkpoint has changed."""


def _trouble(folder: Path, problem: OSError) -> CheckpointError:
    return CheckpointError(
        problem.errno,
        f"cannot write a checkpoint to {folder}: {problem.strerror or problem}; the previous one is intact",
    )
