"""Quantiles of every numeric column with class counts, in bounded memory (GKClass)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from bayou import checks
from bayou.align import Alignment, Axis
from bayou.block import Block, Codes, Floats, Index
from bayou.checks import parts, require, rising
from bayou.kernels.quantile_tuples import buffer_rows, find_rows, flush_columns
from bayou.kernels.tuple_budget import HEAD
from bayou.kernels.tuple_cells import join_uncertain, uncertainty
from bayou.kernels.tuple_lists import merge_columns
from bayou.kernels.whole_tuples import TILE, sort_by_class
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.schema import Shape
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.state import declare, declared_classes, from_schema, move
from bayou.threads import over_pieces, over_ranges

BUFFER = 512  # rows between two flushes
GRAIN = 32  # columns worth a thread of their own, where lists are merged
VALUES = 1 << 15  # values worth a thread of their own, where they are merged into tuples
CERTAINTY = 8.0  # least weight of a cell of one class, in units of the uncertainty at its ends
MOST_EXACT = 1_000_000  # distinct values of a column that can be kept exactly


def _tuples(name: str, array: Floats, summary: QuantileTuples) -> None:
    checks.finite(name, array[:, 0])
    valid.non_negative(name, array[:, 1:], summary)


class QuantileTuples(ArraySummary):
    r"""Tuples $\langle v, g, \Delta, e, (g_c)\rangle$ of every numeric column (Greenwald and Khanna 2001).

    The weight at or below v is between $\sum g$ up to here and that plus $\Delta$, for each class likewise;
    e of it lies exactly at v. Between two tuples, ranks are known up to $u = g + \Delta - e$ of the right one,
    so a column with no more distinct values than tuples is exact; it stays so up to `exact` distinct values if
    these come again (at most 7/8 as many as the weight seen). Rows are buffered and flushed at every 512th row;
    readings include the buffer.

    Parameters
    ----------
    tuples, eps, exact
        As in `GKClass`, but `exact` is 0 unless given.

    Merge: BOUNDED; u of the result is at most the sum of both, then the list is shortened; `error()`
    includes both. Memory: 8 (4 + K) bytes for each of m tuples per column, m = `tuples`, or 5/4 of the list where
    that is longer (values kept exactly, at most `exact`; lists with eps), and 512 (8 p + 12) bytes for the
    buffer: independent of the number of rows.

    Examples
    --------
    >>> from bayou.align import from_empty
    >>> from bayou.schema import Growth, Kind, Schema
    >>> schema = Schema(); schema.grow(Growth(classes=["no", "yes"], columns=[("age", Kind.NUMERIC)]))
    >>> ages = QuantileTuples(); ages.realign(from_empty(schema))
    >>> x, y = np.array([[30.0], [40.0], [30.0]]), np.array([0, 1, 1], dtype=np.int32)
    >>> ages.update(Block(x, np.empty((3, 0), np.int32), (), y, np.ones(3)))
    >>> ages.cells(0)
    (array([30., 40.]), array([[1., 1.],
           [0., 1.]]))
    >>> ages.error()
    0.0
    """

    law: ClassVar[MergeLaw] = MergeLaw.BOUNDED
    instead: ClassVar[str] = "; a model with numeric='gaussian' keeps moments, which can do it"
    tuples: Floats = declare("*tuples", "width", valid=_tuples)
    sizes: Index = declare("numeric", dtype=np.int64, valid=valid.finite)
    values: Floats = declare("*pending", "numeric", valid=valid.not_infinite)
    labels: Codes = declare("*pending", dtype=np.int32, valid=valid.class_codes)
    weights: Floats = declare("*pending", valid=valid.non_negative)
    declared: Index = from_schema(1, follows=declared_classes)
    rows: Floats  # the lists with room to grow
    _whole: bool  # whether all their weights are whole numbers, so that sums of them are exact

    def __init__(self, tuples: int = 100, eps: float | None = None, exact: int = 0) -> None:
        self.budget = tuples if eps is None else max(4, math.ceil(2 / eps))
        self.eps = eps
        self.exact = exact
        self._tuples = tuples
        self.declared = np.zeros(1, dtype=np.int64)
        self._empty(0, 0)

    def _empty(self, p: int, k: int) -> None:
        """Set up an empty state of p columns and k classes."""
        self._unpack(np.zeros((0, HEAD + k)), np.zeros(p, dtype=np.int64))
        self.values = np.empty((BUFFER, p))
        self.labels = np.empty(BUFFER, dtype=np.int32)
        self.weights = np.empty(BUFFER)
        self.fill = np.zeros(1, dtype=np.int64)

    def least_bytes(self, shape: Shape) -> int:
        """Bytes of the budget of every column, and of the buffer."""
        room = 8 * (HEAD + shape.classes) * self.budget * shape.numeric
        return room + BUFFER * (8 * shape.numeric + 12)

    @property
    def n_columns(self) -> int:
        """Number of numeric columns."""
        return len(self.sizes)

    @property
    def has_no_columns(self) -> bool:
        return len(self.sizes) == 0

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.rows.shape[1]) - HEAD

    def config(self) -> Mapping[str, Scalar]:
        return {"tuples": self._tuples, "eps": self.eps, "exact": self.exact}

    def update(self, block: Block) -> None:
        start = 0
        if not self.n_columns:
            return
        if self.fill[0] or block.n < BUFFER:
            start = self._buffer(block, start)
            if self.fill[0] < BUFFER:
                return
            self._merge_rows(self.values, self.labels, self.weights, np.arange(BUFFER))
            self.fill[0] = 0
        rows = np.empty(block.n - start, dtype=np.int64)
        rows = rows[: find_rows(rows, block.numeric, block.y, block.w, start)]
        full = len(rows) - len(rows) % BUFFER
        if full:
            self._merge_rows(block.numeric, block.y, block.w, rows[:full])
        if full < len(rows):
            self._buffer(block, int(rows[full]))

    def _buffer(self, block: Block, start: int) -> int:
        """Copy rows into the buffer until it is full; returns the first row that was not copied."""
        return buffer_rows(
            self.values, self.labels, self.weights, self.fill, block.numeric, block.y, block.w, start
        )

    def _flushed(self, copied: bool = False) -> tuple[Floats, Index, Index]:
        """Tuples, starts and sizes of the columns with the buffer merged in; in place unless `copied`."""
        n, rows, sizes = int(self.fill[0]), self.rows, self.sizes
        if copied and n:
            rows, sizes = rows.copy(), sizes.copy()
        return self._with_rows(rows, sizes, self.values, self.labels, self.weights, np.arange(n))

    def _with_rows(
        self, rows: Floats, sizes: Index, values: Floats, y: Codes, w: Floats, chosen: Index
    ) -> tuple[Floats, Index, Index]:
        """Tuples, starts and sizes of the columns with the chosen rows merged in, in place while there is room."""
        starts, p, n = self.starts, len(sizes), len(chosen)
        if not n or not p:
            return rows, starts, sizes
        whole, places = self._whole and bool((w[chosen] == 1.0).all()), np.arange(n) % BUFFER
        ends = np.empty((-(-n // BUFFER), self.n_classes), dtype=np.int64)
        if whole:
            in_order, chosen = chosen, np.empty_like(chosen)
            sort_by_class(chosen, places, ends, in_order, y, BUFFER)
        needed, taken = np.zeros(p, dtype=np.int64), np.zeros(p, dtype=np.int64)

        def columns(lo: int, hi: int) -> None:
            flush_columns(
                rows, sizes, needed, taken, starts, values, y, w, chosen, places, ends, whole, BUFFER,
                self.budget, self.exact, self.eps or 0.0, lo, hi,
            )  # fmt: skip

        while True:
            # Columns differ in cost: few of them are divided more finely among threads than they are transposed
            over_pieces(columns, p, max(1, min(TILE, p // 4), VALUES // n))
            if not needed.any():
                return rows, starts, sizes
            rows, starts = self._spread(self._packed(rows, starts, sizes), sizes, needed + needed // 4)

    def _merge_rows(self, values: Floats, y: Codes, w: Floats, chosen: Index) -> None:
        """Merge the chosen rows into the tuples; release room where most of it has become empty."""
        rows, starts, sizes = self._with_rows(self.rows, self.sizes, values, y, w, chosen)
        self._whole = self._whole and are_whole(w[chosen])
        if len(rows) > 2 * int(np.maximum(sizes, self.budget).sum()):
            rows, starts = self._spread(self._packed(rows, starts, sizes), sizes)
        self.rows, self.starts, self.sizes = rows, starts, sizes

    def all_cells(self) -> tuple[Index, Floats, Floats]:
        """Cells of all columns end to end: offsets int64[p + 1], upper float64[m], counts float64[m, K]."""
        rows, starts, sizes = self._flushed(copied=True)
        packed = self._packed(rows, starts, sizes)
        offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
        np.cumsum(sizes, out=offsets[1:])
        return offsets, np.ascontiguousarray(packed[:, 0]), np.ascontiguousarray(packed[:, HEAD:])

    def separable_cells(self) -> tuple[Index, Floats, Floats]:
        """The cells of `all_cells` with neighbours joined that ranks cannot separate, for supervised discretisers.

        The weight below a cell's end may be off by D; a joined cell weighs at least D, and one of a single class 8 D.
        Rows sorted by class need this: tuples of a later class in the gaps of an earlier one look pure, and are not.
        Where the column is exact, no cells are joined.
        """
        rows, starts, sizes = self._flushed(copied=True)
        m = int(sizes.sum())
        offsets, upper, counts = (
            np.empty(len(sizes) + 1, np.int64),
            np.empty(m),
            np.empty((m, self.n_classes)),
        )
        join_uncertain(upper, counts, offsets, rows, starts, sizes, CERTAINTY)
        return offsets, upper[: offsets[-1]], counts[: offsets[-1]]

    def cells(self, column: int) -> tuple[Floats, Floats]:
        """Cells of one column: the largest value of each, float64[m], and its class counts, float64[m, K]."""
        offsets, upper, counts = self.all_cells()
        here = slice(offsets[column], offsets[column + 1])
        return upper[here], counts[here]

    def errors(self) -> Floats:
        """max u / N of every column: how far cumulated cells are off ranks and class ranks, relative to its weight."""
        rows, starts, sizes = self._flushed(copied=True)
        out = np.zeros(len(sizes))
        uncertainty(rows, starts, sizes, out)
        return out

    def error(self) -> float:
        """The largest of `errors`; 0 while the distinct values of every column fit."""
        return float(self.errors().max(initial=0.0))

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        both = self.sizes + other.sizes
        starts = np.zeros(len(both) + 1, dtype=np.int64)
        np.cumsum(both, out=starts[1:])
        merged, sizes = np.empty((int(starts[-1]), self.rows.shape[1])), np.zeros_like(both)

        def columns(lo: int, hi: int) -> None:
            merge_columns(
                merged, sizes, starts, self.rows, self.starts, self.sizes, other.rows, other.starts, other.sizes,
                self.budget, self.exact, self.eps or 0.0, lo, hi,
            )  # fmt: skip

        if len(merged):
            over_ranges(columns, len(sizes), GRAIN)
            self._unpack(self._packed(merged, starts, sizes), sizes)
        self.declared = np.maximum(self.declared, other.declared)
        n = int(other.fill[0])
        codes = np.empty((n, 0), dtype=np.int32)
        self.update(Block(other.values[:n], codes, (), other.labels[:n], other.weights[:n]))

    def scale(self, factor: float) -> None:
        self.rows[:, 1:] *= factor
        self._whole = False
        self.weights[: self.fill[0]] *= factor

    def regroup(self, groups: Floats) -> Self:
        """Tuples with classes summed by groups; a class in no group is left out, and e is reduced by its weight."""
        rows, starts, sizes = self._flushed(copied=True)
        packed = self._packed(rows, starts, sizes)
        most = float(groups.sum(axis=0).max(initial=0.0))
        counts = packed[:, HEAD:] @ groups.T
        g = counts.sum(axis=1)
        e = np.maximum(0.0, most * packed[:, 3] - np.maximum(0.0, most * packed[:, 1] - g))
        has_weight = g > 0
        column = np.repeat(np.arange(len(sizes)), sizes)
        twin = type(self)(self._tuples, self.eps, self.exact)
        twin._empty(len(sizes), len(groups))
        twin.declared = np.minimum(self.declared, len(groups))
        regrouped = np.column_stack([packed[:, 0], g, most * packed[:, 2], e, counts])[has_weight]
        twin._unpack(regrouped, np.bincount(column[has_weight], minlength=len(sizes)))
        return twin

    def realign(self, plan: Alignment) -> None:
        n, columns = int(self.fill[0]), plan.numeric
        self.lengths = plan.lengths
        self.declared = np.array([plan.classes.declared], dtype=np.int64)
        if n:
            self.labels[:n] = plan.classes.to[self.labels[:n]]
        if stays(columns, self.n_columns) and stays(plan.classes, self.n_classes):
            return
        packed = self._packed(self.rows, self.starts, self.sizes)
        lists = np.split(packed, np.cumsum(self.sizes)[:-1]) if len(self.sizes) else []
        packed = np.concatenate([packed[:0], *(lists[j] for j in np.argsort(columns.to))])
        counts = move(packed[:, HEAD:], 1, plan.classes)
        self._unpack(np.concatenate([packed[:, :HEAD], counts], axis=1), move(self.sizes, 0, columns))
        old, self.values = self.values, np.full((BUFFER, columns.size), np.nan)
        self.values[:, columns.to] = old

    def arrays(self) -> Arrays:
        """Lists end to end and the filled part of the buffer, so that equal content gives equal arrays."""
        n = int(self.fill[0])
        return {
            "tuples": self._packed(self.rows, self.starts, self.sizes),
            "sizes": self.sizes,
            "values": self.values[:n],
            "labels": self.labels[:n],
            "weights": self.weights[:n],
            "declared": self.declared,
        }

    def restore(self, arrays: Arrays) -> None:
        n, p = arrays["values"].shape
        self._empty(p, arrays["tuples"].shape[1] - HEAD)
        self._unpack(np.asarray(arrays["tuples"]), np.asarray(arrays["sizes"], dtype=np.int64))
        self.values[:n], self.labels[:n], self.weights[:n] = (
            arrays["values"], arrays["labels"], arrays["weights"],
        )  # fmt: skip
        self.fill[0] = n
        self.declared = np.array(arrays["declared"], dtype=np.int64)

    def check(self, arrays: Arrays) -> None:
        """Lists of rising values end to end, each within its room; fewer pending rows than the buffer holds."""
        super().check(arrays)
        tuples, sizes = arrays["tuples"], arrays["sizes"]
        longest = sizes.max(initial=0)
        fits = self.eps is not None or longest <= max(self.budget, self.exact)
        require(fits, "a column holds more tuples than its room")
        parts("the numbers of tuples", sizes, len(tuples))
        require(len(arrays["values"]) < BUFFER, "more rows wait than the buffer holds")
        require(arrays["labels"].min(initial=0) >= 0, "a pending row has no label")
        for column in np.split(tuples[:, 0], np.cumsum(sizes)[:-1]):
            rising("the values of a column's tuples", column)

    def _packed(self, rows: Floats, starts: Index, sizes: Index) -> Floats:
        """The lists end to end."""
        return rows[_places(starts, sizes)]

    def _spread(self, packed: Floats, sizes: Index, least: Index | int = 0) -> tuple[Floats, Index]:
        """The lists, each with room for the budget or `least` tuples, and where each starts."""
        starts = np.zeros(len(sizes) + 1, dtype=np.int64)
        np.cumsum(np.maximum(np.maximum(sizes, self.budget), least), out=starts[1:])
        rows = np.zeros((int(starts[-1]), packed.shape[1]))
        rows[_places(starts, sizes)] = packed
        return rows, starts

    def _unpack(self, packed: Floats, sizes: Index) -> None:
        self.sizes = sizes.astype(np.int64)
        self.rows, self.starts = self._spread(packed, self.sizes)
        self._whole = are_whole(packed[:, 1:])


def stays(axis: Axis, size: int) -> bool:
    """Whether an axis of this size remains as it is."""
    return axis.size == size and bool(np.array_equal(axis.to, np.arange(size)))


def are_whole(weights: Floats) -> bool:
    """Whether all weights are whole numbers."""
    return bool((weights == np.floor(weights)).all())


def _places(starts: Index, sizes: Index) -> Index:
    """The rows of the tuples of all lists, list after list."""
    shift: Index = starts[:-1] - (np.cumsum(sizes) - sizes)
    places: Index = np.arange(int(sizes.sum())) + np.repeat(shift, sizes)
    return places
