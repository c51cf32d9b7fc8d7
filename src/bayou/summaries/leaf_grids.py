"""PiD and cPiD at the leaves of a tree: an adaptive grid of class counts per leaf and numeric column."""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.checks import require
from bayou.protocols import Arrays
from bayou.summaries import valid
from bayou.summaries.frame import WARM_UP
from bayou.summaries.grid_counts import GridCounts
from bayou.summaries.leaf_columns import LeafColumns
from bayou.summaries.state import declare

STACKED = ("breaks", "slack", "counts", "sizes", "sums", "filled", "low", "high")
WARM = ("warm_values", "warm_labels", "warm_weights")  # of the slots whose columns have no range yet


class LeafGrids(LeafColumns[GridCounts]):
    """One `GridCounts` per slot, of one configuration.

    A column of a leaf keeps its first thousand values and is read off them; then its range is fixed and cells are
    counted. Memory per slot: that of `GridCounts`.
    """

    breaks: Floats = declare("*slots", "numeric", "room", valid=valid.anything)  # checked slot by slot
    slack: Floats = declare("*slots", "numeric", "room", valid=valid.anything)
    counts: Floats = declare("*slots", "numeric", "room", "classes", valid=valid.anything)
    sizes: Index = declare("*slots", "numeric", dtype=np.int64, valid=valid.anything)
    sums: Floats = declare("*slots", "numeric", 2, valid=valid.anything)
    filled: Index = declare("*slots", "numeric", dtype=np.int64, valid=valid.anything)
    low: Floats = declare("*slots", "numeric", valid=valid.anything)
    high: Floats = declare("*slots", "numeric", valid=valid.anything)
    warming: Index = declare("*slots", dtype=np.int64, valid=valid.finite)
    warm_values: Floats = declare("*warming", "numeric", "rows", valid=valid.anything)
    warm_labels: Codes = declare("*warming", "numeric", "rows", dtype=np.int32, valid=valid.anything)
    warm_weights: Floats = declare("*warming", "numeric", "rows", valid=valid.anything)

    per_slot = "warming"

    def __init__(self, empty: GridCounts, slots: int) -> None:
        super().__init__(empty, slots)
        self.room, self.rows = empty.room, WARM_UP

    def slot_bytes(self, classes: int, numeric: int) -> int:
        """Bytes of one slot over a schema of these sizes."""
        return numeric * (8 * self.room * (2 + classes) + 20 * self.rows)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all slots."""
        return sum(a.nbytes for slot in self.slots for a in slot.arrays().values())

    def arrays(self) -> Arrays:
        each = [slot.arrays() for slot in self.slots]
        warm = [a for a in each if a["warm_values"].shape[1]]
        shape = (0, len(self.empty.sizes), self.rows)
        return {
            **{name: np.stack([a[name] for a in each]) for name in STACKED},
            **{
                name: np.stack([a[name] for a in warm]) if warm else np.zeros(shape, self.state[name].dtype)
                for name in WARM
            },
            "warming": np.array([a["warm_values"].shape[1] > 0 for a in each], dtype=np.int64),
        }

    def apart(self, arrays: Arrays) -> list[Arrays]:
        out: list[Arrays] = []
        place = np.cumsum(arrays["warming"]) - arrays["warming"]
        for s, warm in enumerate(arrays["warming"].tolist()):
            buffers = {
                name: arrays[name][place[s]] if warm else arrays[name][:0].sum(axis=0)[:, :0] for name in WARM
            }
            buffers = {name: a.astype(self.state[name].dtype) for name, a in buffers.items()}
            stacked = {name: arrays[name][s] for name in STACKED}
            out.append({**stacked, **buffers, "declared": self.empty.declared})
        return out

    def check(self, arrays: Arrays) -> None:
        """Every slot holds a grid over the schema this is realigned to."""
        super().check(arrays)
        warming = arrays["warming"]
        require(
            warming.max(initial=0) <= 1 and warming.sum() == len(arrays["warm_values"]), "leaves that warm up"
        )
        for one in self.apart(arrays):
            self.empty.check(one)
