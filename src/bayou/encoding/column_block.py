"""A block whose numeric columns stay in the table's memory until the matrix is needed."""

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
    """Numeric columns in a table's memory: int64[p, 2], the place and address of each, and the objects that own them.

    Places ascend, so that a range of columns is a range of these; columns of 64-bit integers are listed apart.
    """

    doubles: Index
    owners: Sequence[Any]
    integers: Index = NO_COLUMNS

    def __len__(self) -> int:
        return len(self.doubles) + len(self.integers)

    def side_by_side(self, lo: int, hi: int) -> Floats:
        """The rows lo .. hi - 1 as a matrix."""
        rows = np.empty((hi - lo, len(self)))
        put_side_by_side(rows, self.integers, self.doubles, lo)
        return rows

    def between(self, lo: int, hi: int) -> tuple[Index, Index]:
        """Places and addresses of the columns lo .. hi - 1: those of integers, and those of doubles."""
        cut = [np.searchsorted(places[:, 0], (lo, hi)) for places in (self.integers, self.doubles)]
        return self.integers[slice(*cut[0])], self.doubles[slice(*cut[1])]


class ColumnBlock(Block):
    """A block whose numbers stay in immutable columns of a table; none of them is missing, infinite or huge.

    A matrix of many columns exceeds the processor's cache, and to write and read it in memory takes longer than to
    learn it. Kernels that can read a few rows at a time do so; the first access to `numeric` builds the whole matrix.
    """

    __slots__ = ("_rows", "columns")
    columns: Columns
    _rows: Floats | None

    @classmethod
    def of(cls, block: Block, columns: Columns) -> Self:
        """A block with numbers from these columns, and everything else from another block."""
        copy = cls(
            block.numeric, block.codes, block.words, block.y, block.w, block.start, block.schema_change_rows,
            block.proba, block.hashed, True, block.decided,
        )  # fmt: skip
        copy.columns, copy._rows = columns, None
        return copy

    @property
    def numeric(self) -> Floats:
        if self._rows is None:
            self._rows = self.columns.side_by_side(0, self.n)
        return self._rows

    @numeric.setter
    def numeric(self, rows: Floats) -> None:
        self._rows = rows

    @property
    def in_columns(self) -> bool:
        """Whether the matrix `numeric` has not been built yet."""
        return self._rows is None

    @property
    def _piece_rows(self) -> int:
        """How many rows a piece of at most `CELLS` numbers has."""
        return max(1, CELLS // len(self.columns))

    def first_rows(self) -> tuple[Floats, Index]:
        """The rows of the first piece, and places and addresses of the columns; all rows if some are of integers."""
        if len(self.columns.integers):
            return self.numeric, NO_COLUMNS
        return self.columns.side_by_side(0, min(self.n, self._piece_rows)), self.columns.doubles

    def __reduce__(self) -> Any:
        """A copy holds the numbers themselves: addresses mean nothing elsewhere."""
        return Block, tuple(getattr(self, field.name) for field in fields(Block))


def numbers_of(block: Block) -> tuple[Floats, Index]:
    """The numbers of a block for kernels: first rows and addresses of the columns, or all rows and no addresses."""
    if isinstance(block, ColumnBlock) and block.in_columns:
        return block.first_rows()
    return block.numeric, NO_COLUMNS
