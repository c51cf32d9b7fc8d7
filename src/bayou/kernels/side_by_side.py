"""Transposition of separate columns into a matrix of rows, the layout for learning and predicting."""

from __future__ import annotations

from bayou.block import Floats, Index
from bayou.kernels.addresses import float64_at, int64_at, put_eight_by_eight
from bayou.kernels.jit import inner_kernel, kernel, tight_kernel
from bayou.kernels.scrub import HUGE

TILE = 512  # rows that are written at a time, so that they stay in the cache until they are complete
EIGHT = 8  # columns that are written at a time: they fill a cache line in every row


@kernel
def put_side_by_side(rows: Floats, integers: Index, doubles: Index, first: int) -> bool:
    """rows[i, j] = column j at first + i; returns whether no double is missing, infinite, or beyond 1e140 in size.

    rows : float64[n, p], out; integers : int64[k, 2], in, of each column of int64 its place j and address
    doubles : int64[m, 2], in, the same of each column of float64
    """
    usable = 0
    for lo in range(0, len(rows), TILE):
        usable += put_tile(rows[lo : lo + TILE], integers, doubles, first + lo)
    return usable == len(rows) * len(doubles)


@inner_kernel
def put_tile(rows: Floats, integers: Index, doubles: Index, first: int) -> int:
    """Do as `put_side_by_side` for a few rows; return how many doubles are at most 1e140 in size.

    rows : float64[n, p], out; integers : int64[k, 2], in; doubles : int64[m, 2], in
    """
    usable, skipped = 0, 8 * first
    whole = len(integers) - len(integers) % EIGHT
    for k in range(0, whole, EIGHT):
        columns = integers[k : k + EIGHT]
        done = put_adjacent_integers(rows, columns, skipped)
        put_eight_integers(rows[done:], columns, skipped + 8 * done)
    for k in range(whole, len(integers)):
        cells, address = rows[:, integers[k, 0]], integers[k, 1] + skipped
        for i in range(len(cells)):
            cells[i] = int64_at(address, i)
    whole = len(doubles) - len(doubles) % EIGHT
    for k in range(0, whole, EIGHT):
        usable += put_eight_doubles(rows, doubles[k : k + EIGHT], skipped)
    for k in range(whole, len(doubles)):
        cells, address = rows[:, doubles[k, 0]], doubles[k, 1] + skipped
        for i in range(len(cells)):
            cells[i] = float64_at(address, i)
            usable += abs(cells[i]) <= HUGE
    return usable


@kernel
def all_columns_usable(doubles: Index, n: int) -> bool:
    """Return whether no number of any column is missing, infinite, or beyond 1e140 in size.

    doubles : int64[m, 2], in, of each column of n float64 its place and address
    """
    usable = 0
    for k in range(len(doubles)):
        address = doubles[k, 1]
        for i in range(n):
            usable += abs(float64_at(address, i)) <= HUGE
    return usable == n * len(doubles)


@inner_kernel
def put_adjacent_integers(rows: Floats, columns: Index, skipped: int) -> int:
    """Do as `put_eight_integers`, eight rows at a time, if the places follow each other; return the rows written.

    rows : float64[n, p], out; columns : int64[8, 2], in, place and address
    """
    for k in range(1, EIGHT):
        if columns[k, 0] != columns[0, 0] + k:
            return 0
    stride, done = 8 * rows.shape[1], len(rows) - len(rows) % EIGHT
    cells, table = rows.ctypes.data + 8 * columns[0, 0], columns.ctypes.data
    for i in range(0, done, EIGHT):
        put_eight_by_eight(cells + i * stride, stride, table, skipped + 8 * i)
    return done


@tight_kernel
def put_eight_integers(rows: Floats, columns: Index, skipped: int) -> None:
    """rows[i, j] = the double nearest to column j, `skipped` bytes behind its address, at i.

    rows : float64[n, p], out; columns : int64[8, 2], in, place and address
    """
    a, b, c, d = columns[0, 0], columns[1, 0], columns[2, 0], columns[3, 0]
    e, f, g, h = columns[4, 0], columns[5, 0], columns[6, 0], columns[7, 0]
    at_a, at_b = columns[0, 1] + skipped, columns[1, 1] + skipped
    at_c, at_d = columns[2, 1] + skipped, columns[3, 1] + skipped
    at_e, at_f = columns[4, 1] + skipped, columns[5, 1] + skipped
    at_g, at_h = columns[6, 1] + skipped, columns[7, 1] + skipped
    for i in range(len(rows)):
        row = rows[i]
        row[a] = int64_at(at_a, i)
        row[b] = int64_at(at_b, i)
        row[c] = int64_at(at_c, i)
        row[d] = int64_at(at_d, i)
        row[e] = int64_at(at_e, i)
        row[f] = int64_at(at_f, i)
        row[g] = int64_at(at_g, i)
        row[h] = int64_at(at_h, i)


@tight_kernel
def put_eight_doubles(rows: Floats, columns: Index, skipped: int) -> int:
    """rows[i, j] = column j, `skipped` bytes behind its address, at i; returns how many are at most 1e140 in size.

    rows : float64[n, p], out; columns : int64[8, 2], in, place and address
    """
    a, b, c, d = columns[0, 0], columns[1, 0], columns[2, 0], columns[3, 0]
    e, f, g, h = columns[4, 0], columns[5, 0], columns[6, 0], columns[7, 0]
    at_a, at_b = columns[0, 1] + skipped, columns[1, 1] + skipped
    at_c, at_d = columns[2, 1] + skipped, columns[3, 1] + skipped
    at_e, at_f = columns[4, 1] + skipped, columns[5, 1] + skipped
    at_g, at_h = columns[6, 1] + skipped, columns[7, 1] + skipped
    usable = 0
    for i in range(len(rows)):
        row = rows[i]
        row[a] = float64_at(at_a, i)
        row[b] = float64_at(at_b, i)
        row[c] = float64_at(at_c, i)
        row[d] = float64_at(at_d, i)
        row[e] = float64_at(at_e, i)
        row[f] = float64_at(at_f, i)
        row[g] = float64_at(at_g, i)
        row[h] = float64_at(at_h, i)
        usable += (
            (abs(row[a]) <= HUGE) + (abs(row[b]) <= HUGE) + (abs(row[c]) <= HUGE) + (abs(row[d]) <= HUGE)
        )
        usable += (
            (abs(row[e]) <= HUGE) + (abs(row[f]) <= HUGE) + (abs(row[g]) <= HUGE) + (abs(row[h]) <= HUGE)
        )
    return usable
