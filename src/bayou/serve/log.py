"""The log of what was accepted to be learned: append-only, checksummed, beside the checkpoints.

An entry holds the bodies of one drain of the queue as they came, in a container of `bayou.persist` behind its length.
Entries are numbered without gaps through all segments; a checkpoint says which entry comes next, and a new segment
begins with it. What a crash left behind at the very end of the log was never acknowledged, and is cut off.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bayou.errors import ModelFileError
from bayou.persist.atomic import sync_folder
from bayou.persist.container import pack, unpack
from bayou.persist.errors import CheckpointError

FORMAT = "bayou log"
LENGTH = 8
_NAME = re.compile(r"learned-([0-9]{12})\.log\Z")
_KEYS = {"verb", "key", "form", "target"}


@dataclass(frozen=True)
class LogPlace:
    """How far a followed log was learned: the identity of the log, and the position behind the last rows."""

    identity: Mapping[str, str | int] = field(default_factory=dict)
    position: Mapping[str, int] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The place as JSON values."""
        return {"identity": dict(self.identity), "position": dict(self.position)}

    @staticmethod
    def of(document: Any) -> LogPlace | None:
        """The place from what `document` returned; raises ModelFileError for anything else."""
        if document is None:
            return None
        has_both = isinstance(document, dict) and set(document) == {"identity", "position"}
        if not has_both or not all(isinstance(part, dict) for part in document.values()):
            raise ModelFileError("a place in a log is what it is known by, and a position")
        if not all(type(number) is int for number in document["position"].values()):
            raise ModelFileError("a position is made of numbers")
        return LogPlace(document["identity"], document["position"])


@dataclass(frozen=True)
class Item:
    """One request as it is logged: a verb, its key if it has one, and the body with its media type.

    `place` is the position behind the rows, if they came from a followed log.
    """

    verb: str
    key: str | None
    form: str
    target: str
    body: bytes
    place: LogPlace | None = None

    def document(self) -> dict[str, Any]:
        """All fields but the body, as JSON values."""
        out: dict[str, Any] = {name: getattr(self, name) for name in sorted(_KEYS)}
        return out if self.place is None else {**out, "place": self.place.document()}


class Log:
    """Entries in a folder that has one writer; `number` is that of the next entry.

    Examples
    --------
    >>> import tempfile
    >>> log = Log(Path(tempfile.mkdtemp()), 0)
    >>> log.append([Item("learn", None, "application/json", "label", b"{}")])
    >>> [(number, items[0].body) for number, items in log.entries(0)]
    [(0, b'{}')]
    >>> log.close()
    """

    def __init__(self, folder: Path, number: int) -> None:
        self.folder, self.number = folder, number
        self._handle = -1
        self._size = 0
        self._synced = True
        self.damaged = False

    def append(self, items: Sequence[Item]) -> None:
        """Write an entry; raises OSError if that fails, after taking back what was written of it."""
        if self.damaged:
            raise OSError("the log ends with half an entry, which could not be taken back")
        if self._handle < 0:
            self._begin_segment()
        document = {
            "number": self.number,
            "items": [item.document() for item in items],
        }
        bodies = {f"body.{n}": np.frombuffer(item.body, np.uint8) for n, item in enumerate(items)}
        content = b"".join(pack(FORMAT, document, bodies))
        data = memoryview(len(content).to_bytes(LENGTH, "little") + content)
        try:
            while len(data):
                data = data[os.write(self._handle, data) :]
        except OSError:
            self.damaged = True  # half an entry would make the next one unreadable
            os.ftruncate(self._handle, self._size)
            self.damaged = False
            raise
        self._size += LENGTH + len(content)
        self._synced = False
        self.number += 1

    def sync(self) -> None:
        """Force to disk what was appended."""
        if not self._synced:
            os.fsync(self._handle)
            self._synced = True

    def rotate(self) -> None:
        """Let the next entry begin a new segment."""
        self.close()

    def close(self) -> None:
        """Force to disk what was appended, and close the file; may be called twice."""
        if self._handle >= 0:
            self.sync()
            os.close(self._handle)
            self._handle = -1

    def prune(self, first: int) -> None:
        """Remove segments that hold no entry from `first` on."""
        segments = self._segments()
        for (_, path), (following, _) in pairwise(segments):
            if following <= first:
                path.unlink()

    def entries(self, first: int) -> Iterator[tuple[int, list[Item]]]:
        """The entries from number `first` on; truncates an entry that a crash left half written at the end."""
        expected = first
        segments = self._segments()
        for place, (start, path) in enumerate(segments):
            if place + 1 < len(segments) and segments[place + 1][0] <= first:
                continue
            if start > expected:
                raise _gap(self.folder, expected)
            for number, items in _read(path, last=place + 1 == len(segments)):
                if number < first:
                    continue
                if number != expected:
                    raise _gap(self.folder, expected)
                yield number, items
                expected += 1

    def _segments(self) -> list[tuple[int, Path]]:
        names = os.listdir(self.folder)
        return sorted((int(match[1]), self.folder / name) for name in names if (match := _NAME.match(name)))

    def _begin_segment(self) -> None:
        path = self.folder / f"learned-{self.number:012d}.log"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._handle = os.open(path, flags, 0o600)
        self._size = 0
        sync_folder(self.folder)


def _read(path: Path, last: bool) -> Iterator[tuple[int, list[Item]]]:
    data = memoryview(path.read_bytes())
    offset = 0
    while offset < len(data):
        length = int.from_bytes(data[offset : offset + LENGTH], "little")
        end = offset + LENGTH + length
        complete = LENGTH <= len(data) - offset and 0 < length and end <= len(data)
        try:
            if not complete:
                raise ModelFileError("it is cut off")
            entry = _entry(data[offset + LENGTH : end])
        except ModelFileError as problem:
            if last and (not complete or end == len(data)):
                # Written while the machine or the process died, so never acknowledged
                os.truncate(path, offset)
                return
            raise CheckpointError(
                f"{path} is damaged at byte {offset:,} ({problem}): rows that were acknowledged stand behind it; "
                "bring back a copy of the file"
            ) from None
        yield entry
        offset = end


def _entry(data: memoryview) -> tuple[int, list[Item]]:
    content = unpack(data, FORMAT)
    document, arrays = content.document, content.arrays
    items = document.get("items")
    if type(document.get("number")) is not int or not isinstance(items, list) or len(arrays) != len(items):
        raise ModelFileError("an entry has a number, and a body for every item")
    out = []
    for n, item in enumerate(items):
        if not isinstance(item, dict) or set(item) - {"place"} != _KEYS or f"body.{n}" not in arrays:
            raise ModelFileError(f"an item of the log has exactly: {', '.join(sorted(_KEYS))}, and a body")
        place = LogPlace.of(item.pop("place", None))
        out.append(Item(**item, body=arrays[f"body.{n}"].tobytes(), place=place))
    return document["number"], out


def _gap(folder: Path, number: int) -> CheckpointError:
    return CheckpointError(
        f"the log in {folder} lacks entry {number}, which the checkpoint needs; bring back the missing file"
    )
