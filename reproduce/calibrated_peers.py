"""`Calibrated` beside scikit-learn's `CalibratedClassifierCV` and River's naive Bayes, all of Gaussian naive Bayes.

    python -m reproduce.calibrated_peers

The first 6,000 rows are learned, the next 6,000 are judged: scikit-learn's as it is after the first, ours and River's
while they go on learning, each row predicted before it is learned.
Numeric columns; debiased calibration error, accuracy (%)
and log-loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from river.naive_bayes import GaussianNB as RiversNB
from sklearn.calibration import CalibratedClassifierCV
from sklearn.naive_bayes import GaussianNB

from bayou import Calibrated, NaiveBayes
from bayou.block import Floats
from bayou.ensembles.calibrated import calibration_error
from bayou.kernels.outcomes import BINS
from reproduce.auto import STREAMS, ordered
from reproduce.calibrated import scores
from reproduce.sets import load

SETS, FIRST, ROWS = ("elec", "covtype", "letter", "banana"), 6_000, 12_000


def error(proba: Floats, y: np.ndarray) -> float:
    """The debiased calibration error of probabilities."""
    bins, top = np.zeros((BINS, 3)), proba.max(axis=1)
    at = np.minimum((top * BINS).astype(int), BINS - 1)
    np.add.at(bins, at, np.column_stack([np.ones(len(y)), top, proba.argmax(axis=1) == y]))
    return calibration_error(bins)


def by_river(X: Floats, labels: list[Any], classes: list[Any], first: int) -> Floats:
    model, out = RiversNB(), np.zeros((len(X) - first, len(classes)))
    names = [f"x{j}" for j in range(X.shape[1])]
    for i, (values, label) in enumerate(zip(X.tolist(), labels, strict=True)):
        row = dict(zip(names, values, strict=True))
        if i >= first:
            said = model.predict_proba_one(row)
            out[i - first] = [said.get(c, 0.0) for c in classes]
        model.learn_one(row, label)
    return out


def lines() -> Iterator[str]:
    yield (
        "| set | `NaiveBayes('gaussian')` | `Calibrated` of it | isotonic over beta | River's GaussianNB "
        "| scikit-learn's GaussianNB | `CalibratedClassifierCV`, sigmoid | isotonic |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for name in SETS:
        rows = ordered(load(name, ROWS), "file" if name in STREAMS else "shuffled")
        X = np.column_stack(
            [np.asarray(column.to_numpy(zero_copy_only=False), float) for column in rows.columns.values()]
        )
        first = min(FIRST, len(rows) // 2)
        classes = sorted(set(rows.labels[:first]))
        known = np.array([i for i in range(len(rows)) if rows.labels[i] in set(classes)])
        X, labels = X[known], [rows.labels[i] for i in known]
        y = np.array([classes.index(label) for label in labels])
        predictions = []
        plain = Calibrated(NaiveBayes("gaussian"))
        for model in (NaiveBayes("gaussian"), plain, Calibrated(plain.blank(), "isotonic")):
            model.partial_fit(X[:first], y[:first])
            predictions.append(model.test_then_train_batch(X[first:], y[first:]))
        predictions.append(by_river(X, labels, classes, first))
        theirs = [
            GaussianNB(),
            *(CalibratedClassifierCV(GaussianNB(), method=m, cv=5) for m in ("sigmoid", "isotonic")),
        ]
        predictions += [model.fit(X[:first], y[:first]).predict_proba(X[first:]) for model in theirs]
        cells = []
        for proba in predictions:
            accuracy, loss = scores(proba, y[first:])
            cells.append(f"{error(proba, y[first:]):.4f} / {accuracy:.1f} / {loss:.3f}")
        yield f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
