"""Class-conditional probabilities of intervals, read off any summary that has cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment, Axis
from bayou.block import Block, Codes, Floats, Index
from bayou.checks import counts, finite, parts, require, rising
from bayou.errors import SchemaError
from bayou.kernels.column_terms import gather_intervals
from bayou.kernels.interval_counts import count_intervals, predict_then_count
from bayou.kernels.intervals import (
    BAND,
    add_intervals,
    fill_log_table,
    interval_codes,
    interval_terms,
)
from bayou.kernels.weights import pmi_table
from bayou.protocols import Arrays, Summary
from bayou.readings.categorical import CategoricalEstimator, MEstimate, logs_for
from bayou.readings.dichotomies import ColumnOdds, Dichotomies, Odds, PairedOdds
from bayou.readings.modl import MODL
from bayou.readings.partition import Discretiser, Partition, Partitions, offsets_of
from bayou.summaries.array_summary import move
from bayou.summaries.value_counts import ValueCounts
from bayou.threads import over_pieces, over_ranges

if TYPE_CHECKING:
    from bayou.scorer import Node

GRAIN = 100_000  # cells worth a thread of their own
SEARCH_GRAIN = (
    4  # columns worth a thread of their own in a search: a column takes longer than a thread to begin
)


class CellSummary(Summary, Protocol):
    """A summary of numeric columns that can give them as ordered cells with class counts."""

    declared: NDArray[np.int64]

    def all_cells(self) -> tuple[Index, Floats, Floats]:
        """offsets int64[p + 1], upper float64[m], counts float64[m, K] of all columns, end to end."""


@dataclass(frozen=True)
class Intervals:
    r"""Searches intervals for every column; $\log P(i \mid c) = \log (N_{ic} + a) - \log (N_c + a I)$.

    With the m-estimate (the default, m = 1) $a = m / I$. A column of one interval adds exactly 0.

    Parameters
    ----------
    bins
        The discretiser.
    smoothing
        `MEstimate(m)`, a pseudo-count a per interval, or `"khiops"`: a = 1 / (N + 1).

    Examples
    --------
    >>> from bayou.readings.equal import EqualWidth
    >>> Intervals(EqualWidth(bins=5), smoothing="khiops").added()
    (0.0, 0.0, 1.0)
    """

    bins: Discretiser = field(default_factory=MODL)
    smoothing: float | str | MEstimate = MEstimate(1.0)  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
        self.added()

    def added(self) -> tuple[float, float, float]:
        """What smoothing adds to an interval: a constant, a multiple m of 1 / I, a multiple of 1 / (N + 1)."""
        if isinstance(self.smoothing, MEstimate):
            if (self.smoothing.p, self.smoothing.share) != (None, 0.0):
                raise SchemaError(
                    f"{self.smoothing}: intervals are smoothed by MEstimate(m) alone, without p and share"
                )
            return 0.0, float(self.smoothing.m), 0.0
        if self.smoothing == "khiops":
            return 0.0, 0.0, 1.0
        if isinstance(self.smoothing, str) or not 0 <= self.smoothing < float("inf"):
            raise SchemaError(
                f"smoothing={self.smoothing!r}; it is MEstimate(m), a pseudo-count >= 0 or 'khiops'"
            )
        return float(self.smoothing), 0.0, 0.0

    def read(self, summary: CellSummary) -> IntervalReading:
        """Intervals of every column, searched over the classes that have weight (or more, if declared)."""
        return IntervalReading(self.search(*self.cells(summary), summary), self.added())

    def cells(self, summary: CellSummary) -> tuple[Index, Floats, Floats]:
        """The cells that the discretiser may join: for supervised ones, only cells that the ranks can separate."""
        if self.bins.supervised and hasattr(summary, "separable_cells"):
            joined: tuple[Index, Floats, Floats] = summary.separable_cells()
            return joined
        return summary.all_cells()

    def search(self, offsets: Index, upper: Floats, counts: Floats, summary: CellSummary) -> Partitions:
        """The partitions of all columns that the discretiser finds over these cells."""
        if len(offsets) == 1:  # no columns, as in every model that begins
            return Partitions(offsets, upper, counts, np.zeros(0))
        seen = np.flatnonzero(counts.any(axis=0))
        present = np.ascontiguousarray(counts[:, seen])
        n_classes = max(len(seen), int(summary.declared[0]), 1)
        by_first_column: dict[int, Partitions] = {}

        def columns(lo: int, hi: int) -> None:
            a, b = offsets[lo], offsets[hi]
            by_first_column[lo] = self.bins.partitions(
                offsets[lo : hi + 1] - a, upper[a:b], present[a:b], n_classes=n_classes
            )

        over_pieces(columns, len(offsets) - 1, SEARCH_GRAIN)
        parts = [by_first_column[lo] for lo in sorted(by_first_column)]
        sizes = np.concatenate([np.diff(part.offsets) for part in parts])
        interval_counts = np.zeros((int(sizes.sum()), counts.shape[1]))
        interval_counts[:, seen] = np.concatenate([part.counts for part in parts])
        cuts = np.concatenate([part.cuts for part in parts])
        levels = np.concatenate([part.levels for part in parts])
        return Partitions(offsets_of(sizes), cuts, interval_counts, levels)

    def restore(self, arrays: Arrays, summary: CellSummary) -> IntervalReading:
        offsets, cuts, cells = arrays["offsets"], arrays["cuts"], arrays["counts"]
        p = len(arrays["levels"])
        require(offsets.shape == (p + 1,) and cuts.ndim == 1, "every column of a reading has its intervals")
        require(offsets[0] == 0, "the first interval is not the first")
        parts("the numbers of intervals", np.diff(offsets), len(cuts))
        require((np.diff(offsets) >= 1).all(), "a column of a reading has no interval")
        require(cells.ndim == 2 and len(cells) == len(cuts), "every interval has its class counts")
        counts("the class counts of intervals", cells)
        finite("the levels of columns", arrays["levels"])
        for column in np.split(cuts, offsets[1:-1]):
            rising("the cuts of a column", column)
        return IntervalReading(
            Partitions(
                np.array(arrays["offsets"], dtype=np.int64),
                np.array(arrays["cuts"], dtype=np.float64),
                np.array(arrays["counts"], dtype=np.float64, ndmin=2),
                np.array(arrays["levels"], dtype=np.float64),
            ),
            self.added(),
        )


@dataclass(frozen=True, eq=False)
class IntervalReading:
    """The intervals of all numeric columns with their class counts, and the log-probabilities they give.

    Parameters
    ----------
    partitions
        One partition per column; `partitions[j]` has cuts, class counts and level for display.
    added
        What smoothing adds, see `Intervals.added`.
    """

    partitions: Partitions
    added: tuple[float, float, float] = (0.0, 1.0, 0.0)

    @cached_property
    def table(self) -> Floats:
        """float64[P + 1, K] log P(i | c); the last row is 0."""
        table = np.zeros((len(self.counts) + 1, self.counts.shape[1]))
        fill_log_table(table, self.counts, self.parts, *self.added)
        return table

    def __iter__(self) -> Iterator[Partition]:
        return (self.partitions[j] for j in range(len(self.partitions)))

    @property
    def shape(self) -> tuple[int, int]:
        """Columns and classes."""
        return len(self.partitions), self.partitions.counts.shape[1]

    @property
    def parts(self) -> Index:
        return self.partitions.offsets

    @property
    def counts(self) -> Floats:
        """float64[P, K] weight of every interval."""
        return self.partitions.counts

    def with_counts(self, counts: Floats) -> Self:
        return replace(self, partitions=replace(self.partitions, counts=counts))

    def columns(self, plan: Alignment) -> Axis:
        return plan.numeric

    @cached_property
    def counted(self) -> Index:
        """int64[p], every column whose cells are counted row by row; -1 in the place of others."""
        return np.arange(len(self.partitions))

    def cells_of(self, block: Block) -> Codes:
        """int32[n, p], the interval of each value; -1 where it is missing, and in columns that are not counted."""
        codes = np.empty(block.numeric.shape, dtype=np.int32)

        def rows(lo: int, hi: int) -> None:
            interval_codes(codes[lo:hi], self.partitions.cuts, self.parts, self.counted, block.numeric[lo:hi])

        over_ranges(rows, block.n, 1 + GRAIN // max(1, len(self.partitions)))
        return codes

    def count(self, cells: ValueCounts, block: Block) -> None:
        """Count the rows in their intervals, as by the codes that `cells_of` gives."""

        def columns(lo: int, hi: int) -> None:
            count_intervals(
                cells.counts, cells.present, cells.seen, cells.offsets, self.partitions.cuts, self.parts,
                self.counted, block.numeric, block.y, block.w, lo, hi,
            )  # fmt: skip

        over_pieces(columns, len(self.partitions), max(BAND, GRAIN // max(1, block.n)))

    def predict_then_count(
        self, cells: ValueCounts, smoothing: CategoricalEstimator, block: Block, out: Floats
    ) -> None:
        """Add log P(i | c) of each row, as it stood before the row, to `out`; then count the row."""
        s = cells
        predict_then_count(
            s.counts, s.present, s.seen, out, s.declared, s.offsets, self.partitions.cuts, self.parts, self.counted,
            block.numeric, block.y, block.w, logs_for(s, block.n), smoothing.alpha, smoothing.m,
        )  # fmt: skip

    def add_log_prob(self, block: Block, out: Floats) -> None:
        self.add_columns(np.arange(len(self.partitions)), block, out)

    def add_columns(self, index: Index, block: Block, out: Floats) -> None:
        """`add_log_prob` of a block that has these columns among its numeric ones: int64[p], where each is."""
        self._add(self.table, index, block, out)

    def add_table(self, table: Floats, block: Block, out: Floats) -> None:
        """`add_log_prob` of the columns that are counted, by another table float64[P, K]."""
        self._add(np.concatenate([table, np.zeros((1, table.shape[1]))]), self.counted, block, out)

    def _add(self, table: Floats, index: Index, block: Block, out: Floats) -> None:
        if len(index) == 0 or block.n == 0:
            return

        def rows(lo: int, hi: int) -> None:
            add_intervals(out[lo:hi], table, self.partitions.cuts, self.parts, index, block.numeric[lo:hi])

        over_ranges(rows, block.n, 1 + GRAIN // len(index))

    def terms(self, block: Block) -> Floats:
        """[n, p, K] log P(x_j | c), 0 where the value is missing or the column has one interval."""
        parts = self.partitions
        out = np.zeros((*block.numeric.shape, self.table.shape[1]))
        interval_terms(out, self.table, parts.cuts, parts.offsets, block.numeric)
        return out

    def scorer_columns(self) -> list[Node]:
        return self.tables_of_columns(self.table)

    def tables_of_columns(self, table: Floats) -> list[Node]:
        """The rows of a table float64[P or more, K] over the intervals as nodes of a scorer, one per column."""
        from bayou.scorer import interval_table

        cuts = self.partitions.cuts
        return [
            interval_table(j, cuts[a : b - 1], table[a:b]) for j, (a, b) in enumerate(pairwise(self.parts))
        ]

    def informative_columns(self) -> Index:
        """Columns of more than one interval; the others add 0 until the next search."""
        return np.flatnonzero(np.diff(self.parts) > 1)

    @cached_property
    def pmi_table(self) -> Floats:
        """float64[P + 1, K] the table as pointwise mutual information, by the class counts it was read from."""
        table = self.table.copy()
        pmi_table(table, self.counts, self.parts)
        return table

    def pmi_terms(self, block: Block) -> Floats:
        """[n, d, K] pointwise mutual information of the informative columns' values."""
        index = self.informative_columns()
        out = np.empty((block.n, len(index), self.pmi_table.shape[1]))
        gather_intervals(out, self.pmi_table, self.partitions.cuts, self.parts, index, block.numeric)
        return out

    def free_parameters(self) -> Floats:
        """[d] intervals of each column but one."""
        return np.diff(self.parts) - 1.0

    def odds(self, dichotomies: Dichotomies) -> Odds:
        """Log-odds for all columns of a code over the same intervals: counts of each side are summed, then smoothed."""
        parts = self.partitions
        # Smoothing by the weight of the column, which differs from column to column of the code
        if self.added[2]:
            counts = [np.ascontiguousarray(parts.counts @ groups.T) for groups in dichotomies.groups()]
            return ColumnOdds([self.with_counts(c) for c in counts], dichotomies)
        return PairedOdds(self.with_counts(dichotomies.sums(parts.counts)), dichotomies)

    def realign(self, plan: Alignment) -> Self:
        """Move the intervals; a new column has one empty interval, a new class no counts."""
        parts = self.partitions
        old_column = np.full(plan.numeric.size, -1, dtype=np.int64)
        old_column[plan.numeric.to] = np.arange(len(plan.numeric.to))
        sizes = np.ones(plan.numeric.size, dtype=np.int64)
        sizes[plan.numeric.to] = np.diff(parts.offsets)
        offsets = offsets_of(sizes)
        cuts = np.full(offsets[-1], np.inf)
        counts = np.zeros((int(offsets[-1]), plan.classes.size))
        moved = move(parts.counts, 1, plan.classes)
        for j, old in enumerate(old_column):
            if old >= 0:
                here, there = (
                    slice(offsets[j], offsets[j + 1]),
                    slice(parts.offsets[old], parts.offsets[old + 1]),
                )
                cuts[here], counts[here] = parts.cuts[there], moved[there]
        levels = move(parts.levels, 0, plan.numeric)
        return type(self)(Partitions(offsets, cuts, counts, levels), self.added)

    def arrays(self) -> Arrays:
        parts = self.partitions
        return {"offsets": parts.offsets, "cuts": parts.cuts, "counts": parts.counts, "levels": parts.levels}
