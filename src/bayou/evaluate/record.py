"""The track record of one model: all that is counted while it predicts."""

from __future__ import annotations

import copy

from bayou.align import Alignment
from bayou.block import Block
from bayou.readings.metrics import Scores, faded_scores, recent_scores, running_scores
from bayou.summaries.fading import FadedOutcomes
from bayou.summaries.outcomes import Confusion, Losses
from bayou.summaries.recent import RecentOutcomes
from bayou.summaries.rivals import MajorityHits, NoChangeHits


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

    def _parts(
        self,
    ) -> tuple[Confusion, Losses, RecentOutcomes, FadedOutcomes, NoChangeHits, MajorityHits]:
        return self.confusion, self.losses, self.recent, self.faded, self.no_change, self.majority

    def update(self, block: Block) -> None:
        """Take in predicted rows."""
        for part in self._parts():
            part.update(block)

    def realign(self, plan: Alignment) -> None:
        for part in self._parts():
            part.realign(plan)

    def merge(self, other: Record) -> None:
        """Add the record of the rows that come next; classes must agree."""
        self.confusion.merge(other.confusion)
        self.losses.merge(other.losses)
        self.recent.merge(other.recent)
        self.faded.merge(other.faded)
        self.no_change.merge(other.no_change)
        self.majority.merge(other.majority)

    def copy(self) -> Record:
        return copy.deepcopy(self)

    @property
    def running(self) -> Scores:
        return running_scores(self.confusion, self.losses, self.no_change, self.majority)

    @property
    def windowed(self) -> Scores:
        return recent_scores(self.recent)

    @property
    def fading(self) -> Scores:
        return faded_scores(self.faded)
