"""The trees of a forest of counts as a node of a scorer."""

from __future__ import annotations

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.forest_rows import NO_PLACE
from bayou.scorer import SET, Cell, Interval, Trees, Value
from bayou.summaries.forest import Forest


def forest_trees(forest: Forest) -> Trees:
    """The mean over the trees of their leaves' vectors: those of both readings, one behind the other.

    A node whose two children have the same bits becomes a leaf, as do most of the random levels that no row reached.
    """
    vectors = forest.leaf_probabilities().reshape(len(forest.attribute), -1)
    inner = _distinct_nodes(forest, vectors)
    order = _reachable(forest, inner)
    position = np.full(len(inner), -1)
    position[order] = np.arange(len(order))
    columns = sorted({int(j) for j in forest.attribute[order][inner[order]]})
    p, cells = len(forest.cuts), [_cell(forest, j) for j in columns]
    number = {j: i for i, j in enumerate(columns)}
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
        test[i], child[i] = number[j], position[forest.left[v]]
        split[i] = (threshold & 0xFF) - 1 if j < p else sets.setdefault(threshold, len(sets))
    bits = [[threshold >> cell & 1 for cell in range(SET)] for threshold in sets]
    return Trees(
        tuple(cells), position[forest.roots], test, split, child,
        np.array(bits, dtype=np.uint8).reshape(-1, SET), vectors[leaves] / forest.trees,
    )  # fmt: skip


def _distinct_nodes(forest: Forest, vectors: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which nodes have children with different vectors; the others become leaves, with the vector of their children."""
    inner = forest.attribute >= 0
    for v in reversed(range(len(inner))):  # children stand behind their parents
        if inner[v]:
            left = int(forest.left[v])
            if not inner[left] and not inner[left + 1] and np.array_equal(vectors[left], vectors[left + 1]):
                inner[v], vectors[v] = False, vectors[left]
    return inner


def _reachable(forest: Forest, inner: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Index:
    """The nodes that a row can reach, in order."""
    reachable = np.zeros(len(inner), dtype=bool)
    reachable[forest.roots] = True
    for v in range(len(inner)):
        if reachable[v] and inner[v]:
            reachable[forest.left[v] : forest.left[v] + 2] = True
    return np.flatnonzero(reachable)


def _cell(forest: Forest, column: int) -> Cell:
    p = len(forest.cuts)
    if column < p:
        return Interval(column, forest.cuts[column, : forest.used[column]].copy())
    places = forest.places[forest.offsets[column - p] : forest.offsets[column - p + 1]].astype(np.int64)
    return Value(column - p, np.where(places == NO_PLACE, -1, places))
