"""How well each of several readings of the same counts did, in their own test-then-train predictions."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.checks import counts, require
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.summaries.array_summary import ArraySummary


class ReadingRecord(ArraySummary):
    """Per reading: probabilities given to the true class, weight of hits, and log-loss in nats, summed.

    A track record: each row was predicted by what was known before it, so shards that learned apart have other
    records than one pass. Merge: AVERAGED (the sums add). Memory: 24 bytes per reading.

    Examples
    --------
    >>> ReadingRecord(readings=2).record.tolist()
    [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    """

    law: ClassVar[MergeLaw] = MergeLaw.AVERAGED
    state: ClassVar[tuple[str, ...]] = ("record",)

    def __init__(self, readings: int = 1) -> None:
        self.record = np.zeros((3, readings))

    def config(self) -> dict[str, int]:
        return {"readings": self.record.shape[1]}

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        self.record = self.record + other.record

    def scale(self, factor: float) -> None:
        self.record = self.record * factor

    def check(self, arrays: Arrays) -> None:
        require(arrays["record"].shape == self.record.shape, "every reading has a record")
        counts("the records of readings", arrays["record"])

    def realign(self, plan: Alignment) -> None:
        """Readings have no axis of the schema."""
