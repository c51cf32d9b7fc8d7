"""Count-min sketch with class counts: every value has one cell in each row of a table, which others may share.

Row r of a column's table is hashed by h_r(x) = ((a_0 x_0 + a_1 x_1 + a_2 x_2 + b) mod P) mod W, where the x_i are
limbs of 22, 21 and 21 bits of the key: pairwise independent for a prime P above 2^22. The estimate of n(x, c) is the
least of its cells, class by class.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.value_counts import log_or_floor


@inner_kernel
def cell_of(hashes: Index, r: int, key: int, prime: int, width: int) -> int:
    """The cell of a key in row r.

    hashes : int64[D, 4], in
    """
    bits = np.uint64(key)
    low = np.int64(bits & np.uint64(0x3FFFFF))
    middle = np.int64((bits >> np.uint64(22)) & np.uint64(0x1FFFFF))
    high = np.int64(bits >> np.uint64(43))
    mixed = hashes[r, 0] * low + hashes[r, 1] * middle + hashes[r, 2] * high + hashes[r, 3]
    return int(mixed % prime % width)


@inner_kernel
def find_cells(cells: Index, hashes: Index, key: int, prime: int, width: int) -> None:
    """Write the cell of a key in every row.

    cells : int64[D], out; hashes : int64[D, 4], in
    """
    for r in range(len(cells)):
        cells[r] = cell_of(hashes, r, key, prime, width)


@inner_kernel
def least(table: Floats, cells: Index, c: int) -> float:
    """The estimate of n(x, c): the least count of class c among the cells of x.

    table : float64[D, W, K], in; cells : int64[D], in
    """
    n = table[0, cells[0], c]
    for r in range(1, len(cells)):
        n = min(n, table[r, cells[r], c])
    return float(n)


@kernel
def sketch_rows(
    table: Floats,
    present: Floats,
    free: Index,
    column: Index,
    y: Codes,
    w: Floats,
    hashes: Index,
    prime: int,
    sign: float,
    conservative: bool,
    values: Floats,
    smoothing: Floats,
    terms: Floats,
) -> None:
    """Row by row: write log P(x | c) before the row, if `terms` has rows; then add the row `sign` times (0: none).

    P = (n + alpha + m/V) / (N_c + alpha V + m), with V estimated from the number of free cells in the first row of the
    table. A conservative update raises only those cells of the value that are below the new estimate. O(n D K).

    table : float64[D, W, K], in/out; present : float64[K], in/out; free : int64[1], in/out, free cells of row 0
    column : int64[n], in, 0 = missing; y : int32[n], in; w : float64[n], in; hashes : int64[D, 4], in
    values : float64[W + 1], in, number of values by the number of free cells; smoothing : float64[3], in, alpha, m
    and the declared number of values; terms : float64[n, K], out, or float64[0, K]
    """
    k = table.shape[2]
    cells = np.empty(table.shape[0], np.int64)
    for i in range(len(column)):
        taught = sign != 0.0 and y[i] >= 0 and w[i] > 0.0 and column[i] != 0
        if column[i] != 0:
            find_cells(cells, hashes, column[i], prime, table.shape[1])
        if i < len(terms):
            known = False
            for c in range(k):
                terms[i, c] = least(table, cells, c) if column[i] != 0 else 0.0
                known = known or terms[i, c] > 0.0
            several = max(values[free[0]], smoothing[2], 1.0)
            for c in range(k):
                above = terms[i, c] + smoothing[0] + smoothing[1] / several
                below = present[c] + smoothing[0] * several + smoothing[1]
                terms[i, c] = log_or_floor(above) - log_or_floor(below) if known else 0.0
        if taught:
            c = y[i]
            step = sign * w[i]
            was_free = is_free(table[0, cells[0]])
            estimate = least(table, cells, c) + step
            for r in range(len(cells)):
                if conservative:
                    table[r, cells[r], c] = max(table[r, cells[r], c], estimate)
                else:
                    table[r, cells[r], c] += step
            present[c] += step
            free[0] += np.int64(is_free(table[0, cells[0]])) - np.int64(was_free)


@inner_kernel
def is_free(cell: Floats) -> bool:
    """Whether no class has weight in the cell.

    cell : float64[K], in
    """
    for c in range(len(cell)):
        if cell[c] > 0.0:
            return False
    return True


@kernel
def estimate_rows(table: Floats, column: Index, hashes: Index, prime: int, out: Floats) -> None:
    """out[i, c] = the estimate of n(x_i, c).

    table : float64[D, W, K], in; column : int64[n], in; hashes : int64[D, 4], in; out : float64[n, K], out
    """
    cells = np.empty(table.shape[0], np.int64)
    for i in range(len(column)):
        find_cells(cells, hashes, column[i], prime, table.shape[1])
        for c in range(table.shape[2]):
            out[i, c] = least(table, cells, c)


@kernel
def sketch_cells(out: Index, keys: Index, rows: Index, hashes: Index, prime: int, width: int) -> None:
    """out[i, j] = 1 + the cell of key i in row rows[j] of column j; 0 where missing.

    out : int64[n, q], out; keys : int64[n, q], in, 0 = missing; rows : int64[q], in; hashes : int64[D, 4], in
    """
    for i in range(keys.shape[0]):
        for j in range(keys.shape[1]):
            out[i, j] = 1 + cell_of(hashes, rows[j], keys[i, j], prime, width) if keys[i, j] != 0 else 0
