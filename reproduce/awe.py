"""AWE beside its own members, on SEA with abrupt drifts every 10,000 rows: when does the vote pay?

    python -m reproduce.awe

Accuracy in % on the chunk to come, mean of three seeds. "newest" is one classifier of the latest chunk; "heaviest" the
member with the greatest weight; "span" the rows that `members` chunks reach back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayou import AWE, HoeffdingTree, NaiveBayes
from bayou.streams.generators import SEA

SEEDS = (1, 2, 3)
COLUMNS = ("ensemble", "newest", "heaviest", "oldest", "mean")


def beside_its_members(model: AWE, seed: int, rows: int = 40_000, drift: int = 10_000) -> dict[str, float]:
    """Share of right answers on the chunk to come: the ensemble's, and its members' by what they are."""
    stream = SEA(drift_at=range(drift, rows, drift), seed=seed)
    found: dict[str, list[float]] = {name: [] for name in COLUMNS}
    for i in range(rows // model.chunk):
        part = stream.read(model.chunk)
        assert part is not None
        if i > 0:
            block = model.encode(part, part.labels)
            there = np.flatnonzero(model.engine.birth)
            answers = [
                model.joint_log_proba(block),
                *(model.engine.members[m].joint_log_proba(block) for m in there),
            ]
            ensemble, *members = (float(np.mean(a.argmax(axis=1) == block.y)) for a in answers)
            birth, weight = model.engine.birth[there], model.engine.weight[there]
            found["ensemble"].append(ensemble)
            found["newest"].append(members[birth.argmax()])
            found["heaviest"].append(members[weight.argmax()])
            found["oldest"].append(members[birth.argmin()])
            found["mean"].append(float(np.mean(members)))
        model.learn_batch(part, part.labels)
    return {name: float(np.mean(shares)) for name, shares in found.items()}


def main() -> None:
    kinds: dict[str, Callable[[], Any]] = {
        "naive Bayes": NaiveBayes,
        "naive Bayes, GKClass and MODL": lambda: NaiveBayes("gk"),
        "eager trees": lambda: HoeffdingTree(grace=20, delta=0.1, tie=0.2, split="gain"),
    }
    cases = [
        *[("naive Bayes", chunk, members) for chunk in (100, 200, 500, 1000) for members in (5, 10)],
        *[(kind, 500, members) for kind in list(kinds)[1:] for members in (5, 10)],
    ]
    print(f"| members are | chunk | members | span | {' | '.join(COLUMNS)} |")
    print("|" + "---|" * (4 + len(COLUMNS)))
    for kind, chunk, members in cases:
        runs = [beside_its_members(AWE(kinds[kind](), chunk=chunk, members=members), seed) for seed in SEEDS]
        cells = [f"{100 * np.mean([run[name] for run in runs]):.2f}" for name in COLUMNS]
        print(f"| {kind} | {chunk} | {members} | {chunk * members:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
