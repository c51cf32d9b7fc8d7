"""ROC and precision-recall curves of one class against the rest, with the counts at each threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayou.block import Floats
from bayou.kernels.outcomes import EDGES
from bayou.readings.ranking import Ranking, ranking
from bayou.summaries.first_scores import FirstScores
from bayou.summaries.outcomes import Losses


@dataclass(frozen=True)
class ThresholdTable:
    """One line per threshold t on P(class): the rows with P >= t are called positive.

    Read off 256 cells of log-odds between -16 and 16, so memory is bounded; thresholds lie on cell edges, 0.5 among
    them. `threshold[0]` is 0 (everything positive), the last line is 1 and above (nothing positive). Both areas are
    exact while all rows are at hand one by one (`ranking`: the first 5,000), and read off the cells from then on.

    Examples
    --------
    >>> from bayou.summaries.outcomes import class_plan, scored_rows
    >>> losses = Losses(); losses.realign(class_plan([], ["a", "b"]))
    >>> losses.update(scored_rows([1, 1, 0, 0], [[0.1, 0.9], [0.4, 0.6], [0.3, 0.7], [0.8, 0.2]]))
    >>> table = threshold_table(losses, 1)
    >>> table.auc, table.at(0.5)["recall"]
    (0.75, 1.0)
    """

    threshold: Floats
    true_positive: Floats
    false_positive: Floats
    positives: float
    negatives: float
    ranking: Ranking | None = None

    @property
    def recall(self) -> Floats:
        """True positive rate at each threshold."""
        return _share(self.true_positive, self.positives)

    @property
    def false_positive_rate(self) -> Floats:
        """Share of the rows of other classes that each threshold would flag."""
        return _share(self.false_positive, self.negatives)

    @property
    def precision(self) -> Floats:
        """Precision at each threshold; 1 where nothing is called positive."""
        positive_calls = self.true_positive + self.false_positive
        out = np.ones_like(positive_calls)
        np.divide(self.true_positive, positive_calls, out=out, where=positive_calls > 0)
        return out

    @property
    def f1(self) -> Floats:
        """Harmonic mean of precision and recall at each threshold."""
        bottom = self.positives + self.true_positive + self.false_positive
        return np.divide(2 * self.true_positive, bottom, out=np.zeros_like(bottom), where=bottom > 0)

    @property
    def auc(self) -> float:
        """Area under the ROC curve; ties, once there are many rows those inside a cell, count half."""
        if self.ranking is not None:
            return self.ranking.auc
        x, y = self.false_positive_rate[::-1], self.recall[::-1]
        return float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)

    @property
    def average_precision(self) -> float:
        """Mean precision at the rows of the class, with ties (later: the rows of a cell) in random order, as for `auc`.

        Up to 5,000 rows it is exact, later within .004 where scores differ. (scikit-learn takes the last precision of
        each tie, which is lower.)
        """
        if self.ranking is not None:
            return self.ranking.average_precision
        right, positive_calls = self.true_positive[::-1], (self.true_positive + self.false_positive)[::-1]
        gained, more = np.diff(right), np.diff(positive_calls)
        nonempty = gained > 0
        gained, more = gained[nonempty], more[nonempty]
        share = gained / more
        # Inside a cell precision is (a + s gained) / (b + s more), s from 0 to 1; a row itself counts half on average.
        a, b = right[:-1][nonempty] + 0.5, positive_calls[:-1][nonempty] + 0.5
        inside = share + (a - b * share) / more * np.log1p(more / b)
        return float(np.sum(inside * gained) / self.positives) if self.positives > 0 else 0.0

    def at(self, threshold: float) -> dict[str, float]:
        """The line of the largest threshold not above the given one."""
        i = int(np.searchsorted(self.threshold, threshold, side="right")) - 1
        return self.lines()[max(i, 0)]

    def lines(self) -> list[dict[str, float]]:
        """The table as records; thresholds at which nothing changes are left out but for the first."""
        names = (
            "threshold",
            "precision",
            "recall",
            "false_positive_rate",
            "f1",
            "true_positive",
            "false_positive",
        )
        columns = [getattr(self, name).tolist() for name in names]
        return [dict(zip(names, line, strict=True)) for line in zip(*columns, strict=True)]


def threshold_table(losses: Losses, code: int, first: FirstScores | None = None) -> ThresholdTable:
    """The table of one class, by its code; areas are exact where the rows themselves are given."""
    negative, positive = losses.scores[code].T
    return ThresholdTable(
        np.append(EDGES[:-1], 1.0),
        np.append(np.cumsum(positive[::-1])[::-1], 0.0),
        np.append(np.cumsum(negative[::-1])[::-1], 0.0),
        float(positive.sum()),
        float(negative.sum()),
        None if first is None else ranking(first, code),
    )


def _share(part: Floats, whole: float) -> Floats:
    return part / whole if whole > 0 else np.zeros_like(part)
