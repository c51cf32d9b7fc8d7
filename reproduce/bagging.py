"""How bagged trees vote, and how many of them: accuracy in % over several draws of their weights.

    python -m reproduce.bagging [set ...]

Thirty members by the default's other settings, with three seeds; of these the first ten, the next ten and the last ten
are nine draws of an ensemble of ten. Votes: members' probabilities averaged, after they were raised to a power
(softer), multiplied, or each for one class. Sets, folds and rows as in `reproduce.defaults`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bayou import Bagging
from bayou.block import Floats
from bayou.engines import Members
from bayou.threads import set_threads
from reproduce.defaults import ordered
from reproduce.sets import ALL

SEEDS = (1, 2, 3)
POWERS = (1.0, 1 / 2, 1 / 4, 1 / 7)


def members_say(model: Any, columns: Any) -> Floats:
    """[members, n, K] probabilities."""
    block = model.encode(columns)
    joint = np.stack([one.joint_log_proba(block) for one in cast(Members, model.engine).members])
    joint = np.maximum(joint, -1e6)
    odds = np.exp(joint - joint.max(axis=2, keepdims=True))
    proba: Floats = odds / odds.sum(axis=2, keepdims=True)
    return proba


def votes(proba: Floats) -> dict[str, NDArray[np.int64]]:
    """What the first, next and last ten members, and the first twenty and all thirty decide."""
    found = {}
    for first in (0, 10, 20):
        ten = proba[first : first + 10]
        for power in POWERS:
            softer = ten**power
            found[f"10, to the power {power:.2f}, {first}"] = (
                (softer / softer.sum(axis=2, keepdims=True)).mean(axis=0).argmax(axis=1)
            )
        found[f"10, product, {first}"] = np.log(np.maximum(ten, 1e-3)).mean(axis=0).argmax(axis=1)
        hard = (ten == ten.max(axis=2, keepdims=True)).mean(axis=0)
        found[f"10, hard, {first}"] = hard.argmax(axis=1)
    return found | {f"{n}, soft, 0": proba[:n].mean(axis=0).argmax(axis=1) for n in (20, 30)}


def accuracies(name: str) -> dict[str, float]:
    """Percent by way of voting, the mean of all draws."""
    right: dict[str, list[float]] = defaultdict(list)
    for seed in SEEDS:
        hits: dict[str, float] = defaultdict(float)
        total = 0
        for train, test in ordered(name, "file"):
            model = Bagging(n_estimators=30, seed=seed).fit(dict(train.columns), train.labels)
            answers = np.array([str(label) for label in test.labels])
            classes = np.array([str(label) for label in model.schema_.classes.values])
            for way, places in votes(members_say(model, dict(test.columns))).items():
                hits[way] += float(np.sum(classes[places] == answers))
            total += len(answers)
        for way, count in hits.items():
            right[way.rpartition(",")[0]].append(100 * count / total)
    return {way: float(np.mean(found)) for way, found in right.items()}


def main() -> None:
    set_threads(1)
    found = {}
    for name in sys.argv[1:] or ALL:
        found[name] = accuracies(name)
        print(name, {way: round(value, 2) for way, value in found[name].items()}, flush=True)
    means = {way: np.mean([each[way] for each in found.values()]) for way in next(iter(found.values()))}
    print("mean", {way: round(float(value), 2) for way, value in means.items()})


if __name__ == "__main__":
    main()
