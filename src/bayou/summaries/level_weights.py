"""What a weighted reading of random networks has learned: a weight for every column, level and class."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Codes, Floats
from bayou.checks import require
from bayou.errors import UnsupportedError
from bayou.kernels.network_levels import LEVELS, weigh_levels
from bayou.kernels.pool import ROWS, SQUARES
from bayou.laws import MergeLaw
from bayou.summaries import valid
from bayou.summaries.array_summary import DecayingSummary
from bayou.summaries.joint_counts import moved_columns
from bayou.summaries.pool_weights import squares_last
from bayou.summaries.state import ADD, declare

ETA = 0.2


def _rows(name: str, array: Floats, summary: Any) -> None:
    valid.non_negative(name, array, summary)
    require(array[ROWS] <= 1 << 53, "an impossible number of rows")


class LevelWeights(DecayingSummary):
    """Weights of the terms of columns with no, one and two parents, as deviations from 1 (`kernels/network_levels.py`).

    Merge: AVERAGED; weights are averaged by the rows each model learned from, squared gradients and labels add up.
    Decay fades the labels alone. Memory: 24 (3 d + 1) (K + 1) bytes for d columns and K classes.
    """

    law: ClassVar[MergeLaw] = MergeLaw.AVERAGED
    shared: Floats = declare(3, "inputs", valid=squares_last)
    cells: Floats = declare(3, "rows", "classes", valid=squares_last)
    learned: Floats = declare(1, valid=_rows)
    labels: Floats = declare("classes", merge=ADD, scales=True, valid=valid.non_negative)

    def __init__(self) -> None:
        self.inputs, self.rows = 0, 1
        super().__init__()

    def learn(self, levels: Floats, declared: int, y: Codes, w: Floats, out: Floats) -> None:
        """Write scores from the weighted levels [3 d, n, K] into `out`; each labelled row then moves the weights."""
        weigh_levels(
            self.shared, self.cells, self.learned, self.labels, declared, levels, y, w, ETA, out
        )  # fmt: skip

    def update(self, block: Block) -> None:
        raise UnsupportedError("weights are taught through the networks that they weigh")

    def realign(self, plan: Alignment) -> None:
        """Move the weights; those of new columns and classes are 1."""
        super().realign(plan)
        m, before = plan.nominal.size + plan.numeric.size, self.shared.shape[1] // LEVELS
        columns = moved_columns(plan)
        places = np.concatenate([level * m + columns for level in range(LEVELS)])
        assert len(places) == LEVELS * before
        shared, cells = np.zeros((3, LEVELS * m)), np.zeros((3, LEVELS * m + 1, self.cells.shape[2]))
        shared[:, places] = self.shared
        cells[:, places] = self.cells[:, :-1]
        cells[:, -1] = self.cells[:, -1]
        self.shared, self.cells = shared, cells

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        mine, theirs = float(self.learned[ROWS]), float(other.learned[ROWS])
        self.labels = self.labels + other.labels
        if theirs == 0.0:
            return
        share = theirs / (mine + theirs)
        squares = self.shared[SQUARES] + other.shared[SQUARES], self.cells[SQUARES] + other.cells[SQUARES]
        self.shared = (1.0 - share) * self.shared + share * other.shared
        self.cells = (1.0 - share) * self.cells + share * other.cells
        self.shared[SQUARES], self.cells[SQUARES] = squares
        self.learned = np.array([mine + theirs])
