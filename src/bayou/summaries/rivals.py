"""How the two classifiers do that look at labels only: no change, and the majority class."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment
from bayou.block import Block
from bayou.checks import SLACK, codes, counts, require
from bayou.kernels.outcomes import count_majority
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.summaries.array_summary import ArraySummary, move
from bayou.summaries.outcomes import add_in_order, same_shapes


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
        self.classes = 0  # of the schema; no part of the state

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
        twin = type(self)()
        twin.classes = self.classes
        return twin

    def realign(self, plan: Alignment) -> None:
        self.ends, self.classes = moved_codes(self.ends, plan), plan.classes.size

    def check(self, arrays: Arrays) -> None:
        same_shapes(self, arrays)
        counts("the hits of no-change", arrays["sums"])
        weight, right, first = arrays["sums"].tolist()
        require(right + first <= weight + SLACK * (1.0 + weight), "no-change is right too often")
        check_ends(arrays["ends"], self.classes, weight > 0.0)


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

    def check(self, arrays: Arrays) -> None:
        same_shapes(self, arrays)
        counts("the class weights", arrays["weight"])
        counts("the hits of the majority class", arrays["sums"])
        weight, before, after = arrays["sums"].tolist()
        slack = SLACK * (1.0 + weight)
        require(max(before, after) <= weight + slack, "the majority is right more often than there are rows")
        require(abs(arrays["weight"].sum() - weight) <= slack, "the class weights do not add up")


def check_ends(ends: NDArray[Any], classes: int, begun: bool) -> None:
    """The first and the last label are classes once there are rows, and none before."""
    codes("the first and the last label", ends, classes)
    require(((ends >= 0) == begun).all(), "rows without labels, or labels without rows")


def moved_codes(
    codes: np.ndarray[tuple[int], np.dtype[np.int64]], plan: Alignment
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Class codes in the new schema; -1 stays."""
    return np.append(plan.classes.to, -1)[codes]
