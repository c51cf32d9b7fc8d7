"""Scores of recent predictions, from which conformal prediction forms sets of classes."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.checks import require
from bayou.errors import UnsupportedError
from bayou.kernels.conformal import CELLS, COVERED, ROWS
from bayou.laws import MergeLaw
from bayou.protocols import Scalar
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.state import ADD, declare


def _levels(name: str, array: Floats, summary: ConformalScores) -> None:
    valid.finite(name, array, summary)
    require(
        bool((np.abs(array) <= 2.0).all()), f"{name} holds a level beyond any that a rate in (0, 1] reaches"
    )


class ConformalScores(ArraySummary):
    """Counts of the scores 1 - P(true class), faded, and the level alpha; by class, or for all classes together.

    `kernels.conformal.conformal_rows` updates them, so `update` is refused. Where all classes share one row of scores
    (`by_class=False`), the arrays by class are not used.

    Merge: AVERAGED; scores add up, levels are averaged by the rows in them. Memory: 2 kB, by class 2 kB each.
    """

    law: ClassVar[MergeLaw] = MergeLaw.AVERAGED
    scores: Floats = declare("classes", CELLS, valid=valid.non_negative)
    levels: Floats = declare("classes", valid=_levels)
    shared_scores: Floats = declare(1, CELLS, valid=valid.non_negative)
    shared_level: Floats = declare(1, valid=_levels)
    record: Floats = declare(3, merge=ADD, valid=valid.non_negative)

    def __init__(self, coverage: float, by_class: bool) -> None:
        self.coverage, self.by_class = coverage, by_class
        super().__init__()
        self.shared_level = np.array([1.0 - coverage])

    def config(self) -> dict[str, Scalar]:
        return {"coverage": self.coverage, "by_class": self.by_class}

    def at_work(self) -> tuple[Floats, Floats]:
        """The scores and levels in use: one row for all classes, or one per class."""
        return (self.scores, self.levels) if self.by_class else (self.shared_scores, self.shared_level)

    def realign(self, plan: Alignment) -> None:
        """Move the classes; new ones begin at the level 1 - coverage."""
        before = len(self.levels)
        super().realign(plan)
        new = np.setdiff1d(np.arange(len(self.levels)), plan.classes.to[:before])
        self.levels[new] = 1.0 - self.coverage

    @property
    def covered(self) -> float:
        """Share of the sets so far that held the true class."""
        return float(self.record[COVERED] / max(self.record[ROWS], 1.0))

    def update(self, block: Block) -> None:
        raise UnsupportedError(
            "sets are learned through the classifier whose probabilities they are made from"
        )

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        mine, theirs = float(self.record[ROWS]), float(other.record[ROWS])
        share = theirs / (mine + theirs) if theirs else 0.0
        for name in self.state:
            one, two = getattr(self, name), getattr(other, name)
            averaged = name in ("levels", "shared_level")
            setattr(self, name, (1.0 - share) * one + share * two if averaged else one + two)

    def fresh(self) -> Self:
        twin = super().fresh()
        twin.shared_level = np.array([1.0 - self.coverage])
        twin.levels = np.full(len(self.levels), 1.0 - self.coverage)
        return twin
