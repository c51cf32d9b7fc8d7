"""Log-densities under the normal densities of `kernels.normal`, as they stand or as they stood before each row."""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats
from bayou.kernels.jit import inner_kernel, kernel, kernel_piece
from bayou.kernels.moments import add_row
from bayou.kernels.normal import LOG_2PI, pooled, read_cell, read_narrow, read_row
from bayou.kernels.sums import row_sum

CONSTANT_SHARE = 0.01  # of the pooled variance, for a class whose values do not vary
LIMIT = 1e290  # a squared distance beyond this is as far as can be told


@kernel_piece
def term(x: float, peak: float, centre: float, half: float) -> float:
    """Log-density of one value that is there."""
    d = x - centre
    away = d * d * half
    return peak - (away if away < LIMIT else LIMIT)


@inner_kernel
def fill_terms(terms: Floats, x: Floats, peak: Floats, centre: Floats, half: Floats) -> None:
    """Log-densities of one row in one class; 0 where x is missing.

    terms : float64[d], out; x, peak, centre, half : float64[d], in
    """
    for j in range(len(x)):
        there = term(x[j], peak[j], centre[j], half[j])
        terms[j] = there if x[j] == x[j] else 0.0


@inner_kernel
def add_row_terms(
    out: Floats, terms: Floats, x: Floats, i: int, peak: Floats, centre: Floats, half: Floats
) -> None:
    """out[i, c] += sum_j log p(x_ij | c), for all classes in one call: to begin one takes as long as ten columns.

    out : float64[rows, K], in/out; terms : float64[p], scratch; x : float64[rows, p], in
    peak, centre, half : float64[K, p], in
    """
    for c in range(out.shape[1]):
        for j in range(x.shape[1]):
            there = term(x[i, j], peak[c, j], centre[c, j], half[c, j])
            terms[j] = there if x[i, j] == x[i, j] else 0.0
        out[i, c] = row_sum(out[i, c], terms)


@kernel
def add_gaussian(out: Floats, x: Floats, peak: Floats, centre: Floats, half: Floats) -> None:
    """out[i, c] += sum_j log p(x_ij | c), tile by tile.

    out : float64[rows, K], in/out; x : float64[rows, p], in; peak, centre, half : float64[K, p], in
    """
    terms = np.empty(x.shape[1])
    for i in range(x.shape[0]):
        add_row_terms(out, terms, x, i, peak, centre, half)


@kernel
def add_gaussian_direct(
    out: Floats, x: Floats, n: Floats, mean: Floats, m2: Floats, ddof: float, floor: float
) -> None:
    """Add the log-densities of one row, bit for bit as `read_columns` and `add_gaussian` do, without their tables.

    out : float64[1, K], in/out; x : float64[1, p], in; n, mean, m2 : float64[K, p], in
    """
    k, p = n.shape
    terms = np.empty((k, p))
    for j in range(p):
        middle, spread = pooled(n, mean, m2, j)
        there = x[0, j] == x[0, j] and spread > 0.0
        for c in range(k):
            var, _ = read_cell(n[c, j], m2[c, j], spread, ddof, floor, CONSTANT_SHARE)
            peak = -0.5 * (LOG_2PI + math.log(var))
            centre = mean[c, j] if n[c, j] > 0.0 else middle
            terms[c, j] = term(x[0, j], peak, centre, 0.5 / var) if there else 0.0
    for c in range(k):
        out[0, c] = row_sum(out[0, c], terms[c])


@kernel
def gaussian_terms(out: Floats, x: Floats, peak: Floats, centre: Floats, half: Floats) -> None:
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
def gaussian_predict_then_update(
    n: Floats,
    mean: Floats,
    m2: Floats,
    out: Floats,
    x: Floats,
    y: Codes,
    w: Floats,
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
    for j in range(p):
        bounds[0, j], bounds[1, j] = 0.0, 0.0
    terms = np.empty(p)
    i = 0
    while i < len(y):
        read_narrow(peak, centre, half, bounds, n, mean, m2, ddof, floor, CONSTANT_SHARE)
        narrow = False
        while i < len(y) and not narrow:  # a loop without what is rarely needed: it is a sixth faster
            add_row_terms(out, terms, x, i, peak, centre, half)
            c = y[i]
            if c >= 0 and w[i] != 0.0:
                add_row(n[c], mean[c], m2[c], x[i], w[i])
                narrow = read_row(peak, centre, half, bounds, n, mean, m2, x[i], c, ddof, floor)
            i += 1
