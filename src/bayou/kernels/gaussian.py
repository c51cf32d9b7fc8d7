"""Normal densities read off moments.

The term of x in class c and column j is  peak - (x - centre)^2 half,  with half = 1 / (2 var) and
peak = -log(2 pi var) / 2. A class whose variance is at most `floor` times the column's pooled variance counts as
constant and takes a hundredth of the pooled one: it stays decisive without a veto over everything else. A class
with at most one row's weight in a column takes the pooled variance (and, with none, the pooled mean). A column
that is constant over all classes says nothing: its peak and half are 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import kernel
from bayou.kernels.moments import add_row
from bayou.kernels.sums import row_sum

TINY = 2.2250738585072014e-308
CONSTANT_SHARE = 0.01  # of the pooled variance, for a class whose values do not vary
LIMIT = 1e290  # a squared distance beyond this is as far as can be told
LOG_2PI = 1.8378770664093453


@kernel
def pooled(
    n: NDArray[np.float64], mean: NDArray[np.float64], m2: NDArray[np.float64], j: int
) -> tuple[float, float]:
    """Mean and population variance of column j over all classes; variance 0 if the column is constant or empty.

    n, mean, m2 : float64[K, p], in
    """
    total, centre, squares = 0.0, 0.0, 0.0
    for c in range(n.shape[0]):
        if n[c, j] > 0.0:
            d = mean[c, j] - centre
            joint = total + n[c, j]
            share = n[c, j] / joint
            squares += m2[c, j] + d * d * total * share
            centre += d * share
            total = joint
    return centre, (squares / total if total > 0.0 else 0.0)


@kernel
def read_column(
    peak: NDArray[np.float64],
    centre: NDArray[np.float64],
    half: NDArray[np.float64],
    n: NDArray[np.float64],
    mean: NDArray[np.float64],
    m2: NDArray[np.float64],
    j: int,
    ddof: float,
    floor: float,
) -> float:
    """The three tables of one column; returns the least variance, 0 if a class leans on the pooled one.

    peak, centre, half : float64[K, p], out; n, mean, m2 : float64[K, p], in
    """
    middle, spread = pooled(n, mean, m2, j)
    narrowest = np.inf
    for c in range(n.shape[0]):
        if spread <= 0.0:
            peak[c, j], centre[c, j], half[c, j] = 0.0, 0.0, 0.0
            narrowest = 0.0
            continue
        least = floor * spread + TINY
        own = n[c, j] > 1.0 and n[c, j] > ddof
        var = m2[c, j] / (n[c, j] - ddof) if own else spread
        narrowest = min(narrowest, var) if own and var > least else 0.0
        if var <= least:
            var = max(CONSTANT_SHARE * spread, least)
        centre[c, j] = mean[c, j] if n[c, j] > 0.0 else middle
        peak[c, j] = -0.5 * (LOG_2PI + math.log(var))
        half[c, j] = 0.5 / var
    return narrowest


@kernel
def gaussian_tables(
    peak: NDArray[np.float64],
    centre: NDArray[np.float64],
    half: NDArray[np.float64],
    n: NDArray[np.float64],
    mean: NDArray[np.float64],
    m2: NDArray[np.float64],
    ddof: float,
    floor: float,
) -> None:
    """The tables of all columns.

    peak, centre, half : float64[K, p], out; n, mean, m2 : float64[K, p], in
    """
    for j in range(n.shape[1]):
        read_column(peak, centre, half, n, mean, m2, j, ddof, floor)


@kernel
def fill_terms(
    terms: NDArray[np.float64],
    x: NDArray[np.float64],
    peak: NDArray[np.float64],
    centre: NDArray[np.float64],
    half: NDArray[np.float64],
) -> None:
    """Log-densities of one row in one class; 0 where x is missing.

    terms : float64[d], out; x, peak, centre, half : float64[d], in
    """
    for j in range(len(x)):
        d = x[j] - centre[j]
        away = d * d * half[j]
        term = peak[j] - (away if away < LIMIT else LIMIT)
        terms[j] = term if x[j] == x[j] else 0.0


@kernel
def add_gaussian(
    out: NDArray[np.float64],
    x: NDArray[np.float64],
    peak: NDArray[np.float64],
    centre: NDArray[np.float64],
    half: NDArray[np.float64],
) -> None:
    """out[i, c] += sum_j log p(x_ij | c), tile by tile.

    out : float64[rows, K], in/out; x : float64[rows, p], in; peak, centre, half : float64[K, p], in
    """
    terms = np.empty(x.shape[1])
    for i in range(x.shape[0]):
        for c in range(out.shape[1]):
            fill_terms(terms, x[i], peak[c], centre[c], half[c])
            out[i, c] = row_sum(out[i, c], terms)


@kernel
def add_gaussian_direct(
    out: NDArray[np.float64],
    x: NDArray[np.float64],
    n: NDArray[np.float64],
    mean: NDArray[np.float64],
    m2: NDArray[np.float64],
    ddof: float,
    floor: float,
) -> None:
    """The same as `gaussian_tables` and `add_gaussian` in one call: for few rows.

    out : float64[rows, K], in/out; x : float64[rows, p], in; n, mean, m2 : float64[K, p], in
    """
    tables = np.empty((3, n.shape[0], n.shape[1]))
    gaussian_tables(tables[0], tables[1], tables[2], n, mean, m2, ddof, floor)
    add_gaussian(out, x, tables[0], tables[1], tables[2])


@kernel
def gaussian_terms(
    out: NDArray[np.float64],
    x: NDArray[np.float64],
    peak: NDArray[np.float64],
    centre: NDArray[np.float64],
    half: NDArray[np.float64],
) -> None:
    """out[i, j, c] = log p(x_ij | c), 0 where missing.

    out : float64[rows, p, K], out; x : float64[rows, p], in; peak, centre, half : float64[K, p], in
    """
    terms = np.empty(x.shape[1])
    for i in range(x.shape[0]):
        for c in range(out.shape[2]):
            fill_terms(terms, x[i], peak[c], centre[c], half[c])
            for j in range(x.shape[1]):
                out[i, j, c] = terms[j]


@kernel
def trail_gaussian(
    n: NDArray[np.float64],
    mean: NDArray[np.float64],
    m2: NDArray[np.float64],
    out: NDArray[np.float64],
    x: NDArray[np.float64],
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    ddof: float,
    floor: float,
) -> None:
    """Row by row: add the log-densities as they stood before the row, then learn the row.

    Only the row's own class changes its tables, unless a variance may lie below the floor.
    n, mean, m2 : float64[K, p], in/out; out : float64[rows, K], in/out; x : float64[rows, p], in
    y : int32[rows], in; w : float64[rows], in
    """
    p = x.shape[1]
    k = out.shape[1]
    peak = np.empty((k, p))
    centre = np.empty((k, p))
    half = np.empty((k, p))
    narrowest = np.empty(p)  # at most the least variance of a class
    widest = np.empty(p)  # at least the pooled variance
    origin = np.empty(p)
    for j in range(p):
        narrowest[j] = read_column(peak, centre, half, n, mean, m2, j, ddof, floor)
        origin[j], spread = pooled(n, mean, m2, j)
        widest[j] = 2.0 * spread
    terms = np.empty(p)
    for i in range(len(y)):
        for c in range(k):
            fill_terms(terms, x[i], peak[c], centre[c], half[c])
            out[i, c] = row_sum(out[i, c], terms)
        c = y[i]
        if c < 0 or w[i] == 0.0:
            continue
        add_row(n[c], mean[c], m2[c], x[i], w[i])
        for j in range(p):
            if x[i, j] != x[i, j]:
                continue
            away = x[i, j] - origin[j]
            widest[j] = max(widest[j], 4.0 * away * away)
            size = n[c, j]
            var = m2[c, j] / (size - ddof) if size > 1.0 and size > ddof else 0.0
            narrowest[j] = min(narrowest[j], var)
            if narrowest[j] <= floor * widest[j] + TINY:
                narrowest[j] = read_column(peak, centre, half, n, mean, m2, j, ddof, floor)
            else:
                centre[c, j] = mean[c, j]
                peak[c, j] = -0.5 * (LOG_2PI + math.log(var))
                half[c, j] = 0.5 / var
