"""Metrics from recorded outcomes: accuracy, the kappas, precision and recall, losses, calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.block import Floats
from bayou.kernels.scores import headline_scores, kappa_against, read_recent, read_running
from bayou.summaries.fading import FadedOutcomes
from bayou.summaries.outcomes import Confusion, Losses
from bayou.summaries.recent import RecentOutcomes
from bayou.summaries.rivals import MajorityHits, NoChangeHits

HEADLINES = ("accuracy", "kappa", "kappa_temporal", "kappa_m", "macro_f1", "log_loss", "brier")


@dataclass(frozen=True)
class PerClass:
    """Precision, recall and F1 of each class; `undefined` marks those with a zero denominator, given as 0."""

    precision: Floats
    recall: Floats
    f1: Floats
    support: Floats
    undefined: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Scores:
    r"""Metrics that follow from weights by true class, by predicted class, and of right answers.

    $\kappa = (p_0 - p_e)/(1 - p_e)$; $p_e$ is chance for kappa, the no-change classifier for kappa-temporal (its
    first row counts as wrong), the majority class before the row is counted for kappa-M.

    Parameters
    ----------
    true, predicted, right
        float64[K] weights.
    weight
        Weight of all rows, including those without a prediction.
    no_change, majority, majority_peeking
        Weight of rows that the baselines predict right; the last one counts the row before it predicts, as MOA does.
    log_loss_sum, brier_sum, scored
        Sums of the losses, and the weight of the rows that have them.

    Examples
    --------
    >>> s = Scores(np.array([2.0, 2.0]), np.array([3.0, 1.0]), np.array([2.0, 1.0]), 4.0, 1.0, 2.0, 2.0)
    >>> s.accuracy, s.kappa, s.kappa_m, s.per_class.recall.tolist()
    (0.75, 0.5, 0.5, [1.0, 0.5])
    """

    true: Floats
    predicted: Floats
    right: Floats
    weight: float
    no_change: float = 0.0
    majority: float = 0.0
    majority_peeking: float = 0.0
    log_loss_sum: float = 0.0
    brier_sum: float = 0.0
    scored: float = 0.0

    def _share(self, weight: float) -> float:
        return float(weight / self.weight) if self.weight > 0 else 0.0

    @cached_property
    def _headlines(self) -> dict[str, float]:
        sums = (self.weight, self.no_change, self.majority, self.majority_peeking)
        out = np.empty(len(HEADLINES))
        headline_scores(
            np.stack([self.true, self.predicted, self.right]),
            np.array([*sums, self.log_loss_sum, self.brier_sum, self.scored]),
            out,
        )
        return dict(zip(HEADLINES, out.tolist(), strict=True))

    @property
    def accuracy(self) -> float:
        """Share of right answers; a row without a prediction is wrong."""
        return self._headlines["accuracy"]

    @property
    def kappa(self) -> float:
        """Cohen's kappa: against agreement by chance."""
        return self._headlines["kappa"]

    @property
    def no_change_accuracy(self) -> float:
        """Accuracy of always predicting the label of the row before."""
        return self._share(self.no_change)

    @property
    def majority_accuracy(self) -> float:
        """Accuracy of always predicting the majority class so far."""
        return self._share(self.majority)

    @property
    def kappa_temporal(self) -> float:
        """Kappa against predicting the label of the row before."""
        return self._headlines["kappa_temporal"]

    def kappa_majority(self, moa_compatible: bool = False) -> float:
        """Kappa against the majority class before the row is counted, or after, as in MOA."""
        baseline = self.majority_peeking if moa_compatible else self.majority
        return kappa_against(self.accuracy, self._share(baseline))

    @property
    def kappa_m(self) -> float:
        """Kappa against the majority class before the row is counted."""
        return self._headlines["kappa_m"]

    @property
    def kappa_batch_majority(self) -> float:
        """Kappa against the most frequent class of all rows: merges exactly, but uses labels of later rows."""
        return kappa_against(self.accuracy, self._share(float(np.max(self.true, initial=0.0))))

    @cached_property
    def per_class(self) -> PerClass:
        """Precision, recall, F1 and support, class by class."""
        precision = _ratio(self.right, self.predicted)
        recall = _ratio(self.right, self.true)
        undefined = (self.predicted <= 0) | (self.true <= 0)
        f1 = _ratio(2 * self.right, self.true + self.predicted)
        return PerClass(precision, recall, f1, self.true, undefined)

    def _macro(self, values: Floats) -> float:
        occurs = (self.true > 0) | (self.predicted > 0)
        return math.fsum(values[occurs]) / int(occurs.sum()) if occurs.any() else 0.0

    @property
    def macro_precision(self) -> float:
        """Mean precision over the classes that occurred or were predicted."""
        return self._macro(self.per_class.precision)

    @property
    def macro_recall(self) -> float:
        """Mean recall over the classes that occurred or were predicted."""
        return self._macro(self.per_class.recall)

    @property
    def macro_f1(self) -> float:
        """Mean of the classes' F1."""
        return self._headlines["macro_f1"]

    @property
    def log_loss(self) -> float:
        """Mean of -log p(true) in nats over the rows that have a prediction."""
        return self._headlines["log_loss"]

    @property
    def brier(self) -> float:
        """Mean squared distance from certainty in the true class, summed over classes: 0 to 2."""
        return self._headlines["brier"]

    def headlines(self) -> dict[str, float]:
        """The metrics of tables and curves, by name."""
        return dict(self._headlines)


