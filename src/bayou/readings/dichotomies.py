"""The columns of an output code as dichotomies of the classes, and the log-odds read for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from bayou.block import Block, Floats
from bayou.errors import UnsupportedError
from bayou.kernels.class_counts import add_vector
from bayou.kernels.ecoc import add_difference, add_folded, prior_odds

if TYPE_CHECKING:
    from bayou.scorer import Node


@dataclass(frozen=True)
class Dichotomies:
    """The columns of a code as arrays for kernels.

    dichotomies : float64[2, K, m], 1 where a class is on the side + (first) or - (second) of a column
    fold : float64[m, K], factors from the log-odds of columns to the scores of classes, where decoding is linear;
    else float64[0, 0], and readings return the log-odds themselves
    ternary : whether columns leave out possible classes, so that sizes must be counted column by column
    """

    dichotomies: Floats
    fold: Floats
    ternary: bool

    @property
    def columns(self) -> int:
        """Number of columns of the code."""
        return int(self.dichotomies.shape[2])

    @property
    def width(self) -> int:
        """The length of the vectors that readings return: one per class if folded, one per column if not."""
        return int(self.fold.shape[1] if len(self.fold) else self.columns)

    def groups(self) -> list[Floats]:
        """float64[2, K] per column, as `regroup` takes them."""
        return [np.ascontiguousarray(self.dichotomies[:, :, b]) for b in range(self.columns)]

    def pairs(self) -> Floats:
        """float64[2 m, K], both sides of all columns: + of column b in row 2 b, - below it."""
        return np.ascontiguousarray(self.dichotomies.transpose(2, 0, 1).reshape(2 * self.columns, -1))

    def of_pairs(self) -> Floats:
        """float64[2 m, width], the matrix from log-probabilities of both sides of columns to what readings return."""
        differences: Floats = np.kron(np.eye(self.columns), np.array([[1.0], [-1.0]]))
        return np.asarray(differences @ self.fold) if len(self.fold) else differences

    def sums(self, counts: Floats) -> Floats:
        """float64[cells, 2 m], the counts [cells, K] of both sides of all columns, classes added in storage order."""
        out = np.zeros((len(counts), 2 * self.columns))
        add_folded(out, counts, np.ascontiguousarray(self.pairs().T))
        return out

    def put(self, out: Floats, odds: Floats) -> None:
        """Add log-odds [n, m] to `out`, folded into scores of classes where the code allows."""
        if len(self.fold):
            add_folded(out, odds, self.fold)
        else:
            out += odds


class Odds(Protocol):
    """Log-odds between the two sides of every column of a code, valid for one state of a summary."""

    def add(self, block: Block, out: Floats) -> None:
        """out[n, width] += log p(x | +) - log p(x | -), column by column or folded."""

    def scorer(self) -> Node:
        """The log-odds as a node of a scorer."""


@runtime_checkable
class RegroupedReading(Protocol):
    """A reading of class counts that can be read for groups of classes without another search."""

    def odds(self, dichotomies: Dichotomies) -> Odds:
        """The log-odds of every column of a code."""


@dataclass(frozen=True)
class VectorOdds:
    """Log-odds that are one vector for every row, such as those of the prior."""

    vector: Floats

    def add(self, block: Block, out: Floats) -> None:
        add_vector(out, self.vector)

    def scorer(self) -> Node:
        from bayou.scorer import Constant

        return Constant(self.vector)


def prior_of_dichotomies(weight: Floats, alpha: float, dichotomies: Dichotomies) -> VectorOdds:
    """The log-odds of the class prior between the two sides of every column of a code."""
    margins, vector = np.zeros((1, dichotomies.columns)), np.zeros((1, dichotomies.width))
    prior_odds(margins[0], weight, dichotomies.dichotomies, alpha)
    dichotomies.put(vector, margins)
    return VectorOdds(vector[0])


@dataclass(frozen=True)
class ColumnOdds:
    """Log-odds from one reading of two groups of classes per column: the slow default."""

    columns: list[Any]
    dichotomies: Dichotomies

    def add(self, block: Block, out: Floats) -> None:
        margins = np.zeros((block.n, len(self.columns)))
        for b, reading in enumerate(self.columns):
            both = np.zeros((block.n, 2))
            reading.add_log_prob(block, both)
            margins[:, b] = both[:, 0] - both[:, 1]
        self.dichotomies.put(out, margins)

    def scorer(self) -> Node:
        raise UnsupportedError(
            "cannot be exported: the code reads every column of its matrix by itself here; with the default smoothing, "
            "numeric='auto', 'gk' or 'gaussian' and nominal='counts' it does not"
        )


@dataclass(frozen=True)
class PairedOdds:
    """Log-odds from one reading whose classes are both sides of every column: + of column b at 2 b, - at 2 b + 1."""

    reading: Any
    dichotomies: Dichotomies

    def add(self, block: Block, out: Floats) -> None:
        both = np.zeros((block.n, 2 * self.dichotomies.columns))
        margins = np.zeros((block.n, self.dichotomies.columns))
        self.reading.add_log_prob(block, both)
        add_difference(margins, both)
        self.dichotomies.put(out, margins)

    def scorer(self) -> Node:
        from bayou.scorer import Folded, silent, total

        matrix = self.dichotomies.of_pairs()
        pairs = total(silent(len(matrix)), self.reading.scorer_columns())
        return Folded(pairs, matrix, np.zeros(matrix.shape[1]))
