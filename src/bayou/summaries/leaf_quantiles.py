"""Quantile tuples with class counts at every leaf of a tree that still learns."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Codes, Floats, Index
from bayou.checks import parts
from bayou.kernels.tuple_budget import HEAD
from bayou.protocols import Arrays
from bayou.summaries import valid
from bayou.summaries.array_summary import State
from bayou.summaries.quantile_tuples import BUFFER, QuantileTuples
from bayou.summaries.state import declare

JOINED = ("tuples", "values", "labels", "weights")  # slot after slot; "sizes" and "pending" tell them apart


class LeafQuantiles(State):
    """One `QuantileTuples` per slot, with a fixed number of tuples per column.

    Memory per slot: 8 (4 + K) bytes per tuple and column, and 512 (8 p + 12) for the rows that wait.
    """

    # Checked slot by slot, as `QuantileTuples` are
    tuples: Floats = declare("*tuples", "width", valid=valid.anything)
    values: Floats = declare("*pending", "numeric", valid=valid.anything)
    labels: Codes = declare("*pending", dtype=np.int32, valid=valid.anything)
    weights: Floats = declare("*pending", valid=valid.anything)
    sizes: Index = declare("*slots", "numeric", dtype=np.int64, valid=valid.finite)
    pending: Index = declare("*slots", dtype=np.int64, valid=valid.finite)

    per_slot = "pending"  # an array with a row per slot

    def __init__(self, tuples: int, slots: int) -> None:
        self._tuples = tuples
        self._empty = QuantileTuples(tuples)
        self._slots = [self._empty.fresh() for _ in range(slots)]

    def slot_bytes(self, classes: int, numeric: int) -> int:
        """Bytes of one slot over a schema of these sizes."""
        return 8 * (HEAD + classes) * self._tuples * numeric + BUFFER * (8 * numeric + 12)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all slots."""
        return sum(
            a.nbytes for slot in self._slots for a in (slot.rows, slot.values, slot.labels, slot.weights)
        )

    def cells(self, slot: int) -> tuple[Index, Floats, Floats]:
        """The cells of all columns of one slot, end to end: offsets, largest values, class counts."""
        return self._slots[slot].all_cells()

    def update(self, block: Block, slots: Index) -> None:
        """Take in rows, each at its slot; -1 is none."""
        for slot in np.unique(slots[slots >= 0]):
            rows = np.flatnonzero(slots == slot)
            codes = np.empty((len(rows), 0), dtype=np.int32)
            self._slots[slot].update(Block(block.numeric[rows], codes, (), block.y[rows], block.w[rows]))

    def clear(self, slot: int) -> None:
        """Forget what one slot holds."""
        self._slots[slot] = self._empty.fresh()

    def copy(self, here: int, there: int) -> None:
        """Let one slot hold what another does."""
        self._slots[there] = self._slots[here].copy()

    def resize(self, slots: int) -> None:
        """More or fewer slots; those beyond the end are lost."""
        self._slots = [
            *self._slots[:slots],
            *(self._empty.fresh() for _ in range(slots - len(self._slots))),
        ]

    def realign(self, plan: Alignment) -> None:
        """Make room for classes and columns."""
        for each in (self._empty, *self._slots):
            each.realign(plan)

    def fresh(self, slots: int) -> LeafQuantiles:
        """Empty quantiles over the same schema, for so many leaves."""
        twin = LeafQuantiles(self._tuples, 0)
        twin._empty = self._empty.fresh()
        twin.resize(slots)
        return twin

    def arrays(self) -> Arrays:
        each = [slot.arrays() for slot in self._slots]
        return {
            **{name: np.concatenate([a[name] for a in each]) for name in JOINED},
            "sizes": np.stack([a["sizes"] for a in each]),
            "pending": np.array([len(a["labels"]) for a in each]),
        }

    def restore(self, arrays: Arrays) -> None:
        self._slots = []
        for one in _apart(arrays):
            slot = self._empty.fresh()
            slot.restore({**one, "declared": slot.declared})
            self._slots.append(slot)

    def check(self, arrays: Arrays) -> None:
        """Every slot holds quantile tuples over the schema this is realigned to."""
        super().check(arrays)
        parts("the numbers of tuples at the leaves", arrays["sizes"], len(arrays["tuples"]))
        parts("the numbers of rows that wait at the leaves", arrays["pending"], len(arrays["labels"]))
        for one in _apart(arrays):
            self._empty.check({**one, "declared": self._empty.declared})


def _apart(arrays: Arrays) -> list[Arrays]:
    """The arrays of each slot."""
    sizes, pending = arrays["sizes"], arrays["pending"]
    ends = {"tuples": np.cumsum(sizes.sum(axis=1)), "values": np.cumsum(pending)}
    edges = {name: [0, *ends.get(name, ends["values"]).tolist()] for name in JOINED}
    pieces = {name: [arrays[name][a:b] for a, b in pairwise(edges[name])] for name in JOINED}
    return [{"sizes": sizes[s], **{name: pieces[name][s] for name in JOINED}} for s in range(len(sizes))]
