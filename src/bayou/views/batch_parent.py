"""A view that chooses its super parent by how well every candidate predicts a sample of rows."""

from __future__ import annotations

from typing import Self

import numpy as np

from bayou.block import Block, Codes, Floats
from bayou.readings.collection import add_terms
from bayou.readings.joint_rows import add_prior_of, readings_predict_then_update
from bayou.summaries.joint_counts import JointCounts
from bayou.summaries.reservoir import Reservoir
from bayou.views.chosen_parent import Choice, ChosenParent


class BatchParent(ChosenParent):
    r"""The super parent with the largest $\sum_n P(y_n | x_n)$ over a sample of the rows, by the current counts.

    While the sample holds all rows, this is the criterion of the paper. The choice changes at refresh points.
    """

    record: Reservoir  # type: ignore[assignment] # rows in place of sums

    def __init__(self, summary: JointCounts, choice: Choice, rows: int) -> None:
        super().__init__(summary, choice)
        self.rows = rows
        self.record = Reservoir(rows)

    @property
    def depends_on_order(self) -> bool:
        """False: the sample is drawn evenly from all rows, whatever their order."""
        return False

    def refresh(self) -> None:
        s = self.summary.flushed()
        order = s.reading_order
        self.column = np.array([self.choice.best(self.merits(), order[s.seen[order] > 0])], dtype=np.int64)
        self.stale = False

    def merits(self) -> Floats:
        """[2, m + 1] summed probability of the true class and weight of hits, per candidate and last for no parent."""
        s, sample = self.summary.flushed(), self.record.kept
        candidates = self.choice.candidates(s)
        out = np.zeros((2, len(candidates)))
        unlabelled = sample.relabelled(np.full(sample.n, -1, dtype=np.int32))
        cells = s.codes_of(sample)
        for i, terms in enumerate(candidates):
            scores = np.zeros((1, sample.n, len(s.classes)))
            add_prior_of(s, self.choice.prior, unlabelled, [terms], scores)
            add_terms(s, terms, self.choice.alpha, cells, scores[0])
            out[:, i] = _merit(scores[0], sample.y, sample.w)
        return out

    def update(self, block: Block) -> None:
        self.summary.update(block)
        self.record.update(block)

    def predict_then_update(self, block: Block, out: Floats) -> None:
        readings_predict_then_update(
            self.summary, lambda _: [self.terms()], self.choice.alpha, block, out[np.newaxis]
        )
        self.record.update(block)

    def fresh(self) -> Self:
        twin = type(self)(self.summary.fresh(), self.choice, self.rows)
        twin.record = self.record.fresh()
        return twin


def _merit(scores: Floats, y: Codes, w: Floats) -> tuple[float, float]:
    """Weighted sums of the probability of the true class and of hits; rows one by one, in their order.

    >>> impossible = np.full((1, 2), -np.inf)
    >>> _merit(impossible, np.array([1], dtype=np.int32), np.ones(1))
    (0.5, 0.0)
    """
    if len(y) == 0:
        return 0.0, 0.0
    top = scores.max(axis=1, keepdims=True)
    scores = np.where(top > -np.inf, scores, 0.0)  # a row that no class can have is equally likely in all
    proba = np.exp(scores - scores.max(axis=1, keepdims=True))
    proba_true = proba[np.arange(len(y)), y] / proba.sum(axis=1)
    return float(np.sum(w * proba_true)), float(np.sum(w * (scores.argmax(axis=1) == y)))
