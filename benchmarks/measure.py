"""Timing: the best of several runs in processor time, ours and the peer's turn by turn in one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from bayou.threads import set_threads

Clock = Callable[[], float]


def best(work: Callable[[], object], repeats: int = 5, clock: Clock = time.process_time) -> float:
    """Least seconds of several runs, of the processor unless another clock is given."""
    times = []
    for _ in range(repeats):
        begin = clock()
        work()
        times.append(clock() - begin)
    return min(times)


def beside(
    ours: Callable[[], object],
    peer: Callable[[], object],
    repeats: int = 5,
    clock: Clock = time.process_time,
) -> tuple[float, float]:
    """Least seconds of each, run alternately so that both meet the same machine."""
    a, b = [], []
    for _ in range(repeats):
        a.append(best(ours, 1, clock))
        b.append(best(peer, 1, clock))
    return min(a), min(b)


def alone(work: Callable[[], list[dict[str, object]]], threads: int = 1) -> list[dict[str, object]]:
    """The rows of one comparison, in a process of its own: nothing before it has warmed caches or grown the heap."""
    with ProcessPoolExecutor(
        1, get_context("spawn"), initializer=set_threads, initargs=(threads,)
    ) as process:
        return process.submit(work).result()


def row(work: str, ours: str, peer: str, ratio: float, target: object) -> dict[str, object]:
    """One line of the table: what was done, how fast, beside whom, and the claim."""
    return {"work": work, "ours": ours, "peer": peer, "ratio": ratio, "target": target}
