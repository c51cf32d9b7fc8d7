"""Log-probabilities of intervals, and their sums over many columns.

Column j's intervals are ``offsets[j] .. offsets[j+1]-1``; interval i ends at ``cuts[i]``, the last of a column
is open (infinite). A value belongs to the first interval whose cut is not below it. The sum over columns runs in
the order of `kernels.sums.row_sum`, with rows side by side.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.sorting import is_below
from bayou.kernels.sums import TILE

ROWS = 256  # rows side by side
BAND = 8  # columns transposed at a time
LINEAR = 32  # up to here cuts are counted one by one


@kernel
def fill_log_table(
    table: Floats, counts: Floats, offsets: Index, alpha: float, m: float, share: float
) -> None:
    """Write log (n + a) - log (N_c + a I), with a = alpha + m / I + share / (N + 1); 0 in a single interval. O(P K).

    A class without weight in the column has 1 / I everywhere. The last row stays 0: it serves missing values.

    table : float64[P + 1, K], out; zeros before
    counts : float64[P, K], in
    offsets : int64[p + 1], in
    """
    k = counts.shape[1]
    weight = np.empty(k)
    for j in range(len(offsets) - 1):
        first = offsets[j]
        last = offsets[j + 1]
        parts = float(last - first)
        if parts < 2.0:
            continue
        total = 0.0
        for c in range(k):
            weight[c] = 0.0
            for v in range(first, last):
                weight[c] += counts[v, c]
            total += weight[c]
        a = alpha + m / parts + share / (total + 1.0)
        for c in range(k):
            below = math.log(weight[c] + a * parts) if weight[c] > 0.0 else 0.0
            for v in range(first, last):
                if weight[c] > 0.0:
                    above = counts[v, c] + a
                    table[v, c] = math.log(above) - below if above > 0.0 else -1e290
                else:
                    table[v, c] = -math.log(parts)


@kernel
def find_cells(cuts: Floats, x: Floats, cells: NDArray[np.uint64]) -> None:
    """cells[i] = number of cuts below x_i (0 for NaN). O(n I), O(n log I) beyond 32 cuts.

    cuts : float64[I - 1], in; increasing
    x : float64[n], in
    cells : uint64[n], out
    """
    for i in range(len(cells)):
        cells[i] = np.uint64(0)
    if len(cuts) <= LINEAR:
        whole = len(cuts) - len(cuts) % 4
        for v in range(0, whole, 4):
            a = cuts[v]
            b = cuts[v + 1]
            c = cuts[v + 2]
            d = cuts[v + 3]
            for i in range(len(cells)):
                here = np.uint64(a < x[i]) + np.uint64(b < x[i])
                cells[i] += here + (np.uint64(c < x[i]) + np.uint64(d < x[i]))
        for v in range(whole, len(cuts)):
            a = cuts[v]
            for i in range(len(cells)):
                cells[i] += np.uint64(a < x[i])
        return
    one = np.uint64(1)
    left = np.uint64(len(cuts))
    while left > one:
        half = left >> one
        for i in range(len(cells)):
            cell = cells[i]
            cells[i] = cell + half * is_below(cuts[cell + half - one], x[i])
        left -= half
    for i in range(len(cells)):
        cell = cells[i]
        cells[i] = cell + is_below(cuts[cell], x[i]) if x[i] == x[i] else np.uint64(0)


@inner_kernel
def add_terms(sums: Floats, table: Floats, one: NDArray[np.uint64], other: NDArray[np.uint64]) -> None:
    """sums[c, i] += the terms of two columns, one after the other. O(n K).

    sums : float64[K, n], in/out
    table : float64[P + 1, K], in
    one : uint64[n], in; cell of each row in the first column
    other : uint64[n], in; and in the second
    """
    for c in range(len(sums)):
        lane = sums[c]
        column = table[:, c]
        for i in range(len(lane)):
            lane[i] = (lane[i] + column[one[i]]) + column[other[i]]


@inner_kernel
def any_present(x: Floats) -> bool:
    """Whether any value is present: in a stream with ever new columns, most columns are missing in most rows.

    x : float64[n], in; NaN = missing
    """
    for i in range(len(x)):
        if x[i] == x[i]:
            return True
    return False


@inner_kernel
def transpose(columns: Floats, index: Index, numeric: Floats) -> None:
    """columns[j, i] = numeric[i, index[j]], NaN where the index is -1. O(n d).

    columns : float64[at least d, at least n], out; index : int64[d], in; numeric : float64[n, p], in
    """
    for j in range(len(index)):
        column = columns[j, : len(numeric)]
        if index[j] < 0:
            for i in range(len(column)):
                column[i] = np.nan
        else:
            source = numeric[:, index[j]]
            for i in range(len(column)):
                column[i] = source[i]


@kernel
def add_intervals(
    out: Floats, table: Floats, cuts: Floats, offsets: Index, index: Index, numeric: Floats
) -> None:
    """out[i, c] += sum over columns of the log-probability of the interval x_ij lies in. O(n p (I + K)).

    out : float64[n, K], in/out
    table : float64[P + 1, K], in; the last row is 0
    cuts : float64[P], in
    offsets : int64[p + 1], in
    index : int64[p], in; where `numeric` has each column, -1 for one that says nothing
    numeric : float64[n, d], in; NaN = missing
    """
    n, p = len(numeric), len(index)
    k = out.shape[1]
    size = min(n, ROWS)
    columns = np.empty((BAND, size))
    cells = np.empty((BAND, size), np.uint64)
    used = np.empty(BAND, np.bool_)
    lanes = np.empty((4, k, size))
    nothing = np.uint64(len(table) - 1)
    for r in range(0, n, ROWS):
        rows = min(ROWS, n - r)
        for t in range(0, p, TILE):
            for lane in range(4):
                for c in range(k):
                    for i in range(rows):
                        lanes[lane, c, i] = 0.0
            for b in range(t, min(t + TILE, p), BAND):
                d = min(BAND, p - b)
                transpose(columns, index[b : b + d], numeric[r : r + rows])
                for j in range(d):
                    first = offsets[b + j]
                    last = offsets[b + j + 1]
                    x = columns[j, :rows]
                    here = cells[j, :rows]
                    used[j] = index[b + j] >= 0 and last - first > 1 and any_present(x)
                    if not used[j]:
                        for i in range(len(here)):
                            here[i] = nothing
                        continue
                    find_cells(cuts[first : last - 1], x, here)
                    start = np.uint64(first)
                    for i in range(len(here)):
                        here[i] = here[i] + start if x[i] == x[i] else nothing
                for j in range(d, BAND):
                    used[j] = False
                    for i in range(rows):
                        cells[j, i] = nothing
                for lane in range(4):
                    if used[lane] or used[lane + 4]:
                        add_terms(lanes[lane, :, :rows], table, cells[lane, :rows], cells[lane + 4, :rows])
            for c in range(k):
                for i in range(rows):
                    out[r + i, c] += (lanes[0, c, i] + lanes[1, c, i]) + (lanes[2, c, i] + lanes[3, c, i])


@kernel
def interval_codes(codes: Codes, cuts: Floats, offsets: Index, index: Index, numeric: Floats) -> None:
    """codes[i, j] = number of the interval x_ij lies in, -1 where it is missing. O(n p I).

    codes : int32[n, p], out
    cuts : float64[P], in
    offsets : int64[p + 1], in
    index : int64[p], in; j, or -1 for a column whose codes are not wanted: they are -1
    numeric : float64[n, p], in; NaN = missing
    """
    n, p = numeric.shape
    columns = np.empty((BAND, ROWS))
    cells = np.empty((BAND, ROWS), np.uint64)
    for r in range(0, n, ROWS):
        rows = min(ROWS, n - r)
        for b in range(0, p, BAND):
            d = min(BAND, p - b)
            transpose(columns, index[b : b + d], numeric[r : r + rows])
            for j in range(d):
                x = columns[j, :rows]
                if any_present(x):
                    find_cells(cuts[offsets[b + j] : offsets[b + j + 1] - 1], x, cells[j, :rows])
            for i in range(rows):
                here = codes[r + i, b : b + d]
                for j in range(len(here)):
                    here[j] = np.int32(cells[j, i]) if columns[j, i] == columns[j, i] else np.int32(-1)


@kernel
def interval_terms(out: Floats, table: Floats, cuts: Floats, offsets: Index, numeric: Floats) -> None:
    """out[i, j, c] = log-probability of the interval x_ij lies in, 0 where it is missing. O(n p (log I + K)).

    out : float64[n, p, K], out
    table : float64[P + 1, K], in
    cuts : float64[P], in
    offsets : int64[p + 1], in
    numeric : float64[n, p], in
    """
    n, p = numeric.shape
    cells = np.empty(1, np.uint64)
    for i in range(n):
        for j in range(p):
            x = numeric[i, j : j + 1]
            v = len(table) - 1
            if x[0] == x[0]:
                find_cells(cuts[offsets[j] : offsets[j + 1] - 1], x, cells)
                v = offsets[j] + np.int64(cells[0])
            for c in range(out.shape[2]):
                out[i, j, c] = table[v, c]
