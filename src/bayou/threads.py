"""A thread pool over ranges. Learning divides columns among threads, predicting divides rows.

Kernels release the global lock, and each range is computed exactly as it would be alone, so the number of
threads never shows in the bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
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
    if _limit == 1 or n < 2 * grain:  # one range: not even a list of it, for blocks of one row
        work(0, n)
        return
    cut = ranges(n, grain)
    others = [_pool(_limit).submit(work, lo, hi) for lo, hi in cut[1:]]
    work(*cut[0])
    for other in others:
        other.result()


def in_background(work: Callable[[], Result]) -> Future[Result] | None:
    """Begin `work` in another thread while this one goes on; None where there is only one thread to be used."""
    return _pool(_limit).submit(work) if _limit > 1 else None


@cache
def _pool(size: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(size, thread_name_prefix="bayou")
