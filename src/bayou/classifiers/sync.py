"""The lock and flag that let several threads predict with one model at once, while no other changes it."""

from __future__ import annotations

import time
from threading import RLock
from typing import Any

from bayou.summaries.mark import Mark

_WAIT = 20e-6  # seconds between two looks at whether threads still predict


class Sync:
    """Whether a model is ready to predict without changing itself, and the lock under which it is changed.

    The first prediction after something was learned flushes pending records and refreshes stale readings, under the
    lock; threads that ask at the same time wait for it. From then on any number of threads predict without the lock:
    each announces itself in `readers` *before* it looks at `synced`. Who changes the model (`with sync:`) takes the
    lock, clears `synced` and then waits until nobody predicts, for kernels must not read arrays that move. In whatever
    order two threads do this, one of them sees the other. Copies and pickles of a model begin with a lock of their own.

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

    def wait(self) -> None:
        """Clear `synced`, and wait until nobody predicts: the state may change. For who holds the lock."""
        self.synced = False
        while self.readers:
            time.sleep(_WAIT)
        self.mark = Mark()

    def __exit__(self, *problem: object) -> None:
        self.lock.release()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Sync, ())
