"""Why the two-parent collection stays below the Bayes rate, however many rows it sees.

    python -m reproduce.document_002_why

A collection adds P(x_i | c, pa) over its parent sets with equal weights. Of the 1 + (i - 1) + (i - 1)(i - 2) / 2 sets
of column i only i - 1 hold the parent it really has, a share near 2 / i that does not depend on the number of rows;
the rest of the sum says little more than naive Bayes. Weighting each set by the evidence for it (the Dirichlet
likelihood of the column given the set) keeps the same closed form and concentrates; so does choosing one tree.
"""

from __future__ import annotations

import numpy as np

from bayou.readings.collection import add_terms
from bayou.readings.parent_sets import ParentSetTable
from bayou.readings.prior import CountedPrior
from bayou.readings.structure import GreedyForest
from bayou.streams.generators.networks import RandomNetwork
from reproduce.document_002 import Bench

STEPS = (16_384, 131_072, 1_048_576)


def weighed_forests(bench: Bench) -> ParentSetTable:
    """FANC's parent sets, each weighted by its evidence relative to the best of its column."""
    gain, terms = GreedyForest("bayes").gains(bench.counts), []
    for i in range(len(bench.source.columns)):
        sets = {-1: 0.0, **{p: float(gain[i, p]) for p in range(i)}}
        top = max(sets.values())
        terms += [(i, p, -1, float(np.exp(max(g - top, -700.0)))) for p, g in sets.items()]
    return ParentSetTable.of(terms, len(bench.source.columns))


def held_share(bench: Bench) -> float:
    """Mean share of TC's parent sets that hold all attribute parents of their column."""
    shares = []
    for i, parents in enumerate(bench.source.parents):
        sets = 1 + i + i * (i - 1) // 2
        with_them = {0: sets, 1: i, 2: 1}.get(len(parents), 0)
        shares.append(with_them / sets)
    return float(np.mean(shares))


def main() -> None:
    print("| source | sets that hold the parents | rows | Bayes | NB | FANC | TC | FANC by evidence | TAN |")
    print("|---" * 9 + "|")
    for seed in range(3):
        bench, at = Bench(RandomNetwork("tan", seed=seed)), 0
        for step in STEPS:
            bench.counts.update(block := bench.block(range(at // 4096, step // 4096)))
            bench.classes.update(block)
            at = step
            out = np.zeros((bench.held.n, 2))
            CountedPrior(1.0).add_log_prob(bench.classes, bench.held, out)
            add_terms(bench.counts, weighed_forests(bench), 1.0, bench.held.codes, out)
            weighed = float(np.mean(out.argmax(axis=1) == bench.held.y))
            found = bench.accuracies()
            read = [found[name] for name in ("NB", "FANC", "TC")]
            cells = [bench.source.bayes_accuracy, *read, weighed, found["TAN"]]
            shown = " | ".join(f"{100 * x:.2f}" for x in cells)
            print(f"| tan, seed {seed} | {100 * held_share(bench):.0f} % | {step:,} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
