"""Batches of rows with their labels, from streams and from data in memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from bayou.encoding.forms import picked
from bayou.encoding.table import Table, table_of
from bayou.errors import DataError
from bayou.streams.source import Chunked, Rows, Source


@dataclass(frozen=True)
class LabelledBatch:
    """Rows and labels as `learn_batch` takes them; `number` is that of the first row."""

    rows: Any
    labels: Any
    number: int
    size: int


def is_source(data: Any) -> TypeGuard[Source]:
    """Whether this is a stream, rather than rows and labels in memory."""
    return hasattr(data, "read") and hasattr(data, "position")


Stream = Source | tuple[Any, Any]


class Pace:
    """The number of rows per batch, adapted to the time a batch takes, so that progress is shown and Ctrl-C works.

    Results do not depend on it. The time of a batch is that between two calls of `next`.
    """

    def __init__(self, size: int | None = None) -> None:
        self.size = size or 1024
        self.fixed = size is not None
        self._last = time.perf_counter()

    def next(self) -> int:
        """The size of the next batch: doubled after a quick one, eight times as large after a very quick one.

        After a slow one it is halved.
        """
        now = time.perf_counter()
        seconds, self._last = now - self._last, now
        if self.fixed:
            return self.size
        if seconds < QUICK:
            self.size = min((8 if seconds < VERY_QUICK else 2) * self.size, LARGEST)
        elif seconds > SLOW:
            self.size = max(self.size // 2, SMALLEST)
        return self.size


VERY_QUICK, QUICK, SLOW = 0.01, 0.1, 0.5  # seconds
# Rows: a batch costs a tenth of a millisecond besides its rows, which is what 1,000 of a few numbers take.
SMALLEST, LARGEST = 128, 40_000


def batches(data: Stream, pace: Pace | int | None = None, rows: int | None = None) -> Iterator[LabelledBatch]:
    """Batches of a stream or of a pair (X, y), of the sizes that the pace gives, at most `rows` rows in all."""
    pace = pace if isinstance(pace, Pace) else Pace(pace)
    if is_source(data):
        yield from _from_source(data, pace, rows)
        return
    sample = RowsInMemory.of(data)
    end = sample.size if rows is None else min(rows, sample.size)
    lo = 0
    while lo < end:
        hi = min(lo + pace.next(), end)
        yield LabelledBatch(sample.table.take(slice(lo, hi)), sample.labels[lo:hi], lo, hi - lo)
        lo = hi


def _from_source(source: Source, pace: Pace, rows: int | None) -> Iterator[LabelledBatch]:
    """Batches of a stream, at most `rows` rows in all."""
    rows_read = 0
    read = source.read_within if isinstance(source, Chunked) and not pace.fixed else source.read
    while rows is None or rows_read < rows:
        size = pace.next()
        batch = read(size if rows is None else min(size, rows - rows_read))
        if batch is None:
            return
        yield LabelledBatch(batch, labels_of(batch), rows_read, len(batch))
        rows_read += len(batch)


def labels_of(rows: Rows) -> Any:
    """The labels of rows from a stream; raises DataError if there are none."""
    if rows.labels is None:
        raise DataError("the stream has no labels", remedy="say which column is the target: target=")
    return rows.labels if rows.coded is None else rows.coded


@dataclass(frozen=True)
class RowsInMemory:
    """Rows held in memory, for protocols that read them more than once."""

    table: Table
    labels: Any
    size: int

    @staticmethod
    def of(data: Source | tuple[Any, Any], rows: int | None = None) -> RowsInMemory:
        """All rows of a stream (at most `rows`), or of a pair (X, y)."""
        if is_source(data):
            return _collected(data, rows)
        if not isinstance(data, tuple) or len(data) != 2:
            raise DataError(
                f"cannot evaluate on {type(data).__name__}", remedy="give a stream, or a pair (X, y)"
            )
        table, labels = table_of(data[0]), _indexable(data[1])
        if len(labels) != table.n:
            raise DataError(f"{table.n} rows but {len(labels)} labels")
        sample = RowsInMemory(table, labels, table.n)
        return sample if rows is None or rows >= table.n else sample.take(np.arange(rows))

    def take(self, index: NDArray[np.int64]) -> RowsInMemory:
        """The rows at these places."""
        return RowsInMemory(self.table.take(index), picked(self.labels, index), len(index))


def _indexable(labels: Any) -> Any:
    if isinstance(labels, np.ndarray) or type(labels).__module__.startswith("pyarrow"):
        return labels
    return labels.to_numpy() if hasattr(labels, "to_numpy") else list(labels)


def _collected(source: Source, rows: int | None) -> RowsInMemory:
    """All rows of a stream in memory, at most `rows`."""
    import pyarrow as pa

    from bayou.streams.source import DocumentTermMatrix

    parts = []
    for batch in _from_source(source, Pace(LARGEST), rows):
        if not batch.size:  # a stream that is followed has no more rows at the moment
            break
        parts.append(batch.rows)
    if not parts:
        raise DataError("the stream has no rows", remedy="check the file")
    columns = {name: _joined([p.columns[name] for p in parts]) for name in parts[0].columns}
    words = [p.words for p in parts if p.words is not None]
    size = sum(len(p) for p in parts)
    labels = pa.chunked_array([p.labels for p in parts]).combine_chunks()
    joined = Rows(0, columns, labels, DocumentTermMatrix.join(words) if words else None, size)
    return RowsInMemory(table_of(joined), labels, size)


def _joined(arrays: list[Any]) -> Any:
    import pyarrow as pa

    joined = pa.chunked_array(arrays)
    if pa.types.is_dictionary(joined.type):
        joined = joined.unify_dictionaries()
    return joined.combine_chunks()
