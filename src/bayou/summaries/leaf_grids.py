"""PiD and cPiD at the leaves of a tree: an adaptive grid of class counts per leaf and numeric column."""

from __future__ import annotations

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Codes, Floats, Index
from bayou.checks import require
from bayou.protocols import Arrays
from bayou.summaries import valid
from bayou.summaries.array_summary import State
from bayou.summaries.frame import WARM_UP
from bayou.summaries.grid_counts import GridCounts
from bayou.summaries.state import declare

STACKED = ("breaks", "slack", "counts", "sizes", "sums", "filled", "low", "high")
WARM = ("warm_values", "warm_labels", "warm_weights")  # of the slots whose columns have no range yet


class LeafGrids(State):
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

    per_slot = "warming"  # an array with a row per slot

    def __init__(self, like: GridCounts, slots: int) -> None:
        self._empty, self.room, self.rows = like.blank(), like.room, WARM_UP
        self._slots = [self._empty.fresh() for _ in range(slots)]

    def slot_bytes(self, classes: int, numeric: int) -> int:
        """Bytes of one slot over a schema of these sizes."""
        return numeric * (8 * self.room * (2 + classes) + 20 * self.rows)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all slots."""
        return sum(a.nbytes for slot in self._slots for a in slot.arrays().values())

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
        more = (self._empty.fresh() for _ in range(slots - len(self._slots)))
        self._slots = [*self._slots[:slots], *more]

    def realign(self, plan: Alignment) -> None:
        """Make room for classes and columns."""
        for each in (self._empty, *self._slots):
            each.realign(plan)

    def fresh(self, slots: int) -> LeafGrids:
        """Empty grids over the same schema, for so many leaves."""
        twin = LeafGrids(self._empty, 0)
        twin._empty = self._empty.fresh()
        twin.resize(slots)
        return twin

    def arrays(self) -> Arrays:
        each = [slot.arrays() for slot in self._slots]
        warm = [a for a in each if a["warm_values"].shape[1]]
        shape = (0, len(self._empty.sizes), self.rows)
        return {
            **{name: np.stack([a[name] for a in each]) for name in STACKED},
            **{
                name: np.stack([a[name] for a in warm]) if warm else np.zeros(shape, self.state[name].dtype)
                for name in WARM
            },
            "warming": np.array([a["warm_values"].shape[1] > 0 for a in each], dtype=np.int64),
        }

    def restore(self, arrays: Arrays) -> None:
        self._slots = []
        for one in self._apart(arrays):
            slot = self._empty.fresh()
            slot.restore(one)
            self._slots.append(slot)

    def _apart(self, arrays: Arrays) -> list[Arrays]:
        """The arrays of each slot."""
        out: list[Arrays] = []
        place = np.cumsum(arrays["warming"]) - arrays["warming"]
        for s, warm in enumerate(arrays["warming"].tolist()):
            kept = {
                name: arrays[name][place[s]] if warm else arrays[name][:0].sum(axis=0)[:, :0] for name in WARM
            }
            kept = {name: a.astype(self.state[name].dtype) for name, a in kept.items()}
            stacked = {name: arrays[name][s] for name in STACKED}
            out.append({**stacked, **kept, "declared": self._empty.declared})
        return out

    def check(self, arrays: Arrays) -> None:
        """Every slot holds a grid over the schema this is realigned to."""
        super().check(arrays)
        warming = arrays["warming"]
        require(
            warming.max(initial=0) <= 1 and warming.sum() == len(arrays["warm_values"]), "leaves that warm up"
        )
        for one in self._apart(arrays):
            self._empty.check(one)
