"""Quantile summaries, MODL on them, and prediction over intervals: 500 numeric columns, from encoded blocks.

Peers: DataSketches' vector of KLL sketches, one per class, on the same values (its 32-bit floats made beforehand,
the split by class counted); scikit-learn's KBinsDiscretizer followed by CategoricalNB. Streams are made block by
block outside the clock. Processor time, except for threads, where the wall clock is what counts.

    python -m benchmarks quantiles
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bayou.align import Alignment, Axis
from bayou.block import Block
from bayou.densities.binned import CPiD, GKClass
from bayou.readings.equal import EqualFrequency
from bayou.readings.intervals import Intervals
from bayou.readings.modl import MODL
from bayou.threads import set_threads

COLUMNS, BLOCK = 500, 1000


def empty(recipe: Any, k: int = 2) -> Any:
    none = Axis(np.arange(0), 0)
    summary = recipe.summary()
    summary.realign(Alignment(Axis(np.arange(0), k), Axis(np.arange(0), COLUMNS), none, (), none, ()))
    return summary


def stream(order: str, rows: int, k: int = 2) -> Iterator[Block]:
    """Blocks of a stream: random, sorted, reversed, or from both ends inwards."""
    rng = np.random.default_rng(0)
    for start in range(0, rows, BLOCK):
        y = rng.integers(0, k, BLOCK).astype(np.int32)
        if order == "random":
            x = rng.normal(size=(BLOCK, COLUMNS)) + y[:, None] * np.linspace(0, 1, COLUMNS)
        else:
            place = np.arange(start, start + BLOCK)
            if order == "outside-in":
                place = np.where(place % 2, rows - place, place - rows)
            x = (-1.0 if order == "reversed" else 1.0) * (place[:, None] + 0.5 * rng.random((BLOCK, COLUMNS)))
        yield Block(np.ascontiguousarray(x), np.empty((BLOCK, 0), np.int32), (), y, np.ones(BLOCK))


def learn(
    order: str, rows: int, takers: dict[Callable[[], Any], Callable[[Any, Block], float]]
) -> list[float]:
    """Least processor seconds per value over the whole stream, all takers block by block, best of two."""
    best = [float("inf")] * len(takers)
    for _ in range(2):
        summaries = [make() for make in takers]
        seconds = [0.0] * len(takers)
        for block in stream(order, rows):
            for i, take in enumerate(takers.values()):
                seconds[i] += take(summaries[i], block)
        best = [min(pair) for pair in zip(best, seconds, strict=True)]
    return [seconds / rows / COLUMNS for seconds in best]


def take_ours(summary: Any, block: Block) -> float:
    start = time.process_time()
    summary.update(block)
    return time.process_time() - start


def take_kll(sketches: Any, block: Block) -> float:
    values = block.numeric.astype(np.float32)
    start = time.process_time()
    for c, sketch in enumerate(sketches):
        sketch.update(values[block.y == c])
    return time.process_time() - start


def best_of(
    work: Callable[[], object], repeats: int = 5, clock: Callable[[], float] = time.process_time
) -> float:
    work()
    best = float("inf")
    for _ in range(repeats):
        start = clock()
        work()
        best = min(best, clock() - start)
    return best


def updates() -> list[dict[str, Any]]:
    from datasketches import vector_of_kll_floats_sketches

    def kll() -> list[Any]:
        return [vector_of_kll_floats_sketches(200, COLUMNS) for _ in range(2)]

    take_ours(empty(GKClass()), next(stream("random", BLOCK)))
    lines = []
    for order, rows, target in (
        ("random", 100_000, 2.0),
        ("sorted", 30_000, 0.5),
        ("reversed", 30_000, 0.5),
        ("outside-in", 30_000, 0.5),
    ):
        ours, peer = learn(order, rows, {lambda: empty(GKClass()): take_ours, kll: take_kll})
        lines.append(
            {
                "work": f"GKClass update, 500 columns, 2 classes, {order}, {rows:,} rows (KLL per class)",
                "ours": f"{1e-6 / ours:.1f}M values/s",
                "peer": f"{1e-6 / peer:.1f}M values/s",
                "ratio": peer / ours,
                "target": target,
            }
        )
    (grid,) = learn("random", 30_000, {lambda: empty(CPiD()): take_ours})
    lines.append({"work": "cPiD update, 500 columns, 2 classes, 30,000 random rows (within 25 ns a value)",
                  "ours": f"{1e9 * grid:.0f} ns", "peer": "25 ns", "ratio": 2.5e-8 / grid, "target": 1.0})  # fmt: skip
    return lines


def predictions() -> list[dict[str, Any]]:
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.preprocessing import KBinsDiscretizer

    lines = []
    for k in (2, 7):
        summary = empty(GKClass(), k)
        blocks = list(stream("random", 20_000, k))
        for block in blocks:
            summary.update(block)
        x, y = np.concatenate([b.numeric for b in blocks]), np.concatenate([b.y for b in blocks])
        whole = Block(x, np.empty((len(x), 0), np.int32), (), y, np.ones(len(x)))
        if k == 2:
            seconds = best_of(lambda s=summary: Intervals(MODL()).read(s))
            lines.append({"work": "MODL refresh, 500 columns of 100 tuples, 2 classes (within 50 ms)",
                          "ours": f"{1e3 * seconds:.0f} ms", "peer": "50 ms", "ratio": 0.05 / seconds,
                          "target": 1.0})  # fmt: skip
        reading = Intervals(EqualFrequency(12)).read(summary)
        out = np.zeros((len(x), k))
        ours = best_of(lambda r=reading, b=whole, o=out: r.add_log_prob(b, o)) / len(x)
        bins = KBinsDiscretizer(12, encode="ordinal", quantile_method="averaged_inverted_cdf").fit(x)
        model = CategoricalNB().fit(bins.transform(x), y)
        peer = best_of(lambda m=model, b=bins, x=x: m.predict_joint_log_proba(b.transform(x)), 2) / len(x)
        lines.append({"work": f"predict, 500 columns of 12 intervals, {k} classes (KBinsDiscretizer + CategoricalNB)",
                      "ours": f"{1e-3 / ours:.0f}k rows/s", "peer": f"{1e-3 / peer:.0f}k rows/s",
                      "ratio": peer / ours, "target": 8.0})  # fmt: skip
    return lines


def threads() -> list[dict[str, Any]]:
    blocks = list(stream("random", 20_000))
    x, y = np.concatenate([b.numeric for b in blocks]), np.concatenate([b.y for b in blocks])
    whole = Block(x, np.empty((len(x), 0), np.int32), (), y, np.ones(len(x)))
    summary = empty(GKClass())
    summary.update(whole)
    reading = Intervals(EqualFrequency(12)).read(summary)
    out = np.zeros((len(x), 2))
    works = {
        "GKClass update": lambda: empty(GKClass()).update(whole),
        "predict over intervals": lambda: reading.add_log_prob(whole, out),
        "MODL refresh": lambda: Intervals(MODL()).read(summary),
    }
    lines = []
    for name, work in works.items():
        seconds: dict[int, list[float]] = {1: [], 2: []}
        for n in (1, 2) * 7:  # turn by turn, so that both meet the same machine
            set_threads(n)
            seconds[n].append(best_of(work, 1, time.perf_counter))
        one, two = min(seconds[1]), min(seconds[2])
        lines.append({"work": f"{name}, two threads (one thread), wall clock", "ours": f"{1e3 * two:.0f} ms",
                      "peer": f"{1e3 * one:.0f} ms", "ratio": one / two, "target": 1.6})  # fmt: skip
    return lines


def run() -> list[dict[str, Any]]:
    set_threads(1)
    lines = updates() + predictions()
    return lines + threads()


if __name__ == "__main__":
    for line in run():
        print(line)
