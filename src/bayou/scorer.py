"""What a fitted model computes, as a graph of look-ups and sums: the one description that all exports are written from.

A scorer takes a row to a vector with one number per class, log P(c, x) up to a constant. Its inputs are columns by kind
and number; a `Cell` puts a value of a column into one of a few cells, and a `Node` is a vector: a table over cells, a
normal density, counts of words, or what becomes of other vectors. Engines, views and densities describe themselves by
these nodes (`scorer`, `scorer_columns`); `bayou.export` writes them in other languages and knows no model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SET = 64  # cells of a value that a test of a tree tells apart, the last of them that of -1
TILE = 64  # columns that naive Bayes adds up before it goes on: see `bayou.kernels.sums`


@dataclass(frozen=True, eq=False)
class Cell:
    """Base of cells: the number of a row's cell in one column, -1 where the value is missing or has none."""

    @property
    def size(self) -> int:
        """Number of cells."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Interval(Cell):
    """The interval of a numeric value: the number of cuts below it; a value equal to a cut lies on its left."""

    column: int
    cuts: Floats

    @property
    def size(self) -> int:
        return len(self.cuts) + 1


@dataclass(frozen=True, eq=False)
class Value(Cell):
    """The cell of a nominal value: cells[code], -1 for a value that is missing or has none; others are in `beyond`."""

    column: int
    cells: NDArray[np.int64]
    beyond: int = -1

    @property
    def size(self) -> int:
        return int(self.cells.max(initial=self.beyond)) + 1


@dataclass(frozen=True, eq=False)
class Node:
    """Base of vectors."""

    @property
    def width(self) -> int:
        """Numbers in the vector."""
        raise NotImplementedError

    def parts_of(self) -> Sequence[Node]:
        """The vectors this one is made of."""
        return ()


@dataclass(frozen=True, eq=False)
class Constant(Node):
    """The same vector for every row."""

    values: Floats

    @property
    def width(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Table(Node):
    """values[cell, cell, ..] of the row's cells; `missing` where one of them is -1.

    values : float64[size of each cell.., width]; missing : float64[width]
    """

    cells: tuple[Cell, ...]
    values: Floats
    missing: Floats

    @property
    def width(self) -> int:
        return int(self.values.shape[-1])


@dataclass(frozen=True, eq=False)
class Normal(Node):
    """peak - min((x - centre)^2 half, 1e290) of a numeric column, 0 where it is missing."""

    column: int
    peak: Floats
    centre: Floats
    half: Floats

    @property
    def width(self) -> int:
        return len(self.peak)


@dataclass(frozen=True, eq=False)
class Kernels(Node):
    """The logarithm of a weighted sum of kernels' masses around a numeric value, 0 where it is missing.

    One kernel per centre: log(sum_v w[c, v] M((d - p/2) / s, (d + p/2) / s) / sum_v w[c, v]), d = |x - centre_v|, with
    s = sqrt(widths[c]^2 + extra_v) and M(a, b) the standard normal's mass of [a, b]. Where x `rounds`, it is first
    rounded to a multiple of the precision p. The result is not below log(floor). `shape` 0 is the Gaussian kernel.
    """

    column: int
    centres: Floats
    weights: Floats  # [width, m]
    extra: Floats
    widths: Floats
    precision: float
    rounds: bool
    floor: float
    shape: int

    @property
    def width(self) -> int:
        return len(self.widths)


@dataclass(frozen=True, eq=False)
class Words(Node):
    """base + sum over the words of a text column of count values[word]; with `binary` a word counts once."""

    column: int
    base: Floats
    values: Floats  # [V, width]
    binary: bool

    @property
    def width(self) -> int:
        return len(self.base)


@dataclass(frozen=True, eq=False)
class Sum(Node):
    """The parts, added one after the other."""

    parts: tuple[Node, ...]

    @property
    def width(self) -> int:
        return self.parts[0].width

    def parts_of(self) -> Sequence[Node]:
        return self.parts


@dataclass(frozen=True, eq=False)
class Unary(Node):
    """Base of vectors made of one other."""

    part: Node

    @property
    def width(self) -> int:
        return self.part.width

    def parts_of(self) -> Sequence[Node]:
        return (self.part,)


@dataclass(frozen=True, eq=False)
class Scaled(Unary):
    """part[c] by[c]."""

    by: Floats


@dataclass(frozen=True, eq=False)
class Clipped(Unary):
    """min(max(part + shift, least), most); a part that is 0 throughout stays so, since it says nothing."""

    shift: float
    least: float
    most: float


@dataclass(frozen=True, eq=False)
class Pmi(Unary):
    """Pointwise mutual information: max(part - log sum_c exp(prior[c] + part[c]), least); 0 throughout stays so."""

    prior: Floats
    least: float


@dataclass(frozen=True, eq=False)
class Log(Unary):
    """log part[c], -1e290 of 0; -inf throughout where the part is 0 throughout."""


@dataclass(frozen=True, eq=False)
class Exp(Unary):
    """exp part[c]."""


@dataclass(frozen=True, eq=False)
class LogSigmoid(Unary):
    """-log(1 + exp(-part[c]))."""


@dataclass(frozen=True, eq=False)
class LogSoftmax(Unary):
    """(part - max) - log sum_c exp(part[c] - max); -inf stays."""


@dataclass(frozen=True, eq=False)
class Folded(Unary):
    """bias + part times a matrix [width of the part, width]."""

    matrix: Floats
    bias: Floats

    @property
    def width(self) -> int:
        return len(self.bias)


@dataclass(frozen=True, eq=False)
class Chosen(Unary):
    """0 for the class of the greatest number, the first in `order` among equals, -inf for the others."""

    order: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Mixture(Node):
    """log sum over the parts of exp(log_weight + part[c]), class by class."""

    parts: tuple[Node, ...]
    log_weights: Floats

    @property
    def width(self) -> int:
        return self.parts[0].width

    def parts_of(self) -> Sequence[Node]:
        return self.parts


@dataclass(frozen=True, eq=False)
class FirstPossible(Node):
    """The first of the parts that is not -inf throughout; the last if all are."""

    parts: tuple[Node, ...]

    @property
    def width(self) -> int:
        return self.parts[0].width

    def parts_of(self) -> Sequence[Node]:
        return self.parts


@dataclass(frozen=True, eq=False)
class Branch(Node):
    """parts[cell]; parts[usual] where the cell is -1."""

    cell: Cell
    parts: tuple[Node, ...]
    usual: int

    @property
    def width(self) -> int:
        return self.parts[0].width

    def parts_of(self) -> Sequence[Node]:
        return self.parts


@dataclass(frozen=True, eq=False)
class Trees(Node):
    """The sum over binary trees of the vector at the leaf which a row reaches.

    Node v tests the row's cell number `test[v]`. Of an interval, cells up to `split[v]` and -1 go left; of a value,
    those cells do that are 1 in row `split[v]` of `sets`, whose last place is that of -1. Left is node `child[v]`,
    right the one behind it. Where `test[v]` is -1, v is a leaf, and `child[v]` the row of its vector.

    roots : int64[trees]; test, split, child : int64[nodes]; sets : uint8[m, 64]; values : float64[leaves, width]
    """

    cells: tuple[Cell, ...]
    roots: NDArray[np.int64]
    test: NDArray[np.int64]
    split: NDArray[np.int64]
    child: NDArray[np.int64]
    sets: NDArray[np.uint8]
    values: Floats

    @property
    def width(self) -> int:
        return int(self.values.shape[1])

    def depth(self) -> int:
        """Tests on the longest way from a root to a leaf."""
        found, deepest = np.zeros(len(self.test), dtype=np.int64), 0
        for v in range(len(self.test)):  # children stand behind their parents
            if self.test[v] >= 0:
                found[self.child[v] : self.child[v] + 2] = found[v] + 1
            deepest = max(deepest, int(found[v]))
        return deepest


# -- making nodes --


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


# -- whole scorers --


@dataclass(frozen=True)
class Input:
    """A column of the rows that are scored.

    `values` are those of a nominal column, or the words of a text column, by code; `other` is the code of every value
    that is not among them, -1 where such values are taken for missing. A text is `plain` where its words are what it
    holds in small letters; else it is read by a `Text` of its own, and counts of what that makes of it are to be given.
    """

    name: str
    kind: str
    values: tuple[Any, ...] = ()
    other: int = -1
    plain: bool = True


@dataclass(frozen=True)
class Scorer:
    """A model as a graph: its inputs, its classes in canonical order, and the vector of joint log-probabilities.

    `order[r]` is where class r stands in the vector. Probabilities are exp(v - max v), divided by their sum; where all
    of v is -inf, every class has the same.
    """

    model: str
    inputs: dict[str, tuple[Input, ...]]  # by kind
    classes: tuple[Any, ...]
    order: tuple[int, ...]
    root: Node
    nodes: tuple[Node, ...] = field(default=())  # every node once, parts before those made of them

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(_in_order(self.root)))

    @property
    def cells(self) -> list[Cell]:
        """Every cell that a node looks at, once."""
        return list({id(cell): cell for node in self.nodes for cell in cells_of(node)}.values())

    @property
    def entries(self) -> int:
        """Numbers in all tables: how large an export will be."""
        return sum(
            value.size
            for node in self.nodes
            for value in (getattr(node, f.name) for f in fields(node))
            if isinstance(value, np.ndarray)
        )


def cells_of(node: Node) -> tuple[Cell, ...]:
    """The cells a node itself looks at."""
    if isinstance(node, Table | Trees):
        return node.cells
    return (node.cell,) if isinstance(node, Branch) else ()


def _in_order(root: Node) -> Iterator[Node]:
    """Every node once, parts first; without recursion, since sums may be deep."""
    seen: set[int] = set()
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, ready = waiting.pop()
        if ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            waiting.append((node, True))
            waiting.extend((part, False) for part in reversed(node.parts_of()))
