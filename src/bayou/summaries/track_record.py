"""How well each of several candidates did, in test-then-train predictions."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.checks import counts, require
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.joint_counts import moved_columns


class TrackRecord(ArraySummary):
    """Per candidate: probabilities given to the true class, weight of hits, and log-loss in nats, summed.

    Each row was predicted by what was known before it, so shards that learned apart have other records than one
    pass. Merge: AVERAGED (the sums add). Memory: 24 bytes per candidate.

    Examples
    --------
    >>> TrackRecord(candidates=2).record.tolist()
    [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    """

    law: ClassVar[MergeLaw] = MergeLaw.AVERAGED
    state: ClassVar[tuple[str, ...]] = ("record",)

    def __init__(self, candidates: int = 1) -> None:
        self.record = np.zeros((3, candidates))

    def config(self) -> dict[str, int]:
        return {"candidates": self.record.shape[1]}

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        self.record = self.record + other.record

    def scale(self, factor: float) -> None:
        self.record = self.record * factor

    def check(self, arrays: Arrays) -> None:
        require(arrays["record"].shape == self.record.shape, "every candidate has a record")
        counts("the records of candidates", arrays["record"])

    def realign(self, plan: Alignment) -> None:
        """Candidates have no axis of the schema."""


class ColumnRecord(TrackRecord):
    """The record of every column, and last of "none"; columns come and go with the schema."""

    def config(self) -> dict[str, int]:
        return {}

    def realign(self, plan: Alignment) -> None:
        """A column that comes late starts with the record of "none": where it was missing, it changed nothing."""
        columns = moved_columns(plan)
        m = plan.nominal.size + plan.numeric.size
        record = np.repeat(self.record[:, -1:], m + 1, axis=1)
        record[:, columns] = self.record[:, :-1]
        self.record = record
