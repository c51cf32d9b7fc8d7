"""When predicting only looks: a model at rest has taken in the records that wait and read all that is due."""

from __future__ import annotations

from threading import RLock
from typing import Any


class Sync:
    """Whether a model is at rest, and the lock under which it gets there.

    The first prediction after something was learned takes in what waits and reads what is due; threads that ask at the
    same time wait for it. Copies and pickles of a model begin with a lock of their own.

    Examples
    --------
    >>> import copy
    >>> rest = Sync()
    >>> rest.synced = True
    >>> copy.deepcopy(rest).synced
    False
    """

    __slots__ = ("lock", "synced")

    def __init__(self) -> None:
        self.lock = RLock()
        self.synced = False

    def __reduce__(self) -> tuple[Any, ...]:
        return (Sync, ())
