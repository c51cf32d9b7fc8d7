"""A view of searched networks whose terms are weighted by how well their parents have predicted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.errors import UnsupportedError
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.readings.joint_rows import read_direct, readings_predict_then_update
from bayou.readings.network_levels import level_tables
from bayou.readings.parent_sets import ParentSetTable
from bayou.readings.structure import StructureSearch
from bayou.summaries.joint_counts import JointCounts
from bayou.summaries.level_weights import LevelWeights
from bayou.views.column_terms import chunk_rows
from bayou.views.searched_collection import SearchedCollection

if TYPE_CHECKING:
    from bayou.scorer import Node


class WeightedNetworks(SearchedCollection):
    """Parent sets that change at refresh points only; counts as they stand; weights that every labelled row moves."""

    depends_on_history = True  # weights learn from predictions under the networks of the time

    def __init__(self, summary: JointCounts, reader: StructureSearch, alpha: float) -> None:
        super().__init__(summary, reader, alpha)
        self.weights = LevelWeights()
        self._levels = (self.terms, level_tables(self.terms, len(summary.sizes)))

    @property
    def law(self) -> MergeLaw:
        return self.weights.law

    def states(self) -> Sequence[Any]:
        return (self.summary, self.weights)

    def update(self, block: Block) -> None:
        self.predict_then_update(block, np.zeros((block.n, len(self.summary.classes))))

    def predict_then_update(self, block: Block, out: Floats) -> None:
        tables = self._tables()
        for where, part in self._chunks(block, len(tables)):
            levels = np.zeros((len(tables), part.n, out.shape[1]))
            readings_predict_then_update(self.summary, lambda _: tables, self.alpha, part, levels)
            self.weights.learn(levels, self._declared(), part.y, part.w, out[where])

    def add_log_prob(self, block: Block, out: Floats) -> None:
        s, tables = self.summary.flushed(), self._tables()
        for where, part in self._chunks(block, len(tables)):
            levels = np.zeros((len(tables), part.n, out.shape[1]))
            read_direct(s, tables, self.alpha, s.codes_of(part), levels)
            unlabelled = np.full(part.n, -1, dtype=np.int32)
            self.weights.learn(levels, self._declared(), unlabelled, part.w, out[where])

    def _tables(self) -> list[ParentSetTable]:
        if self._levels[0] is not self.terms:
            self._levels = (self.terms, level_tables(self.terms, len(self.summary.sizes)))
        return self._levels[1]

    def _chunks(self, block: Block, tables: int) -> Iterator[tuple[slice, Block]]:
        rows = chunk_rows(tables, len(self.summary.classes))
        return block.cut(range(rows, block.n, rows))

    def _declared(self) -> int:
        return int(self.summary.declared_classes[0])

    def add_to_scorer(self, so_far: Node) -> Node:
        raise UnsupportedError(
            "cannot be exported: RandomNetworks(weighted=True) weighs what its parents add; export RandomNetworks()"
        )

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.weights.merge(other.weights)

    def subtract(self, block: Block) -> None:
        raise UnsupportedError(
            "cannot unlearn: weights were moved by predictions, which keep no rows; RandomNetworks() can unlearn"
        )

    def scale(self, factor: float) -> None:
        super().scale(factor)
        self.weights.scale(factor)

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        self.weights.realign(plan)

    def fresh(self) -> Self:
        twin = super().fresh()
        twin.weights = self.weights.fresh()
        return twin

    def arrays(self) -> Arrays:
        return {**super().arrays(), **self.weights.arrays()}

    def restore(self, arrays: Arrays) -> None:
        names = self.weights.arrays()
        super().restore({k: a for k, a in arrays.items() if k not in names})
        self.weights.restore({k: arrays[k] for k in names})
