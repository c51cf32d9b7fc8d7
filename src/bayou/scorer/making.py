"""Functions that build nodes: sums in the order in which models add, functions of tables computed beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bayou.scorer.nodes import (
    Clipped,
    Constant,
    Floats,
    Interval,
    Node,
    Pmi,
    Scaled,
    Sum,
    Table,
    Value,
    Words,
)

TILE = 64  # columns that are added up together: see `bayou.kernels.sums`


def added(so_far: Node, vector: Floats) -> Node:
    """The sum of a node and a constant vector."""
    if isinstance(so_far, Constant):
        return Constant(so_far.values + vector)
    return Sum((so_far, Constant(np.array(vector))))


def silent(width: int) -> Constant:
    """A vector of zeros."""
    return Constant(np.zeros(width))


def says_nothing(node: Node) -> bool:
    """Whether a vector is known to be 0 for every row."""
    if isinstance(node, Constant):
        return not node.values.any()
    if isinstance(node, Table):
        return not node.values.any() and not node.missing.any()
    return isinstance(node, Words) and not node.values.any() and not node.base.any()


def interval_table(column: int, cuts: Floats, values: Floats) -> Node:
    """A table of vectors by interval of a numeric column; zeros where the value is missing."""
    if not values.any():
        return silent(values.shape[1])
    return Table((Interval(column, np.array(cuts)),), np.array(values), np.zeros(values.shape[1]))


def value_table(column: int, values: Floats, beyond: Floats | None = None) -> Node:
    """A table of vectors by code of a nominal column, `beyond` for other codes; zeros where the value is missing."""
    if beyond is not None:
        values = np.concatenate([values, beyond[np.newaxis]])
    if not values.any():
        return silent(values.shape[1])
    known = len(values) - (beyond is not None)
    cell = Value(column, np.arange(known), -1 if beyond is None else known)
    return Table((cell,), np.array(values), np.zeros(values.shape[1]))


def on_column(node: Node, column: int) -> Node:
    """The same table over the intervals of another column."""
    if not isinstance(node, Table):
        return node
    (cell,) = node.cells
    assert isinstance(cell, Interval)
    return Table((Interval(column, cell.cuts),), node.values, node.missing)


def total(first: Node, *runs: Sequence[Node]) -> Node:
    """`first` and the terms of each run, added up in the tiles and lanes of `bayou.kernels.sums`: the same bits."""
    parts = [first]
    for terms in runs:
        for t in range(0, len(terms), TILE):
            tile = terms[t : t + TILE]
            lanes = [[term for term in tile[lane::4] if not says_nothing(term)] for lane in range(4)]
            halves = [
                plain_sum([plain_sum(lane) for lane in pair if lane])
                for pair in (lanes[:2], lanes[2:])
                if any(pair)
            ]
            if halves:
                parts.append(plain_sum(halves))
    return plain_sum(parts)


def plain_sum(parts: Sequence[Node]) -> Node:
    """The parts added one after the other; a single part is returned as it is."""
    return parts[0] if len(parts) == 1 else Sum(tuple(parts))


def mapped(node: Node, of_rows: Callable[[Floats], Floats], otherwise: Callable[[Node], Node]) -> Node:
    """A function of vectors, computed now for tables and constants (`of_rows`), or a new node (`otherwise`)."""
    if isinstance(node, Constant):
        return Constant(of_rows(node.values[np.newaxis])[0])
    if isinstance(node, Table):
        flat = of_rows(node.values.reshape(-1, node.width)).reshape(node.values.shape)
        return Table(node.cells, flat, of_rows(node.missing[np.newaxis])[0])
    return otherwise(node)


def scaled(node: Node, by: Floats) -> Node:
    """The node times a vector, part[c] by[c]."""
    return mapped(node, lambda rows: rows * by, lambda part: Scaled(part, np.array(by, dtype=np.float64)))


def clipped(node: Node, shift: float = 0.0, least: float = -np.inf, most: float = np.inf) -> Node:
    """min(max(part + shift, least), most), as `Clipped` defines it."""

    def of_rows(rows: Floats) -> Floats:
        bounded = np.minimum(np.maximum(rows + shift, least), most)
        return np.where((rows != 0.0).any(axis=1, keepdims=True), bounded, 0.0)

    return mapped(node, of_rows, lambda part: Clipped(part, shift, least, most))


def pointwise_information(node: Node, prior: Floats, least: float) -> Node:
    """Pointwise mutual information, as `Pmi` defines it; a part that is 0 for all possible classes stays 0."""
    possible = prior > -np.inf

    def of_rows(rows: Floats) -> Floats:
        joint = rows + prior
        top = joint.max(axis=1, keepdims=True, initial=-1e308)
        log_total = top + np.log(np.exp(joint - top).sum(axis=1, keepdims=True))
        informative = (rows[:, possible] != 0.0).any(axis=1, keepdims=True)
        return np.where(informative, np.maximum(rows - log_total, least), 0.0)

    return mapped(node, of_rows, lambda part: Pmi(part, prior.copy(), least))
