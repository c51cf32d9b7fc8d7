"""Outcomes of the latest rows, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block
from bayou.kernels.recent_outcomes import push_outcomes
from bayou.laws import MergeLaw
from bayou.protocols import Scalar
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.outcomes import scores_of


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
        push_outcomes(self.true, self.predicted, self.values, self.rows, block.y, block.w, scores_of(block))

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        size, seen = len(self.true), int(other.rows[0])
        theirs = np.arange(max(0, seen - size), seen)
        mine = (self.rows[0] + theirs) % size
        self.true[mine] = other.true[theirs % size]
        self.predicted[mine] = other.predicted[theirs % size]
        self.values[mine] = other.values[theirs % size]
        self.rows += seen

    def fresh(self) -> Self:
        twin = type(self)(self.window)
        twin.classes = self.classes.copy()
        return twin

    def realign(self, plan: Alignment) -> None:
        to = np.append(plan.classes.to, -1).astype(np.int32)
        self.true, self.predicted = to[self.true], to[self.predicted]
        self.classes = np.array([plan.classes.size], dtype=np.int64)
