"""Joint counts over a fine grid, read on the intervals of a discretiser, beside three intervals of equal width.

    python -m reproduce.coarse_grids

Ten-fold cross-validation on the UCI sets with numeric columns; grids and intervals are made from the training rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from bayou import AODE, TAN, Grid
from bayou.classifiers.joint import JointClassifier
from bayou.evaluate.crossval import splits
from bayou.threads import set_threads
from reproduce.sets import load

SETS = (
    "anneal",
    "credit-a",
    "credit-g",
    "diabetes",
    "glass",
    "heart-c",
    "hepatitis",
    "iris",
    "labor",
    "segment",
)
ALL = 10**6  # rows before the grid is made: all there are
FINE = Grid(32, "frequency", ALL)
WAYS: Mapping[str, tuple[Grid, Callable[[JointClassifier], JointClassifier]]] = {
    "3 of equal width": (Grid(3, "width", ALL), lambda model: model),
    "32 of equal weight": (FINE, lambda model: model),
    "32, MODL": (FINE, lambda model: model.coarsened("modl")),
    "32, Fayyad-Irani": (FINE, lambda model: model.coarsened("fayyad-irani")),
}


def accuracies(make: type[JointClassifier], name: str, repeats: int, seed: int) -> list[float]:
    """Mean accuracy of every way, in percent."""
    rows = load(name)
    X, y = pa.table(dict(rows.columns)), np.array(rows.labels, dtype=object)
    folds = []
    for train, test in splits(pa.array(rows.labels), 10, repeats, True, seed):
        learned: dict[Grid, JointClassifier] = {}
        right = []
        for grid, read in WAYS.values():
            if grid not in learned:
                learned[grid] = make(numeric=grid)
                learned[grid].learn_batch(X.take(pa.array(train)), y[train].tolist())
            said = read(learned[grid]).refresh().predict(X.take(pa.array(test)))
            right.append(np.mean([a == b for a, b in zip(said, y[test], strict=True)]))
        folds.append(right)
    return (100 * np.mean(folds, axis=0)).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    set_threads(1)
    makes = (AODE, TAN)
    print("| set | " + " | ".join(f"{make.__name__}, {way}" for make in makes for way in WAYS) + " |")
    print("|---" * (1 + len(makes) * len(WAYS)) + "|")
    table = []
    for name in SETS:
        cells = [x for make in makes for x in accuracies(make, name, options.repeats, options.seed)]
        table.append(cells)
        print(f"| {name} | " + " | ".join(f"{x:.2f}" for x in cells) + " |", flush=True)
    print("| **mean** | " + " | ".join(f"{x:.2f}" for x in np.mean(table, axis=0)) + " |")


if __name__ == "__main__":
    main()
