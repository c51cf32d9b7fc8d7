"""Single columns: the kind of a column, its numbers, its distinct values."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from math import inf
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.encoding.forms import (
    Coded,
    Indices,
    address_of,
    cells_at,
    dictionary_form,
    is_arrow,
    is_double,
    one_array,
    python_values,
)
from bayou.errors import DataError, SchemaError
from bayou.kernels.look_up import MISS, first_misses, translate
from bayou.missing import is_missing
from bayou.schema import Kind, Label, identity_key

NUMBERS = (Real, Decimal)
_PLAIN = frozenset((float, int, np.float64, np.int64, type(None)))
SPAN = 1 << 12  # a range of integers up to this size is searched by a table instead of sorting


def kind_of(values: Any, name: str) -> tuple[Kind | None, int]:
    """The column's kind, by its type or else its first present value, and the row of that value.

    >>> kind_of([None, "mon"], "day")
    (<Kind.NOMINAL: 'nominal'>, 1)
    """
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        if dtype.kind in "iuf":
            return Kind.NUMERIC, 0
        if dtype.kind in "bUST":
            return Kind.NOMINAL, 0
        if dtype.kind != "O":
            raise _unreadable(name, str(dtype))
    elif is_arrow(values):
        return _arrow_kind(values, name), 0
    elif isinstance(values, Coded):
        entries = values.arrow_dictionary()
        if entries is not None:
            return _arrow_kind(entries, name), 0
    for i, value in enumerate(values):
        if not is_missing(value):
            number = isinstance(value, NUMBERS) and not isinstance(value, bool | np.bool_)
            return (Kind.NUMERIC if number else Kind.NOMINAL), i
    return None, len(values)


def numbers(values: Any, name: str, start: int) -> NDArray[np.float64]:
    """The column as float64, NaN for missing; a value that is no number is an error that names it."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iufb":
        return np.asarray(values, dtype=np.float64)
    if is_arrow(values) and is_double(values):
        return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
    if is_arrow(values) and _arrow_kind(values, name) is Kind.NUMERIC:
        import pyarrow as pa

        # Beyond 2^53 integers are rounded, as those of NumPy and of files are
        floats = values if values.type == pa.float64() else values.cast(pa.float64(), safe=False)
        return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)
    if isinstance(values, list) and _PLAIN.issuperset(map(type, values)):
        with suppress(OverflowError):  # an integer beyond all floats
            return np.array(values, dtype=np.float64)
    out = np.full(len(values), np.nan)
    for i, value in enumerate(python_values(values)):
        if is_missing(value):
            continue
        if not isinstance(value, NUMBERS):
            raise DataError(
                "a numeric column holds something that is not a number",
                row=start + i,
                column=name,
                value=value,
                remedy="clean the value, leave it out as missing, or declare the column nominal with "
                f"schema=Declared(columns={{{name!r}: 'nominal'}})",
            )
        out[i] = as_float(value)
    return out


def doubles(values: Any, name: str, start: int) -> tuple[int, Any]:
    """The address of the column's numbers as contiguous float64, and the object that owns this memory."""
    if is_arrow(values) and is_double(values) and not values.null_count:
        array = one_array(values)
        return array.buffers()[1].address + 8 * array.offset, array
    array = np.ascontiguousarray(numbers(values, name, start))
    return address_of(array), array


def as_float(value: Any) -> float:
    """The nearest float64; an integer beyond their range is infinite, which counts as missing.

    >>> as_float(10**400)
    inf
    """
    try:
        return float(value)
    except OverflowError:
        return inf


def distinct(
    values: Any, name: str | None, start: int, where: NDArray[np.int64] | None = None
) -> tuple[list[Label], NDArray[np.int64], list[int]]:
    """Distinct values in order of first appearance, each row's position among them (-1 missing), first rows.

    Errors number the rows from `start` on, or by `start + where` if the values are not those of consecutive rows.
    """
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iub" and len(values) > 1:
        low, high = int(values.min()), int(values.max())
        if high - low <= SPAN:
            return _distinct_integers(values, low, high)
    row_numbers = range(start, start + len(values)) if where is None else start + where
    coded = dictionary_form(values)
    if coded is not None:
        return _distinct_entries(values, coded, name, row_numbers)
    if isinstance(dtype, np.dtype) and dtype.kind in "iufbUS" and len(values) > 1:
        uniques, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        if dtype.kind == "f" and len(uniques) and uniques[-1] != uniques[-1]:
            inverse = np.where(values != values, -1, inverse)
            uniques, first = uniques[:-1], first[:-1]
        order = np.argsort(first)
        rank = np.empty(len(order) + 1, dtype=np.int64)
        rank[order] = np.arange(len(order))
        rank[-1] = -1
        return uniques[order].tolist(), rank[inverse], first[order].tolist()
    return _distinct_objects(values, name, row_numbers)


