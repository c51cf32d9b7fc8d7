"""Log-densities under the normal densities of `kernels.normal` as they stood before each row, then learned."""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.gaussian import (
    CONSTANT_SHARE,
    EXPONENT_OF_1,
    MANTISSA,
    ONE_OVER_PI,
    SHIFT,
    Position,
    add_row_sums,
    distance_of_present,
    fill_peaks,
    log_of_product,
    log_peak,
)
from bayou.kernels.jit import inner_kernel, kernel, tight_kernel
from bayou.kernels.moments import all_equal
from bayou.kernels.normal import CEILING, ORIGIN, REACH, is_beyond, read_narrow
from bayou.kernels.side_by_side import put_side_by_side
from bayou.kernels.sums import TILE

FEW = 16  # columns: fewer are sooner gone through one by one than by vectors of them


@tight_kernel
def add_few_sums(
    out: Floats, at: Position, x: Floats, i: Position, centre: Floats, half: Floats, peak: Floats
) -> None:
    """`add_row_sums` of few columns, bit for bit, where nothing is missing.

    out : float64[any, K], in/out; x : float64[rows, p], in; centre, half : float64[K, p], in; peak : float64[K], in
    """
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    p = np.uint64(half.shape[1])
    for c in range(np.uint64(out.shape[1])):
        d = e = f = g = 0.0
        j = np.uint64(0)
        while j + three < p:
            d += distance_of_present(x[i, j], centre[c, j], half[c, j])
            e += distance_of_present(x[i, j + one], centre[c, j + one], half[c, j + one])
            f += distance_of_present(x[i, j + two], centre[c, j + two], half[c, j + two])
            g += distance_of_present(x[i, j + three], centre[c, j + three], half[c, j + three])
            j += four
        if j < p:
            d += distance_of_present(x[i, j], centre[c, j], half[c, j])
        if j + one < p:
            e += distance_of_present(x[i, j + one], centre[c, j + one], half[c, j + one])
        if j + two < p:
            f += distance_of_present(x[i, j + two], centre[c, j + two], half[c, j + two])
        out[at, c] += peak[c] - ((d + e) + (f + g))


@tight_kernel
def learn_full_row(
    centre: Floats,
    m2: Floats,
    half: Floats,
    bounds: Floats,
    c: Position,
    x: Floats,
    i: Position,
    w: float,
    total: float,
    ddof: float,
) -> bool:
    """`learn_row` where nothing is missing, and all columns of the class weigh `total` with this row, more than one.

    The centres of the class are its means, ahead of those that `settle` brings up to date: what is not touched need
    not be in the cache. Loops over few arrays: LLVM looks whether two overlap, and gives up where there are many.
    centre, m2, half : float64[K, p], in/out; bounds : float64[3, p], in/out; x : float64[rows, p], in
    """
    ceiling, reach, origin = np.uint64(CEILING), np.uint64(REACH), np.uint64(ORIGIN)
    p = np.uint64(x.shape[1])
    share = w / total
    rest = w * (1.0 - share)
    above = 0.5 * (total - ddof)
    beyond = 0
    for j in range(p):
        d = x[i, j] - centre[c, j]
        centre[c, j] += d * share
        m2[c, j] += d * (d * rest)
    for j in range(p):
        own = above / m2[c, j]
        half[c, j] = own
        beyond += is_beyond(own, x[i, j], bounds[ceiling, j], bounds[reach, j], bounds[origin, j])
    if beyond == 0:
        return False
    mark_narrow(bounds, half, c, x, i)
    return True


@tight_kernel
def learn_few_columns(
    peak: Floats,
    tile: Floats,
    centre: Floats,
    m2: Floats,
    half: Floats,
    bounds: Floats,
    c: Position,
    x: Floats,
    i: Position,
    w: float,
    total: float,
    ddof: float,
) -> bool:
    """`learn_full_row` of few columns, and `log_peak` of the class, bit for bit.

    One loop, since to begin another takes longer than six turns, and one way out but for the last line: where there
    are more, Numba counts references to the arrays, row by row, which takes longer than all else.
    peak : float64[K], in/out, of no use if the class must be read anew; tile : float64[TILE], scratch
    centre, m2, half : float64[K, p], in/out; bounds : float64[3, p], in/out; x : float64[rows, p], in
    """
    ceiling, reach, origin = np.uint64(CEILING), np.uint64(REACH), np.uint64(ORIGIN)
    p = np.uint64(x.shape[1])
    share = w / total
    rest = w * (1.0 - share)
    above = 0.5 * (total - ddof)
    beyond, exponents = 0, np.uint64(0)
    for j in range(p):
        value = x[i, j]
        d = value - centre[c, j]
        squares = m2[c, j] + d * (d * rest)
        own = above / squares
        beyond += is_beyond(own, value, bounds[ceiling, j], bounds[reach, j], bounds[origin, j])
        bits = np.float64(own * ONE_OVER_PI).view(np.uint64)
        tile[j] = np.uint64((bits & MANTISSA) | EXPONENT_OF_1).view(np.float64)
        exponents += bits >> SHIFT
        centre[c, j] += d * share
        m2[c, j] = squares
        half[c, j] = own
    peak[c] = log_of_product(tile, p, exponents, p)
    if beyond == 0:
        return False
    mark_narrow(bounds, half, c, x, i)
    return True


