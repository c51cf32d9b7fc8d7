"""What the order of rows costs: accuracy in % on 30 % held out, learned in file order, sorted by class, shuffled.

    python -m reproduce.order [--fit | --stream] [set ...]
    python -m reproduce.order --stream --models "NaiveBayes(),WeightedNB()" --rows 60000 --shuffles 1 all
    python -m reproduce.order --stream --models "NaiveBayes(),WeightedNB()" --splits 20 breast-cancer credit-g

With `--fit` (the default) all rows are in hand, and learners that depend on their order get them in a hashed one; with
`--stream` the same rows are learned as they come, in one pass (`learn_many`). Test rows are drawn by a seed, whatever
the order; with `--splits` figures are means over so many seeds. Shuffled figures are means over three shuffles.
Covertype: its first 100,000 rows; `--rows` bounds all sets.
`drawn` is made by a seed to be like MAGIC's telescope: 19,020 rows of ten columns without a value twice, two classes of
65 and 35 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayou import GKClass, HoeffdingTree, NaiveBayes, WeightedNB
from reproduce.accuracy import COVTYPE
from reproduce.sets import ALL, Rows, load

SETS = (
    "spambase", "nursery", "kr-vs-kp", "letter", "segment", "adult", "mushroom", "banana", "elec", "drawn", "covtype",
)  # fmt: skip
ROWS = {"covtype": 100_000}
SHUFFLES = 3
MODELS: dict[str, Callable[[], Any]] = {
    "NaiveBayes()": NaiveBayes,
    'NaiveBayes("gk")': lambda: NaiveBayes("gk"),
    "NaiveBayes(GKClass(tuples=300))": lambda: NaiveBayes(GKClass(tuples=300)),
    "WeightedNB()": WeightedNB,
    'WeightedNB("gk")': lambda: WeightedNB("gk"),
    "HoeffdingTree()": HoeffdingTree,
}


def drawn() -> Rows:
    """Two classes of skewed columns that go with a common size; some are wider in one class."""
    rng, rows = np.random.default_rng(0), 19_020
    y = rng.random(rows) < 0.35
    shared = rng.normal(size=rows)  # the size of a shower, which all columns follow
    columns = {}
    for j in range(10):
        shape = np.where(y, 1.2 + 0.1 * j, 2.0)
        columns[f"x{j}"] = pa.array(
            rng.gamma(shape) * np.exp(0.3 * shared) + 0.2 * (j % 3) * y * rng.normal(size=rows)
        )
    return Rows(columns, np.where(y, "hadron", "gamma").tolist())


def split(rows: Rows, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of the rows to learn, in file order, and of the rows to test."""
    tested = np.sort(np.random.default_rng(seed).permutation(len(rows))[round(0.7 * len(rows)) :])
    return np.setdiff1d(np.arange(len(rows)), tested), tested


def orders(rows: Rows, learned: NDArray[np.int64], shuffled: int) -> dict[str, list[NDArray[np.int64]]]:
    """The rows to learn in each order, as many times as it is tried."""
    labels = np.array([str(rows.labels[i]) for i in learned])
    shuffles = [np.random.default_rng(seed).permutation(learned) for seed in range(shuffled)]
    return {"file": [learned], "sorted": [learned[np.argsort(labels, kind="stable")]], "shuffled": shuffles}


def table(rows: Rows) -> tuple[dict[str, Any], list[Any]]:
    """Rows and labels as classifiers take them; Covertype's 44 flags are nominal."""
    flags = tuple(COVTYPE)
    columns = {name: c.cast(pa.string()) if name.startswith(flags) else c for name, c in rows.columns.items()}
    return columns, rows.labels


def accuracies(name: str, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Accuracy of every model in every order."""
    most = options.rows or ROWS.get(name)
    rows = drawn() if name == "drawn" else load(name, most)
    if most is not None and len(rows) > most:
        rows = rows.take(np.arange(most))
    models = options.models.split(",") if options.models else list(MODELS)
    found: dict[str, dict[str, list[float]]] = {label: {} for label in models}
    for seed in range(options.splits):
        learned, tested = split(rows, seed)
        test, answers = table(rows.take(tested))
        for order, tries in orders(rows, learned, options.shuffles).items():
            for places in tries:
                train, labels = table(rows.take(places))
                for label in models:
                    model = MODELS[label]()
                    if options.stream:
                        model.learn_many(train, labels)
                        model.refresh()
                    else:
                        model.fit(train, labels)
                    right = np.mean([a == b for a, b in zip(model.predict_many(test), answers, strict=True)])
                    found[label].setdefault(order, []).append(100 * float(right))
    return {label: {order: float(np.mean(v)) for order, v in each.items()} for label, each in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--stream", action="store_true")
    parser.add_argument("--models", default="")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--shuffles", type=int, default=SHUFFLES)
    parser.add_argument("--splits", type=int, default=1)
    options = parser.parse_args()
    head = ""
    for name in ALL if options.sets == ["all"] else options.sets:
        found = accuracies(name, options)
        if not head:
            head = "| set | " + " | ".join(f"{label}: file / sorted / shuffled" for label in found) + " |"
            print(head + "\n|" + "---|" * (1 + len(found)))
        cells = [" / ".join(f"{v:.2f}" for v in each.values()) for each in found.values()]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
