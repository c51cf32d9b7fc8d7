"""The trees of a forest of counts as look-ups: what every leaf says, by both readings."""

from __future__ import annotations

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.forest_rows import NO_PLACE
from bayou.scorer import SET, Cell, Interval, Trees, Value
from bayou.summaries.forest import Forest


def forest_trees(forest: Forest) -> Trees:
    """The mean over the trees of what their leaves say: both readings, one behind the other.

    A node whose two children say the same to the last bit is taken for a leaf; so is most of the random levels that no
    row has reached yet.
    """
    said = forest.said_by_leaves().reshape(len(forest.attribute), -1)
    inner = _told_apart(forest, said)
    order = _kept(forest, inner)
    place = np.full(len(inner), -1)
    place[order] = np.arange(len(order))
    used = sorted({int(j) for j in forest.attribute[order][inner[order]]})
    p, cells = len(forest.cuts), [_cell(forest, j) for j in used]
    number = {j: i for i, j in enumerate(used)}
    test, split, child = (
        np.full(len(order), -1),
        np.zeros(len(order), dtype=np.int64),
        np.empty(len(order), dtype=np.int64),
    )
    sets: dict[int, int] = {}
    leaves: list[int] = []
    for i, v in enumerate(order.tolist()):
        if not inner[v]:
            child[i] = len(leaves)
            leaves.append(v)
            continue
        j, threshold = int(forest.attribute[v]), int(forest.threshold[v])
        test[i], child[i] = number[j], place[forest.left[v]]
        split[i] = (threshold & 0xFF) - 1 if j < p else sets.setdefault(threshold, len(sets))
    bits = [[threshold >> cell & 1 for cell in range(SET)] for threshold in sets]
    return Trees(
        tuple(cells), place[forest.roots], test, split, child,
        np.array(bits, dtype=np.uint8).reshape(-1, SET), said[leaves] / forest.trees,
    )  # fmt: skip


def _told_apart(forest: Forest, said: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which nodes have two sides that do not say the same; `said` gets what a node that is taken for a leaf says."""
    inner = forest.attribute >= 0
    for v in reversed(range(len(inner))):  # children stand behind their parents
        if inner[v]:
            one = int(forest.left[v])
            if not inner[one] and not inner[one + 1] and np.array_equal(said[one], said[one + 1]):
                inner[v], said[v] = False, said[one]
    return inner


def _kept(forest: Forest, inner: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Index:
    """The nodes that a row can reach, in their order."""
    reached = np.zeros(len(inner), dtype=bool)
    reached[forest.roots] = True
    for v in range(len(inner)):
        if reached[v] and inner[v]:
            reached[forest.left[v] : forest.left[v] + 2] = True
    return np.flatnonzero(reached)


def _cell(forest: Forest, column: int) -> Cell:
    p = len(forest.cuts)
    if column < p:
        return Interval(column, forest.cuts[column, : forest.used[column]].copy())
    places = forest.places[forest.offsets[column - p] : forest.offsets[column - p + 1]].astype(np.int64)
    return Value(column - p, np.where(places == NO_PLACE, -1, places))
