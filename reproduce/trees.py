"""Trees, ensembles and forgetting on Electricity and Covertype: prequential accuracy in %, every row from the first.

    python -m reproduce.trees [elec] [covtype]

MOA's figures (CapyMOA 0.15.1, same parameters) are quoted from one measurement. Covertype has 10 numeric and 44 nominal
columns, 581,012 rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from bayou import (
    AWE,
    Bagging,
    Experts,
    Fading,
    HoeffdingTree,
    NaiveBayes,
    NoChange,
    ResetOnDrift,
    WeightedNB,
    Window,
    open_stream,
    prequential,
)
from reproduce.accuracy import COVTYPE, DATA, STREAMS

MODELS: dict[str, tuple[Callable[[], Any], dict[str, float]]] = {
    "`NoChange()`": (NoChange, {"elec": 85.33, "covtype": 95.06}),
    "`NaiveBayes('gaussian')`": (lambda: NaiveBayes("gaussian"), {"elec": 73.36, "covtype": 60.52}),
    "`HoeffdingTree()`": (HoeffdingTree, {}),
    '`HoeffdingTree(split="gain")`': (lambda: HoeffdingTree(split="gain"), {"elec": 79.20, "covtype": 80.58}),
    '`HoeffdingTree(split="gain", leaf="majority")`': (
        lambda: HoeffdingTree(split="gain", leaf="majority"), {"elec": 75.72, "covtype": 67.77}
    ),
    '`HoeffdingTree(split="gain", leaf="bayes")`': (
        lambda: HoeffdingTree(split="gain", leaf="bayes"), {"elec": 77.43, "covtype": 79.69}
    ),
    '`HoeffdingTree(split="gini")`': (lambda: HoeffdingTree(split="gini"), {}),
    "`Bagging()`: 10 trees": (Bagging, {}),
    '`Bagging(HoeffdingTree(split="gain"), rate=1)`': (
        lambda: Bagging(HoeffdingTree(split="gain"), rate=1), {"elec": 82.42, "covtype": 84.13}
    ),
    "`Bagging(NaiveBayes('gaussian'), rate=1)`": (
        lambda: Bagging(NaiveBayes("gaussian"), rate=1), {"elec": 73.48, "covtype": 60.54}
    ),
    "`AWE()`, of naive Bayes (MOA's: of trees)": (AWE, {"elec": 70.92, "covtype": 80.23}),
    "`ResetOnDrift()`, of naive Bayes": (ResetOnDrift, {}),
    '`ResetOnDrift(HoeffdingTree(split="gain"))`': (lambda: ResetOnDrift(HoeffdingTree(split="gain")), {}),
    "`Fading(half_life=1000)`": (lambda: Fading(half_life=1000), {}),
    "`Fading(half_life=100)`": (lambda: Fading(half_life=100), {}),
    "`Fading(half_life=20)`": (lambda: Fading(half_life=20), {}),
    "`Window(rows=1000)`": (lambda: Window(rows=1000), {}),
    "`Window(rows=100)`": (lambda: Window(rows=100), {}),
    "`WeightedNB('gaussian', rate=Experts(persistence=True))`": (
        lambda: WeightedNB("gaussian", rate=Experts(persistence=True)),
        {},
    ),
}  # fmt: skip


def accuracies(name: str) -> dict[str, float]:
    """All models over one stream, in one pass."""
    file, options, *_ = STREAMS[name]
    read_options = dict(options)
    if name == "covtype":
        with open_stream(DATA / file, **read_options) as probe:
            read_options["nominal"] = [
                column for column in probe.columns if column.startswith(tuple(COVTYPE))
            ]
    models = {label: make() for label, (make, _) in MODELS.items()}
    with open_stream(DATA / file, **read_options) as stream:
        result = prequential(models, stream)
    return {label: 100 * float(result[label].scores.accuracy) for label in models}


def main() -> None:
    names = sys.argv[1:] or ["elec", "covtype"]
    found = {name: accuracies(name) for name in names}
    print("| model | " + " | ".join(f"{name} | MOA" for name in names) + " |")
    print("|" + "---|" * (1 + 2 * len(names)))
    for label, (_, moa) in MODELS.items():
        cells = [
            f"{found[name][label]:.2f} | {format(moa[name], '.2f') if name in moa else ''}" for name in names
        ]
        print(f"| {label} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
