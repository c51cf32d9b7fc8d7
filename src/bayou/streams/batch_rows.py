"""The rows of record batches as columns of a layout's kinds."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayou.dates import is_text, names_of_dates, read_arrow
from bayou.kernels.arrow_arrays import columns_of_batch
from bayou.streams import cells
from bayou.streams import compute as pc
from bayou.streams.columns import Columns, Index, NumberColumns
from bayou.streams.dates import NO_DATE, dates, remedy
from bayou.streams.layout import Layout
from bayou.streams.policy import Draft

_address_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class BatchRows:
    """Turns record batches into rows; batches given together have the same rows, and a part of the columns each.

    Examples
    --------
    >>> from bayou.streams.source import ColumnType
    >>> rows = BatchRows(Layout({"x": ColumnType("numeric")}, "y", "int64", {}, ("x", "y")))
    >>> draft = rows.draft(pa.record_batch({"x": [1, 2]}), pa.record_batch({"y": [3, 4]}))
    >>> draft.columns["x"].to_pylist(), draft.columns["y"].to_pylist()
    ([1.0, 2.0], [3, 4])
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._names = [*layout.columns, *([layout.target] if layout.target is not None else [])]
        self._numeric = tuple(name for name, column in layout.columns.items() if column.kind == "numeric")
        self._others = [name for name in self._names if name not in set(self._numeric)]
        self._places: _Places | None = None

    def draft(self, *batches: pa.RecordBatch) -> Draft:
        """The rows as columns of the layout's kinds, and the cells that do not fit."""
        if self._places is None or not self._places.hold_for(batches):
            self._places = _Places(batches, self._numeric)
        places, rows = self._places, batches[0].num_rows

        def raw(i: int) -> bytes:
            cells = {
                name: cell for batch in batches for name, cell in batch.slice(i, 1).to_pylist()[0].items()
            }
            return repr(cells if len(batches) == 1 else {name: cells[name] for name in self._names}).encode()

        def column(name: str) -> pa.Array:
            batch, j = places.of_name[name]
            return batches[batch].column(j)

        def number(name: str) -> pa.Array:
            return column(name).cast(pa.float64(), safe=False)

        numbers = places.numbers(batches)
        columns = Columns(self._names, number, numbers)
        draft = Draft(columns, np.arange(rows, dtype=np.int64), rows, raw)
        for name in self._names if numbers is None else self._others:
            kind = self._layout.label if name == self._layout.target else self._layout.columns[name].kind
            kind = "numeric" if kind == "float64" else kind
            columns[name] = _fitted(draft, name, kind, column(name))
        return draft


class _Places:
    """The places of columns in batches of certain schemas, found once for all batches of a file."""

    def __init__(self, batches: Sequence[pa.RecordBatch], numeric: tuple[str, ...]) -> None:
        self._schemas = [batch.schema for batch in batches]
        self.of_name = {
            name: (i, j) for i, schema in enumerate(self._schemas) for j, name in enumerate(schema.names)
        }
        self._numeric = numeric
        self._types = [self._schemas[i].types[j] for i, j in map(self.of_name.__getitem__, numeric)]

    def hold_for(self, batches: Sequence[pa.RecordBatch]) -> bool:
        """Whether the batches have these schemas."""
        return len(batches) == len(self._schemas) and all(
            batch.schema.equals(schema) for batch, schema in zip(batches, self._schemas, strict=True)
        )

    def numbers(self, batches: Sequence[pa.RecordBatch]) -> NumberColumns | None:
        """The numeric columns, if every value of their types is a number, so that none can be a misfit."""
        if not self._types or not all(map(_is_number, self._types)):
            return None
        in_place = self._addresses(batches) if self._all_of_64_bits else None
        if in_place is not None:
            return NumberColumns.in_place(self._numeric, batches, *in_place)
        columns = [batches[i].column(j) for i, j in map(self.of_name.__getitem__, self._numeric)]
        return NumberColumns(self._numeric, columns)

    @cached_property
    def _all_of_64_bits(self) -> bool:
        return all(kind in (pa.int64(), pa.float64()) for kind in self._types)

    @cached_property
    def _integers(self) -> NDArray[np.bool_]:
        """Whether each numeric column holds integers."""
        return np.array([kind == pa.int64() for kind in self._types])

    @cached_property
    def _rows_of_all(self) -> Index:
        """The place of each numeric column among the columns of all batches."""
        starts = np.cumsum([0, *map(len, self._schemas)])
        return np.array([starts[i] + j for i, j in map(self.of_name.__getitem__, self._numeric)], np.int64)

    def _addresses(self, batches: Sequence[pa.RecordBatch]) -> tuple[Index, Index] | None:
        """Places and addresses of integers and doubles, int64[p, 2] each; None if values are or may be missing."""
        columns = np.concatenate([columns_in_memory(batch) for batch in batches])[self._rows_of_all]
        missing, offset, flags, values = columns.T
        if ((missing != 0) & (flags != 0)).any() or not values.all():
            return None
        addresses = np.column_stack((np.arange(len(columns)), values + 8 * offset))
        return addresses[self._integers], addresses[~self._integers]


def columns_in_memory(batch: pa.RecordBatch) -> Index:
    """Of each column: how many values are missing (-1: unknown), its offset, and addresses of flags and values.

    The addresses are valid as long as the batch exists. To ask each column for its buffers takes three times as long.
    """
    columns = np.empty((batch.num_columns, 4), np.int64)
    _, capsule = batch.__arrow_c_array__()
    columns_of_batch(columns, _address_in(capsule, b"arrow_array"))
    return columns


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _fitted(draft: Draft, name: str, kind: str, column: pa.Array) -> pa.Array:
    """The column as float64, dictionary, string, dates or labels; cells that do not fit are marked in the draft."""
    if pa.types.is_dictionary(column.type):
        plain = column.type == cells.NOMINAL and kind == "nominal"
        column = column if plain else column.cast(column.type.value_type)
    if kind == "bool":
        return column
    if kind == "int64":
        large = pa.types.is_uint64(column.type) and (pc.max(column).as_py() or 0) >= 2**63
        if large:
            bad = pc.greater_equal(column, pa.scalar(2**63, pa.uint64())).fill_null(False)
            draft.mark(name, bad.to_numpy(zero_copy_only=False), "a label beyond 2^63", column)
            column = pc.if_else(bad, pa.scalar(None, pa.uint64()), column)
        return column if column.type == pa.int64() else column.cast(pa.int64())
    if pa.types.is_temporal(column.type):
        return column if kind == "date" else _undated(column, kind)
    if kind == "date":
        text = column.cast(pa.string())
        column, marks = dates(text)
        draft.mark(name, marks, NO_DATE, text, remedy(name))
        return column
    if kind == "numeric":
        if is_text(column.type):
            text = column.cast(pa.string())
            values, marks = cells.numbers(text)
            draft.mark(name, marks, "not a number", text)
            return values
        return column.cast(pa.float64(), safe=False)
    text = column if column.type == cells.NOMINAL else column.cast(pa.string())
    return text.dictionary_encode() if kind == "nominal" and text.type != cells.NOMINAL else text


def _undated(column: pa.Array, kind: str) -> pa.Array:
    """Dates, times of day and spans as seconds or, if they are to be nominal or text, as names."""
    dates, seconds = read_arrow(column)
    if kind == "numeric":
        return pa.array(seconds, pa.float64(), mask=seconds != seconds)
    text = pa.array(names_of_dates(dates, seconds), pa.string())
    return text.dictionary_encode() if kind == "nominal" else text
