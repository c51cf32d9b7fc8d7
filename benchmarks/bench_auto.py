"""What each candidate of Auto costs, and each budget, in multiples of naive Bayes: processor time of test-then-train.

The fixed numbers in `bayou.ensembles.auto` come from here and from nine real sets (docs/evidence/auto.md). With
BAYOU_BENCH_SETS=elec,letter real sets are used in place of generated streams, shuffled, 20,000 rows of each.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from reproduce.sets import load

from bayou import Auto, NaiveBayes
from bayou.ensembles.auto import BUDGETS
from bayou.streams.generators import SEA, MixedGaussian
from bayou.threads import set_threads
from benchmarks.measure import best, row

ROWS, BLOCK = 20_000, 5_000
STREAMS: dict[str, Callable[[], Any]] = {
    "numbers and names": lambda: MixedGaussian(missing=0.1, seed=1, rows=ROWS),
    "three numbers": lambda: SEA(seed=1, rows=ROWS),
}


def tables() -> Iterator[tuple[str, list[tuple[Any, list[Any]]]]]:
    """By name, batches of rows and labels."""
    chosen = os.environ.get("BAYOU_BENCH_SETS")
    for name in chosen.split(",") if chosen else ():
        rows = load(name)
        dealt = rows.take(np.random.default_rng(1).permutation(len(rows))[:ROWS])
        cut = [dealt.take(np.arange(lo, min(lo + BLOCK, len(dealt)))) for lo in range(0, len(dealt), BLOCK)]
        yield name, [(part.columns, part.labels) for part in cut]
    for name, make in {} if chosen else STREAMS.items():
        stream, parts = make(), []
        while (got := stream.read(BLOCK)) is not None:
            parts.append((pa.table(dict(got.columns)), got.labels.to_pylist()))
        yield name, parts


def taught(model: Any, parts: list[tuple[Any, list[Any]]]) -> None:
    for rows, labels in parts:
        model.test_then_train_batch(rows, labels)


def run() -> list[dict[str, object]]:
    """Naive Bayes by itself, then every candidate and every budget; Auto's time counts its first 4,000 rows."""
    set_threads(1)
    out = []
    for name, parts in tables():
        size = sum(len(labels) for _, labels in parts)
        taught(Auto("accurate"), parts)  # kernels compiled and loaded
        plain = best(lambda: taught(NaiveBayes(), parts), 3)  # noqa: B023 - run at once
        peer = f"NaiveBayes {1e6 * plain / size:.1f} µs a row"
        for candidate in BUDGETS["accurate"][1]:
            spent = best(lambda: taught(candidate.make(), parts), 2)  # noqa: B023
            label = f"{name}: {candidate.make()!r} ({candidate.cost:g} in budgets)"
            out.append(row(label, f"{spent / plain:.2f} times", peer, plain / spent, None))
        for budget, (factor, _) in BUDGETS.items():
            spent = best(lambda: taught(Auto(budget), parts), 2)  # noqa: B023
            label = f"{name}: Auto({budget!r}), at most {factor:g} times"
            out.append(row(label, f"{spent / plain:.1f} times", peer, plain / spent, 1 / factor))
    return out
