"""Test-then-train: the log-probability of each column before each row, which is then learned.

For counts, the terms are bit for bit those of the kernels that add them up. For normal densities they agree with the
sum only up to rounding, since the sum takes one logarithm for all columns.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.gaussian import CONSTANT_SHARE, fill_terms
from bayou.kernels.intervals import any_present, find_cells
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.moments import add_row
from bayou.kernels.normal import pooled, read_narrow, read_row
from bayou.kernels.value_counts import cached_log, cell_seen

ROWS = 64  # rows whose values stay in the cache while columns are processed one by one


@inner_kernel
def read_unit(n: Floats, mean: Floats, m2: Floats, j: int) -> float:
    """Logarithm of the pooled standard deviation of column j, 0 for a constant one.

    n, mean, m2 : float64[K, p], in
    """
    spread = pooled(n, mean, m2, j)[1]
    return 0.5 * math.log(spread) if spread > 0.0 else 0.0


@kernel
def read_units(n: Floats, mean: Floats, m2: Floats, out: Floats) -> None:
    """out[i, j] = log of the pooled standard deviation of column j, in every row.

    n, mean, m2 : float64[K, p], in; out : float64[rows, p], out
    """
    for j in range(out.shape[1]):
        unit = read_unit(n, mean, m2, j)
        for i in range(out.shape[0]):
            out[i, j] = unit


@kernel
def gaussian_terms_then_update(
    n: Floats,
    mean: Floats,
    m2: Floats,
    out: Floats,
    units: Floats,
    x: Floats,
    y: Codes,
    w: Floats,
    ddof: float,
    floor: float,
) -> None:
    """Row by row: out[i, j, c] = log p(x_ij | c) and units[i, j] as in `read_units` before the row; then learn the row.

    n, mean, m2 : float64[K, p], in/out; out : float64[rows, p, K], out
    units : float64[rows, p] or [rows, 0] where nobody asks, out
    x : float64[rows, p], in; y : int32[rows], in; w : float64[rows], in
    """
    p = x.shape[1]
    k = out.shape[2]
    peak = np.empty((k, p))
    centre = np.empty((k, p))
    half = np.empty((k, p))
    bounds = np.empty((3, p))
    for j in range(p):
        bounds[0, j], bounds[1, j] = 0.0, 0.0
    terms = np.empty(p)
    narrow = True
    for i in range(len(y)):
        if narrow:
            read_narrow(peak, centre, half, bounds, n, mean, m2, ddof, floor, CONSTANT_SHARE)
            narrow = False
        for c in range(k):
            fill_terms(terms, x[i], peak[c], centre[c], half[c])
            for j in range(p):
                out[i, j, c] = terms[j]
        for j in range(units.shape[1]):
            units[i, j] = read_unit(n, mean, m2, j)
        c = y[i]
        if c < 0 or w[i] == 0.0:
            continue
        add_row(n[c], mean[c], m2[c], x[i], w[i])
        narrow = read_row(peak, centre, half, bounds, n, mean, m2, x[i], c, ddof, floor)


@kernel
def table_terms_then_update(
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
    """Row by row: out[i, j, c] = log P(v_ij | c) as it stood before the row, 0 where missing or never seen.

    counts : float64[cells, K], in/out; present : float64[q, K], in/out; seen : int64[q], in/out
    out : float64[n, q, K], out; declared : int64[q], in; offsets : int64[q + 1], in; codes : int32[n, q], in
    y : int32[n], in; w : float64[n], in; logs : float64[m], in, log of integers
    """
    k = out.shape[2]
    for i in range(len(y)):
        label = y[i]
        teaches = label >= 0 and w[i] > 0.0
        for j in range(codes.shape[1]):
            v = codes[i, j]
            cell = offsets[j] + v
            known = v >= 0 and cell_seen(counts, cell)
            if known:
                values = max(seen[j], declared[j])
                a = alpha + m / values
                b = alpha * values + m
                for c in range(k):
                    out[i, j, c] = cached_log(counts[cell, c] + a, logs) - cached_log(present[j, c] + b, logs)
            else:
                for c in range(k):
                    out[i, j, c] = 0.0
            if teaches and v >= 0:
                counts[cell, label] += w[i]
                present[j, label] += w[i]
                if not known:
                    seen[j] += 1


@kernel
def gather_intervals(
    out: Floats, table: Floats, cuts: Floats, offsets: Index, index: Index, x: Floats
) -> None:
    """out[i, a, c] = table[interval of x_ij, c] for the columns j = index[a], 0 where x_ij is missing.

    out : float64[n, len(index), K], out; table : float64[P or more, K], in; cuts : float64[P], in
    offsets : int64[p + 1], in; index : int64[active], in; x : float64[n, p], in
    """
    values = np.empty(ROWS)
    cells = np.empty(ROWS, dtype=np.uint64)
    for r in range(0, x.shape[0], ROWS):
        rows = min(ROWS, x.shape[0] - r)
        here = cells[:rows]
        for a in range(len(index)):
            j = index[a]
            first = np.uint64(offsets[j])
            for i in range(rows):
                values[i] = x[r + i, j]
            if not any_present(values[:rows]):
                for i in range(rows):
                    for c in range(out.shape[2]):
                        out[r + i, a, c] = 0.0
                continue
            find_cells(cuts[offsets[j] : offsets[j + 1] - 1], values[:rows], here)
            for i in range(rows):
                cell = first + here[i] if values[i] == values[i] else first
                there = values[i] == values[i]
                for c in range(out.shape[2]):
                    out[r + i, a, c] = table[cell, c] if there else 0.0
