"""Columns of rows that were read: numbers side by side, as models want them, and Arrow's arrays for whoever asks."""

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
# Places and addresses of doubles, what must be kept while they are read, and those of integers
Lying = tuple[Index, Sequence[object], Index]


class Numbers(Protocol):
    """Columns of numbers, however they lie in memory."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order in which they stand side by side."""

    def fill(self, rows: Floats, first: int) -> bool:
        """Write the rows from `first` on; whether it is known that no number is missing, infinite or huge."""


@dataclass(frozen=True)
class NumberRows:
    """Numbers side by side, float64[n, p], NaN = missing; `usable` if it is known that none is missing or huge."""

    names: tuple[str, ...]
    matrix: Floats
    usable: bool
    columns: ClassVar[None] = None  # nor do they lie in columns

    def fill(self, rows: Floats, first: int) -> bool:
        rows[:] = self.matrix[first : first + len(rows)]
        return self.usable


class NumberColumns:
    """Numbers column by column, as Arrow holds them: integers of 64 bits are not converted before they are wanted.

    Examples
    --------
    >>> numbers = NumberColumns(("a", "b"), [pa.array([1, 2, 3]), pa.array([0.5, None, 2.5])])
    >>> rows = np.empty((2, 2))
    >>> numbers.fill(rows, 1), rows.tolist()
    (False, [[2.0, nan], [3.0, 2.5]])
    """

    def __init__(self, names: tuple[str, ...], columns: Sequence[pa.Array]) -> None:
        self.names, self._rows = names, len(columns[0])
        self._kept: list[object] = []  # what the addresses point into
        found: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
        for j, column in enumerate(columns):
            whole = column.type == pa.int64() and not column.null_count
            found[whole].append(
                (j, self._address(column if whole else column.cast(pa.float64(), safe=False)))
            )
        self._integers, self._doubles = (np.array(found[k], np.int64).reshape(-1, 2) for k in (True, False))

    def _address(self, column: pa.Array) -> int:
        """Where the numbers of a column lie, NaN for what is missing."""
        buffer = column.buffers()[1]
        if column.null_count or buffer is None:
            buffer = pa.py_buffer(np.ascontiguousarray(column.to_numpy(zero_copy_only=False)))
            self._kept.append(buffer)
            return int(buffer.address)
        self._kept.append(column)
        return int(buffer.address + 8 * column.offset)

    def _require_rows(self, first: int, n: int) -> None:
        """Kernels that read by addresses do not look where memory ends."""
        if first < 0 or n < 0 or first + n > self._rows:
            raise IndexError("rows beyond the end of the columns")

    @cached_property
    def usable(self) -> bool:
        """Whether no number is missing, infinite or huge."""
        return bool(all_columns_usable(self._doubles, self._rows))

    def rows(self, first: int, n: int) -> NumbersInColumns:
        """Some rows, where they lie."""
        self._require_rows(first, n)
        shift = np.array([0, 8 * first])
        return NumbersInColumns(self.names, (self._doubles + shift, self._kept, self._integers + shift), n)

    def fill(self, rows: Floats, first: int) -> bool:
        self._require_rows(first, len(rows))
        if rows.shape[1] != len(self.names):
            raise IndexError("another number of columns")
        return put_side_by_side(rows, self._integers, self._doubles, first)


@dataclass(frozen=True)
class NumbersInColumns:
    """Numbers that are put side by side when somebody asks for that; none is missing, infinite or huge."""

    names: tuple[str, ...]
    columns: Lying
    n: int
    usable: ClassVar[bool] = True

    @cached_property
    def matrix(self) -> Floats:
        rows = np.empty((self.n, len(self.names)))
        put_side_by_side(rows, self.columns[2], self.columns[0], 0)
        return rows


def side_by_side(parts: Sequence[tuple[Numbers, int, int]]) -> NumberRows | NumbersInColumns:
    """Some rows of each part, given by the first and their number, one after the other; one part where it lies."""
    numbers, first, n = parts[0]
    if len(parts) == 1 and isinstance(numbers, NumberColumns) and numbers.usable:
        return numbers.rows(first, n)
    if len(parts) == 1 and isinstance(numbers, NumberRows):
        return NumberRows(numbers.names, numbers.matrix[first : first + n], numbers.usable)
    matrix = np.empty((sum(k for _, _, k in parts), len(numbers.names)))
    done, usable = 0, True
    for one, first, n in parts:
        usable &= one.fill(matrix[done : done + n], first)
        done += n
    return NumberRows(numbers.names, matrix, usable)


def numbers_of(columns: Mapping[str, pa.Array]) -> Numbers | None:
    """The numeric columns to be put side by side, where they were read so."""
    found = columns.numbers if isinstance(columns, Columns) else None
    return None if isinstance(found, NumbersInColumns) else found


class Columns(MutableMapping[str, pa.Array]):
    """Arrow's arrays by name, each made when it is asked for first.

    Parameters
    ----------
    names
        All columns, in order.
    make
        Makes the column of a name.
    numbers
        The numeric columns once more, for whoever wants them side by side.
    """

    def __init__(
        self,
        names: Sequence[str],
        make: Callable[[str], pa.Array],
        numbers: Numbers | NumbersInColumns | None = None,
    ) -> None:
        self.numbers = numbers
        self._made: dict[str, pa.Array | None] = dict.fromkeys(names)
        self._make = make

    def __getitem__(self, name: str) -> pa.Array:
        column = self._made[name]
        if column is None:
            column = self._made[name] = self._make(name)
        return column

    def __setitem__(self, name: str, column: pa.Array) -> None:
        self._made[name] = column

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def keys(self) -> KeysView[str]:
        """The names; printed, without making the columns."""
        return self._made.keys()

    def __repr__(self) -> str:
        return repr(dict(self))


def height(columns: Mapping[str, pa.Array]) -> int:
    """How many rows the columns have: by the last one, which is the target where there is one, and made anyway."""
    return len(columns[[*columns][-1]]) if columns else 0
