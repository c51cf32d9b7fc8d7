"""Coverage of prediction sets over every window of 5,000 rows, beside a plain quantile and beside crepes.

    python -m reproduce.prediction_sets

Electricity, the first 100,000 rows of covtype in file order, and two generated streams that drift. `ConformalSet` as it
is by default beside the same with a level that never moves (the quantile of the last thousand scores), and crepes'
`WrapClassifier` calibrated once on rows 10,000 to 15,000 of the same classifier, where it is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bayou import ConformalSet, NaiveBayes
from bayou.streams.generators import SEA, MixedGaussian
from reproduce.sets import load

WINDOW, BLOCK, PROMISED = 5000, 5000, 0.9
FIXED = 1e-12  # a rate at which the level stays where it is
LEARNED, CALIBRATED = 10_000, 15_000  # rows, of crepes

Batches = list[tuple[Any, Any]]


def of_set(name: str, rows: int) -> Batches:
    whole = load(name, rows)
    cut = [whole.take(np.arange(lo, min(lo + BLOCK, len(whole)))) for lo in range(0, len(whole), BLOCK)]
    return [(part.columns, part.labels) for part in cut]


def of_stream(stream: Any) -> Batches:
    parts = []
    while (got := stream.read(BLOCK)) is not None:
        parts.append((got.columns, got.labels))
    return parts


STREAMS: dict[str, Callable[[], Batches]] = {
    "elec": lambda: of_set("elec", 45_312),
    "covtype": lambda: of_set("covtype", 100_000),
    "mixed, classes change places": lambda: of_stream(
        MixedGaussian(drift_at=[20_000, 30_000, 45_000], seed=1, rows=60_000)
    ),
    "SEA, four concepts": lambda: of_stream(
        SEA(drift_at=[15_000, 30_000, 45_000], noise=0.1, seed=1, rows=60_000)
    ),
}


def held(batches: Batches, rate: float) -> tuple[np.ndarray, float]:
    """Whether the set of each row held its class, and the mean size."""
    model, parts, sizes = ConformalSet(NaiveBayes("gaussian"), PROMISED, rate=rate), [], []
    for rows, labels in batches:
        model.learn_many(rows, labels)
        sets, y = model.latest_sets()
        parts.append(sets[np.arange(len(y)), y])
        sizes.append(sets.sum(axis=1))
    return np.concatenate(parts), float(np.concatenate(sizes).mean())


def by_crepes(batches: Batches) -> tuple[np.ndarray, float] | None:
    """Coverage and size of crepes' sets: a classifier learned on the first rows, calibrated once on later ones."""
    try:
        from crepes import ConformalClassifier
    except ImportError:
        return None
    model, proba, y = NaiveBayes("gaussian"), [], []
    for i, (rows, labels) in enumerate(batches):
        if i < LEARNED // BLOCK:
            model.learn_many(rows, labels)
        else:
            at = {label: place for place, label in enumerate(model.labels())}
            proba.append(model.proba(model.encode(rows)))
            names = labels if isinstance(labels, list) else labels.to_pylist()
            y.append(np.array([at.get(label, -1) for label in names]))
    scores, codes = 1.0 - np.concatenate(proba), np.concatenate(y)
    calibrating = CALIBRATED - LEARNED
    own = scores[np.arange(len(codes)), np.maximum(codes, 0)]
    wrapped = ConformalClassifier().fit(own[:calibrating][codes[:calibrating] >= 0])
    sets = wrapped.predict_set(scores[calibrating:], confidence=PROMISED).astype(bool)
    later = codes[calibrating:]
    return sets[np.arange(len(later)), np.maximum(later, 0)] & (later >= 0), float(sets.sum(axis=1).mean())


def as_cell(found: tuple[np.ndarray, float] | None) -> str:
    """Least and greatest coverage of a window, coverage and size."""
    if found is None:
        return "not installed"
    total = np.concatenate([[0], np.cumsum(found[0])])
    windows = 100 * (total[WINDOW:] - total[:-WINDOW]) / WINDOW
    return f"{windows.min():.1f} to {windows.max():.1f}, all {100 * found[0].mean():.2f}, size {found[1]:.2f}"


def lines() -> Iterator[str]:
    yield "| stream | `ConformalSet` | a plain quantile of the last 1,000 | crepes, calibrated once |"
    yield "|---|---|---|---|"
    for name, make in STREAMS.items():
        batches = make()
        rate = ConformalSet().rate
        found = (as_cell(held(batches, rate)), as_cell(held(batches, FIXED)), as_cell(by_crepes(batches)))
        yield f"| {name} | {' | '.join(found)} |"


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
