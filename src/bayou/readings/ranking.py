"""Rows in the order of their scores: areas under the ROC and the precision-recall curve, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayou.block import Floats
from bayou.summaries.first_scores import FirstScores


@dataclass(frozen=True)
class Ranking:
    """Rows of equal score together, the highest score first.

    Parameters
    ----------
    rows, own
        float64[m], how many rows there are, and how many of them belong to the class.
    weight, own_weight
        float64[m], what they weigh.

    Examples
    --------
    >>> one = np.ones(4)
    >>> found = Ranking(one, np.array([1.0, 0, 1, 0]), one, np.array([1.0, 0, 1, 0]))
    >>> found.auc, round(float(found.average_precision), 4)
    (0.75, 0.8333)
    """

    rows: Floats
    own: Floats
    weight: Floats
    own_weight: Floats

    @property
    def auc(self) -> float:
        """Area under the ROC curve: how often a row of the class is above another one; equal scores count half."""
        other = self.weight - self.own_weight
        below = np.cumsum(other[::-1])[::-1] - other / 2
        pairs = float(self.own_weight.sum() * other.sum())
        return float(np.sum(self.own_weight * below)) / pairs if pairs > 0 else 0.0

    @cached_property
    def average_precision(self) -> float:
        """Mean precision at the rows of the class, where those of equal score stand in random order.

        A tie in which rows weigh differently is taken as if each weighed their mean.
        """
        right, called = (np.concatenate([[0.0], np.cumsum(w)[:-1]]) for w in (self.own_weight, self.weight))
        total = 0.0
        for g in np.flatnonzero(self.own_weight > 0).tolist():
            n, own = int(self.rows[g]), self.own[g]
            place = np.arange(n)
            each, mean = self.own_weight[g] / own, self.weight[g] / n
            # A row of the class at a place of the tie has so many of its class above it there, on average.
            above = (own - 1.0) * place / max(n - 1, 1)
            at = (right[g] + each * (1.0 + above)) / (called[g] + mean * (place + 1.0))
            total += self.own_weight[g] * float(np.mean(np.minimum(at, 1.0)))
        positives = float(self.own_weight.sum())
        return total / positives if positives > 0 else 0.0


def ranking(first: FirstScores, code: int) -> Ranking | None:
    """The rows by their scores for one class; None where they were given up."""
    if not first.complete:
        return None
    own, weight = (first.truth == code).astype(np.float64), first.weight
    _, tie = np.unique(-first.proba[:, code], return_inverse=True)
    sums = np.zeros((4, int(tie.max(initial=-1)) + 1))
    for total, each in zip(sums, (np.ones(len(tie)), own, weight, own * weight), strict=True):
        np.add.at(total, tie, each)
    return Ranking(*sums)
