"""An order of the rows of a table that depends on their content alone, not on their order in the table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.block import Floats
from bayou.encoding.columns import NUMBERS, as_float, distinct, numbers
from bayou.encoding.forms import is_arrow, python_values
from bayou.encoding.frames import column_of
from bayou.encoding.table import Sparse, Table
from bayou.errors import DataError, SchemaError
from bayou.hashing import hash_keys, mixed_bits
from bayou.kernels.cell_hashes import add_number_hashes
from bayou.missing import is_missing

Hashes = NDArray[np.uint64]
LABEL = np.uint64(0x6C6162656C)  # stands for the name of the labels
REFUSED = (DataError, SchemaError, TypeError, ValueError, ArithmeticError, NotImplementedError)


def hashed_order(table: Table, labels: Any, weights: Floats | None = None) -> NDArray[np.int64]:
    """Indices of the rows, shuffled by a hash of their content: a permuted table gives the same rows in the same order.

    A row is hashed by the names and values of its present cells and its label, with the same hash for every type of
    input (arrays, frames, records) and on every machine. Equal rows are numbered, those of less weight first, and the
    number is hashed with them, so that they do not follow each other. Rows of weight 0 come last, as if absent.

    >>> from bayou.encoding.table import table_of
    >>> rows = [{"sky": "red"}, {"sky": "blue"}, {"sky": "grey"}, {"sky": "red"}]
    >>> hashed_order(table_of(rows), [0, 1, 0, 0]), hashed_order(table_of(rows[::-1]), [0, 0, 1, 0])
    (array([3, 1, 2, 0]), array([3, 2, 1, 0]))
    """
    hashes = row_hashes(table, labels)
    w = np.ones(table.n) if weights is None else weights
    weighted = np.flatnonzero(w > 0)
    keys = mixed_bits(hashes[weighted] ^ mixed_bits(np.zeros(1, np.uint64)))
    order = np.argsort(keys)
    repeats = np.diff(keys[order]) == 0  # whether a row equals the one before it
    if repeats.any():
        twins = np.sort(order[np.append(repeats, False) | np.insert(repeats, 0, False)])
        twins = twins[np.lexsort((w[weighted[twins]], keys[twins]))]
        begins = np.flatnonzero(np.diff(keys[twins], prepend=~keys[twins[:1]]) != 0)
        number = np.arange(len(twins)) - np.repeat(begins, np.diff(begins, append=len(twins)))
        keys[twins] = mixed_bits(hashes[weighted[twins]] ^ mixed_bits(number.astype(np.uint64)))
        order = np.argsort(keys)
    return np.concatenate([weighted[order], np.flatnonzero(~(w > 0))])


def row_hashes(table: Table, labels: Any) -> Hashes:
    """A hash of each row: the sum over its present cells, so that the order of the columns does not count."""
    total = _cell_hashes(LABEL, column_of(labels))
    names = list(table.names)
    if names == [str(j) for j in range(len(names))]:
        names = [f"x{j}" for j in range(len(names))]  # a frame without names gives the hashes of its array
    for j, name in enumerate(hash_keys(names).view(np.uint64)):
        _add_column(total, name, table.columns[j] if table.matrix is None else table.matrix[:, j])
    if table.sparse is not None:
        total += _hashed_words(table.sparse)
    return total


def _add_column(total: Hashes, name: np.uint64, column: Any) -> None:
    """Add the hash of each row's cell in a column."""
    try:
        values = np.ascontiguousarray(numbers(column, "", 0)) if _are_numbers(column) else None
    except REFUSED:
        values = None
    if values is None:
        total += _cell_hashes(name, column)
    else:
        values = values.view()
        values.flags.writeable = False  # as memory of Arrow's is: one kernel for both
        add_number_hashes(total, values, values.view(np.int64), int(name.view(np.int64)))


def _cells(name: np.uint64 | Hashes, values: Hashes) -> Hashes:
    """Hashes of cells: a column's name and values; 0 where missing."""
    return np.where(values == 0, np.uint64(0), mixed_bits(values ^ name))


def _hashed_words(words: Sparse) -> Hashes:
    """The sum over the words of each row."""
    names = hash_keys(list(words.names)).view(np.uint64)
    present = np.where(words.counts == 0, np.nan, words.counts)
    ends = np.concatenate(
        [np.zeros(1, np.uint64), np.cumsum(_cells(names[words.ids], _hashed_numbers(present)))]
    )
    sums: Hashes = ends[words.indptr[1:]] - ends[words.indptr[:-1]]
    return sums


def _hashed_numbers(values: Floats) -> Hashes:
    """Hashes of numbers, 0 for NaN."""
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)  # + 0.0: -0 is 0
    return np.where(np.isnan(values), np.uint64(0), mixed_bits(bits) | np.uint64(1))


def _cell_hashes(name: np.uint64, values: Any) -> Hashes:
    """Hashes of a column's cells, 0 where missing; of values that the encoder will refuse, those of their text."""
    try:
        if _are_numbers(values):
            return _cells(name, _hashed_numbers(numbers(values, "", 0)))
        uniques, place, _ = distinct(values, None, 0)
    except REFUSED:
        texts = [None if is_missing(value) else str(value) for value in python_values(values)]
        uniques, place, _ = distinct(texts, None, 0)
    are_numbers = np.array([isinstance(v, NUMBERS) and not isinstance(v, bool) for v in uniques], dtype=bool)
    as_numbers = _hashed_numbers(
        np.array([as_float(v) if n else 0.0 for v, n in zip(uniques, are_numbers, strict=True)])
    )
    hashes = np.where(are_numbers, as_numbers, hash_keys(uniques).view(np.uint64))
    return np.append(_cells(name, hashes), np.uint64(0))[place]


def _are_numbers(values: Any) -> bool:
    """Whether a column holds numbers, by its type."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype.kind in "iuf"
    if is_arrow(values):
        from pyarrow import types

        return bool(types.is_integer(values.type) or types.is_floating(values.type))
    return isinstance(values, list) and {float, int, type(None)}.issuperset(map(type, values))
