"""Chunks of whole records: bytes that end where a record ends, each identified by its first byte."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayou.errors import DataError
from bayou.streams import limits
from bayou.streams.byte_reader import ByteReader


class QuotedError(DataError):
    """A part of a file has quotes, so that the place where the file was divided may be inside a cell."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} has quotes, so it cannot be read in parts", remedy="read it as a whole")
        self.path = path


class Records:
    """Whole records from a reader, about a mebibyte at a time.

    A chunk depends only on the place where it starts: reading from the place of any chunk gives the same chunks
    again. With a delimiter, line ends inside quotes do not end a record.
    """

    def __init__(self, reader: ByteReader, delimiter: bytes | None = None) -> None:
        self.reader, self.delimiter = reader, delimiter
        self.place = 0
        self.limit = sys.maxsize
        self._line: int | None = 0  # line ends before `place`; None: not counted, after a seek
        self._buffer = b""
        self._end = False
        self._suspects_quotes = False

    def peek(self) -> bytes:
        """The chunk at the current place; empty at the end."""
        if len(self._buffer) < limits.CHUNK and not self._end:
            missing = limits.CHUNK - len(self._buffer)
            data = self.reader.read(max(0, min(missing, self.limit - self.place - len(self._buffer))))
            self._end = len(data) < missing
            self._buffer = self._buffer + data if self._buffer else data
            if self._suspects_quotes and b'"' in data:
                raise QuotedError(self.reader.path)
        if self._end:
            return self._buffer
        size = self._buffer.rfind(b"\n") + 1
        if self.delimiter is not None and b'"' in self._buffer:
            ends = outside(self._buffer, self.delimiter, b"\n")
            size = int(ends[-1]) + 1 if len(ends) else 0
        if not size:
            raise DataError(
                f"the record at byte {self.place} is longer than 1 MiB",
                value=self._buffer[:40].decode("utf-8", "replace"),
                remedy="is a quote left open, or is this another format?",
            )
        return self._buffer[:size]

    def skip(self, n: int) -> None:
        """Advance by n bytes of the chunk."""
        if self._line is not None:
            self._line += line_ends(memoryview(self._buffer)[:n])
        self._buffer = self._buffer[n:]
        self.place += n

    def take(self) -> bytes:
        """The chunk at the current place, which advances past it; empty at the end."""
        chunk = self.peek()
        self.skip(len(chunk))
        return chunk

    def bytes_to_lines(self, chunk: bytes) -> Callable[[int], int | None]:
        """A function from bytes of the chunk taken last to their lines, from 1; it returns None where unknown."""
        line, place = self._line, self.place

        def line_of(start: int) -> int | None:
            before = self.reader.count_lines(place) if line is None else line
            return None if before is None else before - line_ends(chunk[start:]) + 1

        return line_of

    def lines_of(self, chunk: bytes) -> Callable[[int], int | None]:
        """A function from records of the chunk taken last to their lines; records are split when it is called."""
        line_of = self.bytes_to_lines(chunk)
        return lambda i: line_of(int(Spans.of(chunk, self.delimiter).starts[i]))

    def seek(self, place: int) -> None:
        """Go to the place of a chunk; within the buffer without seeking, so that pipes can do it."""
        if 0 <= place - self.place <= len(self._buffer):
            self.skip(place - self.place)
            return
        self.reader.seek(place)
        self.place, self._buffer, self._end = place, b"", False
        self._line = None if place else 0

    def confine(self, limit: int, at_record: bool = False) -> None:
        """End before this byte, which must be the first of a record.

        A file that was divided at a line end may have been divided inside a quoted cell, so a part with a quote is
        refused, unless the file was divided `at_record`, by `edges`.
        """
        self.limit = limit
        self._suspects_quotes = not at_record and self.delimiter is not None
        room = max(0, limit - self.place)
        if room <= len(self._buffer):
            self._buffer, self._end = self._buffer[:room], True
        if self._suspects_quotes and b'"' in self._buffer:
            raise QuotedError(self.reader.path)

    def edges(self, every: int) -> Iterator[int]:
        """First bytes of records, at least `every` bytes apart, where a file may be divided; reads the whole file."""
        next_edge = self.place + every
        while chunk := self.peek():
            if self.place + len(chunk) >= next_edge:
                ends = outside(chunk, self.delimiter, b"\n") + 1 + self.place
                while (at := int(np.searchsorted(ends, next_edge))) < len(ends):
                    yield int(ends[at])
                    next_edge = int(ends[at]) + every
            self.skip(len(chunk))

    def identity(self) -> dict[str, str | int]:
        """The identity of the stream, for checkpoints."""
        return self.reader.identity()

    def share(self) -> float | None:
        """Share of the bytes before the current place, without the buffer; an estimate for compressed files."""
        share, taken = self.reader.share(), self.reader.taken
        return share if share is None else share * min(1.0, self.place / taken) if taken else 0.0

    def close(self) -> None:
        """Close the reader."""
        self.reader.close()


