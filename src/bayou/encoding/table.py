"""Tables: the common form of all batches before they are encoded, named columns of equal length."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.encoding.columns import NUMBERS, as_float
from bayou.encoding.forms import is_arrow, picked
from bayou.encoding.frames import is_of, pandas_columns, polars_columns
from bayou.errors import DataError
from bayou.missing import is_missing, unmasked
from bayou.vocabulary import NumberedNames

Matrix = NDArray[np.float64]


@dataclass
class Sparse:
    """Sparse rows whose columns are words; `complete` if the names are the whole vocabulary (a matrix).

    `first` is the first row with a count; in a matrix, the first row.
    """

    indptr: NDArray[np.int64]
    ids: NDArray[np.int32]
    counts: Matrix
    names: Sequence[str]
    complete: bool
    first: int = 0

    def take(self, where: slice | NDArray[np.int64]) -> Sparse:
        """The rows of a range, or at any places in any order."""
        rows = np.arange(len(self.indptr) - 1)[where]
        lengths = self.indptr[rows + 1] - self.indptr[rows]
        indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        cells = np.arange(int(indptr[-1])) + np.repeat(self.indptr[rows] - indptr[:-1], lengths)
        return Sparse(indptr, self.ids[cells], self.counts[cells], self.names, self.complete)


@dataclass
class Table:
    """Columns by name: a float64 matrix, or one array (NumPy, Arrow or list) per column, and sparse words."""

    n: int
    names: Sequence[str] = ()
    columns: list[Any] = field(default_factory=list)
    matrix: Matrix | None = None
    sparse: Sparse | None = None
    named: bool = True
    complete: bool = True  # the names are all columns, as in a matrix or frame; other records may have more
    dates: Sequence[str] = ()  # columns of dates, whose seconds and parts are among the columns
    numbers: Any = None  # the numeric columns as a stream has read them: names, matrix, usable, columns

    def take(self, where: slice | NDArray[np.int64]) -> Table:
        """The rows of a range, or at any places in any order."""
        return Table(
            len(range(*where.indices(self.n))) if isinstance(where, slice) else len(where),
            self.names,
            [picked(column, where) for column in self.columns],
            None if self.matrix is None else np.ascontiguousarray(self.matrix[where]),
            None if self.sparse is None else self.sparse.take(where),
            self.named,
        )


def table_of(X: Any) -> Table:
    """A batch of any supported type as a table; raises DataError for other types."""
    if isinstance(X, Table):
        return X
    if isinstance(X, np.ndarray):
        if X.dtype.names is not None and X.ndim == 1:
            return _from_columns({name: X[name] for name in X.dtype.names})
        return _from_array(unmasked(X))
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):
        return _from_sparse(X)
    if isinstance(X, Mapping):
        return _from_columns(dict(zip(_names([*X]), X.values(), strict=True)))
    if hasattr(X, "labels") and hasattr(X, "words") and hasattr(X, "columns"):
        return _from_rows(X)
    if isinstance(X, list | tuple):
        if not X:
            return Table(0, complete=False)
        if all(type(row) is dict or isinstance(row, Mapping) for row in X):
            return _from_records(X)
        if all(isinstance(row, str) for row in X):
            return _from_documents(X)
        if all(hasattr(row, "items") for row in X):
            return _from_records([dict(row.items()) for row in X])
        return _from_array(_array_of(X))
    return _from_frame(X)


def _array_of(X: Sequence[Any]) -> NDArray[Any]:
    try:
        return np.asarray(X)
    except ValueError:
        raise DataError(
            "the rows have different lengths", remedy="give every row the same number of cells"
        ) from None


def _from_array(X: NDArray[Any]) -> Table:
    if X.ndim == 0:
        raise DataError(f"Expected 2D array, got scalar array instead: {X!r}", remedy="Reshape your data")
    if X.ndim == 1:
        return _from_documents(X.tolist())
    if X.ndim > 2:
        raise DataError(f"Found array with dim {X.ndim}, while dim <= 2 is required")
    if X.dtype.kind == "c":
        raise DataError("Complex data not supported")
    names = column_names(X.shape[1])
    if X.dtype.kind in "iuf":
        return Table(len(X), names, matrix=_writable(X, np.dtype(np.float64)), named=False)
    return Table(len(X), names, list(np.ascontiguousarray(X.T)), named=False)


@lru_cache(maxsize=8)
def column_names(d: int) -> tuple[str, ...]:
    """Names of the columns of a nameless matrix of numbers."""
    return NumberedNames(range(d)).names()


def _from_columns(columns: Mapping[str, Any]) -> Table:
    single = next((name for name, values in columns.items() if not hasattr(values, "__len__")), None)
    if single is not None:
        raise DataError(
            "a column is a list or array of values",
            column=single,
            value=columns[single],
            remedy="give one record as a list, [{...}]",
        )
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"columns of different lengths: {lengths}")
    return Table(
        next(iter(lengths.values()), 0), list(columns), [unmasked(values) for values in columns.values()]
    )


def _from_documents(texts: Sequence[Any]) -> Table:
    """A table with one column of text; raises DataError for other values of one dimension."""
    if not all(isinstance(text, str) for text in texts) or not texts:
        raise DataError(
            "Expected 2D array, got 1D array instead", remedy="Reshape your data, e.g. X.reshape(-1, 1)"
        )
    return _from_columns({"text": list(texts)})


def _from_records(records: Sequence[Mapping[Any, Any]]) -> Table:
    """Columns in order of their first present value, so that the order does not depend on the batch."""
    keys = tuple(records[0]) if records else ()
    if all(type(key) is str for key in keys) and all(tuple(record) == keys for record in records):
        return _from_even_records(records, keys)
    columns: dict[str, list[Any]] = {}
    for i, record in enumerate(records):
        for name, value in record.items():
            if is_missing(value):
                continue
            cells = columns.get(str(name))
            if cells is None:
                cells = columns[str(name)] = [None] * len(records)
            elif cells[i] is not None:
                raise DataError(
                    "two keys of a record have the same name",
                    column=str(name),
                    value=[cells[i], value],
                    remedy='names of columns are text, so 1 and "1" are one column: rename or drop one of the keys',
                )
            cells[i] = value
    return Table(len(records), list(columns), list(columns.values()), complete=False)


def _from_even_records(records: Sequence[Mapping[Any, Any]], keys: Sequence[str]) -> Table:
    """Columns of records that all have the same keys in the same order, without a step per cell."""
    columns = []
    for name, cells in zip(keys, zip(*(record.values() for record in records), strict=True), strict=False):
        first = next((i for i, value in enumerate(cells) if not is_missing(value)), None)
        if first is not None:
            columns.append((first, name, list(cells)))
    columns.sort(key=lambda entry: entry[0])
    return Table(len(records), [f[1] for f in columns], [f[2] for f in columns], complete=False)


def sparse_of_records(records: Sequence[Mapping[Any, Any]], start: int) -> Table:
    """Records whose numbers are counts of words, and whose strings are columns of text."""
    ids: dict[str, int] = {}
    indptr = [0]
    cells: list[tuple[int, float]] = []
    texts: list[dict[Any, str]] = [{} for _ in records]
    for i, record in enumerate(records):
        for name, value in record.items():
            if isinstance(value, str):
                texts[i][name] = value
            elif isinstance(value, NUMBERS):
                cells.append((ids.setdefault(str(name), len(ids)), as_float(value)))
            elif value is not None:
                raise DataError("a count of words is not a number", row=start + i, column=name, value=value)
        indptr.append(len(cells))
    table = _from_records(texts)
    if not cells:
        return table
    words, counts = zip(*cells, strict=True)
    table.sparse = Sparse(
        np.array(indptr),
        np.array(words, np.int32),
        np.array(counts, np.float64),
        list(ids),
        complete=False,
        first=next(i for i, end in enumerate(indptr[1:]) if end),
    )
    return table


def _from_sparse(X: Any) -> Table:
    csr = X if getattr(X, "format", "csr") == "csr" else X.tocsr()
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if csr.dtype.kind == "c":
        raise DataError("Complex data not supported")
    sparse = Sparse(
        np.array(csr.indptr, dtype=np.int64),
        _writable(csr.indices, np.dtype(np.int32)),
        _writable(csr.data, np.dtype(np.float64)),
        NumberedNames(range(csr.shape[1])),
        complete=True,
    )
    return Table(csr.shape[0], sparse=sparse, named=False)


def _writable(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array as kernels need it, contiguous and writable; copied only if it is of another type or read-only."""
    out = np.ascontiguousarray(array, dtype=dtype)
    return out if out.flags.writeable else out.copy()


