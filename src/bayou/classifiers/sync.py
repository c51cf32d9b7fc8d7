"""The lock and flag that let several threads predict with one model at once."""

from __future__ import annotations

from threading import RLock
from typing import Any


class Sync:
    """Whether a model is ready to predict without changing itself, and the lock under which it gets ready.

    The first prediction after something was learned flushes pending records and refreshes stale readings, under the
    lock; threads that ask at the same time wait for it. Copies and pickles of a model begin with a lock of their own.

    Examples
    --------
    >>> import copy
    >>> sync = Sync()
    >>> sync.synced = True
    >>> copy.deepcopy(sync).synced
    False
    """

    __slots__ = ("lock", "synced")

    def __init__(self) -> None:
        self.lock = RLock()
        self.synced = False

    def __reduce__(self) -> tuple[Any, ...]:
        return (Sync, ())
