"""Collections of networks by brute force: every network in turn, probabilities as exact fractions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

from tests.naive.joint import Counts, Row, cell

Sets = Mapping[int, Sequence[tuple[tuple[int, ...], int]]]  # child -> (parents, weight)


class World:
    """Counts, sizes and Laplace's rule with pseudo-count `alpha`."""

    def __init__(self, counts: Counts, sizes: Sequence[int], k: int, alpha: int = 1) -> None:
        self.counts, self.sizes, self.k, self.alpha = counts, sizes, k, alpha
        self.m = len(sizes)
        self.widths = [sum(self.known(j, v) for v in range(sizes[j])) for j in range(self.m)]

    def known(self, j: int, v: int) -> bool:
        return v >= 0 and any(cell(self.counts, {j: v}, c) > 0 for c in range(self.k))

    def drop_unknown(self, row: Row) -> list[int]:
        return [v if self.known(j, v) else -1 for j, v in enumerate(row)]

    def conditional(self, row: Row, i: int, parents: Sequence[int], c: int) -> Fraction:
        given = {p: row[p] for p in parents}
        n = cell(self.counts, {i: row[i], **given}, c)
        total = sum(cell(self.counts, {i: v, **given}, c) for v in range(self.sizes[i]))
        return Fraction(int(n) + self.alpha, int(total) + self.alpha * self.widths[i])

    def prior(self, c: int) -> Fraction:
        weights = [cell(self.counts, {}, a) for a in range(self.k)]
        seen = sum(weight > 0 for weight in weights)
        return Fraction(int(weights[c]) + 1, int(sum(weights)) + seen) if weights[c] else Fraction(0)

    def usable(self, row: Row, sets: Sets, i: int) -> list[tuple[tuple[int, ...], int]]:
        """Parent sets whose values the row has; the class alone where none is left."""
        left = [(pa, u) for pa, u in sets[i] if all(row[p] >= 0 for p in pa)]
        return left or [((), 1)]

    def all_networks(self, row: Row, sets: Sets, c: int) -> tuple[Fraction, int]:
        """Equation 1: the sum over networks, and their number."""
        row = self.drop_unknown(row)
        held = [i for i in range(self.m) if row[i] >= 0]
        total, number = Fraction(0), 0
        for network in product(*(self.usable(row, sets, i) for i in held)):
            vote = self.prior(c)
            for i, (parents, u) in zip(held, network, strict=True):
                vote *= u * self.conditional(row, i, parents, c)
            total += vote
            number += 1
        return total, number

    def closed_form(self, row: Row, sets: Sets, c: int) -> Fraction:
        """Equation 2: the product over columns of sums over parent sets."""
        row = self.drop_unknown(row)
        score = self.prior(c)
        for i in range(self.m):
            if row[i] >= 0:
                score *= sum(
                    (u * self.conditional(row, i, pa, c) for pa, u in self.usable(row, sets, i)), Fraction(0)
                )
        return score

    def aode(self, row: Row, c: int, min_count: int = 1) -> Fraction:
        row = self.drop_unknown(row)
        held = [i for i in range(self.m) if row[i] >= 0]
        classes = sum(cell(self.counts, {}, a) > 0 for a in range(self.k))
        votes = []
        for s in held:
            per_class = [cell(self.counts, {s: row[s]}, a) for a in range(self.k)]
            if sum(per_class) < min_count:
                continue
            rows = sum(cell(self.counts, {s: v}, a) for v in range(self.sizes[s]) for a in range(self.k))
            vote = Fraction(int(per_class[c]) + self.alpha, int(rows) + self.alpha * classes * self.widths[s])
            for i in held:
                if i != s:
                    vote *= self.conditional(row, i, (s,), c)
            votes.append(vote)
        if not cell(self.counts, {}, c):
            return Fraction(0)
        if votes:
            return sum(votes, Fraction(0)) / len(votes)
        return self.closed_form(row, naive(self.m), c)


def naive(m: int) -> Sets:
    return {i: [((), 1)] for i in range(m)}


def forests(order: Sequence[int]) -> Sets:
    return {i: [((), 1), *(((j,), 1) for j in order[:r])] for r, i in enumerate(order)}


def two_parents(order: Sequence[int]) -> Sets:
    return {
        i: [*forests(order)[i], *((pa, 1) for pa in combinations(order[:r], 2))] for r, i in enumerate(order)
    }


def super_parents(order: Sequence[int], s: int) -> Sets:
    rest = [i for i in order if i != s]
    sets: dict[int, list[tuple[tuple[int, ...], int]]] = {s: [((), 1)]}
    for r, i in enumerate(rest):
        sets[i] = [((), 1), ((s,), 1)]
        for j in rest[:r]:
            sets[i] += [((j,), 1), ((s, j), 1)]
    return sets


def one_parent(m: int, s: int) -> Sets:
    return {i: [((s,), 1)] if 0 <= s != i else [((), 1)] for i in range(m)}


def normalised(scores: Sequence[Fraction]) -> list[float]:
    total = sum(scores, Fraction(0))
    return [float(score / total) for score in scores]


def greedy_forest(gains: Sequence[Sequence[float]]) -> list[int]:
    """Parents by adding the best edge that is allowed; gains[child][parent]."""
    m = len(gains)
    parents = [-1] * m

    def above(i: int) -> Iterator[int]:
        while i >= 0:
            yield i
            i = parents[i]

    while True:
        allowed = [
            (round(-gains[i][p], 9), i, p)
            for i in range(m)
            for p in range(m)
            if i != p and parents[i] < 0 and i not in above(p) and gains[i][p] > 1e-9
        ]
        if not allowed:
            return parents
        _, i, p = min(allowed)
        parents[i] = p


def best_tree(weights: Sequence[Sequence[float]]) -> float:
    """The largest total weight of a spanning tree, by trying all sets of edges."""
    m = len(weights)
    best = float("-inf")
    for edges in combinations(combinations(range(m), 2), m - 1):
        group = list(range(m))
        for a, b in edges:
            old, new = group[a], group[b]
            group = [new if g == old else g for g in group]
        if len(set(group)) == 1:
            best = max(best, sum(weights[a][b] for a, b in edges))
    return best
