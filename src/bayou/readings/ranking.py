"""Exact areas under the ROC and the precision-recall curve, from rows ranked by score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayou.block import Floats
from bayou.summaries.first_scores import FirstScores


@dataclass(frozen=True)
class Ranking:
    """Groups of rows with equal score, the highest score first.

    Parameters
    ----------
    rows, own
        float64[m], the number of rows, and of those of the class.
    weight, own_weight
        float64[m], the weight of these rows.

    Examples
    --------
    >>> one = np.ones(4)
    >>> ranked = Ranking(one, np.array([1.0, 0, 1, 0]), one, np.array([1.0, 0, 1, 0]))
    >>> ranked.auc, round(float(ranked.average_precision), 4)
    (0.75, 0.8333)
    """

    rows: Floats
    own: Floats
    weight: Floats
    own_weight: Floats

    @property
    def auc(self) -> float:
        """Area under the ROC curve: how often a row of the class ranks above one of another; ties count half."""
        other = self.weight - self.own_weight
        below = np.cumsum(other[::-1])[::-1] - other / 2
        pairs = float(self.own_weight.sum() * other.sum())
        return float(np.sum(self.own_weight * below)) / pairs if pairs > 0 else 0.0

    @cached_property
    def average_precision(self) -> float:
        """Mean precision at the rows of the class, with rows of equal score in random order.

        In a tie, each row of the class counts with their mean weight, and each row with the mean weight of the tie.
        """
        right, above_weight = (
            np.concatenate([[0.0], np.cumsum(w)[:-1]]) for w in (self.own_weight, self.weight)
        )
        total = 0.0
        for g in np.flatnonzero(self.own_weight > 0).tolist():
            n, members = int(self.rows[g]), self.own[g]
            place = np.arange(n)
            member_weight, mean = self.own_weight[g] / members, self.weight[g] / n
            # The expected number of rows of the class above a row of the class, by its place in the tie
            above = (members - 1.0) * place / max(n - 1, 1)
            at = (right[g] + member_weight * (1.0 + above)) / (above_weight[g] + mean * (place + 1.0))
            total += self.own_weight[g] * float(np.mean(np.minimum(at, 1.0)))
        positives = float(self.own_weight.sum())
        return total / positives if positives > 0 else 0.0


def ranking(first: FirstScores, code: int) -> Ranking | None:
    """The rows ranked by their scores for one class; None if not all rows were kept."""
    if not first.complete:
        return None
    own, weight = (first.truth == code).astype(np.float64), first.weight
    _, tie = np.unique(-first.proba[:, code], return_inverse=True)
    sums = np.zeros((4, int(tie.max(initial=-1)) + 1))
    for total, each in zip(sums, (np.ones(len(tie)), own, weight, own * weight), strict=True):
        np.add.at(total, tie, each)
    return Ranking(*sums)
