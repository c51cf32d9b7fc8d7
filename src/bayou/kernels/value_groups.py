"""Sums of log-probabilities of groups of values over many nominal columns.

The known values of column j are keys[offsets[j]] .. keys[offsets[j+1] - 1], ascending; row_of gives the row of the
table for each. A value that is not among them has row rest[j]; a missing one (0) has the last row.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.sums import TILE, row_sum


@inner_kernel
def find_row(
    keys: Index, row_of: Index, offsets: Index, rest: Index, j: int, value: int, nothing: int
) -> int:
    """Return the row of the table for a value of column j, by binary search. O(log V).

    keys : int64[m], in; row_of : int64[m], in; offsets : int64[q + 1], in; rest : int64[q], in
    """
    if value == 0:
        return nothing
    low = offsets[j]
    high = offsets[j + 1]
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < value:
            low = middle + 1
        else:
            high = middle
    if low < offsets[j + 1] and keys[low] == value:
        return int(row_of[low])
    return int(rest[j])


@kernel
def add_groups(
    out: Floats, table: Floats, keys: Index, row_of: Index, offsets: Index, rest: Index, values: Index
) -> None:
    """out[i, c] += sum over columns of the log-probability of the group v_ij belongs to. O(n q (log V + K)).

    out : float64[n, K], in/out; table : float64[G + 1, K], in; keys : int64[m], in; row_of : int64[m], in
    offsets : int64[q + 1], in; rest : int64[q], in; values : int64[n, q], in, 0 = missing
    """
    n, q = values.shape
    terms = np.zeros((out.shape[1], TILE))
    for i in range(n):
        for t in range(0, q, TILE):
            d = min(TILE, q - t)
            for j in range(d):
                row = find_row(keys, row_of, offsets, rest, t + j, values[i, t + j], len(table) - 1)
                for c in range(out.shape[1]):
                    terms[c, j] = table[row, c]
            for c in range(out.shape[1]):
                out[i, c] = row_sum(out[i, c], terms[c, :d])


@kernel
def group_codes(
    codes: Codes, keys: Index, row_of: Index, offsets: Index, rest: Index, parts: Index, values: Index
) -> None:
    """codes[i, j] = number of the group v_ij belongs to within its column, -1 where there is none. O(n q log V).

    codes : int32[n, q], out; keys : int64[m], in; row_of : int64[m], in; offsets : int64[q + 1], in
    rest : int64[q], in; parts : int64[q + 1], in; values : int64[n, q], in, 0 = missing
    """
    q = values.shape[1]
    for i in range(values.shape[0]):
        for j in range(q):
            row = find_row(keys, row_of, offsets, rest, j, values[i, j], int(parts[q]))
            codes[i, j] = np.int32(row - parts[j]) if row < parts[q] else np.int32(-1)


@kernel
def group_terms(
    out: Floats, table: Floats, keys: Index, row_of: Index, offsets: Index, rest: Index, values: Index
) -> None:
    """out[i, j, c] = log-probability of the group v_ij belongs to, 0 where it is missing or unknown.

    out : float64[n, q, K], out; table : float64[G + 1, K], in; keys : int64[m], in; row_of : int64[m], in
    offsets : int64[q + 1], in; rest : int64[q], in; values : int64[n, q], in, 0 = missing
    """
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            row = find_row(keys, row_of, offsets, rest, j, values[i, j], len(table) - 1)
            for c in range(out.shape[2]):
                out[i, j, c] = table[row, c]
