"""Log-densities under the normal densities of `kernels.normal`, as they stand."""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Floats
from bayou.kernels.jit import inner_kernel, kernel, kernel_piece, tight_kernel
from bayou.kernels.normal import pooled, read_cell
from bayou.kernels.sums import TILE

CONSTANT_SHARE = 0.01  # of the pooled variance, for a class whose values do not vary
LIMIT = 1e290  # squared distances are capped here
LOG_2, ONE_OVER_PI = 0.6931471805599453, 0.3183098861837907
MANTISSA, EXPONENT_OF_1, SHIFT = np.uint64((1 << 52) - 1), np.uint64(1023 << 52), np.uint64(52)

Position = int | np.uint64  # unsigned: signed ones cost a test for negative indices at every access


@kernel_piece
def term(x: float, peak: float, centre: float, half: float) -> float:
    """Log-density of one value, which must not be missing."""
    d = x - centre
    away = d * d * half
    return peak - (away if away < LIMIT else LIMIT)


@tight_kernel
def distance_of_present(x: float, centre: float, half: float) -> float:
    """Squared distance of a value from the centre, times half; the value must not be missing."""
    d = x - centre
    away = d * d * half
    return away if away < LIMIT else LIMIT


@kernel_piece
def distance(x: float, centre: float, half: float) -> float:
    """Squared distance of a value from the centre, times half; 0 if the value is missing."""
    away = distance_of_present(x, centre, half)
    return away if x == x else 0.0


@kernel_piece
def factor(x: float, half: float) -> float:
    """The square of the density at the centre, 1 where the column takes no part: x is missing or `half` is 0."""
    return half * ONE_OVER_PI if (x == x) & (half > 0.0) else 1.0


@inner_kernel
def fill_terms(terms: Floats, x: Floats, peak: Floats, centre: Floats, half: Floats) -> None:
    """Write the log-densities of the values of one row in one class; 0 where x is missing.

    terms : float64[d], out; x, peak, centre, half : float64[d], in
    """
    for j in range(len(x)):
        there = term(x[j], peak[j], centre[j], half[j])
        terms[j] = there if x[j] == x[j] else 0.0


@tight_kernel
def log_peak(tile: Floats, half: Floats, c: Position, x: Floats, i: Position) -> float:
    """Sum of log(half / pi) / 2 over the columns that take part, by one logarithm: that of the product.

    Mantissas, all in [1, 2), are multiplied and exponents added, so that nothing over- or underflows. A column takes
    no part where its half is 0 or x is missing.
    tile : float64[TILE], scratch; half : float64[K, p], in; x : float64[rows, p], in
    """
    p = np.uint64(half.shape[1])
    first = np.uint64(TILE) if p > np.uint64(TILE) else p
    exponents = np.uint64(0)
    for j in range(first):
        bits = np.float64(factor(x[i, j], half[c, j])).view(np.uint64)
        tile[j] = np.uint64((bits & MANTISSA) | EXPONENT_OF_1).view(np.float64)
        exponents += bits >> SHIFT
    begin = first
    while begin < p:
        for j in range(np.uint64(TILE) if p - begin > np.uint64(TILE) else p - begin):
            bits = np.float64(tile[j] * factor(x[i, begin + j], half[c, begin + j])).view(np.uint64)
            tile[j] = np.uint64((bits & MANTISSA) | EXPONENT_OF_1).view(np.float64)
            exponents += bits >> SHIFT
        begin += np.uint64(TILE)
    return log_of_product(tile, first, exponents, p)


@tight_kernel
def log_of_product(tile: Floats, first: np.uint64, exponents: np.uint64, p: np.uint64) -> float:
    """Half the logarithm of a product of p factors.

    tile : float64[TILE], in, scratch, the mantissas that are left to be multiplied, the `first` of them
    exponents : those of all factors, added up as they stand in the bits
    """
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    while first & three:
        tile[first] = 1.0
        first += one
    d = e = f = g = 1.0
    at = np.uint64(0)
    while at < first:
        d *= tile[at]
        e *= tile[at + one]
        f *= tile[at + two]
        g *= tile[at + three]
        at += four
    power = float(np.int64(exponents)) - 1023.0 * float(np.int64(p))
    return 0.5 * (math.log((d * e) * (f * g)) + LOG_2 * power)


