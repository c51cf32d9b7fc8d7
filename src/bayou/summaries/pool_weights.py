"""The state of a log-linear pool: weights, their running means, and mixture weights of pool and plain mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayou.block import Block, Codes, Floats
from bayou.checks import require
from bayou.errors import UnsupportedError
from bayou.kernels.pool import (
    FIRST_MEAN,
    FIRST_POOL,
    LEAST,
    MEANS,
    OF_MEAN,
    OF_POOL,
    ROWS,
    SCALARS,
    SQUARES,
    WEIGHTS,
    pool_rows,
)
from bayou.laws import MergeLaw
from bayou.protocols import Scalar
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.state import declare

if TYPE_CHECKING:
    from bayou.scorer import Node

START = np.array([0.0, FIRST_MEAN, FIRST_POOL])


def squares_last(name: str, array: Floats, summary: Any) -> None:
    """Weights, their running means and sums of squares: moderate numbers, the squares none below 0."""
    valid.moderate(name, array, summary)
    valid.non_negative(name, array[SQUARES], summary)


def scalars_of_pool(name: str, array: Floats, summary: Any) -> None:
    """A number of rows, and two mixture weights that add up to 1."""
    valid.non_negative(name, array, summary)
    require(array[ROWS] <= 1 << 53, "an impossible number of rows")
    require(abs(array[OF_MEAN] + array[OF_POOL] - 1.0) <= 1e-9, "what is believed does not add up to 1")


class PoolWeights(ArraySummary):
    """Weights of a log-linear pool of a number of opinions, as deviations from their plain mean (`kernels/pool.py`).

    Like the weights of naive Bayes they are learned from predictions of a row before the row is learned, so `update` is
    refused; `learn` takes the opinions.

    Merge: AVERAGED; weights are averaged by the rows each model learned from, squared gradients are added up.
    Memory: 24 (E + 1) K bytes for E opinions and K classes.
    """

    law: ClassVar[MergeLaw] = MergeLaw.AVERAGED
    shared: Floats = declare(3, "opinions", valid=squares_last)
    cells: Floats = declare(3, "rows", "classes", valid=squares_last)
    scalars: Floats = declare(SCALARS, valid=scalars_of_pool)

    def __init__(self, opinions: int, eta: float, forget: float = 1.0) -> None:
        self.opinions, self.rows, self.eta, self.forget = opinions, opinions + 1, eta, forget
        super().__init__()
        self.scalars = START.copy()

    def config(self) -> dict[str, Scalar]:
        return {"opinions": self.opinions, "eta": self.eta, "forget": self.forget}

    def learn(
        self, opinions: Floats, classes: Floats, declared: int, y: Codes, w: Floats, moving: bool, out: Floats
    ) -> None:
        """Write the pooled log-probabilities of each row into `out`; a labelled row then moves the weights."""
        pool_rows(
            self.shared, self.cells, self.scalars, opinions, classes, declared,
            y, w, self.eta, self.forget, moving, out,
        )  # fmt: skip

    def hand_over(self, gone: int, heir: int) -> None:
        """Add the weight of an opinion that is dropped to another, so that the pool keeps its confidence."""
        for which in (WEIGHTS, MEANS):
            self.shared[which, heir] += 1.0 / self.opinions + self.shared[which, gone]
            self.shared[which, gone] = -1.0 / self.opinions
            self.cells[which, heir] += self.cells[which, gone]
            self.cells[which, gone] = 0.0

    def scorer(self, log_opinions: Sequence[Node], classes: Floats, declared: int) -> Node:
        """The prediction of `learn` as a node of a scorer, from nodes of the logarithms of the opinions."""
        from bayou.scorer import Constant, LogSoftmax, Mixture, clipped, plain_sum, scaled

        possible = (classes > 0.0) | (declared > 0)
        size = max(int(np.count_nonzero(classes)), declared)
        shares = (classes + 1.0 / max(1, size)) / (classes.sum() + 1.0)
        prior = np.log(np.where(possible, shares, 1.0))
        factors = 1.0 / self.opinions + self.shared[MEANS][:, np.newaxis] + self.cells[MEANS, :-1]
        bounded = [clipped(node, least=math.log(LEAST)) for node in log_opinions]
        terms = [scaled(node, np.where(possible, by, 0.0)) for node, by in zip(bounded, factors, strict=True)]
        base = prior + self.cells[MEANS, -1] - factors.sum(axis=0) * prior
        pooled = LogSoftmax(plain_sum([Constant(np.where(possible, base, -np.inf)), *terms]))
        mean = Mixture(tuple(log_opinions), np.full(self.opinions, -math.log(self.opinions)))
        return Mixture((mean, pooled), np.log(self.scalars[[OF_MEAN, OF_POOL]]))

    def update(self, block: Block) -> None:
        raise UnsupportedError("a pool is taught through the classifier whose opinions it weighs")

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        mine, theirs = float(self.scalars[ROWS]), float(other.scalars[ROWS])
        if theirs == 0.0:
            return
        if mine == 0.0:
            self.restore(other.arrays())
            return
        share = theirs / (mine + theirs)
        squares = self.shared[SQUARES] + other.shared[SQUARES], self.cells[SQUARES] + other.cells[SQUARES]
        self.shared = (1.0 - share) * self.shared + share * other.shared
        self.cells = (1.0 - share) * self.cells + share * other.cells
        self.shared[SQUARES], self.cells[SQUARES] = squares
        self.scalars = (1.0 - share) * self.scalars + share * other.scalars
        self.scalars[ROWS] = mine + theirs

    def fresh(self) -> Self:
        twin = super().fresh()
        twin.scalars = START.copy()
        return twin