@inner_kernel
def mark_narrow(bounds: Floats, half: Floats, c: Position, x: Floats, i: Position) -> None:
    """Set the ceiling of the columns that must be read to 0.

    bounds : float64[3, p], in/out; half : float64[K, p], in; x : float64[rows, p], in
    """
    for j in range(x.shape[1]):
        if is_beyond(half[c, j], x[i, j], bounds[CEILING, j], bounds[REACH, j], bounds[ORIGIN, j]):
            bounds[CEILING, j] = 0.0


@inner_kernel
def settle(n: Floats, mean: Floats, ahead: Flags, total: Floats, centre: Floats, c: Position) -> None:
    """Bring weights and means of a class up to date, where `learn_full_row` is ahead of them.

    n, mean : float64[K, p], in/out; ahead : bool[K], in/out; total : float64[K], in; centre : float64[K, p], in
    """
    if ahead[c]:
        ahead[c] = False
        for j in range(n.shape[1]):
            n[c, j] = total[c]
            mean[c, j] = centre[c, j]


@tight_kernel
def learn_row(
    n: Floats,
    mean: Floats,
    m2: Floats,
    centre: Floats,
    half: Floats,
    bounds: Floats,
    c: Position,
    x: Floats,
    i: Position,
    w: float,
    ddof: float,
) -> bool:
    """`add_row` and `read_row` in one, on row i: handing them rows takes longer than six columns.

    n, mean, m2, centre, half : float64[K, p], in/out; bounds : float64[3, p], in/out; x : float64[rows, p], in
    """
    ceiling, reach, origin = np.uint64(CEILING), np.uint64(REACH), np.uint64(ORIGIN)
    narrow = False
    for j in range(np.uint64(x.shape[1])):
        if x[i, j] != x[i, j]:
            continue
        total = n[c, j] + w
        share = w / total
        d = x[i, j] - mean[c, j]
        n[c, j] = total
        mean[c, j] += d * share
        m2[c, j] += d * (d * (w * (1.0 - share)))
        own = 0.5 * (total - ddof) / m2[c, j] if total > 1.0 and total > ddof else np.inf
        if is_beyond(own, x[i, j], bounds[ceiling, j], bounds[reach, j], bounds[origin, j]):
            bounds[ceiling, j] = 0.0
            narrow = True
        else:
            centre[c, j], half[c, j] = mean[c, j], own
    return narrow


@kernel
def gaussian_predict_then_update(
    n: Floats,
    mean: Floats,
    m2: Floats,
    out: Floats,
    x: Floats,
    columns: Index,
    y: Codes,
    w: Floats,
    no_missing: bool,
    ddof: float,
    floor: float,
) -> None:
    """Row by row: add the log-densities as they stood before the row, then learn the row.

    n, mean, m2 : float64[K, p], in/out; out : float64[rows, K], in/out
    x : float64[some, p], in/out, the first rows; where there are more, the next ones are put in their place
    columns : int64[p, 2], in, of each column the place and the address of all its rows, or none if x has them all
    y : int32[rows], in; w : float64[rows], in; with `no_missing`, no number is missing
    """
    k, p = n.shape
    unasked, centre, half, bounds = np.empty((k, 0)), np.empty((k, p)), np.empty((k, p)), np.zeros((3, p))
    peak, tile, even = np.empty(k), np.empty(TILE), np.empty(k, np.bool_)
    total, ahead = np.empty(k), np.zeros(k, np.bool_)
    for e in range(np.uint64(k)):
        even[e] = all_equal(n[e])
        total[e] = n[e, np.uint64(0)]
    narrow, few = True, no_missing and p < FEW
    first, last = np.uint64(0), np.uint64(len(x))
    for at in range(np.uint64(len(y))):
        if at == last:
            put_side_by_side(x[: np.uint64(len(y)) - last], columns[:0], columns, int(np.int64(last)))
            first, last = last, last + np.uint64(len(x))
        i = at - first
        if narrow:
            for e in range(np.uint64(k)):
                settle(n, mean, ahead, total, centre, e)
            read_narrow(unasked, centre, half, bounds, n, mean, m2, ddof, floor, CONSTANT_SHARE)
            fill_peaks(peak, tile, half)
            narrow = False
        full = True
        if few:
            add_few_sums(out, at, x, i, centre, half, peak)
        else:
            full = add_row_sums(out, at, tile, x, i, centre, half, peak)
        if y[at] < 0 or w[at] == 0.0:
            continue
        c = np.uint64(y[at])
        even[c] = even[c] and full
        if even[c] and total[c] + w[at] > 1.0:
            if not ahead[c]:
                for j in range(p):
                    centre[c, j] = mean[c, j]
                ahead[c] = True
            total[c] += w[at]
            if few:
                narrow = learn_few_columns(
                    peak, tile, centre, m2, half, bounds, c, x, i, w[at], total[c], ddof
                )
            else:
                narrow = learn_full_row(centre, m2, half, bounds, c, x, i, w[at], total[c], ddof)
        else:
            settle(n, mean, ahead, total, centre, c)
            narrow = learn_row(n, mean, m2, centre, half, bounds, c, x, i, w[at], ddof)
            total[c] = n[c, np.uint64(0)]
        if not (narrow or (few and ahead[c])):
            peak[c] = log_peak(tile, half, c, half, c)
    for e in range(np.uint64(k)):
        settle(n, mean, ahead, total, centre, e)
