"""The track record of one model: the summaries from which its metrics are computed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Codes, Floats, Index
from bayou.kernels.outcomes import NOTHING
from bayou.kernels.record import record_no_change, record_outcomes
from bayou.kernels.rivals import count_labels
from bayou.protocols import Arrays
from bayou.readings.metrics import HEADLINES, Scores, faded_scores, recent_scores, running_scores
from bayou.summaries.fading import FadedOutcomes
from bayou.summaries.first_scores import FirstScores
from bayou.summaries.outcomes import MOST_PROBABLE, Confusion, Losses, predictions, scored_rows
from bayou.summaries.recent import RecentOutcomes
from bayou.summaries.rivals import MajorityHits, NoChangeHits

_NO_WEIGHT, _NO_ROWS = np.empty(0), np.empty((0, 0))


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """Rows with their labels, and what follows from the labels alone: how often the two baselines are right.

    `weight` by class is that before the rows. Rows with a label and weight are `present` in the batch, all if it is
    None; `true` has the classes of two windows of rows before, and then theirs. There are points of the curve
    after `marks` of these rows, where `rivals` has the counts of the baselines. `counted` is the record that has
    counted the labels.
    """

    weight: Floats
    present: Index | None
    true: Codes
    marks: Index
    rivals: Floats
    counted: Record


class Record:
    """Summaries of the predictions of a model, running, windowed and faded; they merge in stream order.

    Parameters
    ----------
    window
        Rows in the window of the windowed metrics.
    alpha
        Fading factor of the faded metrics.
    """

    def __init__(self, window: int = 1000, alpha: float = 0.999) -> None:
        self.confusion, self.losses = Confusion(), Losses()
        self.recent, self.faded = RecentOutcomes(window), FadedOutcomes(alpha)
        self.no_change, self.majority = NoChangeHits(), MajorityHits()
        self.first = FirstScores()

    def _parts(self) -> dict[str, Any]:
        names = ("confusion", "losses", "recent", "faded", "no_change", "majority", "first")
        return {name: getattr(self, name) for name in names}

    def update(self, block: Block, points: Sequence[int] = ()) -> Floats:
        """Count predicted rows; returns the metrics at `points`, float64[points, 3, headlines].

        Each part could update itself alone; where all rows weigh one, a kernel for all of them goes over the rows once.
        """
        if not self._weigh_one(block):
            return self._update_parts(block, points)
        labels = self.count_labels(np.where(block.w > 0.0, block.y, NOTHING), points)
        return self.update_predicted(labels, *predictions(block))

    def update_predicted(self, labels: Labels, proba: Floats, decided: Codes) -> Floats:
        """Count rows as `update` does, with probabilities and decisions as `predictions` gives them.

        `labels` is the result of `count_labels` for these rows, of this record or of one that has counted the same rows
        before.
        """
        if labels.present is not None:
            proba, decided = proba[labels.present], decided[labels.present] if len(decided) else decided
        metrics = self._count(labels, record_outcomes, _NO_WEIGHT, proba, decided)
        if self.first.complete:
            self.first.update(scored_rows(self._rows_of(labels), proba, decided=decided))
        return metrics

    def _weigh_one(self, block: Block) -> bool:
        """Whether all rows, and those of the windows before, have weight 0 or 1, and all sums so far are integers."""
        sums = np.concatenate([self.no_change.sums, self.majority.sums, self.majority.weight])
        weights = np.concatenate([block.w, self.recent.values[:, 0]])
        return bool(((weights == 0.0) | (weights == 1.0)).all() and (sums == np.floor(sums)).all())

    def _update_parts(self, block: Block, points: Sequence[int]) -> Floats:
        """Count predicted rows of any weight, as `update` does, part by part."""
        metrics = np.empty((len(points), 3, len(HEADLINES)))
        for i, (lo, hi) in enumerate(pairwise([0, *points, block.n])):
            for part in self._parts().values():
                part.update(block.rows(lo, hi))
            if i < len(points):
                metrics[i] = self.point()
        return metrics

    def update_baseline(self, labels: Labels, majority: bool) -> Floats:
        """Count rows as `update` does, for the majority class or no-change, whose predictions follow from labels."""
        if self.first.complete:
            self._keep_first(labels, majority)
        if not majority:
            return self._count(labels, record_no_change)
        return self._count(labels, record_outcomes, labels.weight.copy(), _NO_ROWS, MOST_PROBABLE)

    def _keep_first(self, labels: Labels, majority: bool) -> None:
        """Keep the probabilities of a baseline one by one, if there is room for them."""
        true, before = self._rows_of(labels), labels.true[self.recent.room - 1 : -1]
        if not self.first.has_room(
            int(np.count_nonzero(before >= 0))
        ):  # all but the first row have a prediction
            self.first.give_up()
        elif majority:
            self.first.update(scored_rows(true, _class_frequencies(true, labels.weight)))
        else:
            self.first.update(scored_rows(true, _certain(before, len(labels.weight))))

    def _count(self, labels: Labels, kernel: Callable[..., None], *predictions: Floats | Codes) -> Floats:
        confusion, losses, recent, faded = self.confusion, self.losses, self.recent, self.faded
        out = np.empty((len(labels.marks), 3, len(HEADLINES)))
        kernel(
            confusion.counts, confusion.unanswered, losses.sums, losses.calibration, losses.scores,
            recent.true, recent.predicted, recent.values, recent.rows,
            faded.predicted, faded.right, faded.sums,
            labels.true, labels.marks, faded.alpha, labels.rivals, out, *predictions,
        )  # fmt: skip
        self._copy_label_counts(labels)
        return out

    def _rows_of(self, labels: Labels) -> Codes:
        """The classes of the rows, without those of the windows before."""
        return labels.true[self.recent.room :]

    def count_labels(self, y: Codes, points: Sequence[int] = ()) -> Labels:
        """Count the labels of rows, for this record and for others that have counted the same rows before."""
        no_change, majority, faded, recent = self.no_change, self.majority, self.faded, self.recent
        weight_before = majority.weight.copy()
        marks, present = np.array(points, np.int64), None
        if y.min(initial=0) < 0:
            present = np.flatnonzero(y >= 0)
            y, marks = y[present], np.searchsorted(present, marks)
        true = recent.labels_before(y)
        rivals = np.empty((len(points), 3, len(majority.weight) + 4))
        count_labels(
            no_change.sums, no_change.ends, majority.weight, majority.sums, faded.true, faded.sums, faded.ends,
            true, recent.window, faded.alpha, marks, rivals,
        )  # fmt: skip
        return Labels(weight_before, present, true, marks, rivals, self)

    def _copy_label_counts(self, labels: Labels) -> None:
        """Copy the counts of the labels from the record that has counted them."""
        other = labels.counted
        if other is self:
            return
        self.no_change.sums[:], self.no_change.ends[:] = other.no_change.sums, other.no_change.ends
        self.majority.weight[:], self.majority.sums[:] = other.majority.weight, other.majority.sums
        self.faded.true[:], self.faded.ends[:] = other.faded.true, other.faded.ends
        self.faded.sums[:4], self.faded.sums[7] = other.faded.sums[:4], other.faded.sums[7]

    def realign(self, plan: Alignment) -> None:
        """Make room for new classes."""
        for part in self._parts().values():
            part.realign(plan)

    def merge(self, other: Record) -> None:
        """Add the record of the rows that come next; classes must agree."""
        for name, part in self._parts().items():
            part.merge(getattr(other, name))

    def arrays(self) -> Arrays:
        """The whole state under stable names."""
        return {f"{name}.{k}": a for name, part in self._parts().items() for k, a in part.arrays().items()}

    def restore(self, arrays: Arrays) -> None:
        """Take a state given by `arrays`, over the classes this is realigned to; refuses an impossible one."""
        for name, part in self._parts().items():
            part_arrays = {
                k.removeprefix(f"{name}."): a for k, a in arrays.items() if k.startswith(f"{name}.")
            }
            if part is self.first and not part_arrays:  # a checkpoint of a version that did not keep them
                self.first.give_up()
                continue
            part.check(part_arrays)
            part.restore(part_arrays)

    def copy(self) -> Record:
        """An independent copy."""
        twin = copy.copy(self)
        for name, part in self._parts().items():
            setattr(twin, name, part.copy())
        return twin

    @property
    def running(self) -> Scores:
        """Metrics over all rows so far."""
        return running_scores(self.confusion, self.losses, self.no_change, self.majority)

    @property
    def windowed(self) -> Scores:
        """Metrics over the latest rows."""
        return recent_scores(self.recent)

    @property
    def fading(self) -> Scores:
        """Metrics in which older rows count less."""
        return faded_scores(self.faded)

    def scores(self) -> tuple[Scores, Scores, Scores]:
        """Metrics over all rows so far, over the latest rows, and faded."""
        return self.running, self.windowed, self.fading

    def point(self) -> Floats:
        """[3, headlines] running, windowed and faded, as in a curve."""
        return point_of(self.scores())


def point_of(scores: Iterable[Scores]) -> Floats:
    """A point of a curve from running, windowed and faded metrics, [3, headlines]."""
    return np.array([list(found.headlines().values()) for found in scores])


def _class_frequencies(true: Codes, weight: Floats) -> Floats:
    """The frequencies of the classes before each row, 0 where there are none; `weight` has the rows before them."""
    counts = np.zeros((len(true) + 1, len(weight)))
    counts[0] = weight
    counts[np.arange(1, len(counts)), true] = 1.0
    before = counts[:-1].cumsum(axis=0)
    proba: Floats = before / np.maximum(before.sum(axis=1, keepdims=True), 1.0)
    return proba


def _certain(predicted: Codes, classes: int) -> Floats:
    """Probability 1 for the predicted class of each row, 0 for all classes where it is -1."""
    proba: Floats = (predicted[:, None] == np.arange(classes)).astype(np.float64)
    return proba
