"""Class counts over a grid of cells per numeric column that adapts while it counts (PiD, cPiD)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from bayou import checks
from bayou.block import Block, Codes, Floats, Index
from bayou.checks import require
from bayou.kernels.grid_counts import count_columns, count_values, grid_error, join_cells, refine_column
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary, State
from bayou.summaries.frame import Frames
from bayou.summaries.state import declare, declared_classes, from_schema
from bayou.threads import over_ranges

PATIENCE = 3.0  # no cell is divided before the weight reaches PATIENCE / alpha
GRAIN = 50_000  # values worth a thread of their own


def _sums(name: str, array: Floats, summary: GridCounts) -> None:
    weight, largest = array.T
    valid.non_negative(name, weight, summary)
    checks.finite(name, largest[(weight > 0) | (largest != -np.inf)])


class GridCounts(ArraySummary):
    """Class counts of the cells of every numeric column; cells that get too much weight are divided.

    A column's range is a frame, frozen at its 1,000th value; until then the values themselves are buffered
    and read. Dividing a cell halves its counts, so counts are estimates; `error()` bounds how far ranks are off.

    Parameters
    ----------
    intervals, alpha, cells, joins
        Cells of equal width to begin with; the share above which a cell is divided; the largest number of
        cells; whether neighbours are joined to keep it (cPiD).

    Merge: BOUNDED, for equal frames (shards made with `fresh()`): both grids are refined to their common one,
    added, and coarsened back to `cells`. Memory: 8 p C (2 + K) bytes, C the power of two above `cells`, and
    20,000 bytes per column while any warms up: independent of the number of rows.

    Examples
    --------
    >>> from bayou.align import from_empty
    >>> from bayou.schema import Growth, Kind, Schema
    >>> schema = Schema(); schema.grow(Growth(classes=["no", "yes"], columns=[("age", Kind.NUMERIC)]))
    >>> ages = GridCounts(98, 0.02, 100, joins=True); ages.realign(from_empty(schema))
    >>> x, y = np.arange(5000.0)[:, None] % 100, (np.arange(5000) % 2).astype(np.int32)
    >>> ages.update(Block(x, np.empty((5000, 0), np.int32), (), y, np.ones(5000)))
    >>> ages.cells(0)[1].sum(axis=0), ages.error() < 0.03
    (array([2500., 2500.]), True)
    """

    law: ClassVar[MergeLaw] = MergeLaw.BOUNDED
    breaks: Floats = declare("numeric", "room", fill=np.inf, valid=valid.not_nan)
    slack: Floats = declare("numeric", "room", valid=valid.non_negative)
    counts: Floats = declare("numeric", "room", "classes", valid=valid.non_negative)
    sizes: Index = declare("numeric", dtype=np.int64, valid=valid.finite)
    sums: Floats = declare("numeric", 2, valid=_sums)  # weight and largest value
    declared: Index = from_schema(1, follows=declared_classes)

    def __init__(self, intervals: int, alpha: float, cells: int, joins: bool) -> None:
        self.intervals, self.alpha, self.max_cells, self.joins = intervals, alpha, cells, joins
        self.room = 1 << (cells + 1).bit_length()
        self.frames = Frames()
        super().__init__()

    def parts(self) -> Sequence[tuple[str, State]]:
        return [("", self.frames)]

    def _empty(self, p: int, k: int) -> None:
        self.breaks = np.full((p, self.room), np.inf)
        self.slack = np.zeros((p, self.room))
        self.counts = np.zeros((p, self.room, k))
        self.sizes = np.zeros(p, dtype=np.int64)
        self.sums = np.zeros((p, 2))

    @property
    def has_no_columns(self) -> bool:
        return len(self.sizes) == 0

    @property
    def steps(self) -> Floats:
        """Width of the intervals each column began with."""
        steps: Floats = (self.frames.high - self.frames.low) / self.intervals
        return steps

    def config(self) -> Mapping[str, Scalar]:
        return {
            "intervals": self.intervals,
            "alpha": self.alpha,
            "cells": self.max_cells,
            "joins": self.joins,
        }

    @property
    def frames_are_frozen(self) -> bool:
        return bool(np.all(self.frames.frozen))

    def update(self, block: Block) -> None:
        p = len(self.sizes)
        if p == 0 or block.n == 0:
            return
        first = self.frames.take(block)
        for j in self.frames.ready():
            self._begin(int(j))
        steps = self.steps

        def columns(lo: int, hi: int) -> None:
            count_columns(
                self.breaks, self.slack, self.counts, self.sizes, self.sums, block.numeric, block.y, block.w,
                first, steps, self.alpha, PATIENCE / self.alpha, self.max_cells, self.joins, lo, hi,
            )  # fmt: skip

        over_ranges(columns, p, 1 + GRAIN // block.n)

    def _begin(self, column: int) -> None:
        """Freeze a column's range and count its buffered values."""
        buffered = self.frames.freeze(column)
        self._lay_cells(column)
        self._count(column, *buffered)

    def _lay_cells(self, column: int) -> None:
        """Set up empty cells of equal width over the column's frame."""
        low, high = self.frames.low[column], self.frames.high[column]
        self.breaks[column] = np.inf
        self.breaks[column, : self.intervals + 1] = np.linspace(low, high, self.intervals + 1)
        self.slack[column] = 0.0
        self.counts[column] = 0.0
        self.sizes[column] = self.intervals + 2
        self.sums[column] = 0.0, -np.inf

    def _count(self, column: int, x: Floats, y: Codes, w: Floats) -> None:
        j = column
        count_values(
            self.breaks[j], self.slack[j], self.counts[j], self.sizes[j : j + 1], self.sums[j], x, y, w,
            self.alpha, PATIENCE / self.alpha, float(self.steps[j]), self.max_cells, self.joins,
        )  # fmt: skip

    def _add(self, column: int, x: Floats, y: Codes, w: Floats) -> None:
        """Add values of one column: to its buffer while it warms up, to its cells afterwards."""
        n = 0 if self.frames.frozen[column] else self.frames.add(column, x, y, w)
        if column in self.frames.ready():
            self._begin(column)
        if n < len(x):
            self._count(column, x[n:], y[n:], w[n:])

    def cells(self, column: int) -> tuple[Floats, Floats]:
        """Cells of one column that hold weight: the largest value of each, and its class counts [m, K]."""
        if self.frames.frozen[column]:
            m = int(self.sizes[column])
            upper = self.breaks[column, :m].copy()
            upper[m - 1] = max(self.sums[column, 1], np.nextafter(upper[m - 2], np.inf))
            counts = self.counts[column, :m]
        else:
            x, y, w = self.frames.kept(column)
            upper, place = np.unique(x, return_inverse=True)
            counts = np.zeros((len(upper), self.counts.shape[2]))
            np.add.at(counts, (place, y), w)
        has_weight = counts.any(axis=1)
        return upper[has_weight], counts[has_weight]

    def all_cells(self) -> tuple[Index, Floats, Floats]:
        """Cells of all columns end to end: offsets int64[p + 1], upper float64[m], counts float64[m, K]."""
        by_column = [self.cells(j) for j in range(len(self.sizes))]
        offsets = np.zeros(len(by_column) + 1, dtype=np.int64)
        np.cumsum([len(upper) for upper, _ in by_column], out=offsets[1:])
        upper = np.concatenate([upper for upper, _ in by_column] or [np.empty(0)])
        counts = np.concatenate([counts for _, counts in by_column] or [np.empty((0, self.counts.shape[2]))])
        return offsets, upper, counts

    def errors(self) -> Floats:
        """Per column, how far cumulated cells are off the rank or class rank of any value, relative to the weight."""
        return np.array(
            [grid_error(s, c, int(m)) for s, c, m in zip(self.slack, self.counts, self.sizes, strict=True)],
            dtype=np.float64,
        )

    def error(self) -> float:
        """The largest of `errors`; 0 while the columns warm up."""
        return float(self.errors().max(initial=0.0))

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        self.frames.check_same(other.frames)
        self.declared = np.maximum(self.declared, other.declared)
        for j in range(len(self.sizes)):
            if other.frames.frozen[j]:
                x, y, w = self.frames.kept(j)
                x, y, w = x.copy(), y.copy(), w.copy()
                if not self.frames.frozen[j]:
                    self.frames.fix(j, other.frames.low[j], other.frames.high[j])
                    self._lay_cells(j)
                self._join(other, j)
                self._add(j, x, y, w)
            else:
                self._add(j, *other.frames.kept(j))

    def _join(self, other: Self, j: int) -> None:
        """Add both grids of a frozen column on their common refinement, then join cells down to `cells`."""
        if other.sums[j, 0] == 0:
            return
        a, b = int(self.sizes[j]), int(other.sizes[j])
        finer = np.union1d(self.breaks[j, : a - 1], other.breaks[j, : b - 1])
        size = len(finer) + 1
        breaks = np.append(finer, np.inf)
        slack, counts = np.zeros(size), np.zeros((size, self.counts.shape[2]))
        refine_column(slack, counts, self.breaks[j, : a - 1], self.slack[j], self.counts[j, :a], finer)
        refine_column(slack, counts, other.breaks[j, : b - 1], other.slack[j], other.counts[j, :b], finer)
        while size > self.max_cells:
            join_cells(breaks, slack, counts, size, -1)
            size -= 1
        self.breaks[j], self.slack[j], self.counts[j] = np.inf, 0.0, 0.0
        self.breaks[j, : size - 1] = breaks[: size - 1]
        self.slack[j, : size - 1] = slack[: size - 1]
        self.counts[j, :size] = counts[:size]
        self.sizes[j] = size
        self.sums[j] = self.sums[j, 0] + other.sums[j, 0], max(self.sums[j, 1], other.sums[j, 1])

    def scale(self, factor: float) -> None:
        self.slack *= factor
        self.counts *= factor
        self.sums[:, 0] *= factor
        self.frames.warm_weights *= factor

    def regroup(self, groups: Floats) -> Self:
        """A summary with classes summed by groups; buffered values are relabelled one by one."""
        twin = self.fresh()
        p = len(self.sizes)
        twin.counts = self.counts @ groups.T
        twin.slack = self.slack * groups.sum(axis=0).max(initial=0.0)
        twin.breaks, twin.sizes = self.breaks.copy(), self.sizes.copy()
        twin.sums = np.column_stack([twin.counts.sum(axis=(1, 2)), self.sums[:, 1]])
        twin.declared = np.minimum(self.declared, len(groups))
        for j in range(p):
            x, y, w = self.frames.kept(j)
            row, group = np.nonzero(groups.T[y])
            twin._add(j, x[row], group.astype(np.int32), w[row])
        return twin

    def fresh(self) -> Self:
        """A summary with these frames and nothing counted."""
        twin = type(self)(self.intervals, self.alpha, self.max_cells, self.joins)
        p = len(self.sizes)
        twin._empty(p, self.counts.shape[2])
        twin.frames.resize(p)
        twin.lengths = twin.frames.lengths = self.lengths
        twin.declared = self.declared.copy()
        for j in np.flatnonzero(self.frames.frozen):
            twin.frames.fix(int(j), self.frames.low[j], self.frames.high[j])
            twin._lay_cells(int(j))
        return twin

    def check(self, arrays: Arrays) -> None:
        """The breaks of a column rise strictly and are infinite behind its last cell; a column without a range has
        no cells, and joining keeps the number of cells."""
        super().check(arrays)
        sizes, has_range = arrays["sizes"], ~np.isnan(arrays["low"])
        require((sizes[~has_range] == 0).all(), "a column without a range has cells")
        least = self.max_cells if self.joins else 2
        inside = (least <= sizes[has_range]) & (sizes[has_range] <= self.max_cells)
        require(inside.all(), f"a column must have {least} to {self.max_cells} cells")
        for breaks, size in zip(arrays["breaks"], sizes.tolist(), strict=True):
            inner = breaks[: max(0, size - 1)]
            require(np.isfinite(inner).all() and (inner[1:] > inner[:-1]).all(), "breaks must rise")
            require((breaks[len(inner) :] == np.inf).all(), "a break lies behind the last cell")