@dataclass(frozen=True)
class Spans:
    """The start and end of each record of a chunk, without line ends, and its number of cells.

    Examples
    --------
    >>> Spans.of(b'a,"b,c"' + bytes([13, 10, 10]) + b"d", b",").widths.tolist()
    [2, 1]
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    widths: NDArray[np.int64]

    @classmethod
    def of(cls, chunk: bytes, delimiter: bytes | None = None) -> Spans:
        """The spans of all records; empty lines are no records. A carriage return also ends a line."""
        breaks = outside(chunk, delimiter, b"\r\n")
        starts = np.concatenate([np.zeros(1, np.int64), breaks + 1])
        ends = np.append(breaks, len(chunk))
        real = ends > starts
        starts, ends = starts[real], ends[real]
        if delimiter is None:
            return cls(starts, ends, np.ones(len(starts), np.int64))
        marks = outside(chunk, delimiter, delimiter)
        return cls(starts, ends, np.searchsorted(marks, ends) - np.searchsorted(marks, starts) + 1)


def split(chunk: bytes, delimiter: bytes | None = None, most: int | None = None) -> list[bytes]:
    """Records of a chunk, at most `most`, without their line ends; empty lines are left out.

    Examples
    --------
    >>> split(b'a,"b' + bytes([10]) + b'c"' + bytes([10, 10]) + b'd,e', b",")
    [b'a,"b\\nc"', b'd,e']
    """
    spans = Spans.of(chunk, delimiter)
    pairs = zip(spans.starts[:most].tolist(), spans.ends[:most].tolist(), strict=True)
    return [chunk[start:end] for start, end in pairs]


def outside(chunk: bytes, delimiter: bytes | None, marks: bytes) -> NDArray[np.int64]:
    """Positions of the marks, each one byte, that are outside quotes.

    If every quote opens a cell, closes one, or is doubled, a position is inside quotes if the number of quotes before
    it is odd. A chunk with other quotes is searched quote by quote.
    """
    data = np.frombuffer(chunk, np.uint8)
    if delimiter is None or b'"' not in chunk:
        return _places(data, marks)
    quotes = _places(data, b'"')
    edge = np.zeros(256, np.bool_)
    edge[[*delimiter, *b'\r\n"']] = True
    opening, closing = quotes[::2], quotes[1::2]
    before = edge[data[opening - 1]] | (opening == 0)
    behind = edge[data[np.minimum(closing + 1, len(data) - 1)]] | (closing + 1 == len(data))
    if before.all() and behind.all():
        positions = _places(data, marks)
        even: NDArray[np.bool_] = np.searchsorted(quotes, positions) % 2 == 0
        return positions[even]
    return _places(np.frombuffer(masked(chunk, delimiter), np.uint8), marks)


def occurrences(data: bytes | memoryview, mark: bytes) -> int:
    r"""How often a byte occurs: ten times as fast as `bytes.count` for one that is in every line.

    >>> occurrences(b"a\nb\n", b"\n"), occurrences(b"", b"\n")
    (2, 0)
    """
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == mark[0]))


def line_ends(data: bytes | memoryview) -> int:
    r"""How many lines end in these bytes; old files end them with a carriage return alone.

    >>> line_ends(b"a\r\nb\n"), line_ends(b"a\rb\r")
    (2, 2)
    """
    return occurrences(data, b"\n") or occurrences(data, b"\r")


def _places(data: NDArray[np.uint8], marks: bytes) -> NDArray[np.int64]:
    hits = data == marks[0]
    for mark in marks[1:]:
        hits |= data == mark
    return np.flatnonzero(hits)


def masked(chunk: bytes, delimiter: bytes | None) -> bytes:
    """The chunk with everything inside quotes replaced, at the same length."""
    if delimiter is None or b'"' not in chunk:
        return chunk
    return _quoted(delimiter).sub(lambda match: b"x" * len(match[0]), b"\n" + chunk)[1:]


@functools.cache
def _quoted(delimiter: bytes) -> re.Pattern[bytes]:
    # A quote opens only at the start of a cell; a doubled quote stands for itself. The expression starts with
    # the quote, not with what comes before it, because then the search can jump from quote to quote.
    before = rb"(?<=[\r\n" + re.escape(delimiter) + rb']")'
    return re.compile(rb'"' + before + rb'[^"]*(?:""[^"]*)*(?:"|\Z)')
