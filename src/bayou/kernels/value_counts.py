"""Counting nominal values per class, and the smoothed log-probabilities read off the counts.

Cells lie one column after another: value v of column j is cell offsets[j] + v. A value never seen with any
class says nothing, so its term is dropped, as a missing one is. With V values in a column (those seen, or the
declared number if larger), P(v | c) = (n + alpha + m/V) / (N + alpha V + m): alpha = 1, m = 0 is Laplace's
rule, alpha = 0 the m-estimate.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.sums import TILE, row_sum

FLOOR = -1e290  # stands for the logarithm of 0: finite, so that sums and differences stay numbers


@inner_kernel
def cell_seen(counts: Floats, cell: int) -> bool:
    """Whether any class has weight in this cell.

    counts : float64[cells, K], in
    """
    for c in range(counts.shape[1]):
        if counts[cell, c] > 0.0:
            return True
    return False


@kernel
def count_seen(seen: Index, counts: Floats, offsets: Index, sizes: Index) -> None:
    """seen[j] = number of values of column j with weight in any class.

    seen : int64[q], out; counts : float64[cells, K], in; offsets : int64[q + 1], in; sizes : int64[q], in
    """
    for j in range(len(sizes)):
        seen[j] = 0
        for cell in range(offsets[j], offsets[j] + sizes[j]):
            if cell_seen(counts, cell):
                seen[j] += 1


@kernel
def count_values(
    counts: Floats,
    present: Floats,
    seen: Index,
    offsets: Index,
    codes: Codes,
    y: Codes,
    w: Floats,
    sign: float,
    lo: int,
    hi: int,
) -> None:
    """Add (sign 1) or take out (sign -1) the values of columns lo..hi of the labelled rows with weight.

    counts : float64[cells, K], in/out; present : float64[q, K], in/out; seen : int64[q], in/out
    offsets : int64[q + 1], in; codes : int32[n, q], in; y : int32[n], in; w : float64[n], in
    """
    for i in range(len(y)):
        c = y[i]
        if c < 0 or w[i] == 0.0:
            continue
        step = sign * w[i]
        for j in range(lo, hi):
            v = codes[i, j]
            if v < 0:
                continue
            cell = offsets[j] + v
            before = counts[cell, c]
            if before == 0.0 and not cell_seen(counts, cell):
                seen[j] += 1
            counts[cell, c] = before + step
            present[j, c] += step
            if sign < 0.0 and not cell_seen(counts, cell):
                seen[j] -= 1


@inner_kernel
def log_or_floor(x: float) -> float:
    """log x, and a finite stand-in for log 0."""
    return math.log(x) if x > 0.0 else FLOOR


@inner_kernel
def cached_log(x: float, logs: Floats) -> float:
    """log x, looked up where x is a small integer (same bits: the table is filled by the same function).

    logs : float64[m], in
    """
    if x < float(len(logs)):
        i = np.uint32(x if x > 0.0 else 0.0)
        if x == i:
            return float(logs[i])
    return log_or_floor(x)


@kernel
def fill_logs(logs: Floats) -> None:
    """logs[i] = log i.

    logs : float64[m], out
    """
    for i in range(len(logs)):
        logs[i] = log_or_floor(float(i))


@kernel
def log_table(
    table: Floats,
    counts: Floats,
    present: Floats,
    width: Index,
    offsets: Index,
    sizes: Index,
    alpha: float,
    m: float,
) -> None:
    """table[cell, c] = log P(v | c); 0 for a value never seen.

    table : float64[cells, K], out; counts : float64[cells, K], in; present : float64[q, K], in
    width : int64[q], in; offsets : int64[q + 1], in; sizes : int64[q], in
    """
    for j in range(len(sizes)):
        a = alpha + m / max(width[j], 1)
        b = alpha * width[j] + m
        for c in range(counts.shape[1]):
            below = log_or_floor(present[j, c] + b)
            for cell in range(offsets[j], offsets[j] + sizes[j]):
                table[cell, c] = log_or_floor(counts[cell, c] + a) - below
        for cell in range(offsets[j], offsets[j] + sizes[j]):
            if not cell_seen(counts, cell):
                for c in range(counts.shape[1]):
                    table[cell, c] = 0.0


@kernel
def add_table(out: Floats, table: Floats, offsets: Index, codes: Codes) -> None:
    """out[i, c] += sum_j table[cell of v_ij, c], tile by tile.

    out : float64[n, K], in/out; table : float64[cells, K], in; offsets : int64[q + 1], in; codes : int32[n, q], in
    """
    q = codes.shape[1]
    terms = np.zeros((out.shape[1], TILE))
    for i in range(out.shape[0]):
        for t in range(0, q, TILE):
            d = min(TILE, q - t)
            for j in range(d):
                v = codes[i, t + j]
                cell = offsets[t + j] + v
                for c in range(out.shape[1]):
                    terms[c, j] = table[cell, c] if v >= 0 else 0.0
            for c in range(out.shape[1]):
                out[i, c] = row_sum(out[i, c], terms[c, :d])


@kernel
def table_terms(out: Floats, table: Floats, offsets: Index, codes: Codes) -> None:
    """out[i, j, c] = table[cell of v_ij, c], 0 where missing.

    out : float64[n, q, K], out; table : float64[cells, K], in; offsets : int64[q + 1], in; codes : int32[n, q], in
    """
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            v = codes[i, j]
            for c in range(out.shape[2]):
                out[i, j, c] = table[offsets[j] + v, c] if v >= 0 else 0.0


@kernel
def m_estimate_terms(
    out: Floats,
    counts: Floats,
    present: Floats,
    width: Index,
    offsets: Index,
    codes: Codes,
    m: float,
    p: float,
    share: float,
) -> None:
    """out[i, j, c] = log (n + m_c p) - log (N + m_c), m_c = max(m, share N); 0 where missing or never seen.

    p is given if positive, 1 / values of the column if 0, the value's share in the rows of all classes if negative.
    out : float64[n, q, K], in/out; counts : float64[cells, K], in; present : float64[q, K], in
    width : int64[q], in; offsets : int64[q + 1], in; codes : int32[n, q], in
    """
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            cell = offsets[j] + codes[i, j]
            if codes[i, j] < 0 or not cell_seen(counts, cell):
                continue
            prior = p
            if p == 0.0:
                prior = 1.0 / max(width[j], 1)
            elif p < 0.0:
                prior = counts[cell].sum() / present[j].sum()
            for c in range(out.shape[2]):
                rows = max(m, share * present[j, c])
                out[i, j, c] = log_or_floor(counts[cell, c] + rows * prior) - log_or_floor(
                    present[j, c] + rows
                )


@kernel
def table_predict_then_update(
    counts: Floats,
    present: Floats,
    seen: Index,
    out: Floats,
    declared: Index,
    offsets: Index,
    codes: Codes,
    y: Codes,
    w: Floats,
    logs: Floats,
    alpha: float,
    m: float,
) -> None:
    """Row by row: add log P(v | c) as it stood before the row, then count the row.

    Where there are as many values as cells, the logarithms of a cell are kept from where it is first met, and current.
    counts : float64[cells, K], in/out; present : float64[q, K], in/out; seen : int64[q], in/out
    out : float64[n, K], in/out; declared : int64[q], in; offsets : int64[q + 1], in; codes : int32[n, q], in
    y : int32[n], in, or none where nobody learns; w : float64[n], in; logs : float64[m], in, log of integers
    """
    q = codes.shape[1]
    k = out.shape[1]
    keeps = codes.size >= len(counts)
    cells = len(counts) if keeps else 1
    above = np.empty((cells, k))
    below = np.empty((q, k))
    added = np.empty((2, q))
    current = np.empty(cells, np.bool_)  # whether the logarithms of a cell are those of its counts
    terms = np.empty((k, TILE))
    for cell in range(cells):
        current[cell] = False
    for j in range(q):
        read_column(below, added, present, seen, declared, logs, alpha, m, j)
    for i in range(len(codes)):
        for t in range(0, q, TILE):
            d = TILE if q - t > TILE else q - t
            for j in range(d):
                v = codes[i, t + j]
                cell = offsets[t + j] + v
                kept = cell if keeps else 0
                known = v >= 0 and current[kept]
                if v >= 0 and not known and cell_seen(counts, cell):
                    known = True
                    current[kept] = keeps
                    for c in range(k):
                        above[kept, c] = cached_log(counts[cell, c] + added[0, t + j], logs)
                if known:
                    for c in range(k):
                        terms[c, j] = above[kept, c] - below[t + j, c]
                else:
                    for c in range(k):
                        terms[c, j] = 0.0
            for c in range(k):
                out[i, c] = row_sum(out[i, c], terms[c, :d])
        c = y[i] if i < len(y) else -1
        if c < 0 or w[i] == 0.0:
            continue
        for j in range(q):
            v = codes[i, j]
            if v < 0:
                continue
            cell = offsets[j] + v
            kept = cell if keeps else 0
            known = current[kept] or cell_seen(counts, cell)
            counts[cell, c] += w[i]
            present[j, c] += w[i]
            if current[kept]:
                above[cell, c] = cached_log(counts[cell, c] + added[0, j], logs)
            if known:
                below[j, c] = cached_log(present[j, c] + added[1, j], logs)
                continue
            seen[j] += 1
            read_column(below, added, present, seen, declared, logs, alpha, m, j)
            if m > 0.0:
                for other in range(offsets[j], offsets[j + 1] if keeps else offsets[j]):
                    current[other] = False


@inner_kernel
def read_column(
    below: Floats,
    added: Floats,
    present: Floats,
    seen: Index,
    declared: Index,
    logs: Floats,
    alpha: float,
    m: float,
    j: int,
) -> None:
    """What smoothing adds to the cells and to the total of a column, and the logarithms of its totals.

    below : float64[q, K], out; added : float64[2, q], out; present : float64[q, K], in
    seen, declared : int64[q], in; logs : float64[m], in
    """
    values = seen[j] if seen[j] > declared[j] else declared[j]
    added[0, j] = alpha + m / values
    added[1, j] = alpha * values + m
    for c in range(present.shape[1]):
        below[j, c] = cached_log(present[j, c] + added[1, j], logs)
