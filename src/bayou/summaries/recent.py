"""Outcomes of the latest rows, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from bayou.block import Block, Codes, Floats, Index
from bayou.checks import require
from bayou.kernels.outcomes import keep_recent
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.outcomes import judged
from bayou.summaries.state import declare, from_schema


class RecentOutcomes(ArraySummary):
    """Truth, prediction, weight and losses of the latest rows, one by one, in a ring.

    The ring holds twice the window: from the older half follows the majority class when the newer one was
    predicted. So shards merge exactly: reading the merged ring gives the bits of one pass.

    Parameters
    ----------
    window
        Rows that the readings cover.

    Merge: ORDERED (the later shard's rows push out the older ones). Memory: 64 bytes per row of the window.
    """

    law: ClassVar[MergeLaw] = MergeLaw.ORDERED
    true: Codes = declare("room", dtype=np.int32, fill=-1, codes=True, valid=valid.class_codes)
    predicted: Codes = declare("room", dtype=np.int32, fill=-1, codes=True, valid=valid.class_codes)
    values: Floats = declare("room", 3, valid=valid.non_negative)
    rows: Index = declare(1, dtype=np.int64, valid=valid.finite)
    classes: Index = from_schema(1, follows=lambda plan: [plan.classes.size])

    def __init__(self, window: int = 1000) -> None:
        if window < 1:
            raise ValueError(f"a window has at least one row, not {window}")
        self.window, self.room = window, 2 * window
        super().__init__()

    def config(self) -> Mapping[str, Scalar]:
        return {"window": self.window}

    def update(self, block: Block) -> None:
        self._keep(block.y, block.w, *judged(block))

    def _keep(self, y: Codes, w: Floats, predicted: Codes, losses: Floats) -> None:
        keep_recent(self.true, self.predicted, self.values, self.rows, y, w, predicted, losses)

    def labels_before(self, y: Codes) -> Codes:
        """The true classes of the rows in the ring, oldest first, -1 while there were fewer rows; and then `y`."""
        oldest = int(self.rows[0]) % self.room
        return np.concatenate([self.true[oldest:], self.true[:oldest], y])

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        size, seen = len(self.true), int(other.rows[0])
        order = np.arange(max(0, seen - size), seen) % size
        self.rows += seen - len(order)  # rows that are no longer in the other's ring
        weight, losses = np.split(other.values[order], [1], axis=1)
        self._keep(other.true[order], weight.ravel(), other.predicted[order], np.ascontiguousarray(losses))

    def check(self, arrays: Arrays) -> None:
        super().check(arrays)
        rows = int(arrays["rows"][0])
        require(rows < 1 << 62, "an impossible number of rows")
        require(arrays["true"][:rows].min(initial=0) >= 0, "a recent row without a label")
