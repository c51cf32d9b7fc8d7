"""Hoeffding trees and bagging, exact test-then-train, side by side with River.

    python benchmarks/bench_trees.py

Both sides predict every row before they learn it; ours gives the same bits whatever the batch. "From Arrow": ours gets
Arrow columns in batches of 10,000 rows, nominal ones as dictionaries, as the readers of files hand them out, and
encodes them itself. "From blocks": they are encoded beforehand, as River's records are made beforehand. Each figure is
the best of several runs, since machines are shared. In the last rows the peer is the same ensemble on one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import bayou
from bayou import NaiveBayes
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.ensembles import Bagging

BATCH = 10_000
Columns = dict[str, np.ndarray]


def mixed(rows: int, seed: int = 1) -> tuple[Columns, np.ndarray]:
    """8 attributes, 5 numeric and 3 nominal, 2 classes, a concept that takes a tree to learn."""
    rng = np.random.default_rng(seed)
    x = rng.random((rows, 5))
    codes = rng.integers(0, 4, (rows, 3))
    y = np.where(codes[:, 0] < 2, x[:, 0] > 0.5, x[:, 1] + 0.3 * (codes[:, 1] == 1) > 0.6)
    y ^= rng.random(rows) < 0.05
    names = np.array(["a", "b", "c", "d"])
    columns: Columns = {f"x{j}": x[:, j] for j in range(5)} | {f"n{j}": names[codes[:, j]] for j in range(3)}
    return columns, np.array(["no", "yes"])[y.astype(int)]


def wide(rows: int, seed: int = 1) -> tuple[Columns, np.ndarray]:
    """54 numeric attributes, 7 classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 7, rows)
    centres = rng.normal(0, 1, (7, 3, 54))
    x = centres[y, rng.integers(0, 3, rows)] + rng.normal(0, 2.0, (rows, 54))
    return {f"x{j}": np.ascontiguousarray(x[:, j]) for j in range(54)}, y


def ours(model: Callable[[], Any], columns: Columns, y: np.ndarray, encoded: bool, repeat: int = 5) -> float:
    """Seconds per row."""
    batches = [
        (pa.table({k: _arrow(v[i : i + BATCH]) for k, v in columns.items()}), _arrow(y[i : i + BATCH]))
        for i in range(0, len(y), BATCH)
    ]
    first = model()
    blocks = [first.encode(rows, labels, learn=True) for rows, labels in batches]
    best = float("inf")
    for _ in range(repeat):
        fresh = first.fresh() if encoded else model()
        begin = time.perf_counter()
        if encoded:
            for block in blocks:
                fresh.test_then_train(block)
        else:
            for rows, labels in batches:
                fresh.test_then_train_batch(rows, labels)
        best = min(best, time.perf_counter() - begin)
    return best / len(y)


def _arrow(values: np.ndarray) -> pa.Array:
    found = pa.array(values)
    return found.dictionary_encode() if values.dtype.kind == "U" else found


def river(model: Callable[[], Any], columns: Columns, y: np.ndarray, rows: int, repeat: int = 2) -> float:
    """Seconds per row of the first `rows` rows."""
    names = list(columns)
    values = [columns[k][:rows].tolist() for k in names]
    records = [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
    labels = y[:rows].tolist()
    best = float("inf")
    for _ in range(repeat):
        fresh = model()
        begin = time.perf_counter()
        for x, label in zip(records, labels, strict=True):
            fresh.predict_proba_one(x)
            fresh.learn_one(x, label)
        best = min(best, time.perf_counter() - begin)
    return best / rows


def threads(
    model: Callable[[], Any], columns: Columns, y: np.ndarray, repeat: int = 5
) -> tuple[float, float]:
    """Seconds per row with one thread and with two, turn by turn; the blocks are encoded once, for all members."""
    first = model()
    blocks = [
        first.encode(pa.table({k: _arrow(v[i : i + BATCH]) for k, v in columns.items()}), y[i : i + BATCH], learn=True)
        for i in range(0, len(y), BATCH)
    ]  # fmt: skip
    best = [float("inf"), float("inf")]
    for _ in range(repeat):
        for number in (1, 2):
            bayou.set_threads(number)
            fresh = first.fresh()
            begin = time.perf_counter()
            for block in blocks:
                fresh.test_then_train(block)
            best[number - 1] = min(best[number - 1], time.perf_counter() - begin)
    return best[0] / len(y), best[1] / len(y)


def run() -> list[dict[str, object]]:
    """The table: rows per second of both, their ratio, and what it should be."""
    from river import ensemble, naive_bayes, tree

    def bagged(base: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: ensemble.BaggingClassifier(base(), n_models=10, seed=1)

    peer_tree = tree.HoeffdingTreeClassifier
    cases = [
        ("tree, 8 mixed attributes, 2 classes", HoeffdingTree, peer_tree, mixed(200_000), 20_000, 60),
        ("tree, 54 numeric attributes, 7 classes", HoeffdingTree, peer_tree, wide(100_000), 3_000, 60),
        ("10 bagged trees, 8 mixed attributes", Bagging, bagged(peer_tree), mixed(50_000), 3_000, 60),
        ("10 bagged trees, 54 numeric attributes", Bagging, bagged(peer_tree), wide(20_000), 500, 60),
        (
            "10 bagged naive Bayes, 54 numeric attributes",
            lambda: Bagging(NaiveBayes("gaussian")),
            bagged(naive_bayes.GaussianNB),
            wide(50_000),
            500,
            300,
        ),
    ]
    table: list[dict[str, object]] = []
    for work, mine, theirs, (columns, y), few, target in cases:
        ours(mine, {k: v[:2000] for k, v in columns.items()}, y[:2000], False, repeat=1)  # compile
        peer = river(theirs, columns, y, few)
        for encoded in (True, False):
            own = ours(mine, columns, y, encoded)
            table.append(
                {
                    "work": f"{work}, from {'blocks' if encoded else 'Arrow'}",
                    "ours": round(1 / own),
                    "peer": round(1 / peer),
                    "ratio": round(peer / own, 1),
                    "target": target,
                }
            )
    for work, (columns, y) in (("8 mixed", mixed(50_000)), ("54 numeric", wide(20_000))):
        one, two = threads(Bagging, columns, y)
        table.append(
            {
                "work": f"10 bagged trees, {work} attributes, two threads beside one",
                "ours": round(1 / two),
                "peer": round(1 / one),
                "ratio": round(one / two, 2),
                "target": 1.5,
            }
        )
    return table


if __name__ == "__main__":
    for row in run():
        speeds = f"{row['ours']:>10,} rows/s  peer {row['peer']:>7,}"
        print(f"{row['work']:<60} {speeds}  x {row['ratio']:>6} ({row['target']})")
