"""Training as a fold of two pure functions, `partial(rows) -> bytes` and `merge(bytes, bytes) -> bytes`.

A process pool or a cluster needs no more than these. A shard may be computed several times, in any process, as long as
its result is merged once.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bayou import files
from bayou.errors import BayouError, DataError, MergeError, MergeWarning, UnsupportedError
from bayou.laws import MergeLaw
from bayou.streams.records import QuotedError
from bayou.streams.source import Source
from bayou.training.loop import Learning, feed

BLOCK = 8_192  # rows learned at a time


class AveragedWarning(UserWarning):
    """Shards of this model are averaged, which is a heuristic: the result is not that of one pass."""


@dataclass(frozen=True)
class Part:
    """The result of one shard or several: a model file, its rows, and rejects by reason; or an error.

    Examples
    --------
    >>> part = Part(b"model", 3, {"not a number": 1})
    >>> Part.of(part.to_bytes()) == part
    True
    """

    model: bytes
    rows: int = 0
    rejects: Mapping[str, int] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None

    def to_bytes(self) -> bytes:
        """The part as bytes: a length, a JSON head and the model file."""
        head = json.dumps({"rows": self.rows, "rejects": dict(self.rejects), "error": self.error}).encode()
        return len(head).to_bytes(4, "big") + head + self.model

    @staticmethod
    def of(data: bytes) -> Part:
        """The part from what `to_bytes` returned."""
        size = int.from_bytes(data[:4], "big")
        head = json.loads(data[4 : 4 + size])
        return Part(data[4 + size :], head["rows"], head["rejects"], head["error"])


def partial(
    blank: bytes, source: Source, place: str = "", on_rows: Callable[[int], None] | None = None
) -> bytes:
    """Learn the rows of a source, starting from an empty model; return the bytes of a `Part`.

    Parameters
    ----------
    blank
        The model file of what `prepared` returns: no rows, but the frames that all shards share.
    source
        The rows.
    place
        The name of the source in errors.
    on_rows
        Called with the number of rows learned so far, after every block.
    """
    model = files.loads(blank)
    rows = 0

    def count(done: int) -> None:
        nonlocal rows
        rows = done
        if on_rows is not None:
            on_rows(rows)

    try:
        feed(source, Learning(model).step, pace=BLOCK, after=count)
    except BayouError as error:
        return Part(b"", error=error_to_json(error, place)).to_bytes()
    return Part(files.dumps(model), rows, source.rejects.counts).to_bytes()


def merge(one: bytes, other: bytes) -> bytes:
    """Merge two parts, the first being earlier in the stream."""
    return merged((one, other)).to_bytes()


def merged(parts: Iterable[bytes]) -> Part:
    """Merge parts from left to right; the result holds the first error, if there is one."""
    total = Total()
    for data in parts:
        total.add(Part.of(data))
    return total.part()


class Total:
    """Merges parts one after the other, without packing the model in between."""

    def __init__(self) -> None:
        self.rows = 0
        self.rejects: dict[str, int] = {}
        self.error: Mapping[str, Any] | None = None
        self._first: bytes | None = None
        self._model: Any = None

    def add(self, part: Part) -> None:
        """Merge the next part; after an error nothing more is merged."""
        self.error = self.error or part.error
        if self.error is not None:
            return
        self.rows += part.rows
        for reason, n in part.rejects.items():
            self.rejects[reason] = self.rejects.get(reason, 0) + n
        if self._first is None:
            self._first = part.model
            return
        try:
            with warnings.catch_warnings():
                # Parts of one stream: a file that is sorted by class has parts without a common one.
                warnings.simplefilter("ignore", MergeWarning)
                self.model.merge(files.loads(part.model))
            check_families(self.model)
        except BayouError as error:
            self.error = error_to_json(error, "")

    @property
    def model(self) -> Any:
        """The merged model, None if no part had one."""
        if self._model is None and self._first is not None:
            self._model = files.loads(self._first)
        return self._model

    def part(self) -> Part:
        """The merged parts as one part."""
        if self.error is not None:
            return Part(b"", error=self.error)
        model = (self._first or b"") if self._model is None else files.dumps(self._model)
        return Part(model, self.rows, self.rejects)

    def check(self) -> None:
        """Raise the error of the first part that has one."""
        if self.error is not None:
            raise _error(self.error)


def check_law(model: Any, ordered: bool) -> None:
    """Refuse a model that cannot be learned in shards; warn where the shards are averaged.

    `ordered` says whether the back end merges shards in the order of the stream.
    """
    law, name = model.law, type(model).__name__
    if law is MergeLaw.NONE:
        raise UnsupportedError(
            f"{name} cannot be learned in shards: its law is none ({law.promise}); learn it in one pass"
        )
    if law is MergeLaw.ORDERED and not ordered:
        raise UnsupportedError(
            f"{name} cannot be learned from a table without order: its law is ordered ({law.promise}); "
            "learn it from files, whose rows have an order"
        )
    if law is MergeLaw.AVERAGED:
        warnings.warn(
            f"{name} learned in shards is not what one pass gives: its law is averaged ({law.promise})",
            AveragedWarning,
            stacklevel=3,
        )


def check_families(model: Any) -> None:
    """Refuse classes that are numbers in one shard and strings in another: 1 and "1" are two classes."""
    families = {str if isinstance(label, str) else bytes if isinstance(label, bytes) else float
                for label in (model.labels() if model.started else ())}  # fmt: skip
    if len(families) > 1:
        raise DataError(
            f"labels are numbers in some files and strings in others: {model.labels()[:10]!r}",
            remedy="read the target as strings everywhere, nominal=[...]",
        )


def error_to_json(error: BayouError, place: str) -> dict[str, Any]:
    """An error as JSON values, so that it can leave the process where it happened."""
    if isinstance(error, QuotedError):
        return {"kind": "quoted", "path": error.path}
    if isinstance(error, DataError):
        value = error.value if isinstance(error.value, str | int | float | bool | None) else str(error.value)
        column = None if error.column is None else str(error.column)
        return {
            "kind": "data", "problem": f"{place}: {error.problem}" if place else error.problem,
            "row": error.row, "line": error.line, "column": column, "value": value, "remedy": error.remedy,
        }  # fmt: skip
    kind = "merge" if isinstance(error, MergeError) else "other"
    return {"kind": kind, "problem": f"{place}: {error}" if place else str(error)}


def _error(document: Mapping[str, Any]) -> BayouError:
    fields = dict(document)
    kind = fields.pop("kind")
    if kind == "quoted":
        return QuotedError(fields["path"])
    if kind == "data":
        return DataError(fields.pop("problem"), **fields)
    return MergeError(fields["problem"]) if kind == "merge" else BayouError(fields["problem"])
