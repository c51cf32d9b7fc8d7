"""Evaluating beside learning: `prequential` with all its measures and baselines, and the model's own test-then-train.

Both are given the same arrays in the same run; the ratio is the share of the model's rate that is left. Once in
processor time with one thread, and once by the clock on the wall with two, where the baselines work beside the model.
"""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

from bayou import NaiveBayes, prequential
from bayou.threads import ranges
from benchmarks.measure import alone, beside, row

RNG = np.random.default_rng(0)
BATCH = 8_000


def run() -> list[dict[str, object]]:
    works = (numbers, cover_type, names, text_labels)
    return [line for work in works for threads in (1, 2) for line in alone(work, threads)]


def _beside(work: str, X, y) -> list[dict[str, object]]:
    n = len(y)

    def evaluate():
        prequential(NaiveBayes("gaussian"), (X, y))

    def learn():
        model = NaiveBayes("gaussian")
        for lo in range(0, n, BATCH):
            model.test_then_train_batch(X[lo : lo + BATCH], y[lo : lo + BATCH])

    evaluate()
    learn()
    two = len(ranges(2, 1)) > 1
    a, b = beside(evaluate, learn, 7, time.perf_counter if two else time.process_time)
    work += ", two threads, wall" if two else ", one thread"
    return [row(work, f"{n / a / 1e6:.2f}M rows/s", f"test-then-train {n / b / 1e6:.2f}M", b / a, 0.6)]


def _numbers(n: int, columns: int, classes: int):
    y = RNG.integers(0, classes, n)
    return RNG.normal(size=(n, columns)) + 0.3 * y[:, None], y


def numbers() -> list[dict[str, object]]:
    return _beside("prequential, 8 numbers, 2 classes, 500k rows", *_numbers(500_000, 8, 2))


def cover_type() -> list[dict[str, object]]:
    return _beside("prequential, 54 numbers, 7 classes, 200k rows", *_numbers(200_000, 54, 7))


def names() -> list[dict[str, object]]:
    n = 200_000
    y = RNG.integers(0, 2, n)
    X = pa.table(
        {
            f"c{j}": pa.DictionaryArray.from_arrays(
                pa.array(RNG.integers(0, 6, n) + y, pa.int32()), [f"v{i}" for i in range(7)]
            )
            for j in range(8)
        }
    )
    return _beside("prequential, 8 dictionary columns of names, 2 classes, 200k rows", X, y)


def text_labels() -> list[dict[str, object]]:
    X, y = _numbers(200_000, 8, 2)
    return _beside("prequential, 8 numbers, labels of text, 200k rows", X, np.array(["no", "yes"])[y])
