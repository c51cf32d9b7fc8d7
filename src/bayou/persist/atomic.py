"""Atomic writing: readers see the old file or the new one, never a part, also after a crash or on a full disk."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

SUFFIX = ".part"
SMALL = 1 << 16
_numbers = itertools.count()


def write_atomic(path: str | os.PathLike[str], buffers: Iterable[bytes | memoryview]) -> None:
    """Write into a temporary file beside `path`, force it to disk, put it in place, force the folder to disk.

    On any error the temporary file is removed and `path` is what it was.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "greeting"
    >>> write_atomic(path, [b"hel", b"lo"]); path.read_bytes()
    b'hello'
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{next(_numbers)}{SUFFIX}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        try:
            for part in _joined(buffers):
                _write_all(handle, memoryview(part))
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, FileNotFoundError) and not path.parent.exists():
            raise FileNotFoundError(error.errno, "there is no such folder", str(path.parent)) from None
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Force the entries of a folder to disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _joined(buffers: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """The buffers, small ones joined, since a system call for each would cost more than the copy."""
    small: list[bytes | memoryview] = []
    for buffer in buffers:
        if len(buffer) < SMALL:
            small.append(buffer)
            continue
        yield b"".join(small)
        yield buffer
        small = []
    yield b"".join(small)


def _write_all(handle: int, data: memoryview) -> None:
    while len(data):
        data = data[os.write(handle, data[: 1 << 30]) :]
