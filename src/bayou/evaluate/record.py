"""The track record of one model: all that is counted while it predicts."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Codes, Floats, Index
from bayou.kernels.record import GIVEN, MAJORITY, NO_CHANGE, count_labels, record_outcomes
from bayou.protocols import Arrays
from bayou.readings.logs import integer_logs
from bayou.readings.metrics import HEADLINES, Scores, faded_scores, recent_scores, running_scores
from bayou.summaries.fading import FadedOutcomes
from bayou.summaries.first_scores import FirstScores
from bayou.summaries.outcomes import MOST_PROBABLE, Confusion, Losses, predictions
from bayou.summaries.recent import RecentOutcomes
from bayou.summaries.rivals import MajorityHits, NoChangeHits


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """Rows with their labels, and what these say by themselves: how the two rivals do that look at nothing else.

    `weight` by class and the `last` label are those before the rows. Rows with a label and weight stand `at` places in
    the block, have a `true` class and their `own` weight; there are points after so many of them as `marks` say, where
    `rivals` is read. `counted` is the record that has counted the labels.
    """

    block: Block
    weight: Floats
    last: int
    at: Index
    true: Codes
    own: Floats
    marks: Index
    rivals: Floats
    counted: Record


class Record:
    """Summaries of a model's own predictions, running, windowed and faded; they merge in stream order.

    Parameters
    ----------
    window
        Rows of the windowed metrics.
    alpha
        Fading factor of the faded ones.
    """

    def __init__(self, window: int = 1000, alpha: float = 0.999) -> None:
        self.confusion, self.losses = Confusion(), Losses()
        self.recent, self.faded = RecentOutcomes(window), FadedOutcomes(alpha)
        self.no_change, self.majority = NoChangeHits(), MajorityHits()
        self.first = FirstScores()

    def _parts(self) -> dict[str, Any]:
        names = ("confusion", "losses", "recent", "faded", "no_change", "majority", "first")
        return {name: getattr(self, name) for name in names}

    def update(self, block: Block, points: Sequence[int] = (), labels: Labels | None = None) -> Floats:
        """Take in predicted rows; [points, 3, headlines] what is read after so many of them.

        Each part could update itself alone; one kernel for all of them goes over the rows once. `labels` is what
        `count_labels` gave of the same rows, from this record or from one that has met the same rows before.
        """
        labels = self.count_labels(block, points) if labels is None else labels
        read = self._count(labels, GIVEN, *predictions(block))
        self.first.update(block)
        return read

    def update_baseline(self, labels: Labels, majority: bool) -> Floats:
        """As `update`, of the majority class or of no-change, whose predictions follow from the labels."""
        proba = np.zeros((labels.block.n if self.first.complete else 0, len(labels.weight)))
        read = self._count(labels, MAJORITY if majority else NO_CHANGE, proba, MOST_PROBABLE)
        if self.first.complete:
            self.first.update(labels.block.scored(proba))
        return read

    def _count(self, labels: Labels, kind: int, proba: Floats, decided: Codes) -> Floats:
        confusion, losses, recent, faded = self.confusion, self.losses, self.recent, self.faded
        out = np.empty((len(labels.marks), 3, len(HEADLINES)))
        logs = integer_logs(int(labels.weight.sum()) + len(labels.at) + 2)
        record_outcomes(
            confusion.counts, confusion.unanswered, losses.sums, losses.calibration, losses.scores,
            recent.true, recent.predicted, recent.values, recent.rows,
            faded.predicted, faded.right, faded.sums,
            labels.weight.copy(), labels.last, kind, labels.at, labels.true, labels.own, labels.marks,
            proba, decided, faded.alpha, logs, labels.rivals, out,
        )  # fmt: skip
        self._follow(labels)
        return out

    def count_labels(self, block: Block, points: Sequence[int] = ()) -> Labels:
        """Count what the labels of rows say by themselves, for this record and others that have met the same rows."""
        no_change, majority, faded, recent = self.no_change, self.majority, self.faded, self.recent
        before = majority.weight.copy(), int(no_change.ends[1])
        at, true, own = np.empty(block.n, np.int64), np.empty(block.n, np.int32), np.empty(block.n)
        marks = np.empty(len(points), np.int64)
        rivals = np.empty((len(points), 3, len(majority.weight) + 4))
        met = count_labels(
            no_change.sums, no_change.ends, majority.weight, majority.sums, faded.true, faded.sums, faded.ends,
            recent.true.copy(), recent.values.copy(), recent.rows.copy(),
            block.y, block.w, faded.alpha, np.array(points, np.int64), at, true, own, marks, rivals,
        )  # fmt: skip
        return Labels(block, *before, at[:met], true[:met], own[:met], marks, rivals, self)

    def _follow(self, labels: Labels) -> None:
        """Take over what the labels say from the record that has counted them."""
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
            own = {k.removeprefix(f"{name}."): a for k, a in arrays.items() if k.startswith(f"{name}.")}
            if part is self.first and not own:  # a checkpoint of a version that did not keep them
                self.first.give_up()
                continue
            part.check(own)
            part.restore(own)

    def copy(self) -> Record:
        """An independent copy."""
        return copy.deepcopy(self)

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

    def point(self) -> Floats:
        """[3, headlines] running, windowed and faded, as in a curve."""
        return np.array([list(s.headlines().values()) for s in (self.running, self.windowed, self.fading)])
