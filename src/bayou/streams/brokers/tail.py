"""Growing files, followed line by line, also through rotation; incomplete lines are not read."""

from __future__ import annotations

import glob
import os
import select
import time
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bayou.errors import DataError, warn_user
from bayou.streams import limits
from bayou.streams.brokers.log import Batch, BrokerWarning, Log
from bayou.streams.records import outside

_SHIFT = 48  # an offset is the number of a file, from 0, and a byte in it
_HEAD = 1024  # bytes by which a file is recognised
_STANDARD_INPUT = "-"


@dataclass(frozen=True)
class _FileIdentity:
    """The identity of a file: its inode, and a checksum of its first `size` bytes."""

    inode: int
    size: int
    checksum: int


class TailLog(Log):
    """A file and those it is rotated into, or all files of a pattern, in order of their names.

    When a file has been read to its end and the next one exists, the next one is read. A line is read when its end has
    been written.
    """

    counted = False

    def __init__(self, path: str, *, csv: bool, strict: bool) -> None:
        self._path, self._csv, self._strict = path, csv, strict
        self._pattern = glob.has_magic(path) and not os.path.exists(path)
        self._piped = path == _STANDARD_INPUT
        self._number, self._handle, self._name = -1, -1, ""
        # files that have been read to their end, by number
        self._finished_files: dict[int, _FileIdentity] = {}
        self._recalled: _FileIdentity | None = None
        self.header = b""
        self.delimiter = b","
        self._byte, self._buffer, self._head = 0, b"", (0, 0)
        self._start_of(0)

    def identity(self) -> Mapping[str, str | int]:
        return {"header": self.header.decode("utf-8", "replace")} if self._csv else {}

    def first(self, partition: int) -> int:
        return 0

    def end(self, partition: int) -> int:
        files = self._files()
        if not files:
            return 0
        return (max(0, len(files) - 1 if self._pattern else 0) << _SHIFT) + os.path.getsize(files[-1])

    def seek(self, offsets: Mapping[int, int]) -> None:
        number, byte = divmod(offsets[0], 1 << _SHIFT)
        if number == self._number and byte == self._byte:  # the buffer begins there
            return
        if self._piped:
            raise DataError("standard input cannot go back", remedy="store the stream in a file to resume")
        identity = self._finished_files.get(number) or self._recalled
        self._close_file()
        if identity is None:
            self._start_of(0)
            return
        name = self._find(identity, byte)
        self._start_of(number, name)
        if byte:
            os.lseek(self._handle, byte, os.SEEK_SET)
            self._byte, self._headed = byte, True

    def fetch(self, most: int, seconds: float, only: Collection[int]) -> list[Batch]:
        if not only:
            return []
        until = time.monotonic() + seconds
        while True:
            batch = self._fetch(most)
            if batch is not None:
                return [batch]
            if time.monotonic() >= until or self._finished:
                return []
            if not self._piped:
                time.sleep(min(0.02, max(0.0, until - time.monotonic())))

    def read_header(self) -> bytes:
        """The first line of the first file, which is waited for; the lines read with it stay in the buffer."""
        while not self.header:
            if self._handle >= 0 or self._open_first():
                self._buffer += self._read()
                end = self._buffer.find(b"\n") + 1
                if end or self._finished:
                    self._take_header(self._buffer[: end or None].rstrip(b"\r\n"))
                    self._headed, self._fresh = False, True
                    break
            time.sleep(0.02)
        return self.header

    @property
    def over(self) -> bool:
        """Whether standard input has ended."""
        return self._finished

    def at_end(self, partition: int) -> bool:
        return self._at_end

    def facts(self, offsets: Mapping[int, int]) -> dict[str, int]:
        number, byte = divmod(offsets[0], 1 << _SHIFT)
        if self._piped or (number == self._number and self._handle < 0):
            return {}
        self._finished_files = {n: identity for n, identity in self._finished_files.items() if n >= number}
        identity = self._finished_files.get(number) or self._identity_of(byte)
        return {"inode": identity.inode, "head bytes": identity.size, "head": identity.checksum}

    def recall(self, facts: Mapping[str, int], offsets: Mapping[int, int]) -> None:
        if "inode" in facts:
            self._recalled = _FileIdentity(facts["inode"], facts["head bytes"], facts["head"])

    def close(self) -> None:
        self._close_file()

    def _fetch(self, most: int) -> Batch | None:
        """The next complete lines; None if there are none now."""
        if self._handle < 0 and not self._open_first():
            self._at_end = True
            return None
        if not self._piped and (os.fstat(self._handle).st_size < self._byte or not self._same_head()):
            self._truncated()
            return None
        data = self._read()
        if not data and not self._finished and not self._fresh:
            return self._at_the_end()
        self._buffer += data
        self._fresh = False
        return self._lines(whole=self._finished)

    def _read(self) -> bytes:
        if self._piped:
            self._at_end = not select.select([self._handle], [], [], 0.02)[0]
            if self._at_end:
                return b""
            data = os.read(self._handle, limits.CHUNK)
            self._finished = self._at_end = not data
            return data
        return os.read(self._handle, limits.CHUNK)

    def _lines(self, whole: bool) -> Batch | None:
        """Split the buffer into records; with `whole`, also a last one without a line end."""
        mark = self.delimiter if self._csv else None
        ends = (outside(self._buffer, mark, b"\n") + 1).tolist()
        if whole and self._buffer and (not ends or ends[-1] < len(self._buffer)):
            ends.append(len(self._buffer))
        if not ends:
            if len(self._buffer) > limits.LINE:
                raise DataError(
                    f"a line of {self._name} is longer than 1 MiB",
                    value=self._buffer[:40].decode("utf-8", "replace"),
                    remedy="is a quote left open, or is this another format?",
                )
            return None
        values, behind, start, base = [], [], 0, (self._number << _SHIFT) + self._byte
        for end in ends:
            line = self._buffer[start:end].rstrip(b"\r\n")
            start = end
            if not self._headed and self._csv:
                self._take_header(line)
            elif line:
                values.append(line)
                behind.append(base + end)
        self._buffer = self._buffer[start:]
        self._byte += start
        self._at_end = self._at_end and not values
        return Batch(0, values, behind) if values else None

    def _take_header(self, line: bytes) -> None:
        line = line.removeprefix(b"\xef\xbb\xbf")
        if self.header and line != self.header:
            raise DataError(
                f"the header of {self._name} is not that of the files before it",
                value=line.decode("utf-8", "replace"),
                remedy="start a new model for new columns",
            )
        self.header, self._headed = line, True

    def _at_the_end(self) -> Batch | None:
        """Continue with the next file, if there is one; returns the last lines of this one."""
        if self._piped:
            return None
        following = self._following()
        if following is None:
            self._at_end = True
            return None
        self._buffer += os.read(self._handle, limits.CHUNK)  # written between the last read and the rotation
        if last := self._lines(whole=False):
            return last
        # After the rotation, the end of an incomplete line will not be written any more
        last = self._lines(whole=True)
        self._open_next(following)
        return last

    def _truncated(self) -> None:
        """Handle a file that was truncated: an error, or a warning, and it is read again from its beginning."""
        problem = f"{self._name} is shorter than what was read of it, or begins anew: it was truncated"
        if self._strict:
            raise DataError(
                problem, remedy='rotate by renaming; policy="skip" goes on with its new beginning'
            )
        warn_user(problem, BrokerWarning)
        self._open_next(self._name)

    def _open_next(self, name: str) -> None:
        """Close the file, and open another as the next one."""
        number = self._number
        self._finished_files[number] = self._identity_of(self._byte)
        self._close_file()
        self._start_of(number + 1, name)

    def _identity_of(self, byte: int) -> _FileIdentity:
        """The identity of the current file, by at most its first `byte` bytes."""
        head = os.pread(self._handle, min(_HEAD, byte), 0)
        return _FileIdentity(os.fstat(self._handle).st_ino, len(head), zlib.crc32(head))

    def _same_head(self) -> bool:
        """Whether the beginning of the file is unchanged."""
        head = os.pread(self._handle, min(_HEAD, self._byte), 0)
        same = zlib.crc32(head[: self._head[0]]) == self._head[1] and len(head) >= self._head[0]
        self._head = len(head), zlib.crc32(head)
        return same

    def _following(self) -> str | None:
        """The file to read after this one; None if it does not exist yet."""
        files = self._files()
        if self._pattern:
            later = [name for name in files if name > self._name]
            return later[0] if later else None
        if not files or files[-1] != self._path:
            return None  # moved away, and the new one is not there yet
        inodes = [_inode(name) for name in files]
        inode = os.fstat(self._handle).st_ino
        if inodes[-1] == inode:
            return None
        return files[inodes.index(inode) + 1] if inode in inodes else files[-1]

    def _files(self) -> list[str]:
        """The existing files, in the order in which they are read."""
        if self._pattern:
            return sorted(name for name in glob.glob(self._path) if os.path.isfile(name))
        rotated = [name for name in glob.glob(f"{glob.escape(self._path)}.*") if os.path.isfile(name)]
        rotated = [name for name in rotated if not name.endswith((".gz", ".zst", ".part"))]
        rotated.sort(key=lambda name: (_written(name), _age(name), name))
        return rotated + [self._path] * os.path.isfile(self._path)

    def _find(self, identity: _FileIdentity, byte: int) -> str:
        """The file that was read when a checkpoint was written, also if it was renamed since."""
        candidates = []
        for name in self._files():
            try:
                with open(name, "rb") as file:
                    status = os.fstat(file.fileno())
                    if status.st_size >= byte and zlib.crc32(file.read(identity.size)) == identity.checksum:
                        candidates.append((status.st_ino == identity.inode, name))
            except OSError:
                continue
        matches = [name for same, name in candidates if same] or [name for _, name in candidates]
        if len(matches) != 1:
            raise DataError(
                f"the file of {self._path} that was read last is gone, shorter or rewritten",
                remedy="bring it back beside the others; or start again in an empty folder",
            )
        return matches[0]

    def _start_of(self, number: int, name: str | None = None) -> None:
        self._number, self._byte, self._buffer, self._headed = number, 0, b"", not self._csv
        self._at_end = self._finished = self._fresh = False
        self._head = 0, zlib.crc32(b"")
        if name is not None:
            self._name, self._handle = name, os.open(name, os.O_RDONLY)

    def _open_first(self) -> bool:
        """Open the first file; returns whether it exists."""
        if self._piped:
            self._name, self._handle = "standard input", 0
            return True
        files = self._files() if self._pattern else [self._path] * os.path.isfile(self._path)
        if files:
            self._name, self._handle = files[0], os.open(files[0], os.O_RDONLY)
        return bool(files)

    def _close_file(self) -> None:
        if self._handle > 0:
            os.close(self._handle)
        self._handle = -1


def _inode(name: str) -> int:
    try:
        return os.stat(name).st_ino
    except OSError:
        return -1


def _written(name: str) -> int:
    try:
        return os.stat(name).st_mtime_ns
    except OSError:
        return 0


def _age(name: str) -> int:
    """Of two files last written at the same time, the one with the larger number is the older."""
    number = name.rpartition(".")[2]
    return -int(number) if number.isdigit() else 0
