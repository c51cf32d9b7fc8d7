"""Log-densities of rows under the normal densities of `kernels.normal`: as they stand, and as they trail the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import kernel
from bayou.kernels.moments import add_row
from bayou.kernels.normal import read_column, read_columns, read_row
from bayou.kernels.sums import row_sum

CONSTANT_SHARE = 0.01  # of the pooled variance, for a class whose values do not vary
LIMIT = 1e290  # a squared distance beyond this is as far as can be told


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
        read_column(peak, centre, half, n, mean, m2, j, ddof, floor, CONSTANT_SHARE)


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

    n, mean, m2 : float64[K, p], in/out; out : float64[rows, K], in/out; x : float64[rows, p], in
    y : int32[rows], in; w : float64[rows], in
    """
    p = x.shape[1]
    k = out.shape[1]
    peak = np.empty((k, p))
    centre = np.empty((k, p))
    half = np.empty((k, p))
    bounds = np.empty((3, p))
    read_columns(peak, centre, half, bounds, n, mean, m2, ddof, floor, CONSTANT_SHARE)
    terms = np.empty(p)
    for i in range(len(y)):
        for c in range(k):
            fill_terms(terms, x[i], peak[c], centre[c], half[c])
            out[i, c] = row_sum(out[i, c], terms)
        c = y[i]
        if c < 0 or w[i] == 0.0:
            continue
        add_row(n[c], mean[c], m2[c], x[i], w[i])
        read_row(peak, centre, half, bounds, n, mean, m2, x[i], c, ddof, floor, CONSTANT_SHARE)
