"""Naive Bayes on groups of values beside naive Bayes on the values themselves.

    python -m reproduce.groups [set ...]

Accuracy in percent: learned on nine of ten random folds and asked about the tenth, for all ten (adult: two), and
test-then-train in the order of the file and in random order. `values` are read with Laplace's rule, as naive Bayes
does by default, and with the m-estimate (m = 1) that groups are read with. Cells are the values or groups, all
nominal columns together, after all rows.
"""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa

from bayou import MEstimate, NaiveBayes
from reproduce.sets import Rows, load

SETS = ("adult", "mushroom", "nursery", "soybean")
MODELS = {
    "values": lambda: NaiveBayes("gaussian"),
    "m-estimate": lambda: NaiveBayes("gaussian", smoothing=MEstimate(1.0)),
    "groups": lambda: NaiveBayes("gaussian", groups="modl"),
}


def right(model: NaiveBayes, proba: np.ndarray, labels: list[object]) -> int:
    """Rows whose most probable class is theirs; a row before anything is known counts as wrong."""
    predicted = np.array(model.labels(), dtype=object)[proba.argmax(axis=1)]
    return int(np.sum((predicted == np.array(labels, dtype=object)) & proba.any(axis=1)))


def folds(kind: str, rows: Rows, used: int) -> float:
    """Accuracy over the first `used` of ten random folds."""
    fold = np.random.default_rng(0).permutation(len(rows)) % 10
    good = 0
    for k in range(used):
        model = MODELS[kind]()
        kept, held = rows.take(np.flatnonzero(fold != k)), rows.take(np.flatnonzero(fold == k))
        model.learn_batch(pa.table(dict(kept.columns)), kept.labels)
        model.refresh()
        good += right(model, model.proba(model.encode(pa.table(dict(held.columns)))), held.labels)
    return 100 * good / int((fold < used).sum())


def stream(kind: str, rows: Rows) -> tuple[float, int]:
    """Test-then-train accuracy, and the cells at the end."""
    model, good = MODELS[kind](), 0
    table = pa.table(dict(rows.columns))
    for lo in range(0, len(rows), 1000):
        labels = rows.labels[lo : lo + 1000]
        good += right(model, model.test_then_train_batch(table.slice(lo, 1000), labels), labels)
    view = model.refresh().engine.views["nominal"]
    cells = len(view.reading.counts) if kind == "groups" else int(view.summary.seen.sum())
    return 100 * good / len(rows), cells


if __name__ == "__main__":
    print("| set | read as | cells | ten folds | stream, order of the file | stream, random order |")
    print("|---|---|---|---|---|---|")
    for name in sys.argv[1:] or SETS:
        rows = load(name)
        mixed = rows.take(np.random.default_rng(0).permutation(len(rows)))
        for kind in MODELS:
            held = folds(kind, rows, 2 if name == "adult" else 10)
            (in_order, cells), (shuffled, _) = stream(kind, rows), stream(kind, mixed)
            print(f"| {name} | {kind} | {cells} | {held:.2f} | {in_order:.2f} | {shuffled:.2f} |", flush=True)
