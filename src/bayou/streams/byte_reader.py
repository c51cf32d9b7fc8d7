"""Bytes of a file or of standard input: unpacked, counted, bounded, seekable where that is possible."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import tempfile
from typing import BinaryIO, cast

import pyarrow as pa

from bayou.errors import DataError
from bayou.streams import limits

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


class ByteReader:
    """Where the bytes come from. Compression is recognised by its first bytes, not by the name."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._digest = ""
        self._aside: BinaryIO | None = None
        self._open()

    def _open(self) -> None:
        try:
            piped = self.path == "-"
            self._raw = _Counted(_standard_input() if piped else open(self.path, "rb"), piped)
            start = self._raw.peek(4)
            self.codec = next((codec for magic, codec in _MAGIC.items() if start.startswith(magic)), None)
            self._stream = (
                pa.CompressedInputStream(pa.PythonFile(self._raw), self.codec) if self.codec else None
            )
        except (OSError, ValueError, pa.ArrowException) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise DataError(f"cannot open {self.path}: {reason}", remedy="check the path") from error
        self._out = 0

    @property
    def plain(self) -> bool:
        """True for a file on disk that can be read at any place."""
        return self.codec is None and self._raw.seekable()

    def read(self, n: int) -> bytes:
        """Exactly n bytes, fewer only at the end."""
        try:
            data = self._raw.read(n) if self._stream is None else self._inflate(self._stream, n)
        except (OSError, pa.ArrowException) as error:
            raise DataError(
                f"{self.path} is damaged or cannot be read after {self._out} bytes: {error}",
                remedy="check that the file is complete",
            ) from error
        if self._out == 0 and not self._digest:
            self._digest = hashlib.sha256(data[: limits.HEAD]).hexdigest()
        self._out += len(data)
        return data

    def _inflate(self, stream: pa.NativeFile, n: int) -> bytes:
        parts, missing = [], n
        while missing:
            part = stream.read(min(missing, limits.CHUNK))
            if not part:
                break
            parts.append(part)
            missing -= len(part)
            out = self._out + n - missing
            if out > limits.FREE and out > limits.RATIO * self._raw.count:
                raise DataError(
                    f"{self.path} unpacks to more than {limits.RATIO} times its size: refused",
                    remedy="unpack it first if it is what you expect",
                )
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def seek(self, offset: int) -> None:
        """Go to a byte of the (unpacked) stream; what cannot jump reads and skips."""
        if self.plain:
            self._raw.seek(offset)
            self._out = offset
            return
        if offset < self._out:
            if self.path == "-" or not self._raw.seekable():
                raise DataError(f"{self.path} cannot go back", remedy="store the stream in a file to resume")
            self.close()
            self._open()
        while self._out < offset:
            if not self.read(min(limits.CHUNK, offset - self._out)):
                raise DataError(
                    f"{self.path} ends before byte {offset}", remedy="has the file been replaced?"
                )

    def aside(self) -> BinaryIO:
        """A file that can be read at any place: this one, or its unpacked bytes in a temporary one."""
        if self.plain:
            self.read(limits.HEAD)
            self._aside = open(self.path, "rb")
            return self._aside
        self._aside = cast(BinaryIO, tempfile.TemporaryFile())
        try:
            while data := self.read(limits.CHUNK):
                self._aside.write(data)
        except OSError as error:
            raise DataError(f"cannot unpack {self.path}: {error}", remedy="unpack it yourself") from error
        self._aside.seek(0)
        return self._aside

    def count_lines(self, end: int) -> int | None:
        """Line ends before a byte of a file on disk; None for what cannot be read again."""
        if not self.plain or self.path == "-":
            return None
        found, left = 0, end
        with open(self.path, "rb") as file:
            while left and (data := file.read(min(left, limits.CHUNK))):
                found += data.count(b"\n")
                left -= len(data)
        return found

    def identity(self) -> dict[str, str | int]:
        """Path, size (-1 if unknown) and hash of the first block, once that was read."""
        return {"path": self.path, "size": self._raw.size, "sha256 of head": self._digest}

    @property
    def taken(self) -> int:
        """Bytes read so far, unpacked."""
        return self._out

    def share(self) -> float | None:
        """Share of the file's bytes read so far."""
        return min(1.0, self._raw.count / self._raw.size) if self._raw.size > 0 else None

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._aside is not None:
            self._aside.close()
        if self.path != "-":
            self._raw.close()


class _Counted(io.RawIOBase):
    """A binary file that knows how many bytes were taken from it."""

    def __init__(self, file: BinaryIO, piped: bool) -> None:
        self._file, self.count = file, 0
        self.size = os.fstat(file.fileno()).st_size if not piped and file.seekable() else -1

    def peek(self, n: int) -> bytes:
        return cast(io.BufferedReader, self._file).peek(n)[:n]

    def read(self, n: int = -1) -> bytes:
        data = self._file.read(n)
        self.count += len(data)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        self.count = self._file.seek(offset, whence)
        return self.count

    def seekable(self) -> bool:
        return self.size >= 0

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()


def _standard_input() -> BinaryIO:
    buffer = sys.stdin.buffer
    return buffer if hasattr(buffer, "peek") else io.BufferedReader(cast(io.RawIOBase, buffer))
