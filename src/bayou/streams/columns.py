"""Columns of rows from a file: numbers as one matrix, which models read, and Arrow arrays, made on access."""

from __future__ import annotations

from collections.abc import Callable, Iterator, KeysView, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayou.kernels.side_by_side import all_columns_usable, put_side_by_side

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
# Places and addresses of doubles, the objects that own the memory, and places and addresses of integers
Addresses = tuple[Index, Sequence[object], Index]


class Numbers(Protocol):
    """Columns of numbers, in any memory layout."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the matrix."""

    def fill(self, rows: Floats, first: int) -> bool:
        """Write the rows from `first` on; returns whether no number is known to be missing, infinite or huge."""


@dataclass(frozen=True)
class NumberRows:
    """Numbers as a matrix, float64[n, p], NaN = missing; `usable` if it is known that none is missing or huge."""

    names: tuple[str, ...]
    matrix: Floats
    usable: bool
    columns: ClassVar[None] = None  # there are no addresses of columns

    def fill(self, rows: Floats, first: int) -> bool:
        rows[:] = self.matrix[first : first + len(rows)]
        return self.usable


class NumberColumns:
    """Numbers in columns of Arrow; 64-bit integers are converted only when a matrix is filled.

    Examples
    --------
    >>> numbers = NumberColumns(("a", "b"), [pa.array([1, 2, 3]), pa.array([0.5, None, 2.5])])
    >>> rows = np.empty((2, 2))
    >>> numbers.fill(rows, 1), rows.tolist()
    (False, [[2.0, nan], [3.0, 2.5]])
    """

    def __init__(self, names: tuple[str, ...], columns: Sequence[pa.Array]) -> None:
        self.names, self._rows = names, len(columns[0])
        self._owners: list[object] = []  # the objects whose memory the addresses point into
        addresses: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
        for j, column in enumerate(columns):
            is_integer = column.type == pa.int64() and not column.null_count
            addresses[is_integer].append(
                (j, self._address(column if is_integer else column.cast(pa.float64(), safe=False)))
            )
        self._integers, self._doubles = (
            np.array(addresses[k], np.int64).reshape(-1, 2) for k in (True, False)
        )

    def _address(self, column: pa.Array) -> int:
        """The address of a column's numbers, with NaN for missing ones."""
        buffer = column.buffers()[1]
        if column.null_count or buffer is None:
            buffer = pa.py_buffer(np.ascontiguousarray(column.to_numpy(zero_copy_only=False)))
            self._owners.append(buffer)
            return int(buffer.address)
        self._owners.append(column)
        return int(buffer.address + 8 * column.offset)

    def _require_rows(self, first: int, n: int) -> None:
        """Raise IndexError for rows beyond the end, since kernels that read by addresses do not check bounds."""
        if first < 0 or n < 0 or first + n > self._rows:
            raise IndexError("rows beyond the end of the columns")

    @cached_property
    def usable(self) -> bool:
        """Whether no number is missing, infinite or huge."""
        return bool(all_columns_usable(self._doubles, self._rows))

    def rows(self, first: int, n: int) -> NumbersInColumns:
        """The rows first .. first + n - 1, without a copy."""
        self._require_rows(first, n)
        shift = np.array([0, 8 * first])
        return NumbersInColumns(self.names, (self._doubles + shift, self._owners, self._integers + shift), n)

    def fill(self, rows: Floats, first: int) -> bool:
        self._require_rows(first, len(rows))
        if rows.shape[1] != len(self.names):
            raise IndexError("another number of columns")
        return put_side_by_side(rows, self._integers, self._doubles, first)


@dataclass(frozen=True)
class NumbersInColumns:
    """Numbers in columns, none of them missing, infinite or huge; the matrix is built when it is first read."""

    names: tuple[str, ...]
    columns: Addresses
    n: int
    usable: ClassVar[bool] = True

    @cached_property
    def matrix(self) -> Floats:
        rows = np.empty((self.n, len(self.names)))
        put_side_by_side(rows, self.columns[2], self.columns[0], 0)
        return rows


def side_by_side(parts: Sequence[tuple[Numbers, int, int]]) -> NumberRows | NumbersInColumns:
    """The rows of all parts, each given by its numbers, first row and number of rows; a single part is not copied."""
    numbers, first, n = parts[0]
    if len(parts) == 1 and isinstance(numbers, NumberColumns) and numbers.usable:
        return numbers.rows(first, n)
    if len(parts) == 1 and isinstance(numbers, NumberRows):
        return NumberRows(numbers.names, numbers.matrix[first : first + n], numbers.usable)
    matrix = np.empty((sum(k for _, _, k in parts), len(numbers.names)))
    filled, usable = 0, True
    for part, first, n in parts:
        usable &= part.fill(matrix[filled : filled + n], first)
        filled += n
    return NumberRows(numbers.names, matrix, usable)


def numbers_of(columns: Mapping[str, pa.Array]) -> Numbers | None:
    """The numeric columns as numbers from which a matrix can be filled; None if there are none."""
    numbers = columns.numbers if isinstance(columns, Columns) else None
    return None if isinstance(numbers, NumbersInColumns) else numbers


class Columns(MutableMapping[str, pa.Array]):
    """Arrow arrays by name, each made on first access.

    Parameters
    ----------
    names
        All columns, in order.
    make
        Makes the column of a name.
    numbers
        The numeric columns as numbers, to be read as a matrix.
    """

    def __init__(
        self,
        names: Sequence[str],
        make: Callable[[str], pa.Array],
        numbers: Numbers | NumbersInColumns | None = None,
    ) -> None:
        self.numbers = numbers
        self._arrays: dict[str, pa.Array | None] = dict.fromkeys(names)
        self._make = make

    def __getitem__(self, name: str) -> pa.Array:
        column = self._arrays[name]
        if column is None:
            column = self._arrays[name] = self._make(name)
        return column

    def __setitem__(self, name: str, column: pa.Array) -> None:
        self._arrays[name] = column

    def __delitem__(self, name: str) -> None:
        del self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def keys(self) -> KeysView[str]:
        """The names; they can be printed without making the columns."""
        return self._arrays.keys()

    def __repr__(self) -> str:
        return repr(dict(self))


def height(columns: Mapping[str, pa.Array]) -> int:
    """Number of rows, by the last column: it is the target, if there is one, and is made in any case."""
    return len(columns[[*columns][-1]]) if columns else 0
