"""How well each of several candidates has predicted, in test-then-train order."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from bayou.align import Alignment
from bayou.block import Floats
from bayou.laws import MergeLaw
from bayou.summaries import valid
from bayou.summaries.array_summary import DecayingSummary
from bayou.summaries.joint_counts import moved_columns
from bayou.summaries.state import ADD, declare


class TrackRecord(DecayingSummary):
    """Per candidate: probabilities given to the true class, weight of hits, and log-loss in nats, summed.

    Each row was predicted from the rows before it, so shards that learned apart have other records than one
    pass. Merge: AVERAGED (the sums add). Memory: 24 bytes per candidate.

    Examples
    --------
    >>> TrackRecord(candidates=2).record.tolist()
    [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    """

    law: ClassVar[MergeLaw] = MergeLaw.AVERAGED
    record: Floats = declare(3, "candidates", merge=ADD, scales=True, valid=valid.non_negative)

    def __init__(self, candidates: int = 1) -> None:
        self.candidates = candidates
        super().__init__()

    def config(self) -> dict[str, int]:
        return {"candidates": self.candidates}


class ColumnRecord(TrackRecord):
    """The record of every column, and last of "none"; columns come and go with the schema."""

    def config(self) -> dict[str, int]:
        return {}

    def realign(self, plan: Alignment) -> None:
        """Move the columns; a new one starts with the record of "none": while missing it changed no prediction."""
        super().realign(plan)
        columns = moved_columns(plan)
        m = plan.nominal.size + plan.numeric.size
        record = np.repeat(self.record[:, -1:], m + 1, axis=1)
        record[:, columns] = self.record[:, :-1]
        self.record = record
