"""Collections of Bayesian networks, voted in polynomial time (Bouckaert, 2006)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bayou.block import Block, Codes, Floats
from bayou.kernels.collection import mark_no_missing
from bayou.kernels.collection_table import add_collection, fill_tables
from bayou.readings.joint_rows import read_direct, readings_predict_then_update
from bayou.readings.joint_scorer import collection_scorer
from bayou.readings.kept import kept
from bayou.readings.live import LiveReader
from bayou.readings.parent_sets import Forests, ParentSets, ParentSetTable
from bayou.summaries.joint_counts import JointCounts
from bayou.threads import over_ranges

if TYPE_CHECKING:
    from bayou.scorer import Node

GRAIN = 100_000  # terms worth a thread of their own


@dataclass(frozen=True)
class CollectionReader(LiveReader[JointCounts]):
    r"""$\sum_i \log \sum_{pa \in PA_i} u_{i,pa} P(x_i | c, pa)$: the vote of all networks with these parent sets.

    Always current: the parent sets follow from the order of the columns, the probabilities from the counts.
    """

    parent_sets: ParentSets = field(default_factory=Forests)
    alpha: float = 1.0

    def parent_sets_of(self, summary: JointCounts) -> ParentSetTable:
        """The parent sets over the columns seen so far, cached by the order of the columns."""
        return kept_terms(summary, self.parent_sets)

    def add_log_prob(self, summary: JointCounts, block: Block, out: Floats) -> None:
        s = summary.flushed()
        add_terms(s, self.parent_sets_of(s), self.alpha, s.codes_of(block), out)

    def add_to_scorer(self, summary: JointCounts, so_far: Node) -> Node:
        s = summary.flushed()
        return collection_scorer(s, self.parent_sets_of(s), self.alpha, so_far)

    def predict_then_update(self, summary: JointCounts, block: Block, out: Floats) -> None:
        readings_predict_then_update(
            summary, lambda s: [self.parent_sets_of(s)], self.alpha, block, out[np.newaxis]
        )


def kept_terms(summary: JointCounts, parent_sets: ParentSets) -> ParentSetTable:
    """The parent sets of the columns seen so far, cached; the other columns have no parents."""
    seen = summary.seen > 0
    key = (parent_sets, seen.tobytes())
    tables = kept(summary.columns_mark)
    table: ParentSetTable | None = tables.get(key)
    if table is None:
        order = summary.reading_order
        alone = [(int(i), -1, -1, 1.0) for i in np.flatnonzero(~seen)]
        table = ParentSetTable.of([*parent_sets.terms(order[seen[order]]), *alone], len(order))
        tables[key] = table
    return table


def add_terms(summary: JointCounts, terms: ParentSetTable, alpha: float, codes: Codes, out: Floats) -> None:
    """out[n, K] += the log-probability of each row: from tables for many rows, from the counts for few."""
    s, n = summary, len(codes)
    if codes.shape[1] == 0 or n == 0:
        return
    key, no_missing, width = (terms, alpha), np.empty(len(s.sizes), dtype=np.bool_), s.width
    probabilities = kept(s.mark)
    if key not in probabilities:
        most = int(np.argmax(terms.ends[:, 3] > terms.ends[:, 2])) if len(s.triples) else 0
        entries = len(s.triples) if terms.ends[most, 3] > terms.ends[most, 2] else len(s.pairs)
        if n * len(terms.u) < entries or not terms.one_child_per_set:
            read_direct(s, [terms], alpha, codes, out[np.newaxis])
            return
        mark_no_missing(no_missing, s.classes, s.present)
        tables = np.zeros_like(s.singles), np.zeros_like(s.pairs), np.zeros_like(s.triples)
        fill_tables(
            *tables, s.singles, s.present, s.pairs, s.triples, s.layout,
            terms.plan, terms.ends, terms.u, width, no_missing, alpha,
        )  # fmt: skip
        probabilities[key] = (*tables, terms)
    one, two, three, _ = probabilities[key]

    def rows(lo: int, hi: int) -> None:
        add_collection(
            out[lo:hi], one, two, three, s.singles, s.present, s.layout, codes[lo:hi],
            terms.plan, terms.ends, width, alpha, s.nominal,
        )  # fmt: skip

    over_ranges(rows, n, 1 + GRAIN // max(1, len(terms.u)))
