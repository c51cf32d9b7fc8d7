"""The bytes of a file or of standard input: decompressed, counted, bounded, seekable where possible."""

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
    """Reads a file or standard input; compression is recognised by the first bytes, not by the name."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._digest = ""
        self._aside: BinaryIO | None = None
        self._open()

    def _open(self) -> None:
        try:
            piped = self.path == "-"
            self._file = _Counted(_standard_input() if piped else open(self.path, "rb"), piped)
            start = self._file.peek(4)
            self.codec = next((codec for magic, codec in _MAGIC.items() if start.startswith(magic)), None)
            self._stream = (
                pa.CompressedInputStream(pa.PythonFile(self._file), self.codec) if self.codec else None
            )
        except (OSError, ValueError, pa.ArrowException) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise DataError(f"cannot open {self.path}: {reason}", remedy="check the path") from error
        self._offset = 0

    @property
    def plain(self) -> bool:
        """Whether this is an uncompressed file on disk, which can be read from any offset."""
        return self.codec is None and self._file.seekable()

    def read(self, n: int) -> bytes:
        """The next n bytes, fewer only at the end."""
        try:
            data = self._file.read(n) if self._stream is None else self._inflate(self._stream, n)
        except (OSError, pa.ArrowException) as error:
            raise DataError(
                f"{self.path} is damaged or cannot be read after {self._offset} bytes: {error}",
                remedy="check that the file is complete",
            ) from error
        if self._offset == 0 and not self._digest:
            self._digest = hashlib.sha256(data[: limits.HEAD]).hexdigest()
        self._offset += len(data)
        return data

    def _inflate(self, stream: pa.NativeFile, n: int) -> bytes:
        """The next n bytes, decompressed; refuses streams that expand too much."""
        parts, missing = [], n
        while missing:
            part = stream.read(min(missing, limits.CHUNK))
            if not part:
                break
            parts.append(part)
            missing -= len(part)
            total = self._offset + n - missing
            if total > limits.FREE and total > limits.RATIO * self._file.count:
                raise DataError(
                    f"{self.path} unpacks to more than {limits.RATIO} times its size: refused",
                    remedy="unpack it first if it is what you expect",
                )
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def seek(self, offset: int) -> None:
        """Go to a byte of the (decompressed) stream; where seeking is not possible, by reading up to it."""
        if self.plain:
            self._file.seek(offset)
            self._offset = offset
            return
        if offset < self._offset:
            if self.path == "-" or not self._file.seekable():
                raise DataError(f"{self.path} cannot go back", remedy="store the stream in a file to resume")
            self.close()
            self._open()
        while self._offset < offset:
            if not self.read(min(limits.CHUNK, offset - self._offset)):
                raise DataError(
                    f"{self.path} ends before byte {offset}", remedy="has the file been replaced?"
                )

    def aside(self) -> BinaryIO:
        """A seekable file: this one, or a temporary one with the decompressed bytes."""
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
        """The number of line ends before a byte; None if the file cannot be read again."""
        if not self.plain or self.path == "-":
            return None
        lines, remaining = 0, end
        with open(self.path, "rb") as file:
            while remaining and (data := file.read(min(remaining, limits.CHUNK))):
                lines += data.count(b"\n")
                remaining -= len(data)
        return lines

    def identity(self) -> dict[str, str | int]:
        """Path, size (-1 if unknown) and hash of the first block, once it has been read."""
        return {"path": self.path, "size": self._file.size, "sha256 of head": self._digest}

    @property
    def taken(self) -> int:
        """Bytes read so far, decompressed."""
        return self._offset

    def share(self) -> float | None:
        """Share of the file's bytes read so far."""
        return min(1.0, self._file.count / self._file.size) if self._file.size > 0 else None

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._aside is not None:
            self._aside.close()
        if self.path != "-":
            self._file.close()


class _Counted(io.RawIOBase):
    """A binary file that counts the bytes read from it."""

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