def _distinct_objects(
    values: Sequence[Any], name: str | None, row_numbers: Sequence[int] | NDArray[np.int64]
) -> tuple[list[Label], NDArray[np.int64], list[int]]:
    """The distinct values among Python objects, whose rows have these numbers."""
    uniques: list[Label] = []
    rows: list[int] = []
    position: dict[Any, int] = {}
    inverse = np.full(len(values), -1, dtype=np.int64)
    for i, value in enumerate(values):
        if is_missing(value):
            continue
        value = value.item() if isinstance(value, np.generic) else value
        if not isinstance(value, str | bytes | int | float):
            raise DataError(
                "argument must be a string or a number, or missing",
                row=int(row_numbers[i]),
                column=name,
                value=value,
                remedy="turn it into text",
            )
        key = identity_key(value)
        if key not in position:
            position[key] = len(uniques)
            uniques.append(value)
            rows.append(i)
        inverse[i] = position[key]
    return uniques, inverse, rows


def _distinct_entries(
    values: Any, coded: Indices, name: str | None, row_numbers: Sequence[int] | NDArray[np.int64]
) -> tuple[list[Label], NDArray[np.int64], list[int]]:
    """The distinct values of a column with a dictionary, whose entries may be equal, missing or unused."""
    table = np.full(coded.size, MISS, dtype=np.int32)
    rows = np.empty(coded.size, dtype=np.int64)
    rows = rows[: first_misses(rows, coded.indices, coded.valid, coded.offset, table)]
    cells = cells_at(values, rows)
    uniques, inner, first = _distinct_objects(cells, name, [int(row_numbers[i]) for i in rows.tolist()])
    table[coded.indices[rows]] = inner
    inverse = np.empty((1, len(values)), dtype=np.int32)
    translate(inverse, 0, coded.indices, coded.valid, coded.offset, table)
    return uniques, inverse[0].astype(np.int64), rows[first].tolist()


def _distinct_integers(
    values: NDArray[Any], low: int, high: int
) -> tuple[list[Label], NDArray[np.int64], list[int]]:
    """The distinct values of integers in a small range, without sorting."""
    wide = np.uint64 if values.dtype.kind == "u" else np.int64
    cells = (values.astype(wide) - wide(low)).astype(np.int64)
    first = np.full(high - low + 1, -1, dtype=np.int64)
    first[cells[::-1]] = np.arange(len(cells) - 1, -1, -1)  # the last to write is the first row
    present = np.flatnonzero(first >= 0)
    order = present[np.argsort(first[present])]
    rank = np.empty(len(first), dtype=np.int64)
    rank[order] = np.arange(len(order))
    rows = first[order]
    return values[rows].tolist(), rank[cells], rows.tolist()


def has_type(values: Any) -> bool:
    """Whether the column's type determines its kind, so that no value is needed."""
    dtype = getattr(values, "dtype", None)
    return (
        is_arrow(values) or isinstance(values, Coded) or (isinstance(dtype, np.dtype) and dtype.kind != "O")
    )


def _arrow_kind(values: Any, name: str) -> Kind | None:
    """The kind of an Arrow column; None if all its values are null."""
    from pyarrow import types

    categories = types.is_dictionary(values.type)
    t = values.type.value_type if categories else values.type
    if types.is_null(t):
        return None
    if types.is_integer(t) or types.is_floating(t) or types.is_decimal(t):
        return Kind.NOMINAL if categories else Kind.NUMERIC
    text = types.is_string(t) or types.is_large_string(t) or types.is_string_view(t)
    if text or types.is_boolean(t) or types.is_binary(t) or types.is_large_binary(t):
        return Kind.NOMINAL
    raise _unreadable(name, str(t))


def _unreadable(name: str, what: str) -> SchemaError:
    return SchemaError(
        f"column {name!r} is of type {what}, which is neither numeric nor nominal nor text; "
        "convert it (a date to a number or a name), or leave it out"
    )
