"""Columns of frames and series of pandas and polars, as arrays of NumPy or Arrow, or with their own codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from itertools import compress, takewhile
from typing import Any

import numpy as np

from bayou.encoding.forms import Coded, one_array


def column_of(values: Any) -> Any:
    """A single column, or labels: as a NumPy array where it is one, else as Arrow or with its codes, else as a list."""
    if is_of("pandas", "Series", values):
        return _pandas_column(values.to_numpy() if isinstance(values.dtype, np.dtype) else values.array)
    if is_of("polars", "Series", values):
        return polars_columns(values.to_frame("labels"))[0]
    return values


def is_of(module: str, name: str, value: Any) -> bool:
    """Whether a value is of a library's class, which it cannot be unless the library is imported."""
    # Another thread may be importing the library, so that the class is not there yet.
    return module in sys.modules and isinstance(value, getattr(sys.modules[module], name, ()))


def pandas_columns(frame: Any) -> list[Any]:
    """The columns of a frame of pandas as arrays; to make a Series of each would take longer than to encode it."""
    arrays = getattr(frame, "_iter_column_arrays", None)
    if arrays is None:
        return [column_of(series) for _, series in frame.items()]
    return [_pandas_column(array) for array in arrays()]


def _pandas_column(array: Any) -> Any:
    if isinstance(array, np.ndarray):
        return array
    categories = getattr(array, "categories", None)
    if categories is not None:
        return Coded(array.codes, categories, array)
    import pyarrow as pa

    try:
        return pa.array(array, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return list(array)


def polars_columns(X: Any) -> list[Any]:
    """Columns as Arrow, which polars holds already; a Categorical with its own codes rather than made anew."""
    import polars as pl
    import pyarrow as pa

    kinds = list(
        takewhile(lambda kind: type(kind) is not pl.Enum, (column.dtype for column in X.iter_columns()))
    )
    if len(kinds) < X.width:  # to ask for an Enum's type takes as long as to read a thousand of its cells
        reader = pa.RecordBatchReader.from_stream(X)
        if _are_readable(reader.schema.types):
            found: list[Any] = reader.read_all().columns
            return found
        kinds = X.dtypes
    coded = [type(kind) is pl.Categorical for kind in kinds]
    if all(coded):
        return list(map(Coded, _polars_codes(X), kinds, X.get_columns()))
    objects = [isinstance(kind, pl.Object) for kind in kinds]
    others = [not (one or other) for one, other in zip(coded, objects, strict=True)]
    codes = iter(_polars_codes(_select(X, coded)) if any(coded) else ())
    arrow = iter(pa.table(_select(X, others)).columns if any(others) else ())
    columns: list[Any] = []
    for j, (column, kind) in enumerate(zip(X.get_columns(), kinds, strict=True)):
        if coded[j]:
            columns.append(Coded(next(codes), kind, column))
        elif objects[j]:
            columns.append(column.to_list())
        else:
            array = next(arrow)
            columns.append(array.cast("large_binary") if isinstance(kind, pl.Binary) else array)
    return columns


def _are_readable(kinds: Sequence[Any]) -> bool:
    """Whether columns of polars can be read as Arrow: neither a Categorical nor binary data, which may be objects.

    Dictionaries without an order are those of Categoricals.
    """
    from pyarrow import lib

    binary = lib.Type_BINARY_VIEW, lib.Type_FIXED_SIZE_BINARY
    return all(kind.ordered if kind.id == lib.Type_DICTIONARY else kind.id not in binary for kind in kinds)


def _select(X: Any, mask: list[bool]) -> Any:
    return X if all(mask) else X[list(compress(X.columns, mask))]


def _polars_codes(X: Any) -> list[Any]:
    """The codes of a frame of Categoricals as Arrow arrays; converted as one struct, they take half the time."""
    import pyarrow as pa

    struct = X.to_struct("codes").to_frame().select_seq(_physical()).to_series()
    codes = one_array(pa.chunked_array(struct))
    return [codes.field(j) for j in range(X.width)]


@cache
def _physical() -> Any:
    """The expression of polars for the codes; to build it takes half as long as to evaluate it."""
    import polars as pl

    return pl.col("codes").to_physical()
