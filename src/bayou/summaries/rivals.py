"""How the two classifiers do that look at labels only: no change, and the majority class."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block
from bayou.kernels.outcomes import count_majority
from bayou.laws import MergeLaw
from bayou.summaries.array_summary import ArraySummary, move
from bayou.summaries.outcomes import add_in_order


class NoChangeHits(ArraySummary):
    """Weight of the rows whose label is that of the row before; the first row counts as wrong.

    `sums` is weight, right, weight of the first row; `ends` the first and the last label.

    Merge: ORDERED (shards in stream order give what one pass gives). Memory: 40 bytes.

    Examples
    --------
    >>> from bayou.summaries.outcomes import scored_rows
    >>> hits = NoChangeHits(); hits.update(scored_rows([0, 0, 1, 1, 1], None)); hits.sums.tolist()
    [5.0, 3.0, 1.0]
    """

    law: ClassVar[MergeLaw] = MergeLaw.ORDERED
    state: ClassVar[tuple[str, ...]] = ("sums", "ends")

    def __init__(self) -> None:
        self.sums = np.zeros(3)
        self.ends = np.full(2, -1, dtype=np.int64)

    def update(self, block: Block) -> None:
        counts = (block.y >= 0) & (block.w > 0)
        y, w = block.y[counts], block.w[counts]
        if not len(y):
            return
        if self.ends[0] < 0:
            self.ends[0], self.sums[2] = y[0], w[0]
        same = np.concatenate(([self.ends[1]], y[:-1])) == y
        self.sums[0] = add_in_order(self.sums[0], w)
        self.sums[1] = add_in_order(self.sums[1], w * same)
        self.ends[1] = y[-1]

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        if other.ends[0] < 0:
            return
        if self.ends[0] < 0:
            self.restore(other.arrays())
            return
        self.sums[:2] += other.sums[:2]
        if self.ends[1] == other.ends[0]:
            self.sums[1] += other.sums[2]
        self.ends[1] = other.ends[1]

    def fresh(self) -> Self:
        return type(self)()

    def realign(self, plan: Alignment) -> None:
        self.ends = moved_codes(self.ends, plan)


class MajorityHits(ArraySummary):
    """Weight of the rows whose label is the majority so far, before and after the row itself is counted.

    `sums` is weight, right before, right after (as MOA counts). Ties go to the first class.

    Merge: AVERAGED (each shard's majority starts afresh, so the first rows of a shard may differ from one pass).
    Memory: 8 K bytes.
    """

    law: ClassVar[MergeLaw] = MergeLaw.AVERAGED
    state: ClassVar[tuple[str, ...]] = ("weight", "sums")

    def __init__(self) -> None:
        self.weight = np.zeros(0)
        self.sums = np.zeros(3)

    def update(self, block: Block) -> None:
        count_majority(self.weight, self.sums, block.y, block.w)

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        self.weight += other.weight
        self.sums += other.sums

    def realign(self, plan: Alignment) -> None:
        self.weight = move(self.weight, 0, plan.classes)


def moved_codes(
    codes: np.ndarray[tuple[int], np.dtype[np.int64]], plan: Alignment
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Class codes in the new schema; -1 stays."""
    return np.append(plan.classes.to, -1)[codes]
