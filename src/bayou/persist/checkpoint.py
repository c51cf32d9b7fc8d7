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
    """The state of a training run: all that is needed to continue with the same bits.

    Parameters
    ----------
    models
        The models after `rows` rows, by name.
    source, position
        The identity of the source, and the position of its next row (with counts of rejects).
    evaluator
        The state of the evaluation so far, as arrays.
    finished
        Whether the source has ended.
    notes
        JSON values for the caller, such as how to open the source and where the model goes.
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
        """The model, if there is exactly one."""
        if len(self.models) != 1:
            raise CheckpointError(
                f"this checkpoint holds {len(self.models)} models: {', '.join(self.models)}"
            )
        return next(iter(self.models.values()))


class Checkpoint:
    """A folder of checkpoints.

    `latest` may be called by any process at any time. `write` locks the folder first: a second writer is refused, and
    the lock of a process that was killed is released at once.

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
        self._good: list[Path] = []  # checkpoints that were written or read without error

    def open(self) -> Self:
        """Create the folder if needed, lock it, and remove temporary files that a killed writer left behind."""
        if self._lock is None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._lock = FolderLock(self.folder)
                for leftover in self.folder.glob(f".checkpoint-*{SUFFIX}"):
                    leftover.unlink()
            except CheckpointError:
                raise
            except OSError as problem:
                raise _trouble(self.folder, problem) from problem
        return self

    def close(self) -> None:
        """Unlock the folder."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *exception: object) -> None:
        self.close()

    def write(self, snapshot: Snapshot) -> Path:
        """Write a new generation; if that fails, the older ones are untouched."""
        self.open()
        newest = max((number for number, _ in self._checkpoints()), default=0)
        path = self.folder / f"checkpoint-{newest + 1:08d}.bayou"
        try:
            write_atomic(path, snapshot_buffers(snapshot, self.kinds))
        except OSError as problem:
            raise _trouble(self.folder, problem) from problem
        self._good.append(path)
        self._prune()
        return path

    def latest(self) -> Snapshot | None:
        """The newest intact checkpoint, None if the folder has none; warns of damaged ones."""
        for _ in range(20):
            try:
                return self._latest()
            except FileNotFoundError:  # a writer has pruned it in the meantime: try again
                continue
        raise CheckpointError(f"{self.folder} changes faster than it can be read")

    def _latest(self) -> Snapshot | None:
        damage: list[str] = []
        for _, path in sorted(self._checkpoints(), reverse=True):
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

    def _checkpoints(self) -> list[tuple[int, Path]]:
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
        """Remove all but the newest generations known to be intact; a file that cannot be removed does no harm."""
        kept = self._good[-GENERATIONS:]
        older = sorted((path for _, path in self._checkpoints() if path not in kept), reverse=True)
        if len(kept) < GENERATIONS:  # the newest of the other files may be the only one to fall back on
            older = older[1:]
        for path in older:
            with contextlib.suppress(OSError):
                path.unlink()
        self._good = kept


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
    """Read a checkpoint file; raises ModelFileError if it is not valid."""
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


def check_same_source(known: Mapping[str, str | int], current: Mapping[str, str | int]) -> None:
    """Refuse a source other than that of the checkpoint; its path may differ, its content may not."""
    changed = [
        f"its {key} was {known.get(key)!r} and is {current.get(key)!r}"
        for key in sorted({*known, *current} - {"path"})
        if known.get(key) != current.get(key)
    ]
    if changed:
        raise SourceChangedError(
            f"{current.get('path', 'the source')} is not the source this checkpoint was made from: "
            f"{'; '.join(changed)}; give the original, or start again in an empty folder"
        )


class SourceChangedError(BayouError, ValueError):
    """The source of a checkpoint has changed."""


def _trouble(folder: Path, problem: OSError) -> CheckpointError:
    return CheckpointError(
        problem.errno,
        f"cannot write a checkpoint to {folder}: {problem.strerror or problem}; the previous one is intact",
    )
