"""The label of the latest row."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from bayou.block import Block, Index
from bayou.laws import MergeLaw
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.state import declare


class LastLabel(ArraySummary):
    """Code of the label of the latest row with weight, -1 before the first.

    Merge: ORDERED (the later shard wins). Memory: 8 bytes.
    """

    law: ClassVar[MergeLaw] = MergeLaw.ORDERED
    last: Index = declare(1, dtype=np.int64, fill=-1, codes=True, valid=valid.class_codes)

    def update(self, block: Block) -> None:
        if (
            block.n and block.y[-1] >= 0 and block.w[-1] > 0.0
        ):  # usually, and then the other rows do not matter
            self.last[0] = block.y[-1]
            return
        labelled = np.flatnonzero((block.y >= 0) & (block.w > 0))
        if len(labelled):
            self.last[0] = block.y[labelled[-1]]

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        if other.last[0] >= 0:
            self.last[0] = other.last[0]
