"""How much weight each class has."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from bayou.block import Block, Floats, Index
from bayou.kernels.class_counts import count_classes
from bayou.laws import MergeLaw
from bayou.summaries import valid
from bayou.summaries.array_summary import DecayingSummary, sweep
from bayou.summaries.state import ADD, declare, declared_classes, from_schema


class ClassCounts(DecayingSummary):
    """N_c, the weight of each class.

    Merge: EXACT (addition). Memory: 8 K bytes.

    Examples
    --------
    >>> from bayou import MajorityClass
    >>> model = MajorityClass().fit([[0], [0], [0]], ["a", "b", "a"])
    >>> model.engine.views["classes"].summary.weight
    array([2., 1.])
    """

    law: ClassVar[MergeLaw] = MergeLaw.EXACT
    weight: Floats = declare("classes", merge=ADD, scales=True, valid=valid.non_negative)
    declared: Index = from_schema(1, follows=declared_classes)

    def update(self, block: Block) -> None:
        count_classes(self.weight, block.y, block.w, 1.0)

    def subtract(self, block: Block) -> None:
        before = self.weight.copy()
        count_classes(self.weight, block.y, block.w, -1.0)
        sweep(before, self.weight)

    def regroup(self, groups: Floats) -> Self:
        twin = self.fresh()
        twin.weight = groups @ self.weight
        twin.declared = np.minimum(self.declared, len(groups))
        return twin
