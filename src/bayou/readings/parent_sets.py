"""Which parents a column may have in a collection of networks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayou.block import Floats, Index

Term = tuple[int, int, int, float]  # child, two parents or -1, weight


@dataclass(frozen=True, eq=False)
class Terms:
    """The admissible parent sets of every column, flat, as kernels want them.

    sets : int64[t, 3], child and parents, -1 for none; starts : int64[m + 1]; u : float64[t]
    """

    sets: Index
    starts: Index
    u: Floats

    @staticmethod
    def of(terms: Iterable[Term], m: int) -> Terms:
        """Terms sorted by child, single columns before pairs before triples.

        >>> Terms.of([(1, 0, -1, 1.0), (1, -1, -1, 1.0), (0, -1, -1, 1.0)], 2).sets.tolist()
        [[0, -1, -1], [1, -1, -1], [1, 0, -1]]
        """
        rows = sorted((i, (p >= 0) + (q >= 0), *_ordered(p, q), u) for i, p, q, u in terms if u > 0)
        sets = np.array([(i, p, q) for i, _, p, q, _ in rows], dtype=np.int64).reshape(-1, 3)
        starts = np.searchsorted(sets[:, 0], np.arange(m + 1)).astype(np.int64)
        return Terms(sets, starts, np.array([row[4] for row in rows], dtype=np.float64))

    @staticmethod
    def tree(parents: NDArray[np.int64]) -> Terms:
        """One network: at most one parent per column, -1 for none."""
        return Terms.of([(i, int(p), -1, 1.0) for i, p in enumerate(parents)], len(parents))

    @property
    def networks(self) -> int:
        """Number of networks in the collection.

        >>> Terms.of(Forests().terms(np.arange(4)), 4).networks
        24
        """
        product = 1
        for size in np.diff(self.starts).tolist():
            product *= max(1, size)
        return product


class ParentSets(Protocol):
    """A rule that gives every column its parent sets, from the order of the columns."""

    def terms(self, order: Index) -> list[Term]:
        """All terms; a parent always comes earlier in `order` than its child."""


@dataclass(frozen=True)
class NoParents:
    """{}: naive Bayes."""

    def terms(self, order: Index) -> list[Term]:
        return [(int(i), -1, -1, 1.0) for i in order]


@dataclass(frozen=True)
class Forests:
    """{} and {j} for every earlier j, or for those among the first `parents` columns: all forests (FANC)."""

    parents: int | None = None

    def terms(self, order: Index) -> list[Term]:
        out = NoParents().terms(order)
        for r, i in enumerate(order.tolist()):
            out += [(i, int(j), -1, 1.0) for j in order[:r][: self.parents]]
        return out


@dataclass(frozen=True)
class TwoParents:
    """{}, {j} and {j, l} for all earlier j and l, or for those among the first `parents` columns (TC)."""

    parents: int | None = None

    def terms(self, order: Index) -> list[Term]:
        out = Forests(self.parents).terms(order)
        for r, i in enumerate(order.tolist()):
            out += [(i, int(j), int(k), 1.0) for j, k in combinations(order[:r][: self.parents], 2)]
        return out


@dataclass(frozen=True)
class SuperParents:
    """{}, {s}, {j} and {s, j}: the super parent s comes first, and every other column may have it (SPC).

    Without a super parent (-1) the first column in the order takes its place.
    """

    column: int = -1

    def terms(self, order: Index) -> list[Term]:
        if len(order) == 0:
            return []
        s = self.column if self.column >= 0 else int(order[0])
        rest = order[order != s]
        out = NoParents().terms(order)
        for r, i in enumerate(rest.tolist()):
            out.append((i, s, -1, 1.0))
            for j in rest[:r].tolist():
                out += [(i, j, -1, 1.0), (i, s, j, 1.0)]
        return out


@dataclass(frozen=True)
class OneParent:
    """Column s is the parent of all others (the super parent classifier); -1 for none."""

    column: int = -1

    def terms(self, order: Index) -> list[Term]:
        return [(int(i), self.column if i != self.column else -1, -1, 1.0) for i in order]


@dataclass(frozen=True)
class GivenSets:
    """Parent sets told column by column; columns not told get {}."""

    told: tuple[Term, ...] = ()

    def terms(self, order: Index) -> list[Term]:
        named = {term[0] for term in self.told}
        return [*self.told, *((int(i), -1, -1, 1.0) for i in order if i not in named)]


def _ordered(p: int, q: int) -> Sequence[int]:
    """Parents in ascending order, none last."""
    return (p, q) if q < 0 or (0 <= p < q) else (q, p)
