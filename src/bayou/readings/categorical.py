"""Smoothed probability tables of nominal columns."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, cast

import numpy as np

from bayou.block import Block, Codes, Floats
from bayou.errors import SchemaError
from bayou.kernels.column_terms import table_terms_then_update
from bayou.kernels.sums import TILE
from bayou.kernels.value_counts import (
    add_table,
    log_table,
    m_estimate_terms,
    table_predict_then_update,
    table_terms,
)
from bayou.kernels.whole_counts import whole_predict_then_update
from bayou.readings.cell_odds import CellOdds, ValueOdds
from bayou.readings.dichotomies import Dichotomies, Odds
from bayou.readings.live import LiveReader
from bayou.readings.logs import integer_logs
from bayou.recipe import Recipe
from bayou.summaries.value_counts import ValueCounts
from bayou.threads import over_ranges

if TYPE_CHECKING:
    from bayou.scorer import Node

EVEN, POOLED = 0.0, -1.0  # codes of prior estimates that are not numbers
MANY = 64  # rows at once that are worth a kernel of their own
GRAIN = 200_000  # cells worth a thread of their own
TERMS = 1 << 18  # terms of test-then-train worth a thread of their own: some 100 us
NO_LABELS, NO_LOGS = np.empty(0, dtype=np.int32), np.empty(0)


@dataclass(frozen=True)
class MEstimate(Recipe):
    """The m-estimate, P(v | c) = (n + m p) / (N + m): m imaginary rows, a share p of which has the value v.

    Parameters
    ----------
    m
        Number of imaginary rows of every class.
    p
        Prior estimate of a value: None for 1/V, the same for the V values of a column; one number given for every
        value; or `"pooled"`, the share of the value in the rows of all classes.
    share
        Imaginary rows as a share of the class's own rows N, if that is more than m: max(m, share N) in place of m.

    Examples
    --------
    >>> MEstimate(m=1).table()
    CategoricalEstimator(alpha=0.0, m=1.0)
    >>> MEstimate(m=1, p="pooled", share=0.01).table()
    MEstimateTable(alpha=0.0, m=1.0, p=-1.0, share=0.01)
    """

    m: float = 1.0
    p: float | str | None = None
    share: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.m, Real) or not 0.0 <= self.m < np.inf:
            raise SchemaError(f"MEstimate(m={self.m!r}); it is a number of rows >= 0")
        if self.p not in (None, "pooled") and not (isinstance(self.p, Real) and 0.0 < self.p < 1.0):
            raise SchemaError(f"MEstimate(p={self.p!r}); it is None, a probability or 'pooled'")
        if not isinstance(self.share, Real) or not 0.0 <= self.share < np.inf:
            raise SchemaError(f"MEstimate(share={self.share!r}); it is a share of the rows >= 0")

    def table(self) -> CategoricalEstimator:
        """The smoothing as an estimator of probability tables."""
        if self.p is None and self.share == 0.0:
            return CategoricalEstimator(alpha=0.0, m=float(self.m))
        p = {None: EVEN, "pooled": POOLED}.get(self.p, self.p)  # type: ignore[arg-type] # a number is no key here
        return MEstimateTable(0.0, float(self.m), float(cast(float, p)), float(self.share))


@dataclass(frozen=True)
class CategoricalEstimator(LiveReader[ValueCounts]):
    """log P(v | c) = log(n + alpha + m/V) - log(N + alpha V + m); 0 for a value never seen."""

    alpha: float = 1.0
    m: float = 0.0
    prediction_is_pure = True

    def add_log_prob(self, summary: ValueCounts, block: Block, out: Floats) -> None:
        s, q = summary, block.codes.shape[1]
        if q == 0:
            return
        if block.n * q < len(s.counts):
            self._predict_then_update(summary, block, NO_LABELS, NO_LOGS, out)
            return
        table = self.table(summary)

        def rows(lo: int, hi: int) -> None:
            add_table(out[lo:hi], table, s.offsets, block.codes[lo:hi])

        over_ranges(rows, block.n, 1 + GRAIN // q)

    def table(self, summary: ValueCounts) -> Floats:
        """log P(v | c) of every cell, [cells, K]; 0 for a value never seen."""
        s = summary
        table = np.zeros_like(s.counts)
        log_table(table, s.counts, s.present, s.width, s.offsets, s.sizes, self.alpha, self.m)
        return table

    def terms(self, summary: ValueCounts, block: Block) -> Floats:
        """[n, q, K] log P(v_j | c), 0 where missing or never seen."""
        out = np.zeros((*block.codes.shape, summary.counts.shape[1]))
        table_terms(out, self.table(summary), summary.offsets, block.codes)
        return out

    def scorer_columns(self, summary: ValueCounts) -> list[Node]:
        from bayou.scorer import value_table

        table = self.table(summary)
        ranges = zip(summary.offsets.tolist(), summary.sizes.tolist(), strict=False)
        return [value_table(j, table[first : first + size]) for j, (first, size) in enumerate(ranges)]

    def draw(self, summary: ValueCounts, block: Block, rng: np.random.Generator) -> None:
        """Draw the nominal columns of a block given its rows' classes; a column without values stays missing."""
        table = self.table(summary)
        for j, (first, size) in enumerate(zip(summary.offsets, summary.sizes, strict=False)):
            seen = np.any(summary.counts[first : first + size] > 0, axis=1, keepdims=True)
            if not seen.any():
                continue
            weight = np.exp(table[first : first + size]) * seen
            below = np.cumsum(weight / weight.sum(axis=0), axis=0)[:, block.y]
            block.codes[:, j] = (rng.random(block.n) >= below[:-1]).sum(axis=0)

    def predict_then_update(self, summary: ValueCounts, block: Block, out: Floats) -> None:
        s = summary
        if len(s.sizes) == 0:
            return
        logs = logs_for(s, block.n)
        self._predict_then_update(summary, block, block.y, logs, out)

    def is_worth_a_thread(self, summary: ValueCounts, block: Block) -> bool:
        q, k = block.codes.shape[1], summary.counts.shape[1]
        return bool(q <= TILE and block.n * q * k >= TERMS)

    def terms_then_update(self, summary: ValueCounts, block: Block, units: Floats) -> Floats:
        s = summary
        terms = np.empty((*block.codes.shape, s.counts.shape[1]))
        logs = logs_for(s, block.n)
        table_terms_then_update(
            s.counts, s.present, s.seen, terms, s.declared, s.offsets, block.codes, block.y, block.w, logs,
            self.alpha, self.m,
        )  # fmt: skip
        return terms

    def free_parameters(self, summary: ValueCounts) -> Floats:
        spare: Floats = np.maximum(summary.width - 1.0, 0.0)
        return spare

    def odds(self, summary: ValueCounts, dichotomies: Dichotomies) -> Odds:
        s = summary
        columns = [
            CellOdds(
                s.counts, s.present[j], int(s.declared[j]), int(s.seen[j]), int(s.offsets[j]),
                int(s.offsets[j] + s.sizes[j]), dichotomies, self.alpha, self.m,
            )
            for j in range(len(s.sizes))
        ]  # fmt: skip
        return ValueOdds(columns)

    def _predict_then_update(
        self, s: ValueCounts, block: Block, labels: Codes, logs: Floats, out: Floats
    ) -> None:
        state, rows = (
            (s.counts, s.present, s.seen, out, s.declared, s.offsets),
            (block.codes, labels, block.w),
        )
        # Reading all cells beforehand pays where there are as many values as cells.
        read_all_cells = self.m == 0.0 and block.n >= MANY and block.codes.size >= len(s.counts)
        if not (read_all_cells and whole_predict_then_update(*state, *rows, logs, self.alpha)):
            table_predict_then_update(*state, *rows, logs, self.alpha, self.m)


