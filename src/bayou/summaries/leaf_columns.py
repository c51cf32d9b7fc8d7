"""Summaries of numeric columns at the leaves of a tree, beside their moments: one per leaf that still learns."""

from __future__ import annotations

from typing import ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats, Index
from bayou.protocols import Arrays
from bayou.summaries.array_summary import State


class CellSource(Protocol):
    """A summary of numeric columns that can be read as cells: `QuantileTuples`, `GridCounts`."""

    def all_cells(self) -> tuple[Index, Floats, Floats]: ...

    def update(self, block: Block) -> None: ...

    def realign(self, plan: Alignment) -> None: ...

    def restore(self, arrays: Arrays) -> None: ...

    def fresh(self) -> Self: ...

    def copy(self) -> Self: ...


S = TypeVar("S", bound=CellSource)


class LeafColumns(State, Generic[S]):
    """Base of one summary of numeric columns per slot, all of one configuration.

    A subclass declares the arrays of a file, in which the slots are stored end to end; its `arrays` joins them and its
    `apart` splits them again.

    Parameters
    ----------
    empty
        The summary of a leaf that has learned nothing.
    slots
        The number of leaves that have a summary.
    """

    per_slot: ClassVar[str]  # an array with a row per slot

    def __init__(self, empty: S, slots: int) -> None:
        self.empty = empty
        self.slots: list[S] = []
        self.resize(slots)

    def slot_bytes(self, classes: int, numeric: int) -> int:
        """Bytes of one slot over a schema of these sizes."""
        raise NotImplementedError

    def apart(self, arrays: Arrays) -> list[Arrays]:
        """The arrays of each slot."""
        raise NotImplementedError

    def cells(self, slot: int) -> tuple[Index, Floats, Floats]:
        """The cells of all columns of one slot, end to end: offsets, largest values, class counts."""
        return self.slots[slot].all_cells()

    def update(self, block: Block, slots: Index) -> None:
        """Learn rows, each at its slot; -1 is no slot."""
        for slot in np.unique(slots[slots >= 0]):
            rows = np.flatnonzero(slots == slot)
            codes = np.empty((len(rows), 0), dtype=np.int32)
            self.slots[slot].update(Block(block.numeric[rows], codes, (), block.y[rows], block.w[rows]))

    def clear(self, slot: int) -> None:
        """Empty one slot."""
        self.slots[slot] = self.empty.fresh()

    def copy(self, here: int, there: int) -> None:
        """Copy the summary of slot `here` to slot `there`."""
        self.slots[there] = self.slots[here].copy()

    def resize(self, slots: int) -> None:
        """Change the number of slots; those beyond the end are lost."""
        more = (self.empty.fresh() for _ in range(slots - len(self.slots)))
        self.slots = [*self.slots[:slots], *more]

    def realign(self, plan: Alignment) -> None:
        """Make room for classes and columns."""
        for each in (self.empty, *self.slots):
            each.realign(plan)

    def fresh(self, slots: int) -> Self:
        """Summaries that have learned nothing, over the same schema, for so many leaves."""
        return type(self)(self.empty.fresh(), slots)

    def restore(self, arrays: Arrays) -> None:
        self.slots = []
        for one in self.apart(arrays):
            slot = self.empty.fresh()
            slot.restore(one)
            self.slots.append(slot)
