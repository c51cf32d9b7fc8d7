"""Concentrations of the back-off of conditional probabilities, for every column and parent, fitted to the counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayou.block import Floats, Index
from bayou.checks import finite, require
from bayou.readings.joint_scorer import JointTables
from bayou.readings.parent_sets import ParentSetTable
from bayou.summaries.joint_counts import JointCounts

CANDIDATES = 2.0 ** np.arange(-2, 11)
_DIGITS = 10  # of a log-likelihood: differences beyond are rounding, and would depend on the order of storage


@dataclass(frozen=True, eq=False)
class Concentrations:
    r"""c_0 .. c_3 of `bayou.kernels.back_off`, one by one those of the largest leave-one-out likelihood.

    $\sum_{x, a, k} N[x, a, k] \log \frac{N[x, a, k] - 1 + c p'}{N[a, k] - 1 + c}$, with p' the level above, from which
    a row was taken, too; among equals the smallest. Of two parents the one with which a column is more likely is a.

    alone : float64[2, m], c_0 and c_1; pairs : float64[m, m], c_2 of child and parent; triples : float64[t], c_3 of
    the terms with two parents; first : int64[t], their a, the parent that stays, or 0
    """

    alone: Floats
    pairs: Floats
    triples: Floats
    first: Index

    @staticmethod
    def fit(summary: JointCounts, terms: ParentSetTable) -> Concentrations:
        """Fit the concentrations to counts."""
        tables, m = JointTables(summary, 0.0), len(summary.sizes)
        alone, pairs = np.ones((2, m)), np.ones((m, m))
        triples, first = np.ones(len(terms.u)), np.zeros(len(terms.u), dtype=np.int64)
        fit = np.zeros((m, m))
        above: list[Floats] = []
        for j in range(m):
            n = tables.of((j,))
            alone[0, j], _, overall = _best(n.sum(axis=1), n.sum(), 1.0 / max(1, int(summary.width[j])))
            alone[1, j], _, level = _best(n, n.sum(axis=0), overall[:, np.newaxis])
            above.append(level)
        pair_levels: dict[tuple[int, int], Floats] = {}
        has_two_parents = terms.sets[:, 2] >= 0
        needed = {(int(i), int(p)) for i, *parents in terms.sets[has_two_parents].tolist() for p in parents}
        for j in range(m):
            for p in range(m):
                if p == j:
                    continue
                n = tables.of((j, p))
                pairs[j, p], fit[j, p], level = _best(n, n.sum(axis=0), above[j][:, np.newaxis])
                if (j, p) in needed:
                    pair_levels[j, p] = level
        rank = np.argsort(summary.reading_order)
        for t in np.flatnonzero(has_two_parents):
            j, p, q = terms.sets[t].tolist()
            a, b = sorted((p, q), key=lambda parent: (-fit[j, parent], rank[parent]))
            n = tables.of((j, a, b))
            triples[t], _, _ = _best(n, n.sum(axis=0), pair_levels[j, a][:, :, np.newaxis])
            first[t] = a
        return Concentrations(alone, pairs, triples, first)

    def moved(self, before: ParentSetTable, after: ParentSetTable, columns: Index, m: int) -> Concentrations:
        """The concentrations after column j became columns[j] of m, and the terms another order; new columns get 1."""
        alone, pairs = np.ones((2, m)), np.ones((m, m))
        alone[:, columns] = self.alone
        pairs[np.ix_(columns, columns)] = self.pairs
        to = np.append(columns, -1)
        old = {_key(to[s]): t for t, s in enumerate(before.sets)}
        triples, first = np.ones(len(after.u)), np.zeros(len(after.u), dtype=np.int64)
        for t in np.flatnonzero(after.sets[:, 2] >= 0):
            at = old[_key(after.sets[t])]
            triples[t], first[t] = self.triples[at], to[self.first[at]]
        return Concentrations(alone, pairs, triples, first)

    def arrays(self) -> dict[str, Any]:
        """The arrays under stable names."""
        return {"alone": self.alone, "pairs": self.pairs, "triples": self.triples, "first": self.first}

    @staticmethod
    def restored(arrays: Mapping[str, Any], terms: ParentSetTable, m: int) -> Concentrations:
        """The concentrations from the arrays of a file, checked."""
        shapes = {"alone": (2, m), "pairs": (m, m), "triples": terms.u.shape, "first": terms.u.shape}
        for name, shape in shapes.items():
            require(arrays[name].shape == shape, f"{name} of a back-off must be {list(shape)}")
            if name != "first":
                finite(f"{name} of a back-off", arrays[name])
                in_range = (arrays[name] >= CANDIDATES[0]) & (arrays[name] <= CANDIDATES[-1])
                require(bool(in_range.all()), f"{name} of a back-off lie between 1/4 and 1024")
        first = np.array(arrays["first"], dtype=np.int64)
        has_two_parents = terms.sets[:, 2] >= 0
        parent = (terms.sets[:, 1:] == first[:, np.newaxis]).any(axis=1)
        require(
            bool(parent[has_two_parents].all() and (first[~has_two_parents] == 0).all()),
            "what stays of two parents is one of them",
        )
        alone, pairs, triples = (
            np.array(arrays[name], dtype=np.float64) for name in ("alone", "pairs", "triples")
        )
        return Concentrations(alone, pairs, triples, first)


def _key(terms: Index) -> tuple[int, ...]:
    child, *parents = (int(j) for j in terms)
    return (child, *sorted(parents))


def _best(n: Floats, below: Any, above: Any) -> tuple[float, float, Floats]:
    """The best concentration, its log-likelihood, and the leave-one-out probabilities that it gives."""
    less, under = np.maximum(n - 1.0, 0.0), np.broadcast_to(np.maximum(below - 1.0, 0.0), n.shape)
    lower = np.broadcast_to(above, n.shape)
    at = n > 0
    likelihoods = np.array(
        [(n[at] * np.log((less[at] + c * lower[at]) / (under[at] + c))).sum() for c in CANDIDATES]
    )
    size = float(np.abs(likelihoods).max())
    rounded = np.round(likelihoods / size, _DIGITS) if size > 0.0 else likelihoods
    c = float(CANDIDATES[int(np.argmax(rounded))])
    return c, float(rounded.max() * size), np.asarray((less + c * lower) / (under + c))
