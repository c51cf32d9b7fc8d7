"""Columns of frames and series of pandas and polars, as arrays of NumPy or Arrow, or with their own codes."""

from __future__ import annotations

import sys
from functools import cache, partial
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from bayou.encoding.forms import Coded, Indices, indices_of
from bayou.missing import unmasked

MOST_KNOWN = 8  # kinds of frames whose types are known
MOST_FRAMES = 64  # that are compared with one empty frame


def column_of(values: Any) -> Any:
    """A single column, or labels: as a NumPy array where it is one, else as Arrow or with its codes, else as a list."""
    if is_of("pandas", "Series", values):
        return _pandas_column(values.to_numpy() if isinstance(values.dtype, np.dtype) else values.array)
    if is_of("polars", "Series", values):
        return polars_columns(values.to_frame("labels"))[0]
    return unmasked(values)


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
        return Coded(indices_of(array.codes, categories, len(categories)), lambda: array)
    import pyarrow as pa

    try:
        return pa.array(array, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return list(array)


def polars_columns(X: Any) -> list[Any]:
    """Columns as Arrow, which polars holds already; a Categorical with its own codes rather than made anew."""
    import polars as pl
    import pyarrow as pa

    types = _TYPES.of(X)
    coded = _polars_codes(X, types) if types.coded else {}
    if any(types.arrow):
        chosen = X if all(types.arrow) else X[list(compress(X.columns, types.arrow))]
        arrow = iter(pa.table(chosen).columns)
    if types.plain:
        return list(arrow)
    columns: list[Any] = []
    for j, (kind, is_arrow) in enumerate(zip(types.kinds, types.arrow, strict=True)):
        if j in coded:
            columns.append(coded[j])
        elif is_arrow:
            array = next(arrow)
            columns.append(array.cast("large_binary") if isinstance(kind, pl.Binary) else array)
        else:
            columns.append(X.to_series(j).to_list())
    return columns


class _Types(NamedTuple):
    """The types of a frame's columns, which have codes (by the type of these), and which can be read as Arrow."""

    kinds: list[Any]
    coded: dict[int, np.dtype[Any]]  # Categoricals and Enums
    arrow: list[bool]
    plain: bool  # whether all can be read as Arrow as they are; bytes cannot

    @classmethod
    def of(cls, kinds: list[Any]) -> _Types:
        import polars as pl

        coded = {
            j: np.dtype(str(pl.Series([], dtype=kind).to_physical().dtype).lower())
            for j, kind in enumerate(kinds)
            if isinstance(kind, pl.Categorical | pl.Enum)
        }
        arrow = [not isinstance(kind, pl.Categorical | pl.Enum | pl.Object) for kind in kinds]
        return cls(kinds, coded, arrow, all(arrow) and not any(isinstance(kind, pl.Binary) for kind in kinds))


_NO_TYPES = _Types([], {}, [], True)


class _KnownTypes:
    """The types of the last frames of polars, by the names of their columns.

    polars makes types anew whenever it is asked, which takes as long as to read hundreds of rows; whether a frame has
    the types of another one, it says at once. That other one is empty, and replaced from time to time: polars cannot
    forget its categories, of which there may be ever more.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[Any, _Types, int]] = {}

    def of(self, X: Any) -> _Types:
        """The types of a frame's columns; the same objects for frames of the same types."""
        import polars as pl

        names = tuple(X.columns)
        types: _Types
        empty, types, frames = self._known.pop(names, (None, _NO_TYPES, 0))
        if empty is not None and _fits(X, empty):
            self._known[names] = (empty if frames < MOST_FRAMES else None), types, frames + 1
            return types
        kinds = X.dtypes
        if kinds != types.kinds:
            types = _Types.of(kinds)
        if pl.Null not in kinds:  # to which columns of all types can be added
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[names] = X.clear(), types, 0
        return types


_TYPES = _KnownTypes()


def _fits(X: Any, empty: Any) -> bool:
    """Whether an empty frame has the names and types of this one."""
    import polars as pl

    try:
        X.vstack(empty)
    except pl.exceptions.PolarsError:
        return False
    return True


def _polars_codes(X: Any, types: _Types) -> dict[int, Any]:
    """The Categoricals and Enums of a frame by their own codes; as Arrow's dictionaries if polars has none to read."""
    if _codes_are_common():
        try:
            return _exported_codes(X, types)
        except OSError:
            pass  # they lie in memory in another way
    return {j: X.to_series(j).to_arrow() for j in types.coded}


def _exported_codes(X: Any, types: _Types) -> dict[int, Any]:
    """The codes of Categoricals and Enums; they are asked for as one struct, which takes half the time."""
    from bayou.encoding.exported import ExportedStruct  # imported only where there is polars

    chosen = X if len(types.coded) == X.width else X[[X.columns[j] for j in types.coded]]
    struct = chosen.to_struct("codes").rechunk().to_frame().select_seq(_physical()).to_series()
    n, columns = len(X), {}
    exported = ExportedStruct(struct, n)
    for (j, dtype), (values, valid, offset) in zip(types.coded.items(), exported.columns(), strict=True):
        address = values + offset * dtype.itemsize
        form = Indices(n, dtype, address, valid, offset, types.kinds[j], None, exported)
        columns[j] = Coded(form, partial(X.to_series, j))
    return columns


@cache
def _codes_are_common() -> bool:
    """Whether a code stands for the same category in all columns of a type: before 1.32, only within a column."""
    import polars as pl

    return hasattr(pl, "Categories")


@cache
def _physical() -> Any:
    """The expression of polars for the codes; to build it takes half as long as to evaluate it."""
    import polars as pl

    return pl.col("codes").to_physical()
