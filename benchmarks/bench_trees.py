"""Hoeffding trees and bagging, exact test-then-train, side by side with River.

    python benchmarks/bench_trees.py

Both sides predict every row before they learn it. Ours gets Arrow columns in batches of 1,000 rows and encodes them
itself; River gets dictionaries made beforehand. Each figure is the best of several runs, since the machine is shared.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from bayou import NaiveBayes
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.ensembles import Bagging

BATCH = 1000
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


def ours(model: Callable[[], Any], columns: Columns, y: np.ndarray, repeat: int = 3) -> float:
    """Seconds per row, encoding included."""
    batches = [
        ({k: pa.array(v[i : i + BATCH]) for k, v in columns.items()}, pa.array(y[i : i + BATCH]))
        for i in range(0, len(y), BATCH)
    ]
    best = float("inf")
    for _ in range(repeat):
        fresh = model()
        begin = time.perf_counter()
        for rows, labels in batches:
            fresh.test_then_train_batch(pa.table(rows), labels)
        best = min(best, time.perf_counter() - begin)
    return best / len(y)


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


def rows() -> list[dict[str, object]]:
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
            lambda: Bagging(NaiveBayes()),
            bagged(naive_bayes.GaussianNB),
            wide(50_000),
            500,
            300,
        ),
    ]
    table: list[dict[str, object]] = []
    for work, mine, theirs, (columns, y), few, target in cases:
        ours(mine, {k: v[:2000] for k, v in columns.items()}, y[:2000], repeat=1)  # compile
        a, b = ours(mine, columns, y), river(theirs, columns, y, few)
        table.append(
            {
                "work": work,
                "ours": round(1 / a),
                "peer": round(1 / b),
                "ratio": round(b / a, 1),
                "target": target,
            }
        )
    return table


if __name__ == "__main__":
    for row in rows():
        speeds = f"{row['ours']:>10,} rows/s  River {row['peer']:>7,}"
        print(f"{row['work']:<60} {speeds}  x {row['ratio']:>6} ({row['target']})")
