"""Quantile tuples with class counts at every leaf of a tree that still learns."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.checks import parts
from bayou.kernels.tuple_budget import HEAD
from bayou.protocols import Arrays
from bayou.summaries import valid
from bayou.summaries.leaf_columns import LeafColumns
from bayou.summaries.quantile_tuples import BUFFER, QuantileTuples
from bayou.summaries.state import declare

JOINED = ("tuples", "values", "labels", "weights")  # slot after slot, of the lengths in "sizes" and "pending"


class LeafQuantiles(LeafColumns[QuantileTuples]):
    """One `QuantileTuples` per slot, with a fixed number of tuples per column.

    Memory per slot: 8 (4 + K) bytes per tuple and column, and 512 (8 p + 12) for pending rows.
    """

    # Checked slot by slot, as `QuantileTuples` are
    tuples: Floats = declare("*tuples", "width", valid=valid.anything)
    values: Floats = declare("*pending", "numeric", valid=valid.anything)
    labels: Codes = declare("*pending", dtype=np.int32, valid=valid.anything)
    weights: Floats = declare("*pending", valid=valid.anything)
    sizes: Index = declare("*slots", "numeric", dtype=np.int64, valid=valid.finite)
    pending: Index = declare("*slots", dtype=np.int64, valid=valid.finite)

    per_slot = "pending"

    def slot_bytes(self, classes: int, numeric: int) -> int:
        """Bytes of one slot over a schema of these sizes."""
        return 8 * (HEAD + classes) * self.empty.budget * numeric + BUFFER * (8 * numeric + 12)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all slots."""
        return sum(
            a.nbytes for slot in self.slots for a in (slot.rows, slot.values, slot.labels, slot.weights)
        )

    def arrays(self) -> Arrays:
        each = [slot.arrays() for slot in self.slots]
        return {
            **{name: np.concatenate([a[name] for a in each]) for name in JOINED},
            "sizes": np.stack([a["sizes"] for a in each]),
            "pending": np.array([len(a["labels"]) for a in each]),
        }

    def apart(self, arrays: Arrays) -> list[Arrays]:
        sizes, pending, declared = arrays["sizes"], arrays["pending"], self.empty.declared
        ends = {"tuples": np.cumsum(sizes.sum(axis=1)), "values": np.cumsum(pending)}
        edges = {name: [0, *ends.get(name, ends["values"]).tolist()] for name in JOINED}
        pieces = {name: [arrays[name][a:b] for a, b in pairwise(edges[name])] for name in JOINED}
        return [
            {"sizes": sizes[s], "declared": declared, **{name: pieces[name][s] for name in JOINED}}
            for s in range(len(sizes))
        ]

    def check(self, arrays: Arrays) -> None:
        """Every slot holds quantile tuples over the schema this is realigned to."""
        super().check(arrays)
        parts("the numbers of tuples at the leaves", arrays["sizes"], len(arrays["tuples"]))
        parts("the numbers of rows that wait at the leaves", arrays["pending"], len(arrays["labels"]))
        for one in self.apart(arrays):
            self.empty.check(one)
