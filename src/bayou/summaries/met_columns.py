"""Which columns have had a value."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from bayou.block import Block, Index
from bayou.checks import require
from bayou.laws import MergeLaw
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.state import MAX, declare


def zero_or_one(name: str, array: Index, summary: ArraySummary) -> None:
    """Entries are 0 or 1."""
    require(bool(np.isin(array, (0, 1)).all()), f"{name} holds something else than 0 and 1")


class MetColumns(ArraySummary):
    """1 for each column that has had a value in a row with label and weight, else 0.

    The schema may know columns before the first row that has them; this does not.

    Merge: EXACT. Memory: 8 bytes a column.
    """

    law: ClassVar[MergeLaw] = MergeLaw.EXACT
    numeric: Index = declare("numeric", dtype=np.int64, merge=MAX, valid=zero_or_one)
    nominal: Index = declare("nominal", dtype=np.int64, merge=MAX, valid=zero_or_one)
    text: Index = declare("text", dtype=np.int64, merge=MAX, valid=zero_or_one)

    def update(self, block: Block) -> None:
        labelled = (block.y >= 0) & (block.w > 0)
        if not labelled.any():
            return
        unseen = np.flatnonzero(self.numeric == 0)
        if len(unseen):
            self.numeric[unseen] = ~np.isnan(block.numeric[np.ix_(labelled, unseen)]).all(axis=0)
        unseen = np.flatnonzero(self.nominal == 0)
        if len(unseen):
            self.nominal[unseen] = (block.codes[np.ix_(labelled, unseen)] >= 0).any(axis=0)
        for j in np.flatnonzero(self.text == 0).tolist():
            self.text[j] = np.diff(block.words[j].indptr)[labelled].any()
