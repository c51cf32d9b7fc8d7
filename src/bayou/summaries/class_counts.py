"""How much weight each class has."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.kernels.class_counts import count_classes
from bayou.laws import MergeLaw
from bayou.summaries.array_summary import ArraySummary, move, sweep


class ClassCounts(ArraySummary):
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
    state: ClassVar[tuple[str, ...]] = ("weight", "declared")

    def __init__(self) -> None:
        self.weight = np.zeros(0)
        self.declared = np.zeros(1, dtype=np.int64)

    def update(self, block: Block) -> None:
        count_classes(self.weight, block.y, block.w, 1.0)

    def subtract(self, block: Block) -> None:
        before = self.weight.copy()
        count_classes(self.weight, block.y, block.w, -1.0)
        sweep(before, self.weight)

    def scale(self, factor: float) -> None:
        self.weight *= factor

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        self.weight += other.weight
        self.declared = np.maximum(self.declared, other.declared)

    def fresh(self) -> Self:
        twin = super().fresh()
        twin.declared = self.declared.copy()
        return twin

    def realign(self, plan: Alignment) -> None:
        self.weight = move(self.weight, 0, plan.classes)
        self.declared = np.array([plan.classes.declared], dtype=np.int64)

    def regroup(self, groups: Floats) -> Self:
        twin = self.fresh()
        twin.weight = groups @ self.weight
        twin.declared = np.minimum(self.declared, len(groups))
        return twin
