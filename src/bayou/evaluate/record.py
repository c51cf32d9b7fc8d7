"""The track record of one model: all that is counted while it predicts."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.kernels.record import record_outcomes
from bayou.protocols import Arrays
from bayou.readings.metrics import HEADLINES, Scores, faded_scores, recent_scores, running_scores
from bayou.summaries.fading import FadedOutcomes
from bayou.summaries.first_scores import FirstScores
from bayou.summaries.outcomes import Confusion, Losses, predictions
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
        self.first = FirstScores()

    def _parts(self) -> dict[str, Any]:
        names = ("confusion", "losses", "recent", "faded", "no_change", "majority", "first")
        return {name: getattr(self, name) for name in names}

    def update(self, block: Block, points: Sequence[int] = ()) -> Floats:
        """Take in predicted rows; [points, 3, headlines] what is read after so many of them.

        Each part could update itself alone; one kernel for all of them goes over the rows once.
        """
        out = np.empty((len(points), 3, len(HEADLINES)))
        proba, decided = predictions(block)
        counts, losses, recent, faded = self.confusion, self.losses, self.recent, self.faded
        no_change, majority = self.no_change, self.majority
        record_outcomes(
            block.y, block.w, proba, decided,
            counts.counts, counts.unanswered, losses.sums, losses.calibration, losses.scores,
            recent.true, recent.predicted, recent.values, recent.rows,
            faded.true, faded.predicted, faded.right, faded.sums, faded.ends, faded.alpha,
            no_change.sums, no_change.ends, majority.weight, majority.sums,
            np.array(points, np.int64), out,
        )  # fmt: skip
        self.first.update(block)
        return out

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
