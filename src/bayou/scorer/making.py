"""Nodes as a model makes them: sums in the order it adds, tables folded together where that is exact."""

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

TILE = 64  # columns that naive Bayes adds up before it goes on: see `bayou.kernels.sums`


def added(so_far: Node, vector: Floats) -> Node:
    """A vector on top of what was added before."""
    if isinstance(so_far, Constant):
        return Constant(so_far.values + vector)
    return Sum((so_far, Constant(np.array(vector))))


def silent(width: int) -> Constant:
    """A vector that says nothing."""
    return Constant(np.zeros(width))


def says_nothing(node: Node) -> bool:
    """Whether a vector is known to be 0 for every row."""
    if isinstance(node, Constant):
        return not node.values.any()
    if isinstance(node, Table):
        return not node.values.any() and not node.missing.any()
    return isinstance(node, Words) and not node.values.any() and not node.base.any()


def interval_table(column: int, cuts: Floats, values: Floats) -> Node:
    """What the intervals of a numeric column say; nothing where the value is missing."""
    if not values.any():
        return silent(values.shape[1])
    return Table((Interval(column, np.array(cuts)),), np.array(values), np.zeros(values.shape[1]))


def value_table(column: int, values: Floats, beyond: Floats | None = None) -> Node:
    """What the values of a nominal column say, by code, and values `beyond` these; nothing where one is missing."""
    if beyond is not None:
        values = np.concatenate([values, beyond[np.newaxis]])
    if not values.any():
        return silent(values.shape[1])
    listed = len(values) - (beyond is not None)
    cell = Value(column, np.arange(listed), -1 if beyond is None else listed)
    return Table((cell,), np.array(values), np.zeros(values.shape[1]))


def on_column(node: Node, column: int) -> Node:
    """A table over the intervals of one column, as that of another column."""
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
                plain_sum([plain_sum(lane) for lane in two if lane])
                for two in (lanes[:2], lanes[2:])
                if any(two)
            ]
            if halves:
                parts.append(plain_sum(halves))
    return plain_sum(parts)


def plain_sum(parts: Sequence[Node]) -> Node:
    """The parts added one after the other; one alone is itself."""
    return parts[0] if len(parts) == 1 else Sum(tuple(parts))


def mapped(node: Node, of_rows: Callable[[Floats], Floats], otherwise: Callable[[Node], Node]) -> Node:
    """A function of vectors: worked out beforehand for tables and constants, a node of its own for others."""
    if isinstance(node, Constant):
        return Constant(of_rows(node.values[np.newaxis])[0])
    if isinstance(node, Table):
        flat = of_rows(node.values.reshape(-1, node.width)).reshape(node.values.shape)
        return Table(node.cells, flat, of_rows(node.missing[np.newaxis])[0])
    return otherwise(node)


def scaled(node: Node, by: Floats) -> Node:
    """part[c] by[c]."""
    return mapped(node, lambda rows: rows * by, lambda part: Scaled(part, np.array(by, dtype=np.float64)))


def clipped(node: Node, shift: float = 0.0, least: float = -np.inf, most: float = np.inf) -> Node:
    """As `Clipped`."""

    def of_rows(rows: Floats) -> Floats:
        moved = np.minimum(np.maximum(rows + shift, least), most)
        return np.where((rows != 0.0).any(axis=1, keepdims=True), moved, 0.0)

    return mapped(node, of_rows, lambda part: Clipped(part, shift, least, most))


def pointwise_information(node: Node, prior: Floats, least: float) -> Node:
    """As `Pmi`; what a part says of impossible classes does not make it say anything."""
    possible = prior > -np.inf

    def of_rows(rows: Floats) -> Floats:
        joint = rows + prior
        top = joint.max(axis=1, keepdims=True, initial=-1e308)
        log_total = top + np.log(np.exp(joint - top).sum(axis=1, keepdims=True))
        speaks = (rows[:, possible] != 0.0).any(axis=1, keepdims=True)
        return np.where(speaks, np.maximum(rows - log_total, least), 0.0)

    return mapped(node, of_rows, lambda part: Pmi(part, prior.copy(), least))
