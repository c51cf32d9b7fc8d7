"""Discretising and grouping of a column in memory."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.errors import DataError
from bayou.readings.modl import MODL
from bayou.readings.modl_groups import Grouping, MODLGroups
from bayou.readings.partition import Discretiser, Floats, Ints, Partition

_HUGE = 1e140


def discretize(values: Any, y: Any, bins: Discretiser | None = None) -> Partition:
    """Discretise a numeric column, given all its values and their classes.

    Parameters
    ----------
    values
        n numbers; None, NaN and infinities are missing, and their rows are left out.
    y
        n class labels of any kind; rows without one are left out. Columns of `counts` follow the sorted
        labels.
    bins
        The discretiser, `MODL()` if not given.

    Returns
    -------
    Partition
        `cuts`, `counts` per interval and class, and `level`; `cell_of(values)` finds the interval of each value.

    Cost: one sort, then the discretiser's on the distinct values.

    Examples
    --------
    >>> weight = [60, 61, 64, 66, 70, 71, 74, 80, None]
    >>> healthy = ["yes", "yes", "yes", "yes", "no", "no", "no", "no", "no"]
    >>> partition = discretize(weight, healthy)
    >>> partition.cuts, partition.counts.tolist()
    (array([68.]), [[0.0, 4.0], [4.0, 0.0]])
    >>> partition.cell_of([50, 99])
    array([0, 1], dtype=int32)
    """
    numbers = _numbers(values)
    classes, labels = _codes(y)
    _same_length(len(numbers), len(classes))
    known = (classes >= 0) & (np.abs(numbers) <= _HUGE)
    upper, cell = np.unique(numbers[known], return_inverse=True)
    counts = _table(cell, classes[known], len(upper), len(labels))
    return (bins or MODL()).partition(upper, counts, midpoints=True)


def group(values: Any, y: Any, groups: MODLGroups | None = None) -> Grouping:
    """Group the values of a nominal column by their classes.

    Parameters
    ----------
    values
        n values of any kind; None and NaN are missing, and their rows are left out.
    y
        n class labels of any kind; rows without one are left out.
    groups
        The grouping method, `MODLGroups()` if not given.

    Returns
    -------
    Grouping
        `groups` of values, `counts` per group and class, and `level`.

    Examples
    --------
    >>> colour = ["red"] * 9 + ["blue"] * 9 + ["rose"] * 9
    >>> group(colour, [1] * 9 + [0] * 9 + [1] * 9).groups
    [['blue'], ['red', 'rose']]
    """
    codes, names = _codes(values)
    classes, labels = _codes(y)
    _same_length(len(codes), len(classes))
    known = (classes >= 0) & (codes >= 0)
    counts = _table(codes[known], classes[known], len(names), len(labels))
    return dataclasses.replace((groups or MODLGroups()).group(counts), values=names)


def _same_length(values: int, classes: int) -> None:
    if values != classes:
        raise DataError(f"{values} values but {classes} classes", remedy="give one class per value")


def _table(rows: NDArray[Any], columns: Ints, n_rows: int, n_columns: int) -> Floats:
    """Contingency table of two code columns."""
    cells = np.bincount(rows * n_columns + columns, minlength=n_rows * n_columns)
    return cells.astype(np.float64).reshape(n_rows, n_columns)


def _column(values: Any) -> NDArray[Any]:
    """A one-dimensional array; lists become object arrays, so that no value is converted."""
    if isinstance(values, list | tuple):
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"expected one column, got shape {array.shape}", remedy="pass one column at a time")
    return array


def _is_missing(value: object) -> bool:
    return (
        value is None
        or (isinstance(value, float | np.floating) and math.isnan(value))
        or type(value).__name__ in ("NAType", "NaTType")
    )


def _numbers(values: Any) -> Floats:
    """float64[n] with NaN for missing values; refuses what is not a number."""
    column = _column(values)
    if column.dtype.kind in "fiu":
        return column.astype(np.float64)
    numbers = np.empty(len(column))
    for row, value in enumerate(column.tolist()):
        if _is_missing(value):
            numbers[row] = np.nan
        elif isinstance(value, str | bytes | bool):
            raise DataError("not a number", row=row, value=value, remedy="bayou.group takes nominal values")
        else:
            try:
                numbers[row] = float(value)
            except (TypeError, ValueError, OverflowError) as error:
                raise DataError("not a number", row=row, value=value) from error
    return numbers


def _codes(values: Any) -> tuple[Ints, tuple[object, ...]]:
    """Codes in the order of (type, value), -1 for missing, and the values they stand for."""
    column = _column(values)
    if column.dtype.kind in "fiubUS":
        names, codes = np.unique(column, return_inverse=True)
        if column.dtype.kind == "f":
            codes[np.isnan(column)] = -1
            names = names[~np.isnan(names)]
        return codes.astype(np.int64), tuple(names.tolist())
    labels = column.tolist()
    seen: dict[object, int] = {}
    for row, value in enumerate(labels):
        if not _is_missing(value):
            try:
                seen.setdefault(value, 0)
            except TypeError as error:
                raise DataError("not usable as a label", row=row, value=value) from error
    try:
        ordered = sorted(seen, key=lambda label: (type(label).__name__, label))
    except TypeError:
        ordered = sorted(seen, key=lambda label: (type(label).__name__, repr(label)))
    seen = {label: code for code, label in enumerate(ordered)}
    codes = np.array([-1 if _is_missing(value) else seen[value] for value in labels], dtype=np.int64)
    return codes, tuple(ordered)
