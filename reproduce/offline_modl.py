"""Naive Bayes with MODL intervals: one pass over the rows beside MODL run offline on all the data.

    python -m reproduce.offline_modl [set ...]

One pass means `GKClass()` as it comes: 100 tuples per column, or all values of a column that has at most a thousand.
Offline means a summary with room for every distinct value, which is exact. Both are learned on 70 % of the shuffled
rows and asked about the others (hold-out, not test-then-train), mean over five shuffles, in percent. All sets of the
shared folder with at least 1,000 rows and a numeric column.
"""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayou import GKClass, NaiveBayes
from reproduce.sets import Rows, load

SETS = (
    "credit-g",
    "segment",
    "spambase",
    "phishing",
    "banana",
    "letter",
    "adult",
    "elec",
    "covtype",
)
ONE_PASS, OFFLINE = GKClass(), GKClass(tuples=40_000)
TUPLES_ALONE = GKClass(exact=0)


def accuracy(recipe: GKClass, rows: Rows, learned: NDArray[np.int64], asked: NDArray[np.int64]) -> float:
    """Percent of right answers on the rows `asked`."""
    model = NaiveBayes(numeric=recipe)
    table = pa.table(dict(rows.columns))
    model.learn_batch(table.take(learned), [rows.labels[i] for i in learned])
    block = model.refresh().encode(table.take(asked))
    predicted = np.array(model.labels(), dtype=object)[model.proba(block).argmax(axis=1)]
    return float(100 * np.mean(predicted == np.array([rows.labels[i] for i in asked], dtype=object)))


def accuracies(name: str) -> list[float]:
    """Mean accuracy in one pass, with tuples alone, and offline."""
    rows, found = load(name), []
    for shuffle in range(5 if len(rows) < 200_000 else 1):
        order = np.random.default_rng(shuffle).permutation(len(rows))
        cut = int(0.7 * len(order))
        found.append([accuracy(r, rows, order[:cut], order[cut:]) for r in (ONE_PASS, TUPLES_ALONE, OFFLINE)])
    means: list[float] = np.mean(found, axis=0).tolist()
    return means


if __name__ == "__main__":
    print("| set | one pass | difference | 100 tuples for every column | offline |\n|---|---|---|---|---|")
    for name in sys.argv[1:] or SETS:
        ours, tuples, offline = accuracies(name)
        print(f"| {name} | {ours:.2f} | {ours - offline:+.2f} | {tuples:.2f} | {offline:.2f} |", flush=True)
