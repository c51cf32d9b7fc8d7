"""Outcomes of the latest rows, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Codes, Floats
from bayou.checks import codes, counts, require
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.outcomes import judged, same_shapes


class RecentOutcomes(ArraySummary):
    """Truth, prediction, weight and losses of the latest rows, one by one, in a ring.

    The ring holds twice the window: the second half tells what the majority was when the first was predicted.
    That makes shards merge exactly: reading the merged ring gives the bits of one pass.

    Parameters
    ----------
    window
        Rows that the readings cover.

    Merge: ORDERED (the later shard's rows push out the older ones). Memory: 64 bytes per row of the window.
    """

    law: ClassVar[MergeLaw] = MergeLaw.ORDERED
    state: ClassVar[tuple[str, ...]] = ("true", "predicted", "values", "rows", "classes")

    def __init__(self, window: int = 1000) -> None:
        if window < 1:
            raise ValueError(f"a window has at least one row, not {window}")
        self.window = window
        self.true = np.full(2 * window, -1, dtype=np.int32)
        self.predicted = np.full(2 * window, -1, dtype=np.int32)
        self.values = np.zeros((2 * window, 3))
        self.rows = np.zeros(1, dtype=np.int64)
        self.classes = np.zeros(1, dtype=np.int64)

    def config(self) -> Mapping[str, Scalar]:
        return {"window": self.window}

    def update(self, block: Block) -> None:
        rows = judged(block)
        self._push(rows.y, rows.predicted, np.column_stack([rows.w, rows.losses]))

    def _push(self, true: Codes, predicted: Codes, values: Floats) -> None:
        """Write rows into the ring, each at its number modulo the size; the latest stay."""
        size, n = len(self.true), len(true)
        kept = np.arange(max(0, n - size), n)
        slots = (int(self.rows[0]) + kept) % size
        self.true[slots], self.predicted[slots], self.values[slots] = (
            true[kept],
            predicted[kept],
            values[kept],
        )
        self.rows += n

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        size, seen = len(self.true), int(other.rows[0])
        order = np.arange(max(0, seen - size), seen) % size
        self.rows += seen - len(order)  # those that have left the other's ring already
        self._push(other.true[order], other.predicted[order], other.values[order])

    def fresh(self) -> Self:
        twin = type(self)(self.window)
        twin.classes = self.classes.copy()
        return twin

    def realign(self, plan: Alignment) -> None:
        to = np.append(plan.classes.to, -1).astype(np.int32)
        self.true, self.predicted = to[self.true], to[self.predicted]
        self.classes = np.array([plan.classes.size], dtype=np.int64)

    def check(self, arrays: Arrays) -> None:
        same_shapes(self, arrays)
        k, rows = int(self.classes[0]), int(arrays["rows"][0])
        require(arrays["classes"][0] == k, "the recent outcomes are of other classes")
        require(0 <= rows < 1 << 62, "an impossible number of rows")
        codes("the recent labels", arrays["true"], k)
        codes("the recent predictions", arrays["predicted"], k)
        require(arrays["true"][:rows].min(initial=0) >= 0, "a recent row without a label")
        counts("weights and losses of recent rows", arrays["values"])