def running_scores(
    confusion: Confusion, losses: Losses, no_change: NoChangeHits, majority: MajorityHits
) -> Scores:
    """The scores of all rows since the first."""
    margins, sums = np.empty((3, len(confusion.unanswered))), np.empty(7)
    counts = confusion.counts, confusion.unanswered, losses.sums, no_change.sums, majority.sums
    read_running(*counts, margins, sums)
    return Scores(*margins, *sums.tolist())


def recent_scores(recent: RecentOutcomes) -> Scores:
    """The scores of the latest rows, as many as the window has."""
    margins, sums = np.empty((3, int(recent.classes[0]))), np.empty(7)
    read_recent(recent.true, recent.predicted, recent.values, recent.rows, margins, sums)
    return Scores(*margins, *sums.tolist())


def faded_scores(faded: FadedOutcomes) -> Scores:
    """The scores of rows weighted by alpha^age."""
    return Scores(faded.true.copy(), faded.predicted.copy(), faded.right.copy(), *faded.sums[:7].tolist())


@dataclass(frozen=True)
class Calibration:
    """Weight, mean confidence and accuracy of each bin of confidence; empty bins are left out."""

    weight: Floats
    confidence: Floats
    accuracy: Floats

    @property
    def error(self) -> float:
        """Expected calibration error: mean over rows of |accuracy - confidence| of their bin."""
        total = math.fsum(self.weight)
        gaps = self.weight * np.abs(self.accuracy - self.confidence)
        return math.fsum(gaps) / total if total > 0 else 0.0


def calibration(losses: Losses) -> Calibration:
    """The calibration of predictions, from their recorded losses."""
    bins = losses.calibration[losses.calibration[:, 0] > 0]
    return Calibration(bins[:, 0].copy(), bins[:, 1] / bins[:, 0], bins[:, 2] / bins[:, 0])


def _ratio(top: Floats, bottom: Floats) -> Floats:
    out = np.zeros_like(top)
    np.divide(top, bottom, out=out, where=bottom > 0)
    return out


def matrix_text(counts: NDArray[Any], labels: Sequence[object]) -> str:
    """A confusion matrix as text: rows are true, columns predicted."""
    names = [str(label) for label in labels]
    cells = [["true \\ predicted", *names]]
    cells += [[name, *(f"{v:,.10g}" for v in row)] for name, row in zip(names, counts.tolist(), strict=True)]
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in cells
    )
