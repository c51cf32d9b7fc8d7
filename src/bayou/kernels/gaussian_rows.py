"""Test-then-train with normal densities: log-densities as they stood before each row, which is then learned."""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.gaussian import (
    CONSTANT_SHARE,
    LIMIT,
    LOG_2,
    ONE_OVER_PI,
    Position,
    add_row_sums,
    fill_peaks,
    log_peak,
)
from bayou.kernels.jit import inner_kernel, kernel, tight_kernel
from bayou.kernels.lanes import (
    any_above,
    exponents,
    first_of_four,
    four_at,
    four_of,
    lesser,
    mantissas,
    product_of_four,
    put_lanes,
    size_of,
    sum_of_four,
)
from bayou.kernels.moments import all_equal
from bayou.kernels.normal import CEILING, ORIGIN, REACH, is_beyond, read_narrow
from bayou.kernels.side_by_side import put_side_by_side
from bayou.kernels.sums import TILE

LANES = np.uint64(4)


@inner_kernel
def learn_wide_rows(
    centre: Floats,
    m2: Floats,
    half: Floats,
    bounds: Floats,
    peak: Floats,
    total: Floats,
    out: Floats,
    x: Floats,
    y: Codes,
    w: Floats,
    begin: Position,
    first: np.uint64,
    last: np.uint64,
    ddof: float,
) -> tuple[Position, bool]:
    """Add the sums of `add_row_sums` and learn as `learn_full_row` does, bit for bit, four columns at a time.

    Requires that no value is missing, that all columns of a class have the same weight, and that the columns fit into a
    tile of sums. Starts at row `begin` and stops before a row of a class with too little weight for a variance, or
    after a row that `read_narrow` must follow. Returns the row where it stopped, and whether `read_narrow` must follow.
    The loop passes no array to a function: Numba would count references to it, which takes longer than learning a row.

    centre, m2, half : float64[K, wide], in/out, with 0, inf and 0 behind their p columns, where wide is a multiple of
    four; bounds : float64[3, wide], in, with inf behind; peak, total : float64[K], in/out
    out : float64[rows, K], in/out; x : float64[rows, p], in; y : int32[rows], in; w : float64[rows], in
    """
    p, wide = np.uint64(x.shape[1]), np.uint64(half.shape[1])
    limit, nothing, one_over_pi = four_of(LIMIT), four_of(0.0), four_of(ONE_OVER_PI)
    bias = 1023.0 * float(np.int64(p))
    for i in range(begin, last):
        learns = y[i] >= 0 and w[i] != 0.0
        c = np.uint64(y[i] if learns else 0)
        if learns and (total[c] == 0.0 or total[c] + w[i] <= 1.0):
            return i, False
        row, own_class = (i - first) * p, c * wide
        its_class = np.uint64(0)
        for e in range(np.uint64(out.shape[1])):
            away = nothing
            j = np.uint64(0)
            while j < wide:
                d = first_of_four(x, row + j, p - j) - four_at(centre, its_class + j)
                away = away + lesser(d * d * four_at(half, its_class + j), limit)
                j += LANES
            out[i, e] += peak[e] - sum_of_four(away)
            its_class += wide
        if not learns:
            continue
        total[c] += w[i]
        share = w[i] / total[c]
        shares, rest, above = (
            four_of(share),
            four_of(w[i] * (1.0 - share)),
            four_of(0.5 * (total[c] - ddof)),
        )
        beyond, product, power = False, four_of(1.0), nothing
        j = np.uint64(0)
        while j < wide:
            value, mean = first_of_four(x, row + j, p - j), four_at(centre, own_class + j)
            d = value - mean
            squares = four_at(m2, own_class + j) + d * (d * rest)
            own = above / squares
            far, reach = size_of(value - four_at(bounds, wide + wide + j)), four_at(bounds, wide + j)
            beyond |= any_above(own, four_at(bounds, j), far, reach)
            factor = own * one_over_pi
            product, power = product * mantissas(factor), power + exponents(factor)
            put_lanes(centre, own_class + j, mean + d * shares)
            put_lanes(m2, own_class + j, squares)
            put_lanes(half, own_class + j, own)
            j += LANES
        peak[c] = 0.5 * (math.log(product_of_four(product)) + LOG_2 * (sum_of_four(power) - bias))
        if beyond:
            return i + np.uint64(1), True
    return last, False


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
    """Learn row i as `learn_row` does, if no value is missing and all columns of its class weigh `total` > 1 with it.

    The means of the class are updated in `centre` alone, and `settle` later copies them to `mean`: arrays that are not
    touched need no room in the cache. Each loop uses few arrays: LLVM tests whether they overlap, and gives up on a
    loop over many.
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
    return beyond > 0


@inner_kernel
def learn_in_lanes(
    n: Floats,
    mean: Floats,
    m2: Floats,
    centre: Floats,
    half: Floats,
    bounds: Floats,
    peak: Floats,
    total: Floats,
    out: Floats,
    x: Floats,
    y: Codes,
    w: Floats,
    begin: Position,
    first: np.uint64,
    last: np.uint64,
    ddof: float,
) -> tuple[Position, bool]:
    """Copy the tables to ones padded to a multiple of four columns, call `learn_wide_rows`, and copy them back.

    n, mean, m2, centre, half : float64[K, p], in/out; bounds : float64[3, p], in/out; peak, total : float64[K], in/out
    out : float64[rows, K], in/out; x : float64[many, p], in; y : int32[rows], in; w : float64[rows], in
    """
    k, p = n.shape
    wide = (p + 3) & ~3
    means, halves, squares = np.zeros((k, wide)), np.zeros((k, wide)), np.full((k, wide), np.inf)
    limits = np.full((3, wide), np.inf)
    for j in range(p):
        for b in range(3):
            limits[b, j] = bounds[b, j]
        for c in range(k):
            means[c, j] = mean[c, j] if total[c] > 0.0 else centre[c, j]
            halves[c, j], squares[c, j] = half[c, j], m2[c, j]
    done, narrow = learn_wide_rows(
        means, squares, halves, limits, peak, total, out, x, y, w, begin, first, last, ddof
    )
    for c in range(k):
        for j in range(p):
            centre[c, j], half[c, j], m2[c, j] = means[c, j], halves[c, j], squares[c, j]
            if total[c] > 0.0:
                n[c, j], mean[c, j] = total[c], means[c, j]
    if narrow:
        learned = done - np.uint64(1)
        mark_narrow(bounds, half, np.uint64(y[learned]), x, learned - first)
    return done, narrow


@inner_kernel
def mark_narrow(bounds: Floats, half: Floats, c: Position, x: Floats, i: Position) -> None:
    """Set the ceiling to 0 for the columns that `read_narrow` must compute again after row i of class c.

    bounds : float64[3, p], in/out; half : float64[K, p], in; x : float64[rows, p], in
    """
    for j in range(x.shape[1]):
        if is_beyond(half[c, j], x[i, j], bounds[CEILING, j], bounds[REACH, j], bounds[ORIGIN, j]):
            bounds[CEILING, j] = 0.0


@inner_kernel
def settle(n: Floats, mean: Floats, ahead: Flags, total: Floats, centre: Floats, c: Position) -> None:
    """Copy weights and means of a class to `n` and `mean` where `learn_full_row` has updated them elsewhere only.

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
    """Do the work of `add_row` and `read_row` on row i: passing slices to them takes longer than six columns.

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


@inner_kernel
def learn_rows(
    n: Floats,
    mean: Floats,
    m2: Floats,
    centre: Floats,
    half: Floats,
    bounds: Floats,
    peak: Floats,
    total: Floats,
    even: Flags,
    out: Floats,
    x: Floats,
    y: Codes,
    w: Floats,
    begin: Position,
    first: np.uint64,
    last: np.uint64,
    narrow: bool,
    fits: bool,
    ddof: float,
    floor: float,
) -> tuple[Position, bool]:
    """Predict and learn rows from `begin` on, column by column, up to the first that `learn_in_lanes` could learn.

    With `narrow`, `read_narrow` is due before the first row. Returns where it stopped, and whether that is due now.
    n, mean, m2, centre, half : float64[K, p], in/out; bounds : float64[3, p], in/out; peak, total : float64[K], in/out
    even : bool[K], in/out; out : float64[rows, K], in/out; x : float64[some, p], in, the rows from `first` on
    y : int32[rows], in; w : float64[rows], in; with `fits`, lanes can be used while no class is narrow
    """
    k, p = n.shape
    unasked, tile, ahead = np.empty((k, 0)), np.empty(TILE), np.zeros(k, np.bool_)
    lanes = fits and not narrow and no_ceiling_is_0(bounds)
    end = begin + np.uint64(1) if lanes and begin < last else last
    for at in range(begin, end):
        i = at - first
        if narrow:
            for e in range(np.uint64(k)):
                settle(n, mean, ahead, total, centre, e)
            read_narrow(unasked, centre, half, bounds, n, mean, m2, ddof, floor, CONSTANT_SHARE)
            fill_peaks(peak, tile, half)
            narrow = False
            if fits and no_ceiling_is_0(bounds):
                return at, False
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
            narrow = learn_full_row(centre, m2, half, bounds, c, x, i, w[at], total[c], ddof)
            if narrow:
                mark_narrow(bounds, half, c, x, i)
        else:
            settle(n, mean, ahead, total, centre, c)
            narrow = learn_row(n, mean, m2, centre, half, bounds, c, x, i, w[at], ddof)
            total[c] = n[c, np.uint64(0)]
        if not narrow:
            peak[c] = log_peak(tile, half, c, half, c)
    for e in range(np.uint64(k)):
        settle(n, mean, ahead, total, centre, e)
    return end, narrow


@inner_kernel
def no_ceiling_is_0(bounds: Floats) -> bool:
    """Whether in all columns the variance of every class lies well above the floor, a share of the pooled variance.

    bounds : float64[3, p], in
    """
    for j in range(bounds.shape[1]):
        if bounds[CEILING, j] == 0.0:
            return False
    return True


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
    centre, half, bounds = np.empty((k, p)), np.empty((k, p)), np.zeros((3, p))
    peak, total, even = np.empty(k), np.empty(k), np.empty(k, np.bool_)
    fits = no_missing and p <= TILE
    for c in range(k):
        even[c] = all_equal(n[c])
        total[c] = n[c, 0]
        fits = fits and even[c]
    rows, narrow = np.uint64(len(y)), True
    first = np.uint64(0)
    at: Position = np.uint64(0)
    while at < rows:
        last = rows if rows - first < np.uint64(len(x)) else first + np.uint64(len(x))
        if at > np.uint64(0):
            put_side_by_side(x[: last - first], columns[:0], columns, int(np.int64(first)))
        while at < last:
            if fits and not narrow and no_ceiling_is_0(bounds):
                at, narrow = learn_in_lanes(
                    n, mean, m2, centre, half, bounds, peak, total, out, x, y, w, at, first, last, ddof
                )
            at, narrow = learn_rows(
                n, mean, m2, centre, half, bounds, peak, total, even, out, x, y, w, at, first, last, narrow, fits,
                ddof, floor,
            )  # fmt: skip
        first = last
