"""Counts of nominal values per class, and the smoothed log-probabilities computed from them.

Cells lie one column after another: value v of column j is cell offsets[j] + v. The term of a value
never seen with any class is dropped, as that of a missing one is. With V values in a column (those seen, or the
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
    """Return whether any class has weight in this cell.

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
    """Return log x, and FLOOR for log 0."""
    return math.log(x) if x > 0.0 else FLOOR


@inner_kernel
def cached_log(x: float, logs: Floats) -> float:
    """Return log x, from the table if x is a small integer (with the same bits: the same function fills the table).

    logs : float64[m], in
    """
    if x < float(len(logs)):
        i = np.uint32(x if x > 0.0 else 0.0)
        if x == i:
            return float(logs[i])
    return log_or_floor(x)


@inner_kernel
def place_of_log(x: float, logs: Floats) -> int:
    """Return the index of log x in a table of logarithms of integers, -1 if it is not there.

    logs : float64[m], in
    """
    return int(x) if 0.0 <= x < float(len(logs)) and x == np.floor(x) else -1


@kernel
def fill_logs(logs: Floats, first: int) -> None:
    """logs[i] = log i, from i = first on.

    logs : float64[m], in/out
    """
    for i in range(first, len(logs)):
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
    """Predict, then learn, row by row: add log P(v | c) of the counts before the row, then count the row.

    If there are at least as many values as cells, the logarithms of a cell are cached at its first use, and updated.
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
    at = np.empty((cells, k), np.int64)  # their indices in `logs`, -1 for computed ones
    base = np.empty((q, k), np.int64)
    added = np.empty((2, q))
    current = np.empty(cells, np.bool_)  # whether the cached logarithms of a cell are up to date
    lanes = np.empty((4, k))  # the four partial sums of `row_sum`, for every class
    last = np.uint64(max(len(logs) - 1, 0))
    for any_cell in range(cells):
        current[any_cell] = False
    for j in range(q):
        read_column(below, base, added, present, seen, declared, logs, alpha, m, j)
    for i in range(len(codes)):
        label = y[i] if i < len(y) else -1
        learns = label >= 0 and w[i] != 0.0
        c = np.uint64(label if learns else 0)
        step = w[i] if learns else 0.0
        by_one = keeps and step == 1.0
        for t in range(0, q, TILE):
            for e in range(k):
                lanes[0, e] = lanes[1, e] = lanes[2, e] = lanes[3, e] = 0.0
            for j in range(np.uint64(t), np.uint64(t + TILE if q - t > TILE else q)):
                v = codes[i, j]
                if v < 0:
                    continue
                cell = np.uint64(offsets[j] + v)
                kept = cell if keeps else np.uint64(0)
                known = current[kept]
                if not known and cell_seen(counts, cell):  # type: ignore[arg-type]
                    known = True
                    current[kept] = keeps
                    for e in range(k):
                        x = counts[cell, e] + added[0, j]
                        above[kept, e], at[kept, e] = cached_log(x, logs), place_of_log(x, logs)
                if known:
                    lane = j & np.uint64(3)
                    if k == 2:  # unrolled: starting a loop takes longer than two iterations
                        lanes[lane, 0] += above[kept, 0] - below[j, 0]
                        lanes[lane, 1] += above[kept, 1] - below[j, 1]
                    else:
                        for e in range(k):
                            lanes[lane, e] += above[kept, e] - below[j, e]
                if not learns:
                    continue
                # The term of a column was added before it is counted here, and no other column uses these counts.
                counts[cell, c] += step
                present[j, c] += step
                if not known:
                    seen[j] += 1
                    read_column(below, base, added, present, seen, declared, logs, alpha, m, j)
                    if m > 0.0:
                        for other in range(offsets[j], offsets[j + 1] if keeps else offsets[j]):
                            current[other] = False
                    continue
                one, all_ = np.uint64(at[kept, c]), np.uint64(base[j, c])  # -1 is beyond all
                if by_one and one < last and all_ < last:
                    one, all_ = one + np.uint64(1), all_ + np.uint64(1)
                    at[kept, c], base[j, c] = one, all_
                    above[kept, c], below[j, c] = logs[one], logs[all_]
                    continue
                x = counts[cell, c] + added[0, j]
                if keeps:
                    above[kept, c], at[kept, c] = cached_log(x, logs), place_of_log(x, logs)
                x = present[j, c] + added[1, j]
                below[j, c], base[j, c] = cached_log(x, logs), place_of_log(x, logs)
            for e in range(k):
                out[i, e] += (lanes[0, e] + lanes[1, e]) + (lanes[2, e] + lanes[3, e])


@inner_kernel
def read_column(
    below: Floats,
    base: Index,
    added: Floats,
    present: Floats,
    seen: Index,
    declared: Index,
    logs: Floats,
    alpha: float,
    m: float,
    j: int,
) -> None:
    """Compute what smoothing adds to the cells and to the total of a column, and the logarithms of its totals.

    below : float64[q, K], out; base : int64[q, K], out, where they are in `logs`; added : float64[2, q], out
    present : float64[q, K], in; seen, declared : int64[q], in; logs : float64[m], in
    """
    values = seen[j] if seen[j] > declared[j] else declared[j]
    added[0, j] = alpha + m / values
    added[1, j] = alpha * values + m
    for c in range(present.shape[1]):
        x = present[j, c] + added[1, j]
        below[j, c], base[j, c] = cached_log(x, logs), place_of_log(x, logs)
