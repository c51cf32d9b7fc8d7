"""How much weight each value of each nominal column has in each class."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats, Index
from bayou.checks import SLACK, require
from bayou.kernels.value_counts import count_seen, count_values
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.summaries import valid
from bayou.summaries.array_summary import DecayingSummary, sweep
from bayou.summaries.state import ADD, declare, declared_values, from_schema
from bayou.threads import over_ranges

GRAIN = 200_000  # cells worth a thread of their own


class ValueCounts(DecayingSummary):
    """n(v, c) for every nominal column, and N_j(c), the weight of the rows where column j is present.

    Cells lie column after column, each column with room to double. Merge: EXACT (addition), until a column
    overflows its `max_values` into the shared cell. Memory: 8 K bytes per value, twice that while growing.
    """

    law: ClassVar[MergeLaw] = MergeLaw.EXACT
    counts: Floats = declare("values", "classes", scales=True, valid=valid.non_negative)
    present: Floats = declare("nominal", "classes", merge=ADD, scales=True, valid=valid.non_negative)
    sizes: Index = from_schema("nominal", follows=lambda plan: [axis.size for axis in plan.values])
    declared: Index = from_schema("nominal", follows=declared_values)

    def __init__(self) -> None:
        self.values = 0  # of all columns, before there are any
        self.offsets = np.zeros(1, dtype=np.int64)
        super().__init__()
        self.derive()

    def derive(self) -> None:
        self.seen = np.zeros_like(self.sizes)
        count_seen(self.seen, self.counts, self.offsets, self.sizes)

    @property
    def width(self) -> Index:
        """Values per column as smoothing counts them: those seen, or the declared number if larger."""
        return np.maximum(self.seen, self.declared)

    @property
    def has_no_columns(self) -> bool:
        return len(self.sizes) == 0

    def update(self, block: Block) -> None:
        self._count(block, 1.0)

    def subtract(self, block: Block) -> None:
        before = self.counts.copy(), self.present.copy()
        self._count(block, -1.0)
        sweep(before[0], self.counts)
        sweep(before[1], self.present)
        self.derive()

    def _count(self, block: Block, sign: float) -> None:
        q = len(self.sizes)
        if q == 0:
            return
        if len(block.y) == 1:
            count_values(
                self.counts, self.present, self.seen, self.offsets, block.codes, block.y, block.w, sign, 0, q
            )  # fmt: skip
            return

        def columns(lo: int, hi: int) -> None:
            count_values(
                self.counts,
                self.present,
                self.seen,
                self.offsets,
                block.codes,
                block.y,
                block.w,
                sign,
                lo,
                hi,
            )

        over_ranges(columns, q, 1 + GRAIN // block.n if block.n else q)

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        mine, theirs = self.arrays(), other.arrays()
        self.restore(
            {
                "counts": mine["counts"] + theirs["counts"],
                "present": self.present + other.present,
                "sizes": self.sizes,
                "declared": np.maximum(self.declared, other.declared),
            }
        )

    def realign(self, plan: Alignment) -> None:
        sizes = np.array([axis.size for axis in plan.values], dtype=np.int64)
        room = np.diff(self.offsets)
        in_place = len(sizes) == len(room) and bool(np.all(sizes <= room)) and self._stays(plan)
        if not in_place:
            self._move_cells(plan, sizes, room)
        super().realign(plan)

    def _stays(self, plan: Alignment) -> bool:
        return bool(np.array_equal(plan.nominal.to, np.arange(len(self.sizes)))) and all(
            np.array_equal(axis.to, np.arange(len(axis.to))) for axis in plan.values
        )

    def _move_cells(self, plan: Alignment, sizes: np.ndarray, room: np.ndarray) -> None:
        home = np.full(len(sizes), -1)
        home[plan.nominal.to] = np.arange(len(plan.nominal.to))
        new_room = sizes.copy()
        for j, old in enumerate(home):
            if old >= 0 and sizes[j] > room[old]:
                new_room[j] = max(sizes[j], 2 * room[old])
        offsets = np.concatenate(([0], np.cumsum(new_room)))
        counts = np.zeros((int(offsets[-1]), self.counts.shape[1]))
        for j, old in enumerate(home):
            if old >= 0:
                cells = self.counts[self.offsets[old] : self.offsets[old] + self.sizes[old]]
                np.add.at(counts, offsets[j] + plan.values[j].to, cells)
        self.counts, self.offsets = counts, offsets

    def regroup(self, groups: Floats) -> Self:
        twin = type(self)()
        counts, present = self.arrays()["counts"] @ groups.T, self.present @ groups.T
        twin.restore({**self.arrays(), "counts": counts, "present": present})
        return twin

    def arrays(self) -> Arrays:
        """Cells without the spare room, so that equal content gives equal arrays."""
        cells = [self.counts[a : a + s] for a, s in zip(self.offsets, self.sizes, strict=False)]
        counts = np.concatenate(cells) if cells else np.zeros((0, self.counts.shape[1]))
        return {**super().arrays(), "counts": counts}

    def restore(self, arrays: Arrays) -> None:
        self.sizes = np.array(arrays["sizes"])
        self.offsets = np.concatenate(([0], np.cumsum(self.sizes)))
        super().restore(arrays)

    def check(self, arrays: Arrays) -> None:
        """The counts of a column add up to the rows where it is present."""
        super().check(arrays)
        ends = np.cumsum(self.sizes)
        for j, (lo, hi) in enumerate(zip(ends - self.sizes, ends, strict=True)):
            present = arrays["present"][j]
            gap = np.abs(arrays["counts"][lo:hi].sum(axis=0) - present)
            require((gap <= SLACK * (1.0 + present)).all(), f"the counts of nominal column {j} do not add up")
