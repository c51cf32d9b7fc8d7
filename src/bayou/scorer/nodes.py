"""Cells, which tell the values of a column apart, and nodes, vectors with one number per class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SET = 64  # cells of a value that a test of a tree tells apart, the last of them that of -1


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
    """A vector that does not depend on the row."""

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
class Several(Node):
    """Base of vectors made of several others of one width."""

    parts: tuple[Node, ...]

    @property
    def width(self) -> int:
        return self.parts[0].width

    def parts_of(self) -> Sequence[Node]:
        return self.parts


@dataclass(frozen=True, eq=False)
class Sum(Several):
    """The parts, added one after the other."""


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
class Mixture(Several):
    """log sum over the parts of exp(log_weight + part[c]), class by class."""

    log_weights: Floats


@dataclass(frozen=True, eq=False)
class FirstPossible(Several):
    """The first of the parts that is not -inf throughout; the last if all are."""


@dataclass(frozen=True, eq=False)
class Branch(Several):
    """parts[cell]; parts[usual] where the cell is -1."""

    cell: Cell
    usual: int


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
