"""The track record of one model: all that is counted while it predicts."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Codes, Floats, Index
from bayou.kernels.record import GIVEN, MAJORITY, NO_CHANGE, count_labels, record_outcomes
from bayou.protocols import Arrays
from bayou.readings.metrics import HEADLINES, Scores, faded_scores, recent_scores, running_scores
from bayou.summaries.fading import FadedOutcomes
from bayou.summaries.first_scores import FirstScores
from bayou.summaries.outcomes import MOST_PROBABLE, Confusion, Losses, predictions, scored_rows
from bayou.summaries.recent import RecentOutcomes
from bayou.summaries.rivals import MajorityHits, NoChangeHits


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """Rows with their labels, and what these say by themselves: how the two rivals do that look at nothing else.

    `weight` by class and the `last` label are those before the rows. Rows with a label and weight are `present` in the
    batch, all of them where this is None; `true` has the classes of two windows of rows before, and then theirs. There
    are points after so many of them as `marks` say, where `rivals` is read. `counted` is the record that has counted
    the labels.
    """

    weight: Floats
    last: int
    present: Index | None
    true: Codes
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

        `labels` is what `count_labels` gave of the same rows, from this record or from one that has met the same rows
        before. Each part could update itself alone; where all rows weigh one, a kernel for all of them goes over the
        rows once.
        """
        if labels is None:
            if not self._weigh_one(block):
                return self._update_apart(block, points)
            labels = self.count_labels(block, points)
        proba, decided = predictions(block)
        if labels.present is not None:
            proba, decided = proba[labels.present], decided[labels.present] if len(decided) else decided
        read = self._count(labels, GIVEN, proba, decided)
        self.first.update(block)
        return read

    def _weigh_one(self, block: Block) -> bool:
        """Whether rows, and those of the windows before, weigh one if anything, and all weights so far are whole."""
        sums = np.concatenate([self.no_change.sums, self.majority.sums, self.majority.weight])
        weights = np.concatenate([block.w, self.recent.values[:, 0]])
        return bool(((weights == 0.0) | (weights == 1.0)).all() and (sums == np.floor(sums)).all())

    def _update_apart(self, block: Block, points: Sequence[int]) -> Floats:
        """As `update`, part by part: rows of any weight."""
        read = np.empty((len(points), 3, len(HEADLINES)))
        for i, (lo, hi) in enumerate(pairwise([0, *points, block.n])):
            for part in self._parts().values():
                part.update(block.rows(lo, hi))
            if i < len(points):
                read[i] = self.point()
        return read

    def update_baseline(self, labels: Labels, majority: bool) -> Floats:
        """As `update`, of the majority class or of no-change, whose predictions follow from the labels."""
        true = labels.true[2 * self.recent.window :]
        proba = np.zeros((len(true) if self.first.complete else 0, len(labels.weight)))
        read = self._count(labels, MAJORITY if majority else NO_CHANGE, proba, MOST_PROBABLE)
        if self.first.complete:
            self.first.update(scored_rows(true, proba))
        return read

    def _count(self, labels: Labels, kind: int, proba: Floats, decided: Codes) -> Floats:
        confusion, losses, recent, faded = self.confusion, self.losses, self.recent, self.faded
        out = np.empty((len(labels.marks), 3, len(HEADLINES)))
        record_outcomes(
            confusion.counts, confusion.unanswered, losses.sums, losses.calibration, losses.scores,
            recent.true, recent.predicted, recent.values, recent.rows,
            faded.predicted, faded.right, faded.sums,
            labels.weight.copy(), labels.last, kind, labels.true, labels.marks,
            proba, decided, faded.alpha, labels.rivals, out,
        )  # fmt: skip
        self._follow(labels)
        return out

    def count_labels(self, block: Block, points: Sequence[int] = ()) -> Labels:
        """Count what the labels of rows say by themselves, for this record and others that have met the same rows.

        Weights are 0 or 1.
        """
        no_change, majority, faded, recent = self.no_change, self.majority, self.faded, self.recent
        before = majority.weight.copy(), int(no_change.ends[1])
        y, marks, here = block.y, np.array(points, np.int64), (block.y >= 0) & (block.w > 0.0)
        present = None if here.all() else np.flatnonzero(here)
        if present is not None:
            y, marks = y[present], np.searchsorted(present, marks)
        true = np.concatenate([recent.labels(), y])
        rivals = np.empty((len(points), 3, len(majority.weight) + 4))
        count_labels(
            no_change.sums, no_change.ends, majority.weight, majority.sums, faded.true, faded.sums, faded.ends,
            true, recent.window, faded.alpha, marks, rivals,
        )  # fmt: skip
        return Labels(*before, present, true, marks, rivals, self)

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

    def point(self) -> Floats:
        """[3, headlines] running, windowed and faded, as in a curve."""
        return np.array([list(s.headlines().values()) for s in (self.running, self.windowed, self.fading)])
