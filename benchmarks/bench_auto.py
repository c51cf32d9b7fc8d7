"""What each budget of Auto costs, in multiples of naive Bayes: processor time of test-then-train, one thread.

Real sets above 4,000 rows where they are at hand, 8,000 rows drawn from the first 20,000, in blocks of 2,000, those
among them in which Auto still has all its candidates; else generated streams. Rows come from the user's hands: they are
encoded for each model. Beside it stands the multiple from blocks that are encoded already, for which nothing is
promised. BAYOU_BENCH_SETS=elec,letter names sets; BAYOU_BENCH_CANDIDATES=1 measures each candidate by itself, beside
what `bayou.ensembles.costs` says.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from reproduce.sets import DATA, load

from bayou import Auto, NaiveBayes
from bayou.ensembles.auto import BUDGETS, multiples
from bayou.streams.generators import SEA, MixedGaussian
from bayou.threads import set_threads
from benchmarks.measure import row

ROWS, BLOCK, REPEATS, FIRST = 8_000, 2_000, 2, 20_000
SETS = "nursery,mushroom,elec,adult,letter,banana,airlines,spambase,covtype"
STREAMS: dict[str, Callable[[], Any]] = {
    "numbers and names": lambda: MixedGaussian(missing=0.1, seed=1, rows=ROWS),
    "three numbers": lambda: SEA(seed=1, rows=ROWS),
}

Parts = list[tuple[Any, list[Any]]]


def tables() -> Iterator[tuple[str, Parts]]:
    """By name, batches of rows and labels."""
    chosen = os.environ.get("BAYOU_BENCH_SETS", SETS if DATA.exists() else "")
    for name in chosen.split(",") if chosen else ():
        rows = load(name, FIRST)
        dealt = rows.take(np.random.default_rng(1).permutation(len(rows))[:ROWS])
        cut = [dealt.take(np.arange(lo, min(lo + BLOCK, len(dealt)))) for lo in range(0, len(dealt), BLOCK)]
        yield name, [(part.columns, part.labels) for part in cut]
    for name, make in {} if chosen else STREAMS.items():
        stream, parts = make(), []
        while (got := stream.read(BLOCK)) is not None:
            parts.append((pa.table(dict(got.columns)), got.labels.to_pylist()))
        yield name, parts


def spent(model: Any, parts: Parts) -> tuple[float, float]:
    """Microseconds per row, from the user's hands and from encoded blocks."""
    encoding = learning = 0.0
    for rows, labels in parts:
        begin = time.process_time()
        block = model.encode(rows, labels, learn=True)
        between = time.process_time()
        model.test_then_train_encoded(block)
        encoding += between - begin
        learning += time.process_time() - between
    scale = 1e6 / sum(len(labels) for _, labels in parts)
    return scale * (encoding + learning), scale * learning


def run() -> Iterator[dict[str, object]]:
    """Naive Bayes and every budget, turn by turn; then, if asked for, every candidate."""
    set_threads(1)
    for name, parts in tables():
        models: dict[str, Callable[[], Any]] = {"": NaiveBayes}
        models |= {budget: (lambda budget=budget: Auto(budget)) for budget in BUDGETS}
        asked = BUDGETS["accurate"][1] if os.environ.get("BAYOU_BENCH_CANDIDATES") else ()
        models |= {repr(candidate.make()): candidate.make for candidate in asked}
        taught = {model: make() for model, make in models.items()}
        for model in taught.values():  # kernels compiled and loaded
            model.test_then_train_batch(parts[0][0], parts[0][1])
        found = {
            model: np.min([spent(make(), parts) for _ in range(REPEATS)], axis=0)
            for model, make in models.items()
        }
        plain = found.pop("")
        peer = f"NaiveBayes {plain[0]:.1f} µs, {plain[1]:.1f} from blocks"
        for budget, (factor, _) in BUDGETS.items():
            hands, blocks = found[budget] / plain
            label = f"{name}: Auto({budget!r}), at most {factor:g} times"
            yield row(label, f"{hands:.1f} times, {blocks:.1f} from blocks", peer, 1 / hands, 1 / factor)
        sizes = multiples(asked, taught["accurate"].engine.sizes())
        for candidate, multiple in zip(asked, sizes, strict=True):
            hands, blocks = found[repr(candidate.make())] / plain[0]
            label = f"{name}: {candidate.make()!r}, {multiple:.2f} in budgets"
            yield row(label, f"{blocks:.2f} times from blocks", peer, 1 / hands, None)
