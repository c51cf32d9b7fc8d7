"""The base of views that choose by a track record of their own predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from bayou.block import Block
from bayou.errors import UnsupportedError
from bayou.laws import MergeLaw
from bayou.summaries.joint_counts import JointCounts
from bayou.summaries.track_record import TrackRecord
from bayou.views.view import View


class RecordedView(View[JointCounts]):
    """A view that predicts each row before learning it, and records how well.

    The record is averaged in a merge and cannot be unlearned. The choice changes at refresh points.
    """

    searched = True
    instead: ClassVar[str]  # what to do instead of unlearning

    def __init__(self, summary: JointCounts, record: TrackRecord) -> None:
        super().__init__(summary)
        self.record = record
        self.stale = True

    @property
    def law(self) -> MergeLaw:
        return self.record.law

    def states(self) -> Sequence[Any]:
        return (self.summary, self.record)

    def refresh_if_stale(self) -> None:
        if self.stale:
            self.refresh()

    def mark_stale(self) -> None:
        self.stale = True

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.record.merge(other.record)

    def subtract(self, block: Block) -> None:
        raise UnsupportedError(
            "cannot unlearn: a choice was made by a track record of predictions, which keeps no rows; "
            f"{self.instead} can unlearn"
        )

    def scale(self, factor: float) -> None:
        super().scale(factor)
        self.record.scale(factor)