@dataclass(frozen=True)
class MEstimateTable(CategoricalEstimator):
    """log P(v | c) = log(n + m_c p_v) - log(N + m_c) with m_c = max(m, share N); p is given, EVEN or POOLED."""

    p: float = EVEN
    share: float = 0.0

    def terms(self, summary: ValueCounts, block: Block) -> Floats:
        return self._terms(summary, block.codes)

    def table(self, summary: ValueCounts) -> Floats:
        s = summary
        table = np.zeros_like(s.counts)
        rows = np.arange(s.sizes.max(initial=0), dtype=np.int32)
        codes = np.where(rows[:, np.newaxis] < s.sizes, rows[:, np.newaxis], np.int32(-1))
        terms = self._terms(summary, codes)
        for j, (first, size) in enumerate(zip(s.offsets, s.sizes, strict=False)):
            table[first : first + size] = terms[:size, j]
        return table

    def _terms(self, s: ValueCounts, codes: Codes) -> Floats:
        out = np.zeros((*codes.shape, s.counts.shape[1]))
        m_estimate_terms(out, s.counts, s.present, s.width, s.offsets, codes, self.m, self.p, self.share)
        return out

    # The kernels assume the same pseudo-counts for all classes, so the slow defaults are used here.
    add_log_prob = LiveReader.add_log_prob
    predict_then_update = LiveReader.predict_then_update
    is_worth_a_thread = LiveReader.is_worth_a_thread
    terms_then_update = LiveReader.terms_then_update
    odds = LiveReader.odds


def logs_for(counts: ValueCounts, rows: int) -> Floats:
    """Logarithms of all integers that these counts can ask for while they learn so many rows of weight 1."""
    most = int(counts.present.max(initial=0.0)) + int(counts.width.max(initial=0))
    return integer_logs(most + rows + 2)


def categorical_estimator(smoothing: float | MEstimate) -> CategoricalEstimator:
    """The estimator of a smoothing: Laplace's pseudo-count per value, or an `MEstimate`."""
    if isinstance(smoothing, MEstimate):
        return smoothing.table()
    if not isinstance(smoothing, Real) or not 0 <= smoothing < float("inf"):
        raise SchemaError(f"smoothing={smoothing!r}; it is a pseudo-count >= 0 or MEstimate(m)")
    return CategoricalEstimator(alpha=float(smoothing))
