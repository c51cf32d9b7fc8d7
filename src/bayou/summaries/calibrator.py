"""What calibration has learned: how a classifier's probabilities are corrected."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from bayou.block import Block, Codes, Floats
from bayou.checks import require
from bayou.errors import UnsupportedError
from bayou.kernels.calibration import BETA, FLATTEST, LEVELS, RANGES, SHARPEST, calibrate_rows
from bayou.kernels.outcomes import BINS
from bayou.kernels.pool import ROWS
from bayou.laws import MergeLaw
from bayou.protocols import Scalar
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.pool_weights import START, scalars_of_pool, squares_last
from bayou.summaries.state import ADD, declare

FIRST_FIT = 16.0  # rows after which shares are fitted for the first time
ROUNDING = 1e-9  # of a mean of two bounded numbers
ADDED = ("counts", "bins")  # arrays that merging adds up; the others are averaged


def _shares(name: str, array: Floats, summary: Calibrator) -> None:
    valid.non_negative(name, array, summary)
    require(array.max(initial=0.0) <= 1.0, f"{name} holds a share above 1")


def _powers(name: str, array: Floats, summary: Calibrator) -> None:
    valid.moderate(name, array, summary)
    inside = (array >= FLATTEST - ROUNDING) & (array <= SHARPEST + ROUNDING)
    require(bool(inside.all()), f"{name} holds the logarithm of a power outside [{FLATTEST}, {SHARPEST}]")


class Calibrator(ArraySummary):
    """Weights of "temperature", "vector" and "beta", counts for "isotonic", powers by level, reliability.

    `kernels/calibration.py` describes the arrays. Calibration learns from the probabilities of a row before the row is
    learned, so `update` is refused; `learn` takes the probabilities.

    Merge: AVERAGED; counts add up, weights, fitted shares and powers are averaged by the rows in them. Memory: 1.4 kB a
    class.
    """

    law: ClassVar[MergeLaw] = MergeLaw.AVERAGED
    shared: Floats = declare(3, "inputs", valid=squares_last)
    cells: Floats = declare(3, "rows", "classes", valid=squares_last)
    scalars: Floats = declare(3, valid=scalars_of_pool)
    counts: Floats = declare(2, "classes", RANGES, merge=ADD, valid=valid.non_negative)
    fitted: Floats = declare("classes", RANGES, valid=_shares)
    points: Floats = declare(2, valid=valid.non_negative)
    levels: Floats = declare(LEVELS, valid=_powers)
    bins: Floats = declare(2, BINS, 3, merge=ADD, valid=valid.non_negative)

    def __init__(self, method: int, eta: float, forget: float) -> None:
        self.method, self.eta, self.forget = method, eta, forget
        self.inputs = 2 if method == BETA else 1
        self.rows = self.inputs + 1
        super().__init__()
        self._begin()

    def _begin(self) -> None:
        self.scalars, self.points = START.copy(), np.array([0.0, FIRST_FIT])

    def config(self) -> dict[str, Scalar]:
        return {"method": self.method, "eta": self.eta, "forget": self.forget}

    def learn(self, proba: Floats, classes: Floats, declared: int, y: Codes, w: Floats, out: Floats) -> None:
        """Write the calibrated log-probabilities of each row into `out`, then learn its label, if any."""
        calibrate_rows(
            self.shared, self.cells, self.scalars, self.counts, self.fitted, self.points,
            self.levels, self.bins, proba, classes, declared, y, w, self.method, self.eta, self.forget, out,
        )  # fmt: skip

    def update(self, block: Block) -> None:
        raise UnsupportedError("calibration is learned through the classifier that is calibrated")

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        mine, theirs = float(self.scalars[ROWS]), float(other.scalars[ROWS])
        if theirs == 0.0:
            return
        share = theirs / (mine + theirs)
        for name in self.state:
            one, two = getattr(self, name), getattr(other, name)
            setattr(self, name, one + two if name in ADDED else (1.0 - share) * one + share * two)
        self.scalars[ROWS] = mine + theirs

    def fresh(self) -> Self:
        twin = super().fresh()
        twin._begin()
        return twin
