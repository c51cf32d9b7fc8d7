"""Hits of two baselines that use labels only: no change, and the majority class."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayou.block import Block, Floats, Index
from bayou.checks import SLACK, require
from bayou.kernels.outcomes import count_majority, count_no_change
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.state import ADD, declare


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
    sums: Floats = declare(3, valid=valid.non_negative)
    ends: Index = declare(2, dtype=np.int64, fill=-1, codes=True, valid=valid.class_codes)

    def update(self, block: Block) -> None:
        count_no_change(self.sums, self.ends, block.y, block.w)

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

    def check(self, arrays: Arrays) -> None:
        super().check(arrays)
        weight, right, first = arrays["sums"].tolist()
        require(right + first <= weight + SLACK * (1.0 + weight), "no-change is right too often")
        check_ends(arrays["ends"], weight > 0.0)


class MajorityHits(ArraySummary):
    """Weight of the rows whose label is the majority so far, before and after the row itself is counted.

    `sums` is weight, right before, right after (as MOA counts). Ties go to the first class.

    Merge: AVERAGED (each shard counts its own majority, so the first rows of a shard may differ from one pass).
    Memory: 8 K bytes.
    """

    law: ClassVar[MergeLaw] = MergeLaw.AVERAGED
    weight: Floats = declare("classes", merge=ADD, valid=valid.non_negative)
    sums: Floats = declare(3, merge=ADD, valid=valid.non_negative)

    def update(self, block: Block) -> None:
        count_majority(self.weight, self.sums, block.y, block.w)

    def check(self, arrays: Arrays) -> None:
        super().check(arrays)
        weight, before, after = arrays["sums"].tolist()
        slack = SLACK * (1.0 + weight)
        require(max(before, after) <= weight + slack, "the majority is right more often than there are rows")
        require(abs(arrays["weight"].sum() - weight) <= slack, "the class weights do not add up")


def check_ends(ends: NDArray[Any], begun: bool) -> None:
    """The first and the last label are classes once there are rows, and none before."""
    require(((ends >= 0) == begun).all(), "rows without labels, or labels without rows")
