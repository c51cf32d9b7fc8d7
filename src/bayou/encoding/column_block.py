"""A block whose numbers stay where the table has them until somebody reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from bayou.block import Block, Floats, Index
from bayou.kernels.side_by_side import put_side_by_side

CELLS = 1 << 16  # numbers of a piece: half a megabyte, which stays in the processor's cache while it is learned
NO_COLUMNS: Index = np.empty((0, 2), dtype=np.int64)


class Columns(NamedTuple):
    """Numeric columns where a table has them: int64[p, 2], of each its place and address, and what must be kept."""

    addresses: Index
    kept: Sequence[Any]

    def side_by_side(self, lo: int, hi: int) -> Floats:
        """The rows lo .. hi - 1."""
        rows = np.empty((hi - lo, len(self.addresses)))
        put_side_by_side(rows, NO_COLUMNS, self.addresses, lo)
        return rows


class ColumnBlock(Block):
    """A block whose numbers lie in columns of a table that nobody changes; none of them is missing, infinite or huge.

    Many columns side by side are too much for the processor's cache, and to write and read them in memory takes longer
    than to learn them. Whoever can takes a few rows at a time; whoever looks at `numeric` has all of them made.
    """

    __slots__ = ("_columns", "_rows")

    @classmethod
    def of(cls, block: Block, columns: Columns) -> Self:
        """A block with numbers from these columns, and everything else from another block."""
        made = cls(
            block.numeric, block.codes, block.words, block.y, block.w, block.start, block.schema_change_rows,
            block.proba, block.hashed, True, block.decided,
        )  # fmt: skip
        made._columns, made._rows = columns, None
        return made

    @property
    def numeric(self) -> Floats:  # type: ignore[override] # an attribute of other blocks
        if self._rows is None:
            self._rows = self._columns.side_by_side(0, self.n)
        return self._rows

    @numeric.setter
    def numeric(self, rows: Floats) -> None:
        self._rows: Floats | None = rows

    def pieces(self, points: Sequence[int]) -> Iterator[tuple[slice, Block]]:
        """As `cut`, in as many more pieces as it takes to keep each in the cache."""
        others = self._without_numbers()
        for where, part in others.cut([*points, *range(self._room, self.n, self._room)]):
            part.numeric = self._columns.side_by_side(where.start, where.stop)
            yield where, part

    @property
    def _room(self) -> int:
        return max(1, CELLS // len(self._columns.addresses))

    def first_rows(self) -> tuple[Floats, Index]:
        """The rows of the first piece, and where the columns of all rows lie."""
        return self._columns.side_by_side(0, min(self.n, self._room)), self._columns.addresses

    def _without_numbers(self) -> Block:
        return Block(
            np.empty((self.n, 0)), self.codes, self.words, self.y, self.w, self.start, self.schema_change_rows,
            self.proba, self.hashed, True, self.decided,
        )  # fmt: skip

    def __reduce__(self) -> Any:
        """A copy holds the numbers themselves: addresses mean nothing elsewhere."""
        twin = self._without_numbers()
        twin.numeric = self.numeric
        return twin.__reduce_ex__(2)


def pieces(block: Block, points: Sequence[int]) -> Iterator[tuple[slice, Block]]:
    """The pieces of a block between the given row numbers, or smaller ones where those stay in the cache."""
    return block.pieces(points) if isinstance(block, ColumnBlock) else block.cut(points)


def numbers_of(block: Block) -> tuple[Floats, Index]:
    """The numbers of a block as kernels take them: some rows, and where the columns of all lie; else all rows."""
    return block.first_rows() if isinstance(block, ColumnBlock) else (block.numeric, NO_COLUMNS)
