"""A decision tree: nodes, statistics of leaves, and which leaf has which slot of statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from bayou.block import Block, Floats, Index
from bayou.errors import MergeError, UnsupportedError
from bayou.kernels.tree import OWN, SINCE, SLOT, TEST
from bayou.kernels.tree_memory import dormant_leaves, free_slot
from bayou.kernels.tree_rows import rows_predict_then_update, slots_of_rows
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.summaries.array_summary import State
from bayou.summaries.grid_counts import GridCounts
from bayou.summaries.leaf_statistics import LOGS, ROOM, LeafStatistics
from bayou.summaries.tree_nodes import TreeNodes


class Tree(State):
    """Nodes and the statistics of active leaves; when leaves are split is up to `GrowingTree`.

    Merge: NONE, since two trees split on other things at other times. Memory: that of its nodes and slots.
    """

    law: ClassVar[MergeLaw] = MergeLaw.NONE

    def __init__(self, tuples: int = 0, grid: GridCounts | None = None) -> None:
        super().__init__()
        self.tuples = tuples  # of every numeric column at every leaf; 0: moments only
        self.grid = grid  # or cells that adapt: PiD, cPiD
        self.nodes = TreeNodes()
        self.statistics = LeafStatistics(tuples, grid)
        self.nodes.nodes[0, SLOT] = 1
        self.order: Index = np.zeros(0, dtype=np.int64)  # classes in canonical order, set by the view
        self.columns: Index = np.zeros(0, dtype=np.int64)  # so are columns, numeric ones counted first
        self.cells: Index = np.zeros(0, dtype=np.int64)  # and the cells of each nominal column
        # Hashes of the columns, by which some are drawn for a split; empty where all are tried
        self.keys: Index = np.zeros(0, dtype=np.int64)
        self._dormant: int | None = 0

    def learn(
        self, block: Block, first: int, kind: int, grace: float, rules: Floats, watched: bool, limited: bool, room: int,
        leaf: int, out: Floats,
    ) -> tuple[int, int, int]:  # fmt: skip
        """Split `leaf`, unless it is -1, then learn rows from `first` on, with binary splits that fit in `room` slots.

        Where there can be no more slots (`limited`), they go to the most promising leaves. Returns the next row, the
        leaf to split (if `watched`, to consider for a split) or -1, and what the split lacks.
        """
        t, s = self.nodes, self.statistics
        ripe = np.array([leaf, 0])
        after = rows_predict_then_update(
            t.weight, t.track, s.moments, s.counts, s.present,
            s.tables, s.bounds, s.above, s.below, s.known, s.seen,
            t.nodes, t.cuts, t.branches, t.used, s.declared, s.offsets, self.order, self.columns, self.cells, rules,
            self.keys, LOGS, block.numeric, block.codes, block.y, block.w, kind, grace, watched, limited, room,
            first, ripe, out,
        )  # fmt: skip
        if limited:
            self._dormant = None
        if s.quantiles is not None and after > first:
            part, slots = block.rows(first, after), np.empty(after - first, dtype=np.int64)
            slots_of_rows(t.nodes, t.cuts, t.branches, part.numeric, part.codes, part.y, part.w, slots)
            s.quantiles.update(part, slots)
        return after, int(ripe[0]), int(ripe[1])

    def update(self, block: Block) -> None:
        raise UnsupportedError("a tree is taught through the classifier that splits it")

    def slot(self, node: int) -> int:
        """Where the statistics of a leaf are; -1 if it has none."""
        return int(self.nodes.nodes[node, SLOT]) - 1

    def active(self) -> Index:
        """Leaves that keep statistics."""
        return np.flatnonzero(self.nodes.nodes[: self.nodes.count, SLOT] > 0)

    @property
    def dormant(self) -> int:
        """Number of leaves without statistics."""
        if self._dormant is None:
            self._dormant = dormant_leaves(self.nodes.nodes, self.nodes.count)
        return self._dormant

    def activate(self, leaf: int, most: int | None = None) -> bool:
        """Give a leaf an empty slot; False if there is none among the first `most`."""
        self._dormant = None
        slot = free_slot(self.nodes.nodes, self.nodes.count)
        if most is not None and slot >= most:
            return False
        if slot == self.statistics.slots:
            self.statistics.resize(2 * slot if most is None else min(max(1, 2 * slot), most))
        self.nodes.nodes[leaf, SLOT] = slot + 1
        self.nodes.track[leaf, [SINCE, OWN]] = 0.0
        return True

    def deactivate(self, node: int) -> None:
        """Drop the statistics of a leaf; its class weights stay."""
        self._dormant = None
        slot = self.slot(node)
        if slot >= 0:
            self.statistics.clear(slot)
            self.nodes.nodes[node, SLOT] = 0

    def shrink(self, slots: int) -> None:
        """Keep this many slots: no more leaves may be active. Statistics beyond the end move down."""
        if slots >= self.statistics.slots:
            return
        active = self.active()
        taken = {self.slot(leaf) for leaf in active}
        free = (s for s in range(slots) if s not in taken)
        for leaf in active:
            here = self.slot(leaf)
            if here >= slots:
                there = next(free)
                self.statistics.copy(here, there)
                self.nodes.nodes[leaf, SLOT] = there + 1
        self.statistics.resize(slots)

    def fit(self, most: int | None) -> None:
        """Resize to the slots in use, rounded up to a power of two, or to `most` if that is less."""
        taken = int(self.nodes.nodes[: self.nodes.count, SLOT].max())
        slots = max(ROOM, 1 << max(0, taken - 1).bit_length())
        slots = slots if most is None else max(taken, min(slots, most), 1)
        if slots != self.statistics.slots:
            self.statistics.resize(slots)

    @property
    def memory_bytes(self) -> int:
        """Bytes of nodes and slots, with their tables for prediction."""
        s = self.statistics
        arrays = (s.moments, s.counts, s.present, s.tables, s.bounds, s.above, s.below, s.known, s.seen)
        quantiles = s.quantiles.memory_bytes if s.quantiles else 0
        return sum(a.nbytes for a in (*self.nodes.arrays().values(), *arrays)) + quantiles

    def merge(self, other: Self) -> None:
        raise MergeError("trees do not merge: they have split on other things at other times")

    def fresh(self) -> Self:
        twin = type(self)(self.tuples, self.grid)
        twin.nodes.weight = np.zeros((len(twin.nodes.nodes), self.nodes.weight.shape[1]))
        mine, theirs = self.statistics, twin.statistics
        theirs.declared, theirs.offsets, theirs.sizes = mine.declared, mine.offsets, list(mine.sizes)
        theirs.quantiles = mine.quantiles.fresh(ROOM) if mine.quantiles else None
        empty = {k: np.zeros((ROOM, *getattr(mine, k).shape[1:])) for k in mine.state}
        theirs.restore({**theirs.arrays(), **empty})
        twin.lengths = twin.nodes.lengths = theirs.lengths = self.lengths
        twin.order, twin.columns, twin.cells, twin.keys = self.order, self.columns, self.cells, self.keys
        return twin

    def config(self) -> Mapping[str, Scalar]:
        return {}

    def parts(self) -> Sequence[tuple[str, State]]:
        return [("", self.nodes), ("", self.statistics)]

    def restore(self, arrays: Arrays) -> None:
        self.check(arrays)
        self._dormant = None
        super().restore(arrays)

    def check(self, arrays: Arrays) -> None:
        """Nodes and statistics are valid, and nodes refer to columns, children and slots that exist."""
        super().check(arrays)
        self.nodes.check_tests(arrays, len(arrays["moments"]), self.statistics.moments.shape[3])

    def depth(self) -> int:
        """Tests on the longest path."""
        depth = np.zeros(self.nodes.count, dtype=np.int64)
        for node in range(self.nodes.count):
            if self.nodes.nodes[node, TEST] > 0:
                depth[self.nodes.children(node)] = depth[node] + 1
        return int(depth.max())
