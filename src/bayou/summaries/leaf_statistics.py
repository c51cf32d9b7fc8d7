"""What leaves remember of their rows: moments and ranges of numeric columns, counts of nominal values, by class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment
from bayou.block import Floats, Index
from bayou.errors import ModelFileError
from bayou.kernels.normal import read_columns
from bayou.kernels.tree import CONSTANT_SHARE, FLOOR, HIGH, LOW, M2, MEAN, N, read_slot_nominal
from bayou.protocols import Arrays
from bayou.summaries.leaf_quantiles import LeafQuantiles

QUANTILES = "quantiles."
ROOM = 8  # slots allocated at first, if memory allows; doubled when full


class LeafStatistics:
    """One slot of statistics per leaf that still learns, and what is read off them, kept current row by row.

    moments : float64[S, 5, K, p], n, mean, m2, low, high; counts : float64[S, cells, K]; present : float64[S, q, K].
    The cells of a nominal column have room for a power of two of values, so that shapes depend on the schema alone.
    With `tuples`, every slot also keeps the quantiles of numeric columns, in so many tuples each.
    Memory per slot: 64 bytes per class and numeric column, 16 per class and cell, 17 per class and nominal column.
    """

    names = ("moments", "counts", "present")

    def __init__(self, tuples: int = 0) -> None:
        self.quantiles = LeafQuantiles(tuples, ROOM) if tuples else None
        self.moments = np.zeros((ROOM, 5, 0, 0))
        self.counts = np.zeros((ROOM, 0, 0))
        self.present = np.zeros((ROOM, 0, 0))
        self.declared = np.zeros(0, dtype=np.int64)
        self.offsets = np.zeros(1, dtype=np.int64)
        self.sizes: list[int] = []
        self._allocate()

    @property
    def slots(self) -> int:
        return len(self.moments)

    def slot_bytes(self, classes: int, numeric: int, cells: int, nominal: int) -> int:
        """Bytes of one slot over a schema of these sizes, with what is read off it."""
        more = self.quantiles.slot_bytes(classes, numeric) if self.quantiles else 0
        return (
            classes * (64 * numeric + 16 * cells + 16 * nominal) + 24 * numeric + cells + 8 * nominal + more
        )

    def _allocate(self) -> None:
        s, _, k, p = self.moments.shape
        self.tables = np.zeros((s, 3, k, p))
        self.bounds = np.zeros((s, 3, p))
        self.above = np.zeros_like(self.counts)
        self.below = np.zeros_like(self.present)
        self.known = np.zeros(self.counts.shape[:2], dtype=np.bool_)
        self.seen = np.zeros(self.present.shape[:2], dtype=np.int64)

    def read(self, logs: Floats, slot: int | None = None) -> None:
        """Read the tables of one slot, or of all, from the state."""
        for s in range(self.slots) if slot is None else (slot,):
            (peak, centre, half), (n, mean, m2) = self.tables[s], self.moments[s, [N, MEAN, M2]]
            read_columns(peak, centre, half, self.bounds[s], n, mean, m2, 0.0, FLOOR, CONSTANT_SHARE)
            read_slot_nominal(
                self.above[s], self.below[s], self.known[s], self.seen[s],
                self.counts[s], self.present[s], self.declared, self.offsets, logs,
            )  # fmt: skip

    def clear(self, slot: int, logs: Floats) -> None:
        """Forget what one slot holds."""
        for array in (self.moments, self.counts, self.present):
            array[slot] = 0.0
        if self.quantiles:
            self.quantiles.clear(slot)
        self.read(logs, slot)

    def copy(self, here: int, there: int, logs: Floats) -> None:
        """Let one slot hold what another does."""
        for array in (self.moments, self.counts, self.present):
            array[there] = array[here]
        if self.quantiles:
            self.quantiles.copy(here, there)
        self.read(logs, there)

    def resize(self, slots: int) -> None:
        """More or fewer slots; those beyond the end are lost."""
        for name in (*self.names, "tables", "bounds", "above", "below", "known", "seen"):
            old: NDArray[Any] = getattr(self, name)
            new = np.zeros((slots, *old.shape[1:]), dtype=old.dtype)
            new[: min(slots, len(old))] = old[:slots]
            setattr(self, name, new)
        if self.quantiles:
            self.quantiles.resize(slots)

    def realign(self, plan: Alignment, logs: Floats) -> None:
        """Make room for classes, columns and values, and move what is there."""
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
        self._allocate()
        self.read(logs)

    def _stays(self, plan: Alignment, offsets: Index) -> bool:
        """Whether everything keeps its place: growth within the rooms that are there."""
        same = self.moments.shape[2:] == (plan.classes.size, plan.numeric.size)
        ends = all(
            np.array_equal(axis.to, np.arange(len(axis.to)))
            for axis in (plan.classes, plan.numeric, plan.nominal, *plan.values)
        )
        return same and ends and np.array_equal(offsets, self.offsets)

    def arrays(self) -> Arrays:
        more = self.quantiles.arrays() if self.quantiles else {}
        return {name: getattr(self, name) for name in self.names} | {
            f"{QUANTILES}{k}": a for k, a in more.items()
        }

    def restore(self, arrays: Arrays, logs: Floats) -> None:
        if self.quantiles:
            self.quantiles.restore(_within(arrays))
        for name in self.names:
            setattr(self, name, np.array(arrays[name], order="C"))
        self._allocate()
        self.read(logs)

    def check(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Raise unless the arrays have one length and the shapes of this schema, and can be counts and moments."""
        slots = len(arrays["moments"])
        for name in self.names:
            if arrays[name].shape != (slots, *getattr(self, name).shape[1:]):
                raise ModelFileError(f"the statistics of the leaves do not fit the schema: {name}")
            if not np.isfinite(arrays[name]).all():
                raise ModelFileError(f"{name} of the leaves holds NaN or infinity")
        moments = arrays["moments"]
        counted = min(arrays["counts"].min(initial=0.0), moments[:, [0, 2]].min(initial=0.0))
        backwards = np.any((moments[:, N] > 0) & (moments[:, LOW] > moments[:, HIGH]))
        if counted < 0 or arrays["present"].min(initial=0.0) < 0 or backwards:
            raise ModelFileError("the statistics of the leaves hold negative counts or ranges")
        if self.quantiles:
            self.quantiles.check(_within(arrays), slots)


def _within(arrays: Arrays) -> Arrays:
    """The arrays of the quantiles under their own names."""
    return {k.removeprefix(QUANTILES): a for k, a in arrays.items() if k.startswith(QUANTILES)}


def rooms(sizes: list[int]) -> Index:
    """Where the cells of each nominal column begin, each with room for the next power of two.

    >>> rooms([3, 1, 2, 0]).tolist()
    [0, 4, 5, 7, 7]
    """
    room = [0 if n == 0 else 1 << (n - 1).bit_length() for n in sizes]
    return np.concatenate(([0], np.cumsum(room, dtype=np.int64))).astype(np.int64)
