"""Search for the structure of networks on pair counts: trees, forests, and orders of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bayou.block import Floats, Index
from bayou.errors import SchemaError
from bayou.kernels.class_counts import class_total, prior_size
from bayou.kernels.structure import conditional_information, dirichlet_gain
from bayou.readings.parent_sets import ParentSets, ParentSetTable
from bayou.summaries.joint_counts import JointCounts

SCORES = ("loglik", "aic", "mdl", "bayes")
INTERPOLATE = 0.25  # of the class alone in a tree of few rows, at most
_DIGITS = 10  # differences beyond are rounding, and would make ties depend on the order of storage
_MOST = 1e200  # nats per row


class StructureSearch(Protocol):
    """Finds parent sets in counts: a pure function of the summary."""

    def search(self, summary: JointCounts) -> ParentSetTable:
        """Search for parent sets."""


class NetworkSearch(StructureSearch, Protocol):
    """Finds one network, of at most one parent per column."""

    def gains_per_row(self, summary: JointCounts) -> Floats:
        """[m, m], the gain in score of the parent p (column) for the child i (row), as a mean over the rows."""

    def network(self, summary: JointCounts, parents: Index) -> ParentSetTable:
        """The table of the network with these parents, int64[m], -1 for none."""


@dataclass(frozen=True)
class HoeffdingSearch:
    r"""Keeps a network until another one is better by at least $\epsilon = \sqrt{R^2 \ln(1/\delta) / (2n)}$.

    The score of a network is a mean over the n rows, the sum of the gains of its edges; an edge gains at most the
    logarithm of the smaller number of values of its two columns, and R is the sum of these over the new edges (Hulten
    and Domingos 2002 apply the bound of Hoeffding trees to the search for networks).
    """

    search_anew: NetworkSearch
    delta: float

    def __post_init__(self) -> None:
        if not 0.0 < self.delta < 1.0:
            raise SchemaError(f"delta={self.delta!r}; it is None or lies between 0 and 1")

    def search(self, summary: JointCounts) -> ParentSetTable:
        """The network that a new search finds."""
        return self.search_anew.search(summary)

    def better(self, summary: JointCounts, current: ParentSetTable) -> ParentSetTable:
        """The network that a new search finds if it is better by more than the bound, else the current one."""
        searched, gains = self.search(summary), self.search_anew.gains_per_row(summary)
        old, new = edges(current), edges(searched)
        ahead = _score(gains, new) - _score(gains, old)
        if ahead > self.bound(summary, _pairs(new) - _pairs(old)):
            return searched
        parents = np.full(len(summary.sizes), -1, dtype=np.int64)
        for i, p in old:
            parents[i] = p
        return self.search_anew.network(summary, parents)

    def bound(self, summary: JointCounts, new: set[tuple[int, int]]) -> float:
        """epsilon for these edges; infinite before there are rows."""
        n, width = class_total(summary.classes), np.maximum(summary.width, 1)
        spread = sum(float(np.log(min(width[i], width[p]))) for i, p in new)
        return spread * float(np.sqrt(np.log(1.0 / self.delta) / (2.0 * n))) if n > 0 else np.inf


def edges(network: ParentSetTable) -> list[tuple[int, int]]:
    """Child and parent of every edge of a network."""
    return [(int(i), int(p)) for i, p, _ in network.sets if p >= 0]


def _pairs(network: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """Edges without their directions."""
    return {(min(edge), max(edge)) for edge in network}


def _score(gains: Floats, network: list[tuple[int, int]]) -> float:
    return sum(float(gains[i, p]) for i, p in sorted(network))


@dataclass(frozen=True)
class SpanningTree:
    r"""Chow and Liu's tree: the largest sum of $I(X_i; X_j | C)$, directed away from the first column.

    A column is read as $(1 - \lambda) P(x | c, p) + \lambda P(x | c)$, p its parent, which is what smooths a tree
    (Friedman, Geiger and Goldszmidt mix with $P(x)$): $\lambda$ is the number of cells (classes times values of both)
    over the number of rows, at most `interpolate`.
    """

    interpolate: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.interpolate < 1.0:
            raise SchemaError(f"interpolate={self.interpolate!r}; it is a share, from 0 to less than 1")

    def network(self, summary: JointCounts, parents: Index) -> ParentSetTable:
        """The table of a network in which every column is interpolated with the class alone."""
        if self.interpolate == 0.0:
            return ParentSetTable.tree(parents)
        rows, width = class_total(summary.classes), np.maximum(summary.width, 1)
        classes, terms = prior_size(summary.classes, int(summary.declared_classes[0])), []
        for i, p in enumerate(parents.tolist()):
            cells = float(classes * width[i] * width[p])
            share = min(self.interpolate, cells / rows) if p >= 0 and rows > 0 else float(p < 0)
            terms += [(i, -1, -1, share), (i, p, -1, 1.0 - share)]
        return ParentSetTable.of(terms, len(parents))

    def search(self, summary: JointCounts) -> ParentSetTable:
        """The maximum spanning tree over the current pair counts."""
        parents = np.full(len(summary.sizes), -1, dtype=np.int64)
        order = met_columns(summary)
        m = len(order)
        if m == 0:
            return self.network(summary, parents)
        weight = rounded(information(summary))[np.ix_(order, order)]
        best, link = weight[0].copy(), np.zeros(m, dtype=np.int64)
        remaining = np.ones(m, dtype=bool)
        remaining[0] = False
        for _ in range(m - 1):
            reach = np.where(remaining, best, -np.inf)
            top = reach.max()
            new = min((min(link[r], r), max(link[r], r), r) for r in np.flatnonzero(reach == top).tolist())[2]
            parents[order[new]] = order[link[new]]
            remaining[new] = False
            for r in np.flatnonzero(remaining).tolist():
                comes_first = (min(new, r), max(new, r)) < (min(link[r], r), max(link[r], r))
                if weight[new, r] > best[r] or (weight[new, r] == best[r] and comes_first):
                    best[r], link[r] = weight[new, r], new
        return self.network(summary, parents)

    def gains_per_row(self, summary: JointCounts) -> Floats:
        """I(X_i; X_j | C)."""
        return information(summary)


@dataclass(frozen=True)
class GreedyForest:
    """Adds the edge with the largest positive gain that makes no cycle and no second parent, until none is left.

    Gains are differences of the log-likelihood, less 1 (`"aic"`) or log(N)/2 (`"mdl"`) per parameter, or of the
    evidence with uniform Dirichlet priors (`"bayes"`). Ties go to the first child, then to the first parent.
    """

    score: str = "mdl"

    def __post_init__(self) -> None:
        if self.score not in SCORES:
            raise SchemaError(f"score={self.score!r}; it is one of {', '.join(map(repr, SCORES))}")

    def gains(self, summary: JointCounts) -> Floats:
        """[m, m], the gain of giving child i (row) the parent p (column)."""
        s, m = summary, len(summary.sizes)
        gain = np.zeros((m, m))
        if self.score == "bayes":
            dirichlet_gain(gain, s.pairs, s.layout, np.maximum(s.width, 1))
            return gain
        conditional_information(gain, s.pairs, s.layout)
        free = np.maximum(s.width - 1, 0)
        parameters = prior_size(s.classes, int(s.declared_classes[0])) * np.outer(free, free)
        total = class_total(s.classes)
        price = {"loglik": 0.0, "aic": 1.0, "mdl": 0.5 * np.log(total) if total > 0 else 0.0}[self.score]
        return np.asarray(gain - price * parameters)

    def gains_per_row(self, summary: JointCounts) -> Floats:
        """The gains, divided by the number of rows."""
        return per_row(self.gains(summary), class_total(summary.classes))

    def network(self, summary: JointCounts, parents: Index) -> ParentSetTable:
        """The table of a network, every column with its parent."""
        return ParentSetTable.tree(parents)

    def search(self, summary: JointCounts) -> ParentSetTable:
        """The forest that greedy search finds over the current pair counts."""
        order = met_columns(summary)
        m = len(order)
        gain = rounded(self.gains(summary)[np.ix_(order, order)])
        np.fill_diagonal(gain, -np.inf)
        parents, root = np.full(len(summary.sizes), -1, dtype=np.int64), np.arange(m)
        for _ in range(m - 1):
            best = int(np.argmax(gain))  # the first of equals: child by child, parent by parent
            child, parent = divmod(best, m)
            if not gain[child, parent] > 0:
                break
            parents[order[child]] = order[parent]
            gain[child] = -np.inf
            root[root == root[child]] = root[parent]
            inside = np.flatnonzero(root == root[parent])
            gain[np.ix_(inside, inside)] = -np.inf
        return ParentSetTable.tree(parents)


@dataclass(frozen=True)
class ByInformation:
    r"""A collection over the columns sorted by $\sum_j I(X_i; X_j | C)$, the largest first."""

    parent_sets: ParentSets

    def order(self, summary: JointCounts) -> Index:
        """Columns from the most to the least connected; ties by the reading order."""
        sums = rounded(information(summary).sum(axis=1))
        return np.lexsort((np.argsort(summary.reading_order), -sums)).astype(np.int64)

    def search(self, summary: JointCounts) -> ParentSetTable:
        """The parent sets over the columns, sorted by their information about the others."""
        seen, order = summary.seen > 0, self.order(summary)
        alone = [(int(i), -1, -1, 1.0) for i in np.flatnonzero(~seen)]
        return ParentSetTable.of([*self.parent_sets.terms(order[seen[order]]), *alone], len(order))


def met_columns(summary: JointCounts) -> Index:
    """Columns of which values were seen, in the reading order; columns that come later must have no influence."""
    order = summary.reading_order
    return order[summary.seen[order] > 0]


def information(summary: JointCounts) -> Floats:
    """[m, m], I(X_i; X_j | C) in nats, over all rows; rows in which one of the two is missing add 0."""
    out = np.zeros((len(summary.sizes),) * 2)
    conditional_information(out, summary.pairs, summary.layout)
    return per_row(out, class_total(summary.classes))


def per_row(sums: Floats, rows: float) -> Floats:
    """Means over the rows, clipped to 1e200, so that sums of them stay finite; the sums themselves without rows.

    The weight of the rows may be tiny: in a file from anyone, or by rounding after rows were unlearned.
    """
    if rows <= 0:
        return sums
    with np.errstate(over="ignore"):
        return np.clip(sums / rows, -_MOST, _MOST)


def rounded(values: Floats) -> Floats:
    """Values rounded relative to the largest, so that rounding errors of sums do not break ties."""
    scale = float(np.abs(values).max(initial=0.0))
    return np.round(values / scale, _DIGITS) if scale > 0 else values
