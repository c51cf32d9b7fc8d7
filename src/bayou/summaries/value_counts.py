"""How much weight each value of each nominal column has in each class."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.kernels.value_counts import count_seen, count_values
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.summaries.array_summary import ArraySummary, move, sweep
from bayou.threads import over_ranges

GRAIN = 200_000  # cells worth a thread of their own


class ValueCounts(ArraySummary):
    """n(v, c) for every nominal column, and N_j(c), the weight of the rows where column j is present.

    Cells lie column after column, each column with room to double. Merge: EXACT (addition), until a column
    overflows its `max_values` into the shared cell. Memory: 8 K bytes per value, twice that while growing.
    """

    law: ClassVar[MergeLaw] = MergeLaw.EXACT
    state: ClassVar[tuple[str, ...]] = ("counts", "present", "sizes", "declared")

    def __init__(self) -> None:
        self.counts = np.zeros((0, 0))
        self.present = np.zeros((0, 0))
        self.sizes = np.zeros(0, dtype=np.int64)
        self.declared = np.zeros(0, dtype=np.int64)
        self._index()

    def _index(self) -> None:
        """Offsets of cells without spare room, and the numbers of values seen."""
        self.offsets = np.concatenate(([0], np.cumsum(self.sizes)))
        self._count_seen()

    def _count_seen(self) -> None:
        self.seen = np.zeros_like(self.sizes)
        count_seen(self.seen, self.counts, self.offsets, self.sizes)

    @property
    def width(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
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
        self._count_seen()

    def _count(self, block: Block, sign: float) -> None:
        q = len(self.sizes)
        if q == 0:
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

    def scale(self, factor: float) -> None:
        self.counts *= factor
        self.present *= factor
        self._count_seen()

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        mine, theirs = self.arrays(), other.arrays()
        self.counts = mine["counts"] + theirs["counts"]
        self.present += theirs["present"]
        self.declared = np.maximum(self.declared, other.declared)
        self._index()

    def fresh(self) -> Self:
        twin = type(self)()
        arrays = self.arrays()
        twin.restore(
            {**arrays, "counts": np.zeros_like(arrays["counts"]), "present": np.zeros_like(self.present)}
        )
        return twin

    def realign(self, plan: Alignment) -> None:
        sizes = np.array([axis.size for axis in plan.values], dtype=np.int64)
        self.declared = np.array([axis.declared for axis in plan.values], dtype=np.int64)
        self.present = move(move(self.present, 0, plan.nominal), 1, plan.classes)
        room = np.diff(self.offsets)
        in_place = len(sizes) == len(room) and bool(np.all(sizes <= room)) and self._stays(plan)
        if not in_place:
            self._move_cells(plan, sizes, room)
        self.counts = move(self.counts, 1, plan.classes)
        self.sizes = sizes
        self._count_seen()

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
        twin = self.fresh()
        twin.restore(
            {
                **self.arrays(),
                "counts": self.arrays()["counts"] @ groups.T,
                "present": self.present @ groups.T,
            }
        )
        return twin

    def arrays(self) -> Arrays:
        """Cells without the spare room, so that equal content gives equal arrays."""
        cells = [self.counts[a : a + s] for a, s in zip(self.offsets, self.sizes, strict=False)]
        counts = np.concatenate(cells) if cells else np.zeros((0, self.counts.shape[1]))
        return {"counts": counts, "present": self.present, "sizes": self.sizes, "declared": self.declared}

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        self._index()
