"""A block whose numbers stay where the table has them until somebody reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple, Self

import numpy as np

from bayou.block import Block, Floats, Index
from bayou.kernels.side_by_side import put_side_by_side

# Numbers of a piece: half a megabyte, which stays in the processor's cache while it is learned
CELLS = 1 << 16
NO_COLUMNS: Index = np.empty((0, 2), dtype=np.int64)


class Columns(NamedTuple):
    """Numeric columns where a table has them: int64[p, 2], of each its place and address, and what must be kept.

    Places rise, so that a range of columns is a range of these; those of 64-bit integers stand apart.
    """

    doubles: Index
    kept: Sequence[Any]
    integers: Index = NO_COLUMNS

    def __len__(self) -> int:
        return len(self.doubles) + len(self.integers)

    def side_by_side(self, lo: int, hi: int) -> Floats:
        """The rows lo .. hi - 1."""
        rows = np.empty((hi - lo, len(self)))
        put_side_by_side(rows, self.integers, self.doubles, lo)
        return rows

    def between(self, lo: int, hi: int) -> tuple[Index, Index]:
        """Columns lo .. hi - 1: of those of integers the places and addresses, and of the others."""
        cut = [np.searchsorted(places[:, 0], (lo, hi)) for places in (self.integers, self.doubles)]
        return self.integers[slice(*cut[0])], self.doubles[slice(*cut[1])]


class ColumnBlock(Block):
    """A block whose numbers lie in columns of a table that nobody changes; none of them is missing, infinite or huge.

    Many columns side by side are too much for the processor's cache, and to write and read them in memory takes longer
    than to learn them. Whoever can takes a few rows at a time; whoever looks at `numeric` has all of them made.
    """

    __slots__ = ("_rows", "columns")
    columns: Columns
    _rows: Floats | None

    @classmethod
    def of(cls, block: Block, columns: Columns) -> Self:
        """A block with numbers from these columns, and everything else from another block."""
        made = cls(
            block.numeric, block.codes, block.words, block.y, block.w, block.start, block.schema_change_rows,
            block.proba, block.hashed, True, block.decided,
        )  # fmt: skip
        made.columns, made._rows = columns, None
        return made

    @property
    def numeric(self) -> Floats:
        if self._rows is None:
            self._rows = self.columns.side_by_side(0, self.n)
        return self._rows

    @numeric.setter
    def numeric(self, rows: Floats) -> None:
        self._rows = rows

    @property
    def apart(self) -> bool:
        """Whether nobody has looked yet."""
        return self._rows is None

    @property
    def _room(self) -> int:
        return max(1, CELLS // len(self.columns))

    def first_rows(self) -> tuple[Floats, Index]:
        """The rows of the first piece, and where the columns of all rows lie; all rows if some are of integers."""
        if len(self.columns.integers):
            return self.numeric, NO_COLUMNS
        return self.columns.side_by_side(0, min(self.n, self._room)), self.columns.doubles

    def __reduce__(self) -> Any:
        """A copy holds the numbers themselves: addresses mean nothing elsewhere."""
        return Block, tuple(getattr(self, field.name) for field in fields(Block))


def numbers_of(block: Block) -> tuple[Floats, Index]:
    """The numbers of a block as kernels take them: some rows, and where the columns of all lie; else all rows."""
    if isinstance(block, ColumnBlock) and block.apart:
        return block.first_rows()
    return block.numeric, NO_COLUMNS
