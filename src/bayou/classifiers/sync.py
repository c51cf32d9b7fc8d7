"""The lock and flag that let several threads predict with one model at once, while no other changes it."""

from __future__ import annotations

import time
from threading import RLock
from typing import Any

from bayou.summaries.mark import Mark

_WAIT = 20e-6  # seconds between two checks whether threads still predict


class Sync:
    """Whether a model is ready to predict without changing itself, and the lock under which it is changed.

    The first prediction after something was learned flushes pending records and refreshes stale readings, under the
    lock; threads that predict at the same time wait for it. From then on any number of threads predict without the
    lock: each registers itself in `readers` *before* it reads `synced`. A thread that changes the model (`with
    sync:`) takes the lock, clears `synced` and then waits until no thread predicts, since kernels must not read
    arrays that move. In whatever order two threads do this, one of them sees the other. Copies and pickles of a model
    have a new lock.

    Examples
    --------
    >>> import copy
    >>> sync = Sync()
    >>> sync.synced = True
    >>> copy.deepcopy(sync).synced
    False
    >>> with sync:
    ...     sync.synced
    False
    """

    __slots__ = ("lock", "mark", "readers", "synced")

    def __init__(self) -> None:
        self.lock = RLock()
        self.synced = False
        self.mark = Mark()  # of the model's state
        self.readers: list[None] = []  # one entry for each; append and pop are atomic

    def __enter__(self) -> None:
        self.lock.acquire()
        self.wait()

    @property
    def held(self) -> bool:
        """Whether the thread that asks holds the lock."""
        lock: Any = self.lock
        return bool(lock._is_owned())  # as `threading.Condition` asks

    def wait(self) -> None:
        """Clear `synced`, and wait until no thread predicts; the caller holds the lock, and may change the state."""
        self.synced = False
        while self.readers:
            time.sleep(_WAIT)
        self.mark = Mark()

    def __exit__(self, *problem: object) -> None:
        self.lock.release()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Sync, ())
