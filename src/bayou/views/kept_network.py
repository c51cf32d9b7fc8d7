"""A view that keeps its network until another one is better for sure."""

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

    What is kept depends on what was seen when, so the order of rows matters. Where the rows of two models meet, in
    a merge, nothing is kept: the network is searched in the counts alone. Not unlearnable.
    """

    reader: HoeffdingSearch
    remembers = True

    def __init__(self, summary: JointCounts, reader: HoeffdingSearch, alpha: float) -> None:
        super().__init__(summary, reader, alpha)
        self.keeps = False  # nothing, before there are rows

    @property
    def law(self) -> MergeLaw:
        return MergeLaw.AVERAGED

    def refresh(self) -> None:
        s = self.summary.flushed()
        self.terms = self.reader.better(s, self.terms) if self.keeps else self.reader.search(s)
        self.keeps = bool(s.classes.any())
        self.stale = False

    def merge(self, other: Self) -> None:
        mine, theirs = (bool(view.summary.flushed().classes.any()) for view in (self, other))
        if theirs and not mine:
            self.terms, self.keeps = other.terms, other.keeps
        elif theirs:
            self.keeps = False
        super().merge(other)

    def subtract(self, block: Block) -> None:
        raise UnsupportedError(
            "cannot unlearn: which network is kept depends on when rows came; with delta=None rows can be unlearned"
        )

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        self.keeps = bool(self.summary.flushed().classes.any())
