"""A lock that allows one writer per folder. The system releases it when a process dies, so it is never stale."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from pathlib import Path

from bayou.persist.errors import CheckpointError

NAME = "writer.lock"


class FolderLock:
    """An exclusive lock on a folder, with a record of its owner.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> lock = FolderLock(folder)
    >>> owner_of(folder)["pid"] == os.getpid()
    True
    >>> lock.release()
    """

    def __init__(self, folder: Path) -> None:
        self._handle = os.open(folder / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._handle)
            owner = owner_of(folder)
            raise CheckpointError(
                f"{folder} is being written by process {owner.get('pid', '?')} on {owner.get('host', '?')} since "
                f"{owner.get('since', '?')}; stop it first, or give another folder"
            ) from None
        record = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": time.strftime("%Y-%m-%d %H:%M:%S"),
        }
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, json.dumps(record).encode(), 0)

    def release(self) -> None:
        """Release the lock; may be called twice."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def owner_of(folder: Path) -> dict[str, object]:
    """The last owner of the lock: process, host and time; empty if unknown."""
    try:
        record = json.loads((folder / NAME).read_bytes()[:1000])
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
