"""A view that keeps its network until another one is better by Hoeffding's bound."""

from __future__ import annotations

from typing import Self

from bayou.block import Block
from bayou.errors import UnsupportedError
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.readings.structure import HoeffdingSearch
from bayou.summaries.joint_counts import JointCounts
from bayou.views.searched_collection import SearchedCollection


class KeptNetwork(SearchedCollection):
    """A network that changes only at refresh points and only by Hoeffding's criterion; counts read as they stand.

    Which network is kept depends on the order of the rows, so rows cannot be unlearned. After a merge of two models
    that have both learned rows, the network is searched in the merged counts alone.
    """

    reader: HoeffdingSearch
    depends_on_history = True

    def __init__(self, summary: JointCounts, reader: HoeffdingSearch, alpha: float) -> None:
        super().__init__(summary, reader, alpha)
        self.has_incumbent = (
            False  # whether the network was found on rows, so that others must be better than it
        )

    @property
    def law(self) -> MergeLaw:
        return MergeLaw.AVERAGED

    def refresh(self) -> None:
        s = self.summary.flushed()
        self.terms = self.reader.better(s, self.terms) if self.has_incumbent else self.reader.search(s)
        self.has_incumbent = bool(s.classes.any())
        self.stale = False

    def merge(self, other: Self) -> None:
        mine, theirs = (bool(view.summary.flushed().classes.any()) for view in (self, other))
        if theirs and not mine:
            self.terms, self.has_incumbent = other.terms, other.has_incumbent
        elif theirs:
            self.has_incumbent = False
        super().merge(other)

    def subtract(self, block: Block) -> None:
        raise UnsupportedError(
            "cannot unlearn: which network is kept depends on when rows came; with delta=None rows can be unlearned"
        )

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        self.has_incumbent = bool(self.summary.flushed().classes.any())