@tight_kernel
def add_row_sums(
    out: Floats,
    at: Position,
    tile: Floats,
    x: Floats,
    i: Position,
    centre: Floats,
    half: Floats,
    peak: Floats,
) -> bool:
    """out[at, c] += sum_j log p(x_ij | c). Returns whether nothing is missing.

    out : float64[any, K], in/out; tile : float64[TILE], scratch
    x : float64[rows, p], in; centre, half : float64[K, p], in; peak : float64[K], in, `log_peak` of all columns
    """
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    p = np.uint64(half.shape[1])
    first = np.uint64(TILE) if p > np.uint64(TILE) else p
    whole = first - (first & three)
    missing = 0
    for j in range(p):
        missing += x[i, j] != x[i, j]
    for c in range(np.uint64(out.shape[1])):
        for j in range(first):
            tile[j] = distance(x[i, j], centre[c, j], half[c, j])
        begin = first
        while begin < p:
            for j in range(np.uint64(TILE) if p - begin > np.uint64(TILE) else p - begin):
                tile[j] += distance(x[i, begin + j], centre[c, begin + j], half[c, begin + j])
            begin += np.uint64(TILE)
        d = e = f = g = 0.0
        four_from = np.uint64(0)
        while four_from < whole:
            d += tile[four_from]
            e += tile[four_from + one]
            f += tile[four_from + two]
            g += tile[four_from + three]
            four_from += four
        if whole < first:
            d += tile[whole]
        if whole + one < first:
            e += tile[whole + one]
        if whole + two < first:
            f += tile[whole + two]
        top = peak[c] if missing == 0 else log_peak(tile, half, c, x, i)
        out[at, c] += top - ((d + e) + (f + g))
    return missing == 0


@inner_kernel
def fill_peaks(peak: Floats, tile: Floats, half: Floats) -> None:
    """peak[c] = `log_peak` of a row in which nothing is missing.

    peak : float64[K], out; tile : float64[TILE], scratch; half : float64[K, p], in
    """
    for c in range(np.uint64(len(peak))):
        peak[c] = log_peak(tile, half, c, half, c)


@kernel
def add_gaussian(out: Floats, x: Floats, centre: Floats, half: Floats) -> None:
    """out[i, c] += sum_j log p(x_ij | c).

    out : float64[rows, K], in/out; x : float64[rows, p], in; centre, half : float64[K, p], in
    """
    peak, tile = np.empty(len(half)), np.empty(TILE)
    fill_peaks(peak, tile, half)
    for i in range(np.uint64(x.shape[0])):
        add_row_sums(out, i, tile, x, i, centre, half, peak)


@kernel
def add_gaussian_direct(
    out: Floats, x: Floats, n: Floats, mean: Floats, m2: Floats, ddof: float, floor: float
) -> None:
    """Add the log-densities of one row, bit for bit as `read_columns` and `add_gaussian` do, in one call.

    out : float64[1, K], in/out; x : float64[1, p], in; n, mean, m2 : float64[K, p], in
    """
    k, p = n.shape
    centre, half, peak, tile = np.empty((k, p)), np.empty((k, p)), np.empty(k), np.empty(TILE)
    for j in range(p):
        middle, spread = pooled(n, mean, m2, j)
        for c in range(k):
            centre[c, j] = mean[c, j] if n[c, j] > 0.0 else middle
            half[c, j] = 0.0
            if spread > 0.0:
                half[c, j], _ = read_cell(n[c, j], m2[c, j], spread, ddof, floor, CONSTANT_SHARE)
    fill_peaks(peak, tile, half)
    add_row_sums(out, np.uint64(0), tile, x, np.uint64(0), centre, half, peak)


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
