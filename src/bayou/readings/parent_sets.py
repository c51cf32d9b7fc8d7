"""Rules for the parent sets of columns in a collection of networks, and their tables for kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayou.block import Floats, Index
from bayou.checks import codes, finite, require

Term = tuple[int, int, int, float]  # child, two parents or -1, weight


@dataclass(frozen=True, eq=False)
class ParentSetTable:
    """The admissible parent sets of every column, as flat arrays for kernels.

    sets : int64[t, 3], child and parents, -1 for none; u : float64[t]
    plan : uint64[6, t], the columns of a set from the last to the first, its parents the later first, and how
    many columns of the set come before its child; ends : int64[m, 4], where the terms of a column without
    parents, with one and with two begin, and where they end
    """

    sets: Index
    u: Floats
    plan: NDArray[np.uint64]
    ends: Index

    @staticmethod
    def of(terms: Iterable[Term], m: int) -> ParentSetTable:
        """The table of terms, sorted by child and number of parents; the weights of equal terms are added.

        >>> ParentSetTable.of([(1, 0, -1, 1.0), (1, -1, -1, 1.0), (0, -1, -1, 1.0)], 2).sets.tolist()
        [[0, -1, -1], [1, -1, -1], [1, 0, -1]]
        """
        rows: dict[tuple[int, ...], float] = {}
        for i, p, q, u in terms:
            if u > 0:
                key = (i, (p >= 0) + (q >= 0), *_ordered(p, q))
                rows[key] = rows.get(key, 0.0) + u
        table = np.array(sorted(rows), dtype=np.int64).reshape(-1, 4)
        sets = np.ascontiguousarray(table[:, [0, 2, 3]])
        edges = np.searchsorted(table[:, 0] * 4 + table[:, 1], np.arange(m)[:, None] * 4 + np.arange(4))
        weights = np.array([rows[key] for key in sorted(rows)], dtype=np.float64)
        return ParentSetTable(sets, weights, _plan(sets), edges.astype(np.int64))

    @staticmethod
    def tree(parents: NDArray[np.int64]) -> ParentSetTable:
        """One network: at most one parent per column, -1 for none."""
        return ParentSetTable.of([(i, int(p), -1, 1.0) for i, p in enumerate(parents)], len(parents))

    @staticmethod
    def restored(sets: NDArray[Any], u: NDArray[Any], m: int, interaction_order: int) -> ParentSetTable:
        """Parent sets from a file, checked: over m columns, with two parents only where triples are counted."""
        require(
            sets.shape == (len(u), 3) and u.ndim == 1,
            "every term of a structure names a column and two parents",
        )
        codes("the columns of a structure", sets, m)
        child, p, q = sets.T.reshape(3, -1)
        require(child.min(initial=0) >= 0, "a term of a structure belongs to a column")
        distinct = (child != p) & (child != q) & ((p != q) | (p < 0))
        require(distinct.all(), "a term of a structure names different columns")
        require(
            interaction_order > 2 or q.max(initial=-1) < 0,
            "a term has two parents, and triples are not counted",
        )
        finite("the weights of a structure", u)
        require((u > 0).all() and len(np.unique(child)) == m, "every column of a structure has a term")
        return ParentSetTable.of(zip(child.tolist(), p.tolist(), q.tolist(), u.tolist(), strict=True), m)

    def moved(self, columns: Index, m: int) -> ParentSetTable:
        """The parent sets after column j became columns[j] of m; new columns have no parents but the class."""
        sets = np.where(self.sets >= 0, np.append(columns, -1)[self.sets], -1)
        terms = [(int(i), int(p), int(q), float(u)) for (i, p, q), u in zip(sets, self.u, strict=True)]
        new = np.setdiff1d(np.arange(m), columns)
        return ParentSetTable.of([*terms, *((int(j), -1, -1, 1.0) for j in new)], m)

    @cached_property
    def one_child_per_set(self) -> bool:
        """Whether no set of columns occurs with two of its columns as children, as in an acyclic network.

        Only then can probabilities be laid out as the counts are, one entry per cell of a set.
        """
        return len(np.unique(np.sort(self.sets, axis=1), axis=0)) == len(self.sets)

    @property
    def networks(self) -> int:
        """Number of networks in the collection.

        >>> ParentSetTable.of(Forests().terms(np.arange(4)), 4).networks
        24
        """
        return prod(max(1, size) for size in (self.ends[:, 3] - self.ends[:, 0]).tolist())


@dataclass(frozen=True, eq=False)
class SetTermTable:
    """Terms sorted by child, as flat arrays for kernels; see `bayou.kernels.set_counts`."""

    child: Index
    starts: Index
    members: Index
    base: Index
    u: Floats


def _plan(sets: Index) -> NDArray[np.uint64]:
    """The plan of a `ParentSetTable`."""
    down = -np.sort(-sets, axis=1)  # columns from the last to the first, -1 behind
    two = down[:, 1] >= 0
    three = down[:, 2] >= 0
    low = np.where(three, down[:, 2], down[:, 1])
    later, earlier = sets[:, 1:].max(axis=1), sets[:, 1:].min(axis=1)
    before = ((sets[:, 1:] >= 0) & (sets[:, 1:] < sets[:, :1])).sum(axis=1)
    plan = [down[:, 0], np.where(three, down[:, 1], 0), np.where(two, low, 0), later, earlier, before]
    places: NDArray[np.int64] = np.array(plan, dtype=np.int64).reshape(6, -1)
    return np.maximum(places, 0).astype(np.uint64)


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
    """Parent sets given column by column; a column without any has the class alone as parent."""

    given: tuple[Term, ...] = ()

    def terms(self, order: Index) -> list[Term]:
        children = {term[0] for term in self.given}
        return [*self.given, *((int(i), -1, -1, 1.0) for i in order if i not in children)]


def _ordered(p: int, q: int) -> Sequence[int]:
    """Parents in ascending order, none last."""
    return (p, q) if q < 0 or (0 <= p < q) else (q, p)
