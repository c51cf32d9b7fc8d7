"""The nodes of a tree: their tests, their children, and the class weights of the rows that reached them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment
from bayou.block import Floats, Index
from bayou.checks import require
from bayou.kernels.class_counts import class_total
from bayou.kernels.tree import (
    AT_MOST,
    COLUMN,
    FIRST,
    LEAF,
    MULTIWAY,
    ONE_VALUE,
    PARENT,
    SLOT,
    TEST,
    USUAL,
    VALUE,
    WIDTH,
)
from bayou.protocols import Arrays
from bayou.summaries import valid
from bayou.summaries.array_summary import State
from bayou.summaries.state import declare

A = TypeVar("A", bound=np.generic)
ROOM = 16  # nodes and branches allocated at first; doubled when full


class TreeNodes(State):
    """Nodes in order of birth, the root first; children of a node stand side by side.

    Memory: 104 + 8 K bytes per node, and 8 per value of a multiway test.

    Examples
    --------
    >>> tree = TreeNodes()
    >>> tree.weight = np.zeros((16, 2))
    >>> tree.split_at_most(0, column=3, cut=0.5, left=[2.0, 0.0], right=[0.0, 1.0])
    [1, 2]
    >>> tree.leaves().tolist(), tree.weight[1].tolist()
    ([1, 2], [2.0, 0.0])
    """

    nodes: Index = declare("*nodes", 8, dtype=np.int64, valid=valid.finite)
    cuts: Floats = declare("*nodes", valid=valid.finite)
    branches: Index = declare("*branches", dtype=np.int64, valid=valid.finite)
    weight: Floats = declare("*nodes", "classes", valid=valid.non_negative)
    track: Floats = declare("*nodes", 4, valid=valid.moderate)
    used: Index = declare(2, dtype=np.int64, valid=valid.finite)  # nodes and branches in use

    def __init__(self) -> None:
        super().__init__()
        self.reserve(ROOM, ROOM)
        self.used[0] = 1

    @property
    def count(self) -> int:
        """Number of nodes."""
        return int(self.used[0])

    def leaves(self) -> Index:
        """Leaves in order of birth."""
        return np.flatnonzero(self.nodes[: self.count, TEST] == LEAF)

    def children(self, node: int) -> list[int]:
        """The children of an inner node, in order."""
        test, first, width = (int(self.nodes[node, i]) for i in (TEST, FIRST, WIDTH))
        if test == MULTIWAY:
            return list(
                dict.fromkeys(int(child) for child in self.branches[first : first + width] if child > 0)
            )
        return [first, first + 1]

    def room_for(self, nodes: int, branches: int = 0) -> tuple[int, int]:
        """Lengths of the arrays after this many more nodes and branches."""
        lengths = []
        for length, used, more in zip(
            (len(self.nodes), len(self.branches)), self.used, (nodes, branches), strict=True
        ):
            while length < used + more:
                length *= 2
            lengths.append(length)
        return lengths[0], lengths[1]

    def split_at_most(
        self, node: int, column: int, cut: float, left: Sequence[float], right: Sequence[float]
    ) -> list[int]:
        """Test x_column <= cut; the children begin with the given class weights."""
        self.cuts[node] = cut
        return self._split(node, AT_MOST, column, 0, np.array([left, right], dtype=np.float64))

    def split_one_value(self, node: int, column: int, value: int, weights: Floats) -> list[int]:
        """Test whether a nominal column has one value."""
        return self._split(node, ONE_VALUE, column, value, weights)

    def split_multiway(
        self, node: int, column: int, groups: Sequence[Sequence[int]], weights: Floats
    ) -> list[int]:
        """One child for each of the given groups of values, in the given order."""
        width = max(map(max, groups)) + 1
        self._reserve(len(groups), width)
        place = int(self.used[1])
        self.used[1] += width
        children = self._split(node, MULTIWAY, column, 0, weights)
        for values, child in zip(groups, children, strict=True):
            self.branches[place + np.asarray(values)] = child
        self.nodes[node, FIRST], self.nodes[node, WIDTH] = place, width
        return children

    def _split(self, node: int, test: int, column: int, value: int, weights: Floats) -> list[int]:
        self._reserve(len(weights))
        first = self.count
        children = list(range(first, first + len(weights)))
        self.used[0] += len(weights)
        totals = [class_total(row) for row in weights]
        self.nodes[node, [TEST, COLUMN, VALUE, FIRST, USUAL]] = (
            test, column, value, first, first + int(np.argmax(totals)),
        )  # fmt: skip
        self.nodes[children, PARENT] = node
        self.weight[children] = weights
        return children

    def _reserve(self, nodes: int, branches: int = 0) -> None:
        self.reserve(*self.room_for(nodes, branches))

    def reserve(self, length: int, places: int) -> None:
        """Extend the arrays to these lengths."""
        self.nodes, self.branches = _longer(self.nodes, length), _longer(self.branches, places)
        self.cuts, self.weight, self.track = (
            _longer(a, length) for a in (self.cuts, self.weight, self.track)
        )

    def realign(self, plan: Alignment) -> None:
        """Move classes, columns and values."""
        super().realign(plan)
        tests = self.nodes[: self.count, TEST]
        for test in range(1, 4):
            to = plan.numeric.to if test == AT_MOST else plan.nominal.to
            mine = np.flatnonzero(tests == test)
            self.nodes[mine, COLUMN] = to[self.nodes[mine, COLUMN]]
        for node in np.flatnonzero(tests == ONE_VALUE):
            self.nodes[node, VALUE] = plan.values[self.nodes[node, COLUMN]].to[self.nodes[node, VALUE]]
        self._move_branches(plan, np.flatnonzero(tests == MULTIWAY))

    def _move_branches(self, plan: Alignment, multiway: Index) -> None:
        moves = [plan.values[self.nodes[node, COLUMN]].to[: self.nodes[node, WIDTH]] for node in multiway]
        if all(np.array_equal(to, np.arange(len(to))) for to in moves):
            return
        tables: list[Index] = []
        begin = 0
        for node, to in zip(multiway, moves, strict=True):
            table = np.zeros(int(to.max()) + 1, dtype=np.int64)
            table[to] = self.branches[self.nodes[node, FIRST] :][: len(to)]
            self.nodes[node, FIRST], self.nodes[node, WIDTH] = begin, len(table)
            tables.append(table)
            begin += len(table)
        self.used[1] = begin
        room = len(self.branches)
        while room < self.used[1]:
            room *= 2
        self.branches = _longer(np.concatenate(tables), room)

    def check(self, arrays: Arrays) -> None:
        """Nodes in use come first, their tests are known, and no two leaves share a slot; see also `check_tests`.

        Nodes not in use are zero: a split makes leaves of them, and a test in one could lead back to its parent.
        """
        super().check(arrays)
        nodes, used = arrays["nodes"], arrays["used"]
        in_use = 1 <= used[0] <= len(nodes) and used[1] <= len(arrays["branches"])
        require(in_use, "more nodes in use than there are")
        require(len(arrays["branches"]) > 0, "no room for branches, which is doubled when full")
        spare = [arrays[name][used[0] :] for name in ("nodes", "cuts", "weight", "track")]
        spare.append(arrays["branches"][used[1] :])
        require(
            not any(array.any() for array in spare), "nodes or branches that are not in use are not empty"
        )
        require(nodes[:, TEST].max() <= MULTIWAY, "an unknown test")
        slot = nodes[: used[0], SLOT]
        require(len(np.unique(slot[slot > 0])) == np.count_nonzero(slot), "slots clash")

    def check_tests(self, arrays: Arrays, slots: int, numeric: int) -> None:
        """Refuse tests of unknown columns, children that do not follow their parents, and slots beyond the last."""
        nodes, branches, used = arrays["nodes"], arrays["branches"], arrays["used"]
        require(nodes[: used[0], SLOT].max() <= slots, "a leaf keeps statistics that are not there")
        for at in range(int(used[0])):
            _check_node(at, nodes, branches[: used[1]], int(used[0]), numeric, self.lengths.values)


def _check_node(
    at: int, nodes: NDArray[np.int64], branches: Index, count: int, numeric: int, values: Sequence[int]
) -> None:
    test, column, value, first, width, usual, parent, slot = (int(v) for v in nodes[at])
    require(parent < max(1, at), f"the parent of node {at} comes after it")
    if test == LEAF:
        return
    require(slot == 0, f"node {at} is no leaf but keeps statistics")
    require(column < (numeric if test == AT_MOST else len(values)), f"node {at} tests an unknown column")
    require(test != ONE_VALUE or value < values[column], f"node {at} tests an unknown value")
    if test == MULTIWAY:
        require(first + width <= len(branches) and width <= values[column], f"node {at} has no such branches")
        children = branches[first : first + width]
        children = children[children > 0]
    else:
        children = np.array([first, first + 1])
    inside = len(children) > 0 and children.min() > at and children.max() < count
    require(inside and usual in children, f"the children of node {at} do not follow it")


def _longer(array: NDArray[A], length: int) -> NDArray[A]:
    if len(array) == length:
        return array
    out = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out
