"""Counts of words for a block, from numeric columns and sparse matrices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.block import Words
from bayou.encoding.columns import has_type, kind_of, numbers
from bayou.encoding.table import Sparse, Table
from bayou.errors import DataError
from bayou.kernels.scrub import HUGE, all_counts
from bayou.schema import Kind

WORDS = "words"  # the text column that sparse rows and, for models of words, numeric columns belong to


def as_words(table: Table, start: int) -> Table:
    """The table with its numeric columns as counts of words; columns of strings stay, as text.

    The names are the whole vocabulary only if the columns are numeric by type: a column that is numeric by its first
    present value is unknown in the rows before it.
    """
    if table.matrix is None and not table.names:
        return table
    kinds: list[Kind | None] = [Kind.NUMERIC] * len(table.names)
    if table.matrix is None:
        kinds = [_word_kind(c, n) for n, c in zip(table.names, table.columns, strict=True)]
    words = [j for j, kind in enumerate(kinds) if kind is Kind.NUMERIC]
    if not words:
        return table
    matrix = table.matrix
    if matrix is None:
        matrix = np.column_stack([numbers(table.columns[j], table.names[j], start) for j in words])
    rows, ids = np.nonzero(matrix == matrix if np.isnan(matrix).any() else matrix)
    counts = matrix[rows, ids]
    indptr = np.searchsorted(rows, np.arange(table.n + 1)).astype(np.int64)
    names = table.names if len(words) == len(table.names) else [table.names[j] for j in words]
    all_typed = table.matrix is not None or all(has_type(table.columns[j]) for j in words)
    complete = table.complete and all_typed
    first = 0 if complete else int(np.argmax((matrix == matrix).any(axis=1)))
    rest = [j for j, kind in enumerate(kinds) if kind is not Kind.NUMERIC]
    return Table(
        table.n,
        [table.names[j] for j in rest],
        [table.columns[j] for j in rest],
        sparse=Sparse(indptr, ids.astype(np.int32), counts, names, complete, first),
    )


def _word_kind(values: Any, name: str) -> Kind | None:
    """Kind for a model of words: numbers and flags count a word, strings are text."""
    if getattr(values, "dtype", None) == np.bool_:
        return Kind.NUMERIC
    return kind_of(values, name)[0]


def checked_counts(sparse: Sparse, start: int) -> Sparse:
    """The counts with missing, infinite and huge ones set to 0; raises DataError if one is negative."""
    counts = sparse.counts
    if all_counts(counts):
        return sparse
    bad = np.flatnonzero(counts < 0)
    if len(bad):
        row = int(np.searchsorted(sparse.indptr, bad[0], side="right")) - 1
        raise DataError(
            "Negative values in data passed to a model of words",
            row=start + row,
            column=sparse.names[sparse.ids[bad[0]]],
            value=float(counts[bad[0]]),
            remedy="counts of words are numbers >= 0",
        )
    return replace(sparse, counts=np.where(counts <= HUGE, counts, 0.0))


def renumbered(sparse: Sparse, codes: NDArray[np.int32]) -> Words:
    """The sparse rows with ids replaced by codes: unknown words are dropped, codes ascend, counts of equal ones add."""
    if sparse.complete and np.array_equal(codes, np.arange(len(codes))):
        return Words(sparse.indptr, sparse.ids, sparse.counts)
    rows = np.repeat(np.arange(len(sparse.indptr) - 1), np.diff(sparse.indptr))
    ids = codes[sparse.ids]
    keep = ids >= 0
    rows, ids, counts = rows[keep], ids[keep].astype(np.int64), sparse.counts[keep]
    span = int(ids.max(initial=0)) + 1
    place, inverse = np.unique(rows * span + ids, return_inverse=True)
    total = np.zeros(len(place))
    np.add.at(total, inverse, counts)
    indptr = np.searchsorted(place // span, np.arange(len(sparse.indptr))).astype(np.int64)
    return Words(indptr, (place % span).astype(np.int32), total)
