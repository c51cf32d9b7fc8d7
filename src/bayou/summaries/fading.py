"""Outcomes of predictions, weighted less with every later row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats, Index
from bayou.checks import SLACK, codes, require
from bayou.kernels.outcomes import fade_outcomes
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.outcomes import judged
from bayou.summaries.rivals import check_ends
from bayou.summaries.state import declare, moved_codes


def _ends(name: str, array: Index, summary: FadedOutcomes) -> None:
    codes(name, array[:2], len(summary.true))
    require(0 <= array[2] < 1 << 62, "an impossible number of rows")


class FadedOutcomes(ArraySummary):
    r"""Sums in which a row that lies t rows back has weight $\alpha^t$: S = alpha S + v.

    Parameters
    ----------
    alpha
        The factor of all weights at each row; with 0.999 about the last 1,000 rows count.

    Merge: ORDERED (up to rounding what one pass gives; the majority is each shard's own). Memory: 24 K bytes.
    """

    law: ClassVar[MergeLaw] = MergeLaw.ORDERED
    true: Floats = declare("classes", valid=valid.non_negative)
    predicted: Floats = declare("classes", valid=valid.non_negative)
    right: Floats = declare("classes", valid=valid.non_negative)
    sums: Floats = declare(8, valid=valid.non_negative)
    ends: Index = declare(3, dtype=np.int64, valid=_ends)  # first label, last label, number of rows

    def __init__(self, alpha: float = 0.999) -> None:
        if not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha lies between 0 and 1, not at {alpha}")
        self.alpha = alpha
        super().__init__()
        self.ends[:2] = -1

    def config(self) -> Mapping[str, Scalar]:
        return {"alpha": self.alpha}

    def update(self, block: Block) -> None:
        mine = self.true, self.predicted, self.right, self.sums, self.ends, self.alpha
        fade_outcomes(*mine, block.y, block.w, *judged(block))

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        if other.ends[0] < 0:
            return
        factor = self.alpha ** int(other.ends[2])
        self.true = self.true * factor + other.true
        self.predicted = self.predicted * factor + other.predicted
        self.right = self.right * factor + other.right
        first = self.sums[7] * factor if self.ends[0] >= 0 else other.sums[7]
        self.sums = self.sums * factor + other.sums
        self.sums[7] = first
        if self.ends[0] < 0:
            self.ends = other.ends.copy()
            return
        if self.ends[1] == other.ends[0]:
            self.sums[1] += other.sums[7]
        self.ends = np.array([self.ends[0], other.ends[1], self.ends[2] + other.ends[2]])

    def fresh(self) -> Self:
        twin = super().fresh()
        twin.ends[:2] = -1
        return twin

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        self.ends[:2] = moved_codes(self.ends[:2], plan)

    def check(self, arrays: Arrays) -> None:
        super().check(arrays)
        true, predicted, right, sums = (arrays[name] for name in ("true", "predicted", "right", "sums"))
        slack = SLACK * (1.0 + sums[0])
        require(abs(true.sum() - sums[0]) <= slack, "the faded class weights do not add up")
        require(abs(predicted.sum() - sums[6]) <= slack, "the faded predictions do not add up")
        require((right <= np.minimum(true, predicted) + slack).all(), "more is right than was predicted")
        require((sums[[1, 2, 3, 6, 7]] <= sums[0] + slack).all(), "more is right than there are rows")
        check_ends(arrays["ends"][:2], arrays["ends"][2] > 0)
