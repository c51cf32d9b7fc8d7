"""Statistics of the leaves of a tree: moments and ranges of numeric columns, counts of nominal values, by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment
from bayou.block import Floats, Index
from bayou.checks import counts, finite, require, variances
from bayou.kernels.normal import read_columns
from bayou.kernels.scrub import HUGE
from bayou.kernels.tree import CONSTANT_SHARE, FLOOR, HIGH, LOW, M2, MEAN, N
from bayou.kernels.tree_values import read_slot_nominal
from bayou.kernels.value_counts import fill_logs
from bayou.protocols import Arrays
from bayou.schema import Shape
from bayou.summaries import valid
from bayou.summaries.array_summary import State
from bayou.summaries.grid_counts import GridCounts
from bayou.summaries.leaf_grids import LeafGrids
from bayou.summaries.leaf_quantiles import LeafQuantiles
from bayou.summaries.quantile_tuples import QuantileTuples
from bayou.summaries.state import declare

SlotArrays = tuple[Floats, Floats, Floats]  # moments, counts and presences of one slot
QUANTILES = "quantiles."
# Arrays computed from the statistics, slot by slot
TABLES = ("tables", "bounds", "above", "below", "known", "seen")
ROOM = 8  # slots allocated at first, if memory allows; doubled when full
LOGS = np.empty(1 << 14)
fill_logs(LOGS, 0)


def _moments(name: str, array: Floats, summary: LeafStatistics) -> None:
    finite(name, array)
    for part, most in ((N, 1e150), (M2, 1e300)):
        counts(name, array[:, part], most)
        require(array[:, part].min(initial=0.0) >= 0, f"{name} holds a negative weight")
    require(
        np.abs(array[:, [MEAN, LOW, HIGH]]).max(initial=0.0) <= HUGE, f"{name} holds a value beyond {HUGE}"
    )
    variances(array[:, N], array[:, MEAN], array[:, M2])
    backwards = (array[:, N] > 0) & (array[:, LOW] > array[:, HIGH])
    require(not backwards.any(), "the range of a column is upside down")


class LeafStatistics(State):
    """One slot of statistics per leaf that still learns, and tables for prediction that every row updates.

    moments : float64[S, 5, K, p], n, mean, m2, low, high; counts : float64[S, cells, K]; present : float64[S, q, K].
    The cells of a nominal column have room for a power of two of values, so that shapes depend on the schema alone.
    With `tuples`, every slot also keeps the quantiles of numeric columns, in so many tuples each; with `grid`, adaptive
    cells of the configuration of this empty grid.
    Memory per slot: 64 bytes per class and numeric column, 16 per class and cell, 17 per class and nominal column.
    """

    moments: Floats = declare("*slots", 5, "classes", "numeric", valid=_moments)
    counts: Floats = declare("*slots", "cells", "classes", valid=valid.non_negative)
    present: Floats = declare("*slots", "nominal", "classes", valid=valid.non_negative)

    def __init__(self, tuples: int = 0, grid: GridCounts | None = None) -> None:
        self.quantiles: LeafQuantiles | LeafGrids | None = None
        if grid is not None:
            self.quantiles = LeafGrids(grid.blank(), ROOM)
        elif tuples:
            self.quantiles = LeafQuantiles(QuantileTuples(tuples), ROOM)
        self.moments = np.zeros((ROOM, 5, 0, 0))
        self.counts = np.zeros((ROOM, 0, 0))
        self.present = np.zeros((ROOM, 0, 0))
        self.declared = np.zeros(0, dtype=np.int64)
        self.offsets = np.zeros(1, dtype=np.int64)
        self.sizes: list[int] = []
        self._allocate()

    @property
    def slots(self) -> int:
        """Number of leaves that can keep statistics."""
        return len(self.moments)

    def slot_bytes(self, classes: int, numeric: int, cells: int, nominal: int) -> int:
        """Bytes of one slot over a schema of these sizes, with its tables for prediction."""
        more = self.quantiles.slot_bytes(classes, numeric) if self.quantiles else 0
        return (
            classes * (64 * numeric + 16 * cells + 16 * nominal) + 24 * numeric + cells + 8 * nominal + more
        )

    def least_bytes(self, shape: Shape) -> int:
        """Bytes of the slots allocated at first."""
        cells = int(rooms(list(shape.values))[-1])
        return ROOM * self.slot_bytes(shape.classes, shape.numeric, cells, shape.nominal)

    def _allocate(self) -> None:
        s, _, k, p = self.moments.shape
        self.tables = np.zeros((s, 3, k, p))
        self.bounds = np.zeros((s, 3, p))
        self.above = np.zeros((s, k, self.counts.shape[1]))
        self.below = np.zeros((s, k, self.present.shape[1]))
        self.known = np.zeros(self.counts.shape[:2], dtype=np.bool_)
        self.seen = np.zeros(self.present.shape[:2], dtype=np.int64)

    def read(self, slot: int | None = None) -> None:
        """Compute the tables for prediction of one slot, or of all, from the statistics."""
        for s in range(self.slots) if slot is None else (slot,):
            (peak, centre, half), moments = self.tables[s], self.moments[s]
            read_columns(
                peak, centre, half, self.bounds[s], moments[N], moments[MEAN], moments[M2], 0.0, FLOOR, CONSTANT_SHARE
            )  # fmt: skip
            read_slot_nominal(
                self.above[s], self.below[s], self.known[s], self.seen[s],
                self.counts[s], self.present[s], self.declared, self.offsets, LOGS,
            )  # fmt: skip

    def clear(self, slot: int) -> None:
        """Empty one slot."""
        for array in (self.moments, self.counts, self.present):
            array[slot] = 0.0
        if self.quantiles:
            self.quantiles.clear(slot)
        self.read(slot)

    def slot_arrays(self, slot: int) -> SlotArrays:
        """A copy of the moments, counts and presences of one slot."""
        return self.moments[slot].copy(), self.counts[slot].copy(), self.present[slot].copy()

    def copy(self, here: int, there: int) -> None:
        """Copy the statistics of slot `here` to slot `there`."""
        for array in (self.moments, self.counts, self.present):
            array[there] = array[here]
        if self.quantiles:
            self.quantiles.copy(here, there)
        self.read(there)

    def resize(self, slots: int) -> None:
        """Change the number of slots; those beyond the end are lost, new ones are empty."""
        before = self.slots
        for name in (*self.state, *TABLES):
            old: NDArray[Any] = getattr(self, name)
            new = np.zeros((slots, *old.shape[1:]), dtype=old.dtype)
            new[: min(slots, len(old))] = old[:slots]
            setattr(self, name, new)
        if self.quantiles:
            self.quantiles.resize(slots)
        if slots > before:  # the tables of all empty slots are the same
            self.read(before)
            for name in TABLES:
                getattr(self, name)[before + 1 :] = getattr(self, name)[before]

    def parts(self) -> Sequence[tuple[str, State]]:
        return [(QUANTILES, self.quantiles)] if self.quantiles else []

    def realign(self, plan: Alignment) -> None:
        """Move the statistics to the places of classes, columns and values in a larger schema."""
        self.lengths = plan.lengths
        if self.quantiles:
            self.quantiles.realign(plan)
        sizes = [axis.size for axis in plan.values]
        offsets = rooms(sizes)
        declared = np.array([axis.declared for axis in plan.values], dtype=np.int64)
        if self._stays(plan, offsets) and np.array_equal(declared, self.declared):
            self.sizes = sizes
            return
        s, k = self.slots, plan.classes.size
        moments = np.zeros((s, 5, k, plan.numeric.size))
        moments[:, :, plan.classes.to[:, None], plan.numeric.to] = self.moments
        present = np.zeros((s, plan.nominal.size, k))
        present[:, plan.nominal.to[:, None], plan.classes.to] = self.present
        counts = np.zeros((s, int(offsets[-1]), k))
        for old, new in enumerate(plan.nominal.to):
            cells = offsets[new] + plan.values[new].to
            mine = self.counts[:, self.offsets[old] : self.offsets[old] + self.sizes[old]]
            np.add.at(counts.transpose(1, 2, 0), (cells[:, None], plan.classes.to), mine.transpose(1, 2, 0))
        self.moments, self.present, self.counts = moments, present, counts
        self.declared, self.offsets, self.sizes = declared, offsets, sizes
        self.derive()

    def _stays(self, plan: Alignment, offsets: Index) -> bool:
        """Whether everything keeps its place, since the schema grows within the room of each column."""
        same = self.moments.shape[2:] == (plan.classes.size, plan.numeric.size)
        ends = all(
            np.array_equal(axis.to, np.arange(len(axis.to)))
            for axis in (plan.classes, plan.numeric, plan.nominal, *plan.values)
        )
        return same and ends and np.array_equal(offsets, self.offsets)

    def check(self, arrays: Arrays) -> None:
        """There are as many slots of quantiles, if any, as of moments."""
        super().check(arrays)
        if self.quantiles:
            same = len(arrays["moments"]) == len(arrays[f"{QUANTILES}{self.quantiles.per_slot}"])
            require(same, "every leaf with moments has quantiles")

    def derive(self) -> None:
        """Compute the tables for prediction of all slots."""
        self._allocate()
        self.read()


def rooms(sizes: list[int]) -> Index:
    """Where the cells of each nominal column begin, each with room for the next power of two.

    >>> rooms([3, 1, 2, 0]).tolist()
    [0, 4, 5, 7, 7]
    """
    room = [0 if n == 0 else 1 << (n - 1).bit_length() for n in sizes]
    return np.concatenate(([0], np.cumsum(room, dtype=np.int64))).astype(np.int64)
