"""Chunks of whole records: bytes cut where a record ends, so that every chunk has an address of its own."""

from __future__ import annotations

import functools
import re

from bayou.errors import DataError
from bayou.streams import limits
from bayou.streams.tap import Tap


class Records:
    """Whole records from a tap, about a mebibyte at a time.

    A chunk depends on the place where it starts and on nothing else: reading on from any chunk's place gives
    the same chunks again. With a delimiter, line ends inside quotes do not end a record.
    """

    def __init__(self, tap: Tap, delimiter: bytes | None = None) -> None:
        self.tap, self.delimiter = tap, delimiter
        self.place = 0
        self._buffer = b""
        self._end = False

    def peek(self) -> bytes:
        """The chunk at this place; empty at the end."""
        if len(self._buffer) < limits.CHUNK and not self._end:
            missing = limits.CHUNK - len(self._buffer)
            data = self.tap.read(missing)
            self._end = len(data) < missing
            self._buffer = self._buffer + data if self._buffer else data
        if self._end:
            return self._buffer
        whole = masked(self._buffer, self.delimiter).rfind(b"\n") + 1
        if not whole:
            raise DataError(
                f"the record at byte {self.place} is longer than 1 MiB",
                value=self._buffer[:40].decode("utf-8", "replace"),
                remedy="is a quote left open, or is this another format?",
            )
        return self._buffer[:whole]

    def skip(self, n: int) -> None:
        """Go on by n bytes of the chunk."""
        self._buffer = self._buffer[n:]
        self.place += n

    def take(self) -> bytes:
        """The chunk at this place, and go on behind it; empty at the end."""
        chunk = self.peek()
        self.skip(len(chunk))
        return chunk

    def seek(self, place: int) -> None:
        """Go to a chunk's place; without going back if it lies in what was read already, as a pipe needs."""
        if 0 <= place - self.place <= len(self._buffer):
            self.skip(place - self.place)
            return
        self.tap.seek(place)
        self.place, self._buffer, self._end = place, b"", False

    def identity(self) -> dict[str, str | int]:
        """What a checkpoint stores to recognise the stream."""
        return self.tap.identity()

    def share(self) -> float | None:
        """Share of the bytes read so far."""
        return self.tap.share()

    def close(self) -> None:
        """Close the tap."""
        self.tap.close()


def split(chunk: bytes, delimiter: bytes | None = None, most: int = -1) -> list[bytes]:
    """Records of a chunk with their line ends; empty lines are left out.

    Examples
    --------
    >>> split(b'a,"b' + bytes([10]) + b'c"' + bytes([10, 10]) + b'd,e', b",")
    [b'a,"b\\nc"\\n', b'd,e']
    """
    records, start = [], 0
    for line in masked(chunk, delimiter).splitlines(keepends=True):
        end = start + len(line)
        if line not in (b"\n", b"\r\n", b"\r"):
            records.append(chunk[start:end])
            if len(records) == most:
                break
        start = end
    return records


def masked(chunk: bytes, delimiter: bytes | None) -> bytes:
    """The chunk, same length, with everything inside quotes blotted out."""
    if delimiter is None or b'"' not in chunk:
        return chunk
    return _quoted(delimiter).sub(lambda match: b"x" * len(match[0]), chunk)


@functools.cache
def _quoted(delimiter: bytes) -> re.Pattern[bytes]:
    # A quote opens only at the start of a cell; a doubled quote stands for itself.
    return re.compile(rb"(?:\A|(?<=[\r\n" + re.escape(delimiter) + rb']))"[^"]*(?:""[^"]*)*(?:"|\Z)')
