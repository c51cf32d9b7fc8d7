"""Records one at a time beside River, the loop that streams are made of: on the same records in one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from river import naive_bayes, tree

from bayou import Bagging, HoeffdingTree, NaiveBayes
from benchmarks.measure import alone, beside, row

ROWS = 4000


def run() -> list[dict[str, object]]:
    return [line for work in (normals, trees) for line in alone(work)]


def _records() -> tuple[dict[str, list[dict[str, Any]]], list[int]]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    numbers = (rng.normal(size=(ROWS, 8)) + 0.5 * y[:, None]).tolist()
    names = rng.integers(0, 7, (ROWS, 2)).astype(str).tolist()
    eight = [dict(zip("abcdefgh", line, strict=True)) for line in numbers]
    mixed = [
        dict(zip("abcdefgh", (*line[:6], *two), strict=True))
        for line, two in zip(numbers, names, strict=True)
    ]
    return {"8 numbers": eight, "6 numbers + 2 names": mixed}, y.tolist()


def both(model: Any, records: Sequence[dict[str, Any]], labels: Sequence[int]) -> None:
    """Predict, then learn."""
    for x, y in zip(records, labels, strict=True):
        model.predict_proba_one(x)
        model.learn_one(x, y)


def learn(model: Any, records: Sequence[dict[str, Any]], labels: Sequence[int]) -> None:
    """Learn alone."""
    for x, y in zip(records, labels, strict=True):
        model.learn_one(x, y)


def predict(model: Any, records: Sequence[dict[str, Any]], labels: Sequence[int]) -> None:
    """Predict alone."""
    for x in records:
        model.predict_proba_one(x)


def _line(
    name: str, work: Callable[..., None], ours: Any, peer: Any, mine: Any, theirs: Any, y: Any, target: object
) -> dict[str, object]:
    for model, records in ((ours, mine), (peer, theirs)):
        both(model, records, y)
    a, b = beside(lambda: work(ours, mine, y), lambda: work(peer, theirs, y), 5)
    peer_name = type(peer).__name__
    return row(name, f"{1e6 * a / ROWS:.1f} us", f"River {peer_name} {1e6 * b / ROWS:.1f} us", b / a, target)


def normals() -> list[dict[str, object]]:
    """River's normal densities take numbers only: its names are given as numbers."""
    found, y = _records()
    lines = []
    for name, records in found.items():
        numbers = [{key: float(value) for key, value in x.items()} for x in records]
        for work, verb, target in (
            (both, "predict, then learn", 10),
            (learn, "learn", 1.5),
            (predict, "predict", 25),
        ):
            label = f"NaiveBayes by records, {verb}, {name}"
            ours, peer = NaiveBayes(numeric="gaussian"), naive_bayes.GaussianNB()
            lines.append(_line(label, work, ours, peer, records, numbers, y, target))
    return lines


def trees() -> list[dict[str, object]]:
    """Trees and bagged trees; River's forest of as many trees is beside the latter."""
    from river import ensemble

    found, y = _records()
    lines = []
    for name, records in found.items():
        label = f"HoeffdingTree by records, predict, then learn, {name}"
        lines.append(
            _line(label, both, HoeffdingTree(), tree.HoeffdingTreeClassifier(), records, records, y, 2)
        )
    few = found["8 numbers"]
    peer = ensemble.BaggingClassifier(tree.HoeffdingTreeClassifier(), n_models=10, seed=1)
    label = "10 bagged trees by records, predict, then learn, 8 numbers"
    lines.append(_line(label, both, Bagging(n_estimators=10), peer, few, few, y, None))
    return lines
