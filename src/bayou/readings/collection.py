"""Collections of Bayesian networks, voted in polynomial time (Bouckaert, 2006)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from bayou.block import Block, Codes, Floats, Index
from bayou.kernels.collection import add_collection_direct, trail_collection
from bayou.kernels.collection_table import add_collection, fill_terms, place_terms
from bayou.readings.parent_sets import Forests, ParentSets, Terms
from bayou.summaries.joint_counts import JointCounts
from bayou.threads import over_ranges

GRAIN = 100_000  # terms worth a thread of their own


@dataclass(frozen=True)
class Collection:
    r"""$\sum_i \log \sum_{pa \in PA_i} u_{i,pa} P(x_i | c, pa)$: the vote of all networks with these parent sets.

    Always current: the parent sets follow from the order of the columns, the probabilities from the counts.
    """

    parent_sets: ParentSets = field(default_factory=Forests)
    alpha: float = 1.0

    def terms(self, summary: JointCounts) -> Terms:
        """The parent sets over the summary's columns, made once per order of the columns."""
        found: Terms | None = summary.by_order.get(self)
        if found is None:
            found = Terms.of(self.parent_sets.terms(summary.reading_order), len(summary.sizes))
            summary.by_order[self] = found
        return found

    def add_log_prob(self, summary: JointCounts, block: Block, out: Floats) -> None:
        s = summary.settled()
        add_terms(s, self.terms(s), self.alpha, s.codes_of(block), out)

    def trail(self, summary: JointCounts, block: Block, out: Floats) -> None:
        for where, counted in trailing_parts(summary, block):
            part = block.rows(where.start, where.stop)
            if counted:
                trail_terms(summary, self.terms(summary), self.alpha, part, out[where])
            else:
                self.add_log_prob(summary, part, out[where])
                summary.update(part)


def trailing_parts(summary: JointCounts, block: Block) -> Iterator[tuple[slice, bool]]:
    """Runs of rows that are counted at once (True), and single rows while rows wait for a grid (False).

    The summary learns each part before the next one is asked for.
    """
    at = 0
    while at < block.n:
        if np.all(summary.frozen):
            end, counted = block.n, True
        elif len(summary.waiting_y):
            end, counted = at + 1, False
        else:
            waits = np.flatnonzero(summary.waits(block.rows(at, block.n)))
            end = at + int(waits[0]) if len(waits) else block.n
            counted = end > at
            end = max(end, at + 1)
        yield slice(at, end), counted
        at = end


def add_terms(summary: JointCounts, terms: Terms, alpha: float, codes: Codes, out: Floats) -> None:
    """out[n, K] += the log-probability of each row: by look-up for many rows, straight from the counts for few."""
    s, n = summary, len(codes)
    if codes.shape[1] == 0 or n == 0:
        return
    tables = s.read.get((id(terms), alpha))
    if tables is None:
        places: Index = np.empty(len(terms.sets), dtype=np.int64)
        entries = place_terms(places, terms.sets, s.sizes)
        if n * len(terms.sets) < entries:
            add_collection_direct(
                out, s.singles, s.present, s.pairs, s.triples, s.layout, codes,
                terms.sets, terms.starts, terms.u, s.width, alpha,
            )  # fmt: skip
            return
        table, alone = np.empty((entries, out.shape[1])), np.empty_like(s.singles)
        fill_terms(
            table, alone, s.singles, s.present, s.pairs, s.triples, s.layout,
            terms.sets, terms.starts, places, terms.u, s.width, alpha,
        )  # fmt: skip
        tables = s.read[(id(terms), alpha)] = (table, alone, places, terms)
    table, alone, places, _ = tables

    def rows(lo: int, hi: int) -> None:
        add_collection(
            out[lo:hi], table, alone, s.singles, s.layout, codes[lo:hi], terms.sets, terms.starts, places
        )

    over_ranges(rows, n, 1 + GRAIN // max(1, len(terms.sets)))


def trail_terms(summary: JointCounts, terms: Terms, alpha: float, block: Block, out: Floats) -> None:
    """Row by row: add the log-probability as it stood before the row, then count the row."""
    s = summary
    if block.n == 1:
        add_terms(s, terms, alpha, s.codes_of(block), out)
        s.update(block)
        return
    s.weigh(block.w)
    trail_collection(
        s.classes, s.singles, s.present, s.seen, s.pairs, s.triples, out, s.layout,
        s.codes_of(block), block.y, block.w, terms.sets, terms.starts, terms.u, s.declared, alpha,
    )  # fmt: skip
    s.changed()
