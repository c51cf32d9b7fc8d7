"""A view whose parent sets are searched at refresh points, while its probabilities are always current."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.protocols import Arrays
from bayou.readings.collection import add_terms
from bayou.readings.joint_rows import readings_predict_then_update
from bayou.readings.joint_scorer import collection_scorer
from bayou.readings.parent_sets import ParentSetTable
from bayou.readings.structure import StructureSearch
from bayou.summaries.joint_counts import JointCounts, moved_columns
from bayou.views.view import View

if TYPE_CHECKING:
    from bayou.scorer import Node


class SearchedCollection(View[JointCounts]):
    """Parent sets that change at refresh points only; counts that are read as they stand."""

    searched = True

    def __init__(self, summary: JointCounts, reader: StructureSearch, alpha: float) -> None:
        super().__init__(summary)
        self.reader, self.alpha = reader, alpha
        self.terms = reader.search(summary.flushed())
        self.stale = True

    def refresh(self) -> None:
        self.terms = self.reader.search(self.summary.flushed())
        self.stale = False

    def refresh_if_stale(self) -> None:
        if self.stale:
            self.refresh()

    def mark_stale(self) -> None:
        self.stale = True

    def add_log_prob(self, block: Block, out: Floats) -> None:
        s = self.summary.flushed()
        add_terms(s, self.terms, self.alpha, s.codes_of(block), out)

    def add_to_scorer(self, so_far: Node) -> Node:
        return collection_scorer(self.summary.flushed(), self.terms, self.alpha, so_far)

    def predict_then_update(self, block: Block, out: Floats) -> None:
        readings_predict_then_update(self.summary, lambda _: [self.terms], self.alpha, block, out[np.newaxis])

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        self.terms = self.terms.moved(moved_columns(plan), plan.nominal.size + plan.numeric.size)

    def fresh(self) -> Self:
        return type(self)(self.summary.fresh(), self.reader, self.alpha)

    def arrays(self) -> Arrays:
        self.refresh_if_stale()
        sets = {"reading.sets": self.terms.sets, "reading.u": self.terms.u}
        return {**self.summary.arrays(), **sets}

    def restore(self, arrays: Arrays) -> None:
        self.summary.restore({k: a for k, a in arrays.items() if not k.startswith("reading.")})
        self.terms = ParentSetTable.restored(
            arrays["reading.sets"],
            arrays["reading.u"],
            len(self.summary.sizes),
            self.summary.interaction_order,
        )
        self.stale = False
