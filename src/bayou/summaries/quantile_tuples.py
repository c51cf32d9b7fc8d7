"""Quantiles of every numeric column with class counts, in bounded memory (GKClass)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment
from bayou.block import Block, Floats, Index
from bayou.checks import codes, counts, finite, parts, require, rising
from bayou.errors import DataError
from bayou.kernels.quantile_tuples import buffer_rows, flush_columns, uncertainty
from bayou.kernels.tuple_budget import HEAD
from bayou.kernels.tuple_lists import merge_columns
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.recipe import Recipe
from bayou.summaries.array_summary import ArraySummary, move
from bayou.threads import over_ranges

BUFFER = 512  # rows between two flushes
GRAIN = 32  # columns worth a thread of their own


@dataclass(frozen=True)
class GKClass(Recipe):
    """Quantile tuples with class counts: a fixed number of them, or as many as an error needs.

    Parameters
    ----------
    tuples
        Tuples per column. The error that holds is reported, not promised: `error()`.
    eps
        If given, ranks are never off by more than eps N, and the number of tuples follows (about 1.3 / eps
        on data in random order, and 1 / eps before anything is given up).

    Examples
    --------
    >>> GKClass(tuples=50).summary().config()
    {'tuples': 50, 'eps': None}
    """

    tuples: int = 100
    eps: float | None = None

    def __post_init__(self) -> None:
        if self.tuples < 4:
            raise DataError("a column needs at least 4 tuples", value=self.tuples)
        if self.eps is not None and not 1e-6 <= self.eps < 0.5:
            raise DataError("eps must lie between 1e-6 and 0.5", value=self.eps)

    def summary(self) -> QuantileTuples:
        return QuantileTuples(self.tuples, self.eps)


class QuantileTuples(ArraySummary):
    r"""Tuples $\langle v, g, \Delta, e, (g_c)\rangle$ of every numeric column (Greenwald and Khanna 2001).

    The weight at or below v is between $\sum g$ up to here and that plus $\Delta$, for each class likewise;
    e of it lies exactly at v. Between two tuples, ranks are known up to $u = g + \Delta - e$ of the right one,
    so a column with no more distinct values than tuples is exact. Rows wait in a buffer that empties at every
    512th row; readings see what is in it.

    Parameters
    ----------
    tuples, eps
        As in `GKClass`.

    Merge: BOUNDED; u of the result is at most the sum of both, then the list is shortened, and `error()` tells
    all of it. Memory: 8 p (4 + K) m bytes for the tuples, m = `tuples` (with eps: up to twice the longest list
    plus 1,024), and 512 (8 p + 12) bytes for the buffer: independent of the number of rows.

    Examples
    --------
    >>> from bayou.align import whole
    >>> from bayou.schema import Growth, Kind, Schema
    >>> schema = Schema(); schema.grow(Growth(classes=["no", "yes"], columns=[("age", Kind.NUMERIC)]))
    >>> ages = QuantileTuples(); ages.realign(whole(schema))
    >>> x, y = np.array([[30.0], [40.0], [30.0]]), np.array([0, 1, 1], dtype=np.int32)
    >>> ages.update(Block(x, np.empty((3, 0), np.int32), (), y, np.ones(3)))
    >>> ages.cells(0)
    (array([30., 40.]), array([[1., 1.],
           [0., 1.]]))
    >>> ages.error()
    0.0
    """

    law: ClassVar[MergeLaw] = MergeLaw.BOUNDED

    def __init__(self, tuples: int = 100, eps: float | None = None) -> None:
        self.budget = tuples if eps is None else max(4, math.ceil(1 / eps))
        self.eps = eps
        self._tuples = tuples
        self.declared = np.zeros(1, dtype=np.int64)
        self._empty(0, 0)

    def _empty(self, p: int, k: int) -> None:
        """No rows, p columns, k classes."""
        self.rows = np.zeros((p, self.budget, HEAD + k))
        self.sizes = np.zeros(p, dtype=np.int64)
        self.values = np.empty((BUFFER, p))
        self.labels = np.empty(BUFFER, dtype=np.int32)
        self.weights = np.empty(BUFFER)
        self.fill = np.zeros(1, dtype=np.int64)

    @property
    def n_columns(self) -> int:
        return len(self.sizes)

    @property
    def n_classes(self) -> int:
        return self.rows.shape[2] - HEAD

    def config(self) -> Mapping[str, Scalar]:
        return {"tuples": self._tuples, "eps": self.eps}

    def update(self, block: Block) -> None:
        start = 0
        while start < block.n and self.n_columns:
            start = buffer_rows(
                self.values, self.labels, self.weights, self.fill, block.numeric, block.y, block.w, start
            )
            if self.fill[0] == BUFFER:
                self.rows, self.sizes = self._flushed()
                self.fill[0] = 0

    def _flushed(self, copied: bool = False) -> tuple[Floats, Index]:
        """Tuples and sizes with the buffer taken in; in place unless `copied`."""
        n = int(self.fill[0])
        if n == 0:
            return self.rows, self.sizes
        rows = self._with_room(self.rows, int(self.sizes.max(initial=0)) + n)
        sizes = self.sizes
        if copied:
            rows = rows.copy() if rows is self.rows else rows
            sizes = sizes.copy()

        def columns(lo: int, hi: int) -> None:
            flush_columns(
                rows, sizes, self.values[:n], self.labels[:n], self.weights[:n],
                self.budget, self.eps or 0.0, lo, hi,
            )  # fmt: skip

        over_ranges(columns, len(sizes), GRAIN)
        return rows, sizes

    def _with_room(self, rows: Floats, needed: int) -> Floats:
        """With eps the lists have no fixed length: the same tuples, with room for `needed`."""
        if self.eps is None or needed <= rows.shape[1]:
            return rows
        wider = np.zeros((len(rows), 2 * needed, rows.shape[2]))
        wider[:, : rows.shape[1]] = rows
        return wider

    def all_cells(self) -> tuple[Index, Floats, Floats]:
        """Cells of all columns end to end: offsets int64[p + 1], upper float64[m], counts float64[m, K]."""
        packed, sizes = self._packed(*self._flushed(copied=True))
        offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
        np.cumsum(sizes, out=offsets[1:])
        return offsets, np.ascontiguousarray(packed[:, 0]), np.ascontiguousarray(packed[:, HEAD:])

    def cells(self, column: int) -> tuple[Floats, Floats]:
        """Cells of one column: the largest value of each, float64[m], and its class counts, float64[m, K]."""
        offsets, upper, counts = self.all_cells()
        here = slice(offsets[column], offsets[column + 1])
        return upper[here], counts[here]

    def errors(self) -> Floats:
        """max u / (2 N) of every column: how far ranks and class ranks can be off, relative to its weight."""
        rows, sizes = self._flushed(copied=True)
        out = np.zeros(len(sizes))
        uncertainty(rows, sizes, out)
        return out

    def error(self) -> float:
        """The largest of `errors`; 0 while the distinct values of every column fit."""
        return float(self.errors().max(initial=0.0))

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        longest = int((self.sizes + other.sizes).max(initial=0))
        merged = np.zeros_like(self._with_room(self.rows, longest))
        sizes = np.zeros_like(self.sizes)

        def columns(lo: int, hi: int) -> None:
            merge_columns(
                merged, sizes, self.rows, self.sizes, other.rows, other.sizes,
                self.budget, self.eps or 0.0, lo, hi,
            )  # fmt: skip

        if longest:
            over_ranges(columns, len(sizes), GRAIN)
            self.rows, self.sizes = merged, sizes
        self.declared = np.maximum(self.declared, other.declared)
        n = int(other.fill[0])
        codes = np.empty((n, 0), dtype=np.int32)
        self.update(Block(other.values[:n], codes, (), other.labels[:n], other.weights[:n]))

    def scale(self, factor: float) -> None:
        self.rows[:, :, 1:] *= factor
        self.weights[: self.fill[0]] *= factor

    def regroup(self, groups: Floats) -> Self:
        """Classes summed by groups; a class in no group is left out, and e gives up what it may have held."""
        packed, sizes = self._packed(*self._flushed(copied=True))
        most = float(groups.sum(axis=0).max(initial=0.0))
        counts = packed[:, HEAD:] @ groups.T
        g = counts.sum(axis=1)
        e = np.maximum(0.0, most * packed[:, 3] - np.maximum(0.0, most * packed[:, 1] - g))
        kept = g > 0
        column = np.repeat(np.arange(len(sizes)), sizes)
        twin = type(self)(self._tuples, self.eps)
        twin._empty(len(sizes), len(groups))
        twin.declared = np.minimum(self.declared, len(groups))
        regrouped = np.column_stack([packed[:, 0], g, most * packed[:, 2], e, counts])[kept]
        twin._unpack(regrouped, np.bincount(column[kept], minlength=len(sizes)))
        return twin

    def realign(self, plan: Alignment) -> None:
        old_values, labels, n = self.values, self.labels, int(self.fill[0])
        self.declared = np.array([plan.classes.declared], dtype=np.int64)
        self.sizes = move(self.sizes, 0, plan.numeric)
        counts = move(move(self.rows[:, :, HEAD:], 0, plan.numeric), 2, plan.classes)
        head = move(self.rows[:, :, :HEAD], 0, plan.numeric)
        self.rows = np.concatenate([head, counts], axis=2)
        if old_values.shape[1] != plan.numeric.size or len(plan.numeric.to):
            self.values = np.full((BUFFER, plan.numeric.size), np.nan)
            self.values[:, plan.numeric.to] = old_values
        if n:
            labels[:n] = plan.classes.to[labels[:n]]

    def fresh(self) -> Self:
        twin = type(self)(self._tuples, self.eps)
        twin._empty(self.n_columns, self.n_classes)
        twin.declared = self.declared.copy()
        return twin

    def arrays(self) -> Arrays:
        """Lists end to end and the filled part of the buffer, so that equal content gives equal arrays."""
        n = int(self.fill[0])
        packed, sizes = self._packed(self.rows, self.sizes)
        return {
            "tuples": packed,
            "sizes": sizes,
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
        p, k = self.rows.shape[0], self.rows.shape[2] - HEAD
        tuples, sizes, n = arrays["tuples"], arrays["sizes"], len(arrays["values"])
        require(tuples.shape[1:] == (HEAD + k,), "a tuple must hold a value, three weights and one per class")
        require(sizes.shape == (p,), "every column has a number of tuples")
        require(
            self.eps is not None or sizes.max(initial=0) <= self.budget,
            "a column holds more tuples than its room",
        )
        parts("the numbers of tuples", sizes, len(tuples))
        require(n < len(self.values), "more rows wait than the buffer holds")
        require(arrays["values"].shape == (n, p), "the waiting rows are not as wide as the schema")
        require(
            arrays["labels"].shape == arrays["weights"].shape == (n,), "waiting labels and weights must agree"
        )
        codes("the waiting labels", arrays["labels"], k)
        counts("the waiting weights", arrays["weights"])
        counts("the weights of tuples", tuples[:, 1:])
        require(not np.isinf(arrays["values"]).any(), "an infinite value waits")
        finite("the values of tuples", tuples[:, 0])
        for column in np.split(tuples[:, 0], np.cumsum(sizes)[:-1]):
            rising("the values of a column's tuples", column)

    def _packed(self, rows: Floats, sizes: Index) -> tuple[Floats, Index]:
        filled: NDArray[np.bool_] = np.arange(rows.shape[1]) < sizes[:, np.newaxis]
        return rows[filled], sizes.copy()

    def _unpack(self, packed: Floats, sizes: Index) -> None:
        self.rows = self._with_room(self.rows, int(sizes.max(initial=0)))
        self.sizes = sizes.astype(np.int64)
        filled: NDArray[np.bool_] = np.arange(self.rows.shape[1]) < self.sizes[:, np.newaxis]
        self.rows[filled] = packed