class NumberTable(Table):
    """A table of numbers that a stream has read; the matrix is built when it is first read."""

    @property
    def matrix(self) -> Matrix | None:
        matrix: Matrix = self.numbers.matrix
        return matrix

    @matrix.setter
    def matrix(self, value: Matrix | None) -> None:
        """Ignore the value: the matrix is that of `numbers`."""


def _from_rows(rows: Any) -> Table:
    """The table of a batch of rows from a stream source."""
    numbers = getattr(rows.columns, "numbers", None)
    if numbers is None:
        table = _from_columns(rows.columns)
    elif len(numbers.names) == len(rows.columns):
        table = NumberTable(len(rows), numbers.names, numbers=numbers)
    else:
        beside = {name: numbers.matrix[:, j] for j, name in enumerate(numbers.names)}
        columns = [beside[name] if name in beside else rows.columns[name] for name in rows.columns]
        table = Table(len(rows), list(rows.columns), columns, numbers=numbers)
    table.n = len(rows)
    if rows.words is not None:
        w = rows.words
        table.sparse = Sparse(w.indptr, w.ids, w.counts, w.names, complete=True)
    return table


def _from_frame(X: Any) -> Table:
    import narwhals as nw
    import pyarrow as pa

    if isinstance(X, pa.Table | pa.RecordBatch):
        return Table(X.num_rows, _names(X.schema.names), X.columns)
    if is_of("pandas", "DataFrame", X):
        return Table(len(X), _names(X.columns.tolist()), pandas_columns(X))
    if is_of("polars", "DataFrame", X):
        return Table(len(X), X.columns, polars_columns(X))
    frame = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        columns = [_series(frame.get_column(name)) for name in frame.columns]
        return Table(len(frame), _names(frame.columns), columns)
    if isinstance(frame, nw.Series) or is_arrow(X):
        return _from_documents(X.to_list() if isinstance(frame, nw.Series) else X.to_pylist())
    if hasattr(X, "__arrow_c_stream__"):
        return _from_frame(pa.table(X))
    if hasattr(X, "__array__"):
        return _from_array(np.asarray(X))
    raise DataError(
        f"cannot read rows from {type(X).__name__}",
        remedy="give records, an array, a scipy sparse matrix, or a pandas, polars or Arrow table (collect a lazy one)",
    )


def _names(columns: Sequence[Any]) -> list[str]:
    names = [str(column) for column in columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError("two columns have the same name", column=twice, remedy="rename or drop one of them")
    return names


def _series(series: Any) -> Any:
    """A frame's column as a NumPy array where it is one, else as Arrow, else as a list."""
    native = series.to_native()
    if (
        "pandas" in sys.modules
        and getattr(native, "dtype", None) is not None
        and isinstance(native.dtype, np.dtype)
    ):
        return native.to_numpy()
    try:
        return series.to_arrow()
    except (TypeError, ValueError):
        return series.to_list()
