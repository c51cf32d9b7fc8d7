"""Reading, positions and seeking for all formats, which implement only the parsing of a chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol, Self

import pyarrow as pa

from bayou.errors import DataError
from bayou.streams import compute as pc
from bayou.streams import limits
from bayou.streams.columns import Columns, NumberRows, NumbersInColumns, numbers_of, side_by_side
from bayou.streams.policy import Chunk
from bayou.streams.rejects import Rejects
from bayou.streams.source import ColumnType, DocumentTermMatrix, Rows
from bayou.threads import in_background


@dataclass(frozen=True)
class Outline:
    """The columns, target, classes and words of an open stream."""

    columns: Mapping[str, ColumnType]
    target: str | None
    classes: tuple[str, ...] | None = None
    vocabulary: Sequence[str] | None = None


class Feed(Protocol):
    """A sequence of chunks, each with a place (a byte or the number of a batch) from which it can be read again."""

    place: int

    def seek(self, place: int) -> None: ...

    def confine(self, limit: int, at_record: bool = False) -> None: ...

    def identity(self) -> Mapping[str, str | int]: ...

    def share(self) -> float | None: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class _Loaded:
    """A chunk or the error in its stead, the shares of the stream before and after it, and the place after it."""

    chunk: Chunk | None
    fault: DataError | None
    before: float
    behind: float | None
    place: int


class ChunkedSource:
    """A source that parses a stream chunk by chunk and returns slices of the chunks.

    While the rows of a chunk are processed, the next chunk is parsed in another thread, if the length of the stream is
    known: a pipe is read only when its rows are requested.

    A position is the place of the current chunk, the records and rows before it, and how many of its rows have been
    returned. Rejects are counted when a row after them is returned, so that their counts, too, depend only on how far
    the stream was read.
    """

    def __init__(self, outline: Outline, rejects: Rejects, feed: Feed) -> None:
        self.columns, self.target, self.classes = outline.columns, outline.target, outline.classes
        self.vocabulary, self.rejects, self.identity = outline.vocabulary, rejects, feed.identity()
        self._feed = feed
        self._place, self._record, self._row = feed.place, 0, 0  # of the current chunk
        self._next_place, self._behind = feed.place, feed.share()  # place and share after it
        self._ahead: Future[_Loaded] | None = None  # the next chunk, which another thread is parsing
        self._chunk: Chunk | None = None
        self._taken = 0
        self._counted_rejects = 0  # rejects of the chunk that are counted
        self._fault: DataError | None = None
        self._share = 0.0  # share of the stream before the current chunk
        self._target_checked = False  # whether it was checked that the target is not a quantity
        # the rows returned last: chunk, first row, number
        self._last_parts: list[tuple[Chunk, int, int]] = []

    def _load(self, record: int) -> Chunk | None:
        """Parse the chunk at the feed's place and advance the feed; its first record is number `record`."""
        raise NotImplementedError

    def read(self, n: int) -> Rows | None:
        """Exactly n rows; fewer at the end or before a refused row; None at the end."""
        if n < 1:
            raise DataError("read needs a positive number of rows", value=n, remedy="read(1000)")
        parts: list[tuple[Chunk, int, int]] = []
        remaining = n
        while remaining and (self._left() or self._advance()):
            assert self._chunk is not None
            k = min(remaining, self._left())
            parts.append((self._chunk, self._taken, k))
            self._taken += k
            remaining -= k
            self._count_rejects(self._taken)
        self._last_parts = parts
        if parts:
            return self._rows(parts, n - remaining)
        if self._fault is not None:
            raise self._fault
        return None

    def read_within(self, n: int) -> Rows | None:
        """At most n rows of one chunk, so that no copies are joined; a chunk is divided without small remainders."""
        if self._left() or self._advance():
            remaining = self._left()
            n = n if remaining >= 2 * n else remaining if remaining <= n else -(-remaining // 2)
        return self.read(n)

    def line_of(self, row: int) -> int | None:
        """The line of the file at which row `row` (from 0) of those returned last begins; None if unknown."""
        for chunk, start, size in self._last_parts:
            if row < size:
                return None if chunk.lines is None else chunk.lines(start + row)
            row -= size
        return None

    def position(self) -> Mapping[str, int]:
        """The position of the next row."""
        position = {"place": self._place, "record": self._record, "row": self._row, "taken": self._taken}
        return position | self.rejects.position()

    def seek(self, position: Mapping[str, int]) -> None:
        """Go to a position that `position` returned, in this process or another."""
        keys = ("place", "record", "row", "taken", "rejected rows", "rejected cells", "dead letters")
        if any(not isinstance(position.get(key), int) or position[key] < 0 for key in keys):
            raise DataError(
                "not a position of a stream", value=dict(position), remedy="pass what position() gave"
            )
        self._cancel_read_ahead()
        self._feed.seek(position["place"])
        self._place, self._record, self._row = (position[key] for key in keys[:3])
        self._chunk, self._fault, self._counted_rejects = None, None, 0
        self._taken = position["taken"]
        if self._taken:
            self._chunk = self._take_in(self._load_here(self._record))
            if self._fault is not None:
                raise self._fault
            if self._chunk is None or self._chunk.rows < self._taken:
                self._chunk, self._taken = None, 0
                raise DataError(
                    "the stream does not reach this position",
                    value=dict(position),
                    remedy="has the file been replaced?",
                )
            rejects = self._chunk.rejects
            self._counted_rejects = sum(1 for reject in rejects if reject.after < self._taken)
        self.rejects.seek(position)

    def part(self, start: int, end: int | None, record: int = 0, at_record: bool = False) -> None:
        """Restrict the source to the rows between two places; `record` is the number of the first one, if known.

        A place is 0 (the first row), a row group times 2^32, or the first byte of a record. With `at_record`, `end` is
        known to begin a record; else it begins a line, which in a file with quotes may be inside a cell.
        """
        self._cancel_read_ahead()
        if start > 0:
            self._feed.seek(start)
            self._place, self._record, self._row = start, record, record
        if end is not None:
            self._feed.confine(end, at_record)

    def progress(self) -> float | None:
        """Share of the bytes or rows that have been returned, 0 to 1; None if the length is not known."""
        if self._chunk is None:
            return self._feed.share()
        behind = self._behind
        if behind is None or not self._chunk.rows:
            return behind
        before = min(self._share, behind)
        return before + (behind - before) * self._taken / self._chunk.rows

    def close(self) -> None:
        """Close the files."""
        self._cancel_read_ahead()
        self.rejects.close()
        self._feed.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _left(self) -> int:
        return self._chunk.rows - self._taken if self._chunk is not None else 0

    def _count_rejects(self, taken: int | None) -> None:
        """Count the rejects before row `taken` of the chunk; None: all of them."""
        if self._chunk is None:
            return
        rejects = self._chunk.rejects
        while self._counted_rejects < len(rejects) and (
            taken is None or rejects[self._counted_rejects].after < taken
        ):
            self.rejects.add(rejects[self._counted_rejects])
            self._counted_rejects += 1

    def _advance(self) -> bool:
        """Load the next chunk that has rows; False at the end or before an error."""
        if self._fault is not None:
            return False
        while not self._left():
            if self._chunk is not None:
                if self._chunk.fault is not None:
                    self._fault = self._chunk.fault
                    return False
                self._count_rejects(None)
                self._place, self._record = self._next_place, self._record + self._chunk.records
                self._row += self._chunk.rows
                self._chunk, self._taken, self._counted_rejects = None, 0, 0
            ahead, self._ahead = self._ahead, None
            self._chunk = self._take_in(ahead.result() if ahead else self._load_here(self._record))
            if self._chunk is None:
                return False
            if self._row == 0 and self.target is not None and not self._target_checked:
                self._target_checked, self._fault = (
                    True,
                    quantity_error(self._chunk.columns[self.target], self.target),
                )
                if self._fault is not None:
                    self._chunk = None
                    return False
            self._read_ahead(self._chunk)
        return True

    def _load_here(self, record: int) -> _Loaded:
        """Parse the chunk at the feed's place, whose first record is number `record`."""
        before, chunk, fault = self._feed.share() or 0.0, None, None
        try:
            chunk = self._load(record)
        except DataError as error:
            fault = error
        return _Loaded(chunk, fault, before, self._feed.share(), self._feed.place)

    def _take_in(self, loaded: _Loaded) -> Chunk | None:
        self._share, self._behind, self._next_place = loaded.before, loaded.behind, loaded.place
        self._fault = loaded.fault
        return loaded.chunk

    def _read_ahead(self, chunk: Chunk) -> None:
        """Begin to parse the next chunk in another thread, unless this is the last."""
        if chunk.fault is None and self._behind is not None and self._behind < 1.0:
            record = self._record + chunk.records
            self._ahead = in_background(lambda: self._load_here(record))

    def _cancel_read_ahead(self) -> None:
        """Wait for the other thread, so that it no longer uses the feed, and drop its chunk."""
        if self._ahead is not None:
            self._ahead.exception()
            self._ahead = None

    def _rows(self, parts: Sequence[tuple[Chunk, int, int]], size: int) -> Rows:
        def column(name: str) -> pa.Array:
            return _joined([chunk.columns[name].slice(start, k) for chunk, start, k in parts])

        names = [name for name in parts[0][0].columns if name != self.target]
        words = [chunk.words.slice(start, k) for chunk, start, k in parts if chunk.words is not None]
        coded = [chunk.coded.slice(first, k) for chunk, first, k in parts if chunk.coded is not None]
        return Rows(
            self._row + self._taken - size,
            Columns(names, column, self._numbers(parts)),
            column(self.target) if self.target is not None else None,
            DocumentTermMatrix.join(words) if words else None,
            size,
            coded=_joined(coded) if len(coded) == len(parts) else None,
        )

    def _numbers(self, parts: Sequence[tuple[Chunk, int, int]]) -> NumberRows | NumbersInColumns | None:
        """The numeric columns as numbers, if all parts have them so and the target is not among them."""
        all_parts = [(numbers_of(chunk.columns), first, k) for chunk, first, k in parts]
        numeric = [(n, first, k) for n, first, k in all_parts if n is not None and self.target not in n.names]
        return side_by_side(numeric) if len(numeric) == len(parts) else None


def _joined(slices: Sequence[pa.Array]) -> pa.Array:
    return slices[0] if len(slices) == 1 else pa.concat_arrays(slices)


def quantity_error(labels: pa.Array, target: str) -> DataError | None:
    """The error for a target whose first values are too many distinct numbers to be classes; None if they are not."""
    if not (pa.types.is_integer(labels.type) or pa.types.is_floating(labels.type)):
        return None
    first = labels.slice(0, limits.SAMPLE).drop_null()
    distinct = pc.count_distinct(first).as_py()
    integers = pc.all(pc.equal(pc.floor(first), first), skip_nulls=True).as_py()
    if distinct <= (max(50, len(first) // 4) if integers else max(20, len(first) // 20)):
        return None
    return DataError(
        f"the target is a quantity, not a class: {distinct:,} different numbers in the first {len(first):,} rows",
        column=target,
        remedy=f"cut it into a few ranges first; if they are names of classes, nominal=[{target!r}]",
    )
