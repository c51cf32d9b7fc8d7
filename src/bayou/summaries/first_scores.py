"""The probabilities of the first rows, one by one, from which areas under curves are read exactly."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayou.block import Block, Codes, Floats, Index
from bayou.checks import require
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.outcomes import predictions
from bayou.summaries.state import declare

MOST_ROWS = 5_000  # from there on, 256 cells of scores are as good
MOST_NUMBERS = 1 << 17  # probabilities: rows times classes


def shares(name: str, array: NDArray[np.float64], summary: object) -> None:
    """Entries are probabilities, up to rounding."""
    require(((array >= 0.0) & (array <= 1.0 + 1e-9)).all(), f"{name} holds no share")


class FirstScores(ArraySummary):
    """Truth, weight and probabilities of all rows that have a prediction, while they are few.

    Where there are more than 5,000 rows, or 131,072 probabilities, all are dropped, for good. A class that came after
    a row has the probability 0 there.

    Merge: ORDERED (rows stand in the order of the shards). Memory: 8 K + 12 bytes per row, at most 1.1 MB.

    Examples
    --------
    >>> from bayou.summaries.outcomes import class_plan, scored_rows
    >>> first = FirstScores(); first.realign(class_plan([], ["a", "b"]))
    >>> first.update(scored_rows([0, 1, 1], [[0.5, 0.5], [0, 0], [0.25, 0.75]]))
    >>> first.truth.tolist(), first.proba[:, 1].tolist(), first.complete
    ([0, 1], [0.5, 0.75], True)
    """

    law: ClassVar[MergeLaw] = MergeLaw.ORDERED
    proba: Floats = declare("*rows", "classes", valid=shares)
    truth: Codes = declare("*rows", dtype=np.int32, codes=True, valid=valid.class_codes)
    weight: Floats = declare("*rows", valid=valid.non_negative)
    rows: Index = declare(1, dtype=np.int64, valid=valid.finite)

    @property
    def complete(self) -> bool:
        """Whether all rows are here."""
        return int(self.rows[0]) == len(self.truth)

    def has_room(self, rows: int) -> bool:
        """Whether so many more rows with a prediction can be kept."""
        return len(self.truth) + rows <= MOST_ROWS

    def update(self, block: Block) -> None:
        if self.complete:
            proba, decided = predictions(block)
            has_prediction = (block.y >= 0) & (block.w > 0.0) & (proba @ np.ones(proba.shape[1]) > 0.0)
            if len(decided):
                has_prediction &= decided >= 0
            if not self.has_room(int(np.count_nonzero(has_prediction))):
                self.give_up()
            else:
                self._append(proba[has_prediction], block.y[has_prediction], block.w[has_prediction])

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        if not other.complete:
            self.give_up()
        elif self.complete:
            self._append(other.proba, other.truth, other.weight)

    def _append(self, proba: Floats, truth: Codes, weight: Floats) -> None:
        self.proba = np.concatenate([self.proba, proba])
        self.truth = np.concatenate([self.truth, truth])
        self.weight = np.concatenate([self.weight, weight])
        self.rows[0] = len(self.truth)
        self.derive()

    def derive(self) -> None:
        """Drop all rows where they, or the classes, have become too many."""
        if len(self.truth) > MOST_ROWS or self.proba.size > MOST_NUMBERS:
            self.give_up()

    def give_up(self) -> None:
        """Drop all rows, and keep none from now on."""
        self.proba, self.truth, self.weight = self.proba[:0], self.truth[:0], self.weight[:0]
        self.rows = np.array([MOST_ROWS + 1])

    def check(self, arrays: Arrays) -> None:
        super().check(arrays)
        rows, kept = int(arrays["rows"][0]), len(arrays["truth"])
        require(rows in (kept, MOST_ROWS + 1) and kept <= MOST_ROWS, "other rows than were scored")
        require(rows == kept or kept == 0, "rows that were given up")
        require(arrays["truth"].min(initial=0) >= 0, "a scored row without a label")
