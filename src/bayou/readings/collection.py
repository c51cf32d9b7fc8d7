"""Collections of Bayesian networks, voted in polynomial time (Bouckaert, 2006)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from bayou.block import Block, Codes, Floats, Index
from bayou.kernels.collection import add_collection_direct, trail_collection
from bayou.kernels.collection_table import (
    add_collection,
    add_collection_two,
    fill_terms,
    mark_known,
    pack_terms,
    place_terms,
)
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
        """The parent sets over the columns met so far, made once per order of the columns."""
        return kept_terms(summary, self.parent_sets)

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


def kept_terms(summary: JointCounts, parent_sets: ParentSets) -> Terms:
    """The parent sets of the columns met so far; the others, of which nothing is known yet, have {}."""
    met = summary.seen > 0
    key = (parent_sets, met.tobytes())
    found: Terms | None = summary.by_order.get(key)
    if found is None:
        order = summary.reading_order
        alone = [(int(i), -1, -1, 1.0) for i in np.flatnonzero(~met)]
        found = Terms.of([*parent_sets.terms(order[met[order]]), *alone], len(order))
        summary.by_order[key] = found
    return found


def trailing_parts(summary: JointCounts, block: Block) -> Iterator[tuple[slice, bool]]:
    """Runs of rows that are counted at once (True), and single rows while rows wait for a grid (False).

    A run ends behind a row that brings the first value of a column. The summary learns each part before the
    next one is asked for.
    """
    at = 0
    while at < block.n:
        if np.all(summary.frozen):
            end, counted = at + first_met(summary, block.rows(at, block.n)), True
        elif len(summary.waiting):
            end, counted = at + 1, False
        else:
            waits = np.flatnonzero(summary.waits(block.rows(at, block.n)))
            run = int(waits[0]) if len(waits) else block.n - at
            counted = run > 0
            end = at + (first_met(summary, block.rows(at, at + run)) if counted else 1)
        yield slice(at, end), counted
        at = end


def first_met(summary: JointCounts, block: Block) -> int:
    """Number of rows up to and with the first that teaches a value of a column not met before; or all."""
    unmet = np.flatnonzero(summary.seen == 0)
    if len(unmet) == 0:
        return block.n
    new = np.any(summary.codes_of(block)[:, unmet] >= 0, axis=1) & (block.y >= 0) & (block.w > 0)
    rows = np.flatnonzero(new)
    return int(rows[0]) + 1 if len(rows) else block.n


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
                terms.sets, terms.starts, terms.u, s.width, alpha, s.nominal,
            )  # fmt: skip
            return
        table, alone = np.empty((entries, out.shape[1])), np.empty_like(s.singles)
        fill_terms(
            table, alone, s.singles, s.present, s.pairs, s.triples, s.layout,
            terms.sets, terms.starts, places, terms.u, s.width, alpha,
        )  # fmt: skip
        known, packed = np.empty(len(alone), dtype=np.bool_), np.empty((4, len(places)), dtype=np.uint64)
        ends = np.empty((codes.shape[1], 4), dtype=np.int64)
        mark_known(known, s.singles)
        pack_terms(packed, ends, terms.sets, terms.starts, places, s.sizes)
        tables = s.read[(id(terms), alpha)] = (table, alone, known, packed, ends, terms)
    table, alone, known, packed, ends, _ = tables

    add = add_collection_two if out.shape[1] == 2 else add_collection

    def rows(lo: int, hi: int) -> None:
        add(out[lo:hi], table, alone, known, s.layout, codes[lo:hi], packed, ends, s.nominal)

    over_ranges(rows, n, 1 + GRAIN // max(1, len(terms.sets)))


def trail_terms(summary: JointCounts, terms: Terms, alpha: float, block: Block, out: Floats) -> None:
    """Row by row: add the log-probability as it stood before the row, then count the row."""
    s = summary
    if block.n == 1:
        add_terms(s, terms, alpha, s.codes_of(block), out)
        s.update(block)
        return
    trail_collection(
        s.classes, s.singles, s.present, s.seen, s.pairs, s.triples, out, s.layout,
        s.codes_of(block), block.y, block.w, terms.sets, terms.starts, terms.u, s.declared, alpha, s.nominal,
    )  # fmt: skip
    s.changed()
