"""How cost grows: test-then-train from the user's hands over three decades of rows, columns, values and words.

The exponent b of cost = a size^b is fitted to the upper two decades: 1 is linear; at 0 the size does not matter.
The picture of docs/benchmarks.md is drawn by

    python -m benchmarks.bench_growth docs/gallery/growth.svg
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from bayou import BernoulliNB, ComplementNB, HoeffdingTree, MultinomialNB, NaiveBayes
from bayou.threads import set_threads
from benchmarks.measure import alone, best, row

Make = Callable[[], Any]
Held = tuple[Any, np.ndarray]
BATCH = 8_000
TABLES: dict[str, Make] = {
    "NaiveBayes('gaussian')": lambda: NaiveBayes("gaussian"),
    "NaiveBayes()": NaiveBayes,
    "HoeffdingTree()": HoeffdingTree,
}
NAMES: dict[str, Make] = {"NaiveBayes()": NaiveBayes, "HoeffdingTree()": HoeffdingTree}
WORDS: dict[str, Make] = {
    "MultinomialNB()": MultinomialNB,
    "ComplementNB()": ComplementNB,
    "BernoulliNB()": BernoulliNB,
}
MOST = 1.15  # an exponent above it is not linear


def numbers(rows: int, columns: int) -> Held:
    """A table of numeric columns, held by Arrow."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    return pa.table({f"x{j}": rng.normal(size=rows) + 0.2 * y for j in range(columns)}), y


def names(rows: int, values: int) -> Held:
    """Two columns of so many names, each of which is met."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    known = pa.array([f"v{i}" for i in range(values)])
    codes = [np.concatenate([rng.permutation(values), rng.integers(0, values, rows - values)]) for _ in "ab"]
    return pa.table(dict(zip("ab", (known.take(pa.array(c)) for c in codes), strict=True))), y


def documents(rows: int, length: int, vocabulary: int) -> Held:
    """Documents as a matrix of counts."""
    rng = np.random.default_rng(0)
    ids = rng.integers(0, vocabulary, rows * length)
    starts = np.arange(0, rows * length + 1, length)
    X = sp.csr_matrix((np.ones(len(ids)), ids, starts), shape=(rows, vocabulary))
    X.sum_duplicates()
    return X, rng.integers(0, 4, rows)


SWEEPS: dict[str, tuple[dict[str, Make], tuple[int, ...], Callable[[int], Held]]] = {
    "rows": (TABLES, (1_000, 10_000, 100_000, 1_000_000), lambda size: numbers(size, 8)),
    "columns": (TABLES, (1, 10, 100, 1_000), lambda size: numbers(1_000, size)),
    "values of a column": (NAMES, (40, 400, 4_000, 40_000), lambda size: names(40_000, size)),
    "words of a document": (WORDS, (10, 100, 1_000, 10_000), lambda size: documents(200, size, 100_000)),
    "words of the vocabulary": (
        WORDS,
        (100, 1_000, 10_000, 100_000),
        lambda size: documents(2_000, 50, size),
    ),
}


def cost(make: Make, held: Held) -> float:
    """Processor seconds of one pass of a new model, in batches."""
    X, y = held

    def through() -> None:
        model = make()
        for lo in range(0, len(y), BATCH):
            model.test_then_train_batch(X[lo : lo + BATCH], y[lo : lo + BATCH])

    return best(through, 3 if len(y) < 100_000 else 1)


def sweep(name: str) -> dict[str, list[tuple[int, float]]]:
    """Processor seconds by size, for each model."""
    set_threads(1)
    models, sizes, held = SWEEPS[name]
    tables = {size: held(size) for size in sizes}
    found = {}
    for model, make in models.items():
        cost(make, tables[sizes[0]])
        found[model] = [(size, cost(make, table)) for size, table in tables.items()]
    return found


def exponent(points: list[tuple[int, float]]) -> float:
    """b of cost = a size^b over the last three sizes."""
    sizes, seconds = np.log(np.array(points[-3:], dtype=float)).T
    return float(np.polyfit(sizes, seconds, 1)[0])


def lines(name: str) -> list[dict[str, object]]:
    """One line of the table per model."""
    out = []
    for model, points in sweep(name).items():
        (least, first), (most, last) = points[0], points[-1]
        work = f"{model}, {least:,} to {most:,} {name}: exponent"
        out.append(row(work, f"{first:.3g} s", f"{last:.3g} s", exponent(points), f"<= {MOST}"))
    return out


def run() -> list[dict[str, object]]:
    return [
        line for work in (rows, columns, values, document_words, vocabulary_words) for line in alone(work)
    ]


def rows() -> list[dict[str, object]]:
    return lines("rows")


def columns() -> list[dict[str, object]]:
    return lines("columns")


def values() -> list[dict[str, object]]:
    return lines("values of a column")


def document_words() -> list[dict[str, object]]:
    return lines("words of a document")


def vocabulary_words() -> list[dict[str, object]]:
    return lines("words of the vocabulary")


def draw(path: str) -> None:
    """Processor seconds over the size, a picture for each kind of growth."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(SWEEPS), figsize=(4 * len(SWEEPS), 4), squeeze=False)
    for axis, name in zip(axes[0], SWEEPS, strict=True):
        for model, points in sweep(name).items():
            axis.loglog(*zip(*points, strict=True), marker="o", label=f"{model}: {exponent(points):.2f}")
            print(
                name, model, [f"{size}: {seconds:.4g}" for size, seconds in points], f"{exponent(points):.2f}"
            )
        (least, _), (most, top) = points[0], points[-1]
        axis.loglog([least, most], [top * least / most, top], "k:", label="linear")
        axis.set(xlabel=name)
        axis.legend(fontsize="small", title="exponent of the last two decades")
    axes[0, 0].set_ylabel("processor seconds")
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    draw(sys.argv[1])
