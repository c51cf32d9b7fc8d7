"""Frames: ranges of columns, frozen once enough values were seen, before values are counted in cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment
from bayou.block import Block, Codes, Floats, Index
from bayou.checks import require
from bayou.errors import MergeError
from bayou.kernels.grid_counts import warm_up
from bayou.protocols import Arrays
from bayou.summaries import valid
from bayou.summaries.array_summary import State
from bayou.summaries.state import declare

WARM_UP = 1000

Values = tuple[Floats, Codes, Floats]


class Frames(State):
    """Ranges [low, high] of numeric columns, each frozen at its 1,000th value from a buffer kept until then.

    The buffer is state: it holds value, class and weight of the column's first values, which the owner of the frames
    counts once the range is known. A column that appears late has a warm-up of its own.

    Memory: 20,000 bytes per column while any column is warming up, 16 afterwards.

    Examples
    --------
    >>> frames = Frames(); frames.resize(1)
    >>> frames.add(0, np.array([3.0, 5.0]), np.zeros(2, np.int32), np.ones(2)), frames.frozen
    (2, array([False]))
    """

    warm_values: Floats = declare("numeric", "*room", valid=valid.finite)
    warm_labels: Codes = declare("numeric", "*room", dtype=np.int32, valid=valid.padded_class_codes)
    warm_weights: Floats = declare("numeric", "*room", valid=valid.non_negative)
    filled: Index = declare("numeric", dtype=np.int64, valid=valid.finite)
    low: Floats = declare("numeric", fill=np.nan, valid=valid.not_infinite)
    high: Floats = declare("numeric", fill=np.nan, valid=valid.not_infinite)

    def __init__(self, rows: int = WARM_UP) -> None:
        super().__init__()
        self.rows = rows
        self.resize(0)

    def resize(self, p: int) -> None:
        """Set up empty buffers and no ranges for p columns."""
        self.warm_values = np.zeros((p, self.rows))
        self.warm_labels = np.zeros((p, self.rows), dtype=np.int32)
        self.warm_weights = np.zeros((p, self.rows))
        self.filled = np.zeros(p, dtype=np.int64)
        self.low = np.full(p, np.nan)
        self.high = np.full(p, np.nan)

    @property
    def frozen(self) -> NDArray[np.bool_]:
        """bool[p] whether each column has its range."""
        has_range: NDArray[np.bool_] = ~np.isnan(self.low)
        return has_range

    def take(self, block: Block) -> Index:
        """Buffer values of columns that warm up; returns for each column the first row whose value is not buffered."""
        first = np.zeros(len(self.filled), dtype=np.int64)
        frozen = self.frozen
        if not frozen.all():
            warm_up(
                self.warm_values, self.warm_labels, self.warm_weights, self.filled, frozen,
                block.numeric, block.y, block.w, first,
            )  # fmt: skip
        return first

    def add(self, column: int, x: Floats, y: Codes, w: Floats) -> int:
        """Buffer values of one column that warms up; returns how many there was room for."""
        at = int(self.filled[column])
        n = min(len(x), self.rows - at)
        here = slice(at, at + n)
        self.warm_values[column, here] = x[:n]
        self.warm_labels[column, here] = y[:n]
        self.warm_weights[column, here] = w[:n]
        self.filled[column] += n
        return n

    def ready(self) -> Index:
        """Columns with enough values that are not frozen yet."""
        return np.flatnonzero((self.filled == self.rows) & ~self.frozen)

    def kept(self, column: int) -> Values:
        """Values, labels and weights in the buffer of a column."""
        n = int(self.filled[column])
        return self.warm_values[column, :n], self.warm_labels[column, :n], self.warm_weights[column, :n]

    def freeze(self, column: int) -> Values:
        """Freeze the range to that of the buffered values; returns the buffer, which is emptied."""
        x, y, w = self.kept(column)
        x, y, w = x.copy(), y.copy(), w.copy()
        low, high = float(x.min()), float(x.max())
        if high - low <= 1e-9 * max(abs(low), abs(high)):
            half = max(0.5, 1e-6 * abs(low))
            low, high = low - half, high + half
        self.fix(column, low, high)
        return x, y, w

    def fix(self, column: int, low: float, high: float) -> None:
        """Freeze a column to a given range and empty its buffer."""
        self.low[column], self.high[column] = low, high
        n, self.filled[column] = int(self.filled[column]), 0
        for buffer in (self.warm_values, self.warm_labels, self.warm_weights):
            if buffer.shape[1]:
                buffer[column, :n] = 0
        if self.frozen.all():
            self._resize_buffers(0)

    def _resize_buffers(self, rows: int) -> None:
        p = len(self.filled)
        for name in ("warm_values", "warm_labels", "warm_weights"):
            old = getattr(self, name)
            if old.shape != (p, rows):
                setattr(self, name, np.zeros((p, rows), dtype=old.dtype))

    def check_same(self, other: Frames) -> None:
        """Refuse columns that are frozen to different ranges."""
        both = self.frozen & other.frozen
        differ = np.flatnonzero(both & ((self.low != other.low) | (self.high != other.high)))
        if len(differ):
            j = int(differ[0])
            raise MergeError(
                f"numeric column {j} is counted over [{self.low[j]:g}, {self.high[j]:g}] here and over "
                f"[{other.low[j]:g}, {other.high[j]:g}] there; let one model see its first {self.rows} rows, "
                "then make the shards with model.fresh(), so that they share its ranges"
            )

    def realign(self, plan: Alignment) -> None:
        if len(plan.classes.to):
            used = np.arange(self.warm_labels.shape[1]) < self.filled[:, np.newaxis]
            self.warm_labels[used] = plan.classes.to[self.warm_labels[used]]
        super().realign(plan)
        if not self.frozen.all() and self.warm_values.shape[1] == 0:
            self._resize_buffers(self.rows)

    def check(self, arrays: Arrays) -> None:
        """A buffer is there while a column needs it; a range is two numbers, and a column with one keeps no values."""
        super().check(arrays)
        low, high, filled = arrays["low"], arrays["high"], arrays["filled"]
        room, has_range = arrays["warm_values"].shape[1], ~np.isnan(low)
        require(room == self.rows or (room == 0 and has_range.all()), "values are kept in another room")
        require(
            filled.max(initial=0) <= room and not filled[has_range].any(),
            "more values are kept than there is room",
        )
        require(arrays["warm_labels"].min(initial=0) >= 0, "a value is kept without its label")
        require(self.lengths.classes or not filled.any(), "values are kept of a class that is not there")
        require(np.array_equal(has_range, ~np.isnan(high)), "half a range is known")
        require((low[has_range] < high[has_range]).all(), "a range is empty or upside down")
