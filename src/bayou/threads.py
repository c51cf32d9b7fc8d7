"""A thread pool over ranges. Learning divides columns among threads, predicting divides rows.

Kernels release the global lock, and each range is computed exactly as it would be alone, so the number of
threads never shows in the bits.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from threading import Event
from typing import TypeVar

Result = TypeVar("Result")
_limit = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def set_threads(n: int) -> None:
    """Set the number of threads: use at most `n` from now on.

    Results do not depend on it. Unless it is called, there are as many threads as cores.

    Parameters
    ----------
    n
        Threads for learning columns, predicting rows and the members of ensembles.

    Examples
    --------
    >>> set_threads(1); ranges(1000, 10)
    [(0, 1000)]
    """
    global _limit
    _limit = max(1, n)


@contextmanager
def limited(n: int) -> Iterator[None]:
    """At most `n` threads inside the block."""
    before = _limit
    set_threads(n)
    try:
        yield
    finally:
        set_threads(before)


def ranges(n: int, grain: int) -> list[tuple[int, int]]:
    """`n` items as at most one range per thread, none shorter than `grain` (unless there is only one)."""
    parts = max(1, min(_limit, n // max(1, grain)))
    edges = [n * i // parts for i in range(parts + 1)]
    return list(pairwise(edges))


def over_ranges(work: Callable[[int, int], None], n: int, grain: int) -> None:
    """Call `work(lo, hi)` over ranges that cover `n` items, in parallel where it is worth it."""
    if _limit == 1 or n < 2 * grain:  # one range, called directly, since blocks of one row are frequent
        work(0, n)
        return
    cut = ranges(n, grain)
    futures = [(_pool(_limit).submit(work, lo, hi), lo, hi) for lo, hi in cut[1:]]
    work(*cut[0])
    for future, lo, hi in futures:
        if future.cancel():  # no thread was free to begin it
            work(lo, hi)
        else:
            future.result()


def over_pieces(work: Callable[[int, int], None], n: int, grain: int) -> None:
    """As `over_ranges`, for items of unequal cost: each thread takes pieces of `grain` items until none is left."""
    if _limit == 1 or n <= grain:
        work(0, n)
        return
    pieces = deque((lo, min(lo + grain, n)) for lo in range(0, n, grain))

    def take() -> None:
        while True:
            try:
                lo, hi = pieces.popleft()
            except IndexError:
                return  # nothing is left
            work(lo, hi)

    futures = [_pool(_limit).submit(take) for _ in range(min(_limit, len(pieces)) - 1)]
    try:
        take()
    finally:
        pieces.clear()  # after an error, the other pieces are not begun
        for future in futures:
            if not future.cancel():  # else no thread was free
                future.result()


def in_background(work: Callable[[], Result]) -> Future[Result] | None:
    """Begin `work` in another thread and return its future; None where only one thread may be used."""
    return _pool(_limit).submit(work) if _limit > 1 else None


class SharedWork:
    """Tasks that a thread of the pool begins, and that the thread that waits for them helps to finish.

    Parameters
    ----------
    first
        Done before all others.
    others
        Done afterwards, each by any thread.
    beside
        Whether to use another thread; without one, the constructor does all tasks.

    Examples
    --------
    >>> done = []
    >>> work = SharedWork(lambda: done.append("first"), [lambda: done.append("other")] * 3)
    >>> work.finish(); done
    ['first', 'other', 'other', 'other']
    """

    def __init__(
        self, first: Callable[[], object], others: Iterable[Callable[[], object]], beside: bool = True
    ) -> None:
        self._first, self._others, self._begun = first, deque(others), Event()
        self._future = in_background(self._do_all) if beside else None
        if self._future is None:
            self._do_all()

    def _do_all(self) -> None:
        self._do_first()
        self._do_others()

    def _do_first(self) -> None:
        try:
            self._first()
        except BaseException:
            self._others.clear()
            raise
        finally:
            self._begun.set()

    def _do_others(self) -> None:
        """Do tasks until none is left to begin."""
        while True:
            try:
                task = self._others.popleft()
            except IndexError:
                return  # nothing is left
            task()

    def finish(self) -> None:
        """Do the tasks that no thread has begun, wait for the others, and raise the exception of a task, if any.

        No thread does any of the tasks when it returns or raises, also where Ctrl-C interrupts it.
        """
        try:
            self._finish()
        finally:
            if self._future is not None and not self._future.cancel():
                wait([self._future])

    def _finish(self) -> None:
        if self._future is not None and self._future.cancel():  # no thread was free; perhaps all wait here
            self._future = None  # what was cancelled once is cancelled whenever it is asked
            self._do_first()
            self._future = in_background(self._do_others) if self._others else None
        self._begun.wait()
        self._do_others()
        if self._future is not None and not self._future.cancel():
            self._future.result()


@cache
def _pool(size: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(size, thread_name_prefix="bayou")
