"""Back-off smoothing written as its formulas are, over lists of records and labels; numbers of values are those met."""

from __future__ import annotations

import numpy as np

CANDIDATES = [2.0**e for e in range(-2, 11)]


class NaiveBackOff:
    """Probabilities of a column given a class and parents, and the concentrations that the rows advise."""

    def __init__(self, records, labels, fitted=None):
        self.records, self.labels = records, labels
        self.kept = {} if fitted is None else fitted.kept

    def rows(self, child, parents, at, c=None):
        """Weight of the rows that have the child and these values of the parents, by value of the child."""
        found = {}
        for r, label in zip(self.records, self.labels, strict=True):
            if (c is None or label == c) and r.get(child) is not None:
                if all(r.get(p) is not None and r[p] == at[p] for p in parents):
                    found[r[child]] = found.get(r[child], 0) + 1
        return found

    def probability(self, child, parents, at, c, off=0):
        """p(x | c, parents) with `off` rows taken from every count; c None is p(x), and parents drop from the end."""
        n = self.rows(child, parents, at, c)
        own, below = n.get(at[child], 0), sum(n.values())
        if c is None:
            values = max(1, len({r[child] for r in self.records if r.get(child) is not None}))
            above = 1 / values
        elif parents:
            above = self.probability(child, parents[:-1], at, c, off)
        else:
            above = self.probability(child, (), at, None, off)
        weight = self.concentration(child, tuple(parents) if c is not None else None)
        return (max(own - off, 0) + weight * above) / (max(below - off, 0) + weight)

    def likelihood(self, child, parents, weight):
        """Leave-one-out log-likelihood of the rows with a concentration at the last level."""
        total = 0.0
        for r, label in zip(self.records, self.labels, strict=True):
            if r.get(child) is None or any(r.get(p) is None for p in parents or ()):
                continue
            c = None if parents is None else label
            n = self.rows(child, parents or (), r, c)
            if parents is None:
                above = 1 / len({q[child] for q in self.records if q.get(child) is not None})
            elif parents:
                above = self.probability(child, parents[:-1], r, c, off=1)
            else:
                above = self.probability(child, (), r, None, off=1)
            total += np.log((n[r[child]] - 1 + weight * above) / (sum(n.values()) - 1 + weight))
        return total

    def concentration(self, child, parents):
        """The best of the candidates, the first among equals."""
        key = (child, parents)
        if key not in self.kept:
            told = [self.likelihood(child, parents, weight) for weight in CANDIDATES]
            size = max(map(abs, told))
            told = [round(t / size, 9) if size else t for t in told]
            self.kept[key] = CANDIDATES[told.index(max(told))]
        return self.kept[key]

    def first(self, child, parents):
        """Two parents, the one with which the column is more likely first."""
        fit = {p: self.likelihood(child, (p,), self.concentration(child, (p,))) for p in parents}
        return tuple(sorted(parents, key=lambda p: -fit[p]))
