"""Mail as a stream: an mbox file, a Maildir, a single message, or folders whose names are the classes."""

from __future__ import annotations

import hashlib
import mmap
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from bayou.errors import DataError
from bayou.streams.chunked import ChunkedSource, Outline
from bayou.streams.mail import HEADERS, BadMailError, message
from bayou.streams.policy import Chunk, Draft, Misfit, flush
from bayou.streams.read_options import ReadOptions
from bayou.streams.source import ColumnType

FOLDER, BODY, TEXT = "folder", "body", "text"
AT_ONCE = 256  # messages that are parsed at once
LARGEST = 64 << 20  # bytes of one message
MAILDIR = ("cur", "new")
_FROM = re.compile(rb"^From .*\r?\n", re.MULTILINE)
_NOMINAL = frozenset(("list-id", FOLDER))


@dataclass(frozen=True)
class Item:
    """A message: its file, first and last byte there (-1: the end of the file), and the folder it is in."""

    path: str
    start: int = 0
    end: int = -1
    folder: str | None = None


class MailFeed:
    """Messages by number, each of which can be read again."""

    def __init__(self, path: str, items: list[Item]) -> None:
        self.place, self.items, self.path = 0, items, path
        self._limit = len(items)

    def take(self) -> list[Item]:
        """The next few messages."""
        batch = self.items[self.place : min(self._limit, self.place + AT_ONCE)]
        self.place += len(batch)
        return batch

    def seek(self, place: int) -> None:
        if place > len(self.items):
            raise DataError(
                "the stream does not reach this position", value=place, remedy="were messages removed?"
            )
        self.place = place

    def confine(self, limit: int, at_record: bool = False) -> None:
        self._limit = min(limit, len(self.items))

    def identity(self) -> Mapping[str, str | int]:
        """The path, and a hash of the names and places of all messages."""
        names = hashlib.sha256()
        for item in self.items:
            name = os.path.relpath(item.path, self.path)
            names.update(f"{name}|{item.start}|{item.end}\n".encode("utf-8", "replace"))
        return {"path": self.path, "size": len(self.items), "sha256 of head": names.hexdigest()}

    def share(self) -> float | None:
        return self.place / self._limit if self._limit else 1.0

    def close(self) -> None:
        """Do nothing: no file stays open."""


class MailSource(ChunkedSource):
    """Messages as rows: `from`, `to`, `subject` and `body` as text, `list-id` nominal, and `folder`, the class.

    Parameters
    ----------
    path
        An mbox file, a Maildir, a file with one message, or a folder of folders.
    format
        "mbox", "maildir", "eml" or "folders". Of folders, files whose name ends in .txt are plain text.
    read_options
        The target: a header by its name in small letters, or `folder`.
    """

    def __init__(self, path: str, format: str, read_options: ReadOptions) -> None:
        items = list(_items(path, format))
        if not items:
            raise DataError(
                f"{path} holds no messages",
                remedy='tables are read one file at a time; of mail, say format="mbox" or format="maildir", or give '
                "a folder that has a folder for each class",
            )
        self._read_options = read_options
        self._plain = format == "folders" and all(item.path.endswith(".txt") for item in items)
        names = [TEXT] if self._plain else [*HEADERS, BODY]
        if any(item.folder is not None for item in items):
            names = [FOLDER, *names]
        header = read_options.target
        if header and header not in names and not self._plain:
            names.append(header)
        self._headers = tuple(name for name in names if name not in (FOLDER, BODY, TEXT))
        read_options.check(names)
        target = read_options.choose_target(names, FOLDER if FOLDER in names else None)
        kinds = {
            name: ColumnType("nominal" if name in _NOMINAL else "text") for name in names if name != target
        }
        kept = read_options.kept(names, target)
        super().__init__(
            Outline(read_options.typed({name: kinds[name] for name in kept}), target),
            read_options.rejects(),
            MailFeed(path, items),
        )

    def _load(self, record: int) -> Chunk | None:
        feed = self._feed
        assert isinstance(feed, MailFeed)
        items = feed.take()
        if not items:
            return None
        rows: list[Mapping[str, str | None]] = []
        records: list[int] = []
        misfits: list[Misfit] = []
        for i, item in enumerate(items):
            try:
                rows.append(self._cells(item))
                records.append(i)
            except BadMailError as problem:
                misfits.append(Misfit(i, None, str(problem), os.path.relpath(item.path, feed.path)))
        draft = Draft({}, np.array(records, np.int64), len(items), lambda i: _head(items[i]), misfits)
        for name in (*self.columns, *([self.target] if self.target else [])):
            draft.columns[name] = pa.array([row.get(name) for row in rows], pa.string())
        return flush(draft, self._read_options.policy, record)

    def _cells(self, item: Item) -> Mapping[str, str | None]:
        data = _bytes(item)
        if self._plain:
            try:
                return {FOLDER: item.folder, TEXT: data.decode("utf-8-sig")}
            except UnicodeDecodeError as problem:
                raise BadMailError("not UTF-8 text") from problem
        return {**message(data, self._headers), FOLDER: item.folder}


