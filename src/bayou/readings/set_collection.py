"""Collections of networks with parent sets of any size, read from counts of exactly these sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bayou.block import Block, Floats, Index
from bayou.kernels.set_counts import add_sets
from bayou.readings.joint_scorer import sets_scorer
from bayou.readings.kept import kept
from bayou.readings.live import LiveReader
from bayou.readings.parent_sets import SetTermTable, SuperParents
from bayou.summaries.set_counts import ColumnSets, SetCounts

if TYPE_CHECKING:
    from bayou.scorer import Node

SetTerm = tuple[int, tuple[int, ...], float]  # child, parents, weight


class SetRule(Protocol):
    """A rule that gives every column its parent sets, from the order of the columns."""

    def set_terms(self, order: Index) -> list[SetTerm]:
        """All terms; a parent always comes earlier in `order` than its child."""


@dataclass(frozen=True)
class AnySets:
    """Parent sets given column by column; a column without any has the class alone as parent."""

    given: tuple[SetTerm, ...] = ()

    def set_terms(self, order: Index) -> list[SetTerm]:
        present = set(order.tolist())
        terms = [term for term in self.given if present.issuperset((term[0], *term[1]))]
        children = {term[0] for term in terms}
        return [*terms, *((int(i), (), 1.0) for i in order if i not in children)]


@dataclass(frozen=True)
class LeanSuperParents:
    """The parent sets of `SuperParents`, for counts that keep only the triples with the super parent."""

    column: int = -1

    def set_terms(self, order: Index) -> list[SetTerm]:
        if self.column not in order:
            return [(int(i), (), 1.0) for i in order]
        terms = SuperParents(self.column).terms(order)
        return [(i, tuple(x for x in (p, q) if x >= 0), u) for i, p, q, u in terms]


@dataclass(frozen=True)
class SetReader(LiveReader[SetCounts]):
    r"""The vote of all networks with these parent sets, $\sum_i \log \sum_{pa \in PA_i} u_{i,pa} P(x_i | c, pa)$."""

    rule: SetRule = field(default_factory=AnySets)
    alpha: float = 1.0

    def add_log_prob(self, summary: SetCounts, block: Block, out: Floats) -> None:
        s = summary.flushed()
        assert isinstance(s, SetCounts)
        if len(s.sizes) == 0 or block.n == 0:
            return
        t = self.terms_of(s)
        add_sets(
            out, s.singles, s.pairs, s.wide, s.layout, s.sizes, s.width, s.codes_of(block),
            t.child, t.starts, t.members, t.base, t.u, self.alpha, s.nominal,
        )  # fmt: skip

    def add_to_scorer(self, summary: SetCounts, so_far: Node) -> Node:
        s = summary.flushed()
        assert isinstance(s, SetCounts)
        return sets_scorer(s, self.terms_of(s), self.alpha, so_far)

    def terms_of(self, s: SetCounts) -> SetTermTable:
        """The terms over the columns seen so far, cached by their order; the other columns have no parents."""
        seen = s.seen > 0
        key = (self.rule, s.sets, s.sizes.tobytes(), seen.tobytes())
        tables = kept(s.columns_mark)
        table: SetTermTable | None = tables.get(key)
        if table is None:
            order = s.reading_order
            terms = self.rule.set_terms(order[seen[order]])
            terms += [(int(i), (), 1.0) for i in np.flatnonzero(~seen)]
            table = tables[key] = _flat(terms, s)
        return table


def _flat(terms: list[SetTerm], s: SetCounts) -> SetTermTable:
    """The table of terms: weights of equal terms are added, terms of a child go from few to many parents."""
    weights: dict[tuple[int, int, tuple[int, ...]], float] = {}
    for child, parents, u in terms:
        key = (child, len(parents), tuple(sorted(parents)))
        weights[key] = weights.get(key, 0.0) + u
    keys = sorted(weights)
    members = [tuple(sorted((child, *parents))) for child, _, parents in keys]
    offsets = {columns: int(s.base[t]) for t, columns in enumerate(s.sets)}
    return SetTermTable(
        np.array([child for child, _, _ in keys], dtype=np.int64),
        np.concatenate(([0], np.cumsum([len(m) for m in members]))).astype(np.int64),
        np.array([j for m in members for j in m], dtype=np.int64),
        np.array([offsets[m] if len(m) > 2 else 0 for m in members], dtype=np.int64),
        np.array([weights[key] for key in keys]),
    )


def wide_sets(terms: list[SetTerm]) -> ColumnSets:
    """The sets of three columns or more that these terms read."""
    return tuple(
        sorted({tuple(sorted((child, *parents))) for child, parents, _ in terms if len(parents) > 1})
    )
