"""Table 1 of document 003, its times: training with and without a code, per set; and codes fitted to the problem.

    python -m reproduce.document_003_times                 63 bits, the best of five fits
    python -m reproduce.document_003_times --fitted        accuracy with columns for confused pairs besides, ten folds

The document trains in O((n + t) g) with a code of n columns in place of O(n t g): one pass over t rows, then n sums
over g attributes. Here a code is read off the counts when somebody predicts, so a fit costs what naive Bayes costs; the
column "ready" adds the first prediction, which is when the tables of the code are made. "A pass per column" is naive
Bayes trained once for each column of the code, on relabelled rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bayou import MultinomialNB
from bayou.classifiers.ecoc import EcocNB
from bayou.codes import BCH
from bayou.evaluate.crossval import splits
from reproduce.document_003 import DOCUMENT, load
from reproduce.sets import DATA


def best(action: Callable[[], Any], times: int = 5) -> float:
    """Seconds of processor time, the least of several runs."""
    found = []
    for _ in range(times):
        start = time.process_time()
        action()
        found.append(time.process_time() - start)
    return min(found)


def times(X: Any, y: Any, bits: int) -> dict[str, float]:
    """Seconds to train: without a code, with one, until it has predicted a row, and with a pass per column."""

    def per_column() -> None:
        classes = np.unique(y)
        for column in BCH(bits).rows(len(classes)).T:
            sides = np.where(column[np.searchsorted(classes, y)] > 0, "+", "-")
            MultinomialNB().fit(X, sides)

    return {
        "without": best(lambda: MultinomialNB().fit(X, y)),
        "with": best(lambda: EcocNB(MultinomialNB(), BCH(bits)).fit(X, y)),
        "ready": best(lambda: EcocNB(MultinomialNB(), BCH(bits)).fit(X, y).predict(X[:1])),
        "a pass per column": best(per_column, 1),
    }


def accuracies(X: Any, y: Any, bits: int) -> dict[str, float]:
    """Ten folds: naive Bayes, the code, and the code with columns for the pairs it confuses most."""
    classes = np.unique(y)
    right = {"naive Bayes": 0, "BCH": 0, "fitted, k columns": 0, "fitted, 3 k columns": 0}
    for train, held in splits(y.tolist(), 10, 1, True, 0):
        model = EcocNB(MultinomialNB(), BCH(bits)).fit(X[train], y[train])
        asked = {
            "naive Bayes": MultinomialNB().fit(X[train], y[train]),
            "BCH": model,
            "fitted, k columns": model.fitted(),
            "fitted, 3 k columns": model.fitted(3 * len(classes)),
        }
        for name, one in asked.items():
            right[name] += int(np.sum(one.predict(X[held]) == y[held]))
    return {name: 100 * n / len(y) for name, n in right.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bits", type=int, default=63)
    parser.add_argument("--fitted", action="store_true")
    options = parser.parse_args()
    for path in sorted((DATA / "text").glob("*.wc.arff*")):
        name = path.name.split(".")[0]
        X, y = load(path)
        found = accuracies(X, y, options.bits) if options.fitted else times(X, y, options.bits)
        told_there = DOCUMENT.get(name)
        theirs = f" (document: {told_there[2]} s without, {told_there[3]} s with)" if told_there else ""
        unit = "%" if options.fitted else "s"
        print(
            f"{name}{theirs}: " + ", ".join(f"{what} {x:.3f} {unit}" for what, x in found.items()), flush=True
        )


if __name__ == "__main__":
    main()