def _bytes(item: Item) -> bytes:
    try:
        size = os.stat(item.path).st_size if item.end < 0 else item.end - item.start
        if size > LARGEST:
            raise BadMailError(f"a message of more than {LARGEST >> 20} MiB")
        with open(item.path, "rb") as file:
            file.seek(item.start)
            return file.read(size)
    except OSError as problem:
        raise BadMailError(f"cannot be read: {problem.strerror or problem}") from problem


def _head(item: Item) -> bytes:
    """The beginning of a message, for the file of rejects."""
    try:
        return _bytes(
            Item(item.path, item.start, min(item.end, item.start + 4096)) if item.end >= 0 else item
        )[:4096]
    except BadMailError:
        return b""


def _items(path: str, format: str) -> Iterator[Item]:
    """All messages, in the same order on every machine."""
    if format == "eml":
        yield Item(path)
    elif format == "mbox":
        yield from _of_mbox(path, None)
    elif format == "maildir":
        yield from _of_maildir(Path(path), None)
    else:
        for folder in sorted(p for p in Path(path).iterdir() if p.is_dir() and not p.name.startswith(".")):
            yield from _of_folder(folder, folder.name)


def _of_folder(folder: Path, label: str) -> Iterator[Item]:
    if any((folder / name).is_dir() for name in MAILDIR):
        yield from _of_maildir(folder, label)
        return
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith(".")):
        if path.suffix == ".mbox":
            yield from _of_mbox(os.fspath(path), label)
        else:
            yield Item(os.fspath(path), folder=label)


def _of_maildir(folder: Path, label: str | None) -> Iterator[Item]:
    for name in MAILDIR:
        if (folder / name).is_dir():
            for path in sorted(p for p in (folder / name).iterdir() if p.is_file()):
                yield Item(os.fspath(path), folder=label)


def _of_mbox(path: str, label: str | None) -> Iterator[Item]:
    """Messages between lines that begin with "From "."""
    try:
        with open(path, "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                marks = [(m.start(), m.end()) for m in _FROM.finditer(data) if _begins(data, m.start())]
                size = len(data)
    except (OSError, ValueError) as problem:
        raise DataError(f"cannot open {path}: {problem}", remedy="check the path") from problem
    if not marks or marks[0][0] != 0:
        raise DataError(
            f"{path} is no mbox: it does not begin with a line `From `", remedy="is this another format?"
        )
    for (_, start), end in zip(marks, [*(begin for begin, _ in marks[1:]), size], strict=True):
        yield Item(path, start, end, label)


def _begins(data: mmap.mmap, at: int) -> bool:
    """Whether a line `From ` begins a message: at the start of the file, or after an empty line."""
    return at == 0 or data[max(0, at - 2) : at] == b"\n\n" or data[max(0, at - 4) : at] == b"\r\n\r\n"
