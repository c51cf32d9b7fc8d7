"""Test-then-train with normal densities, four columns at a time: for rows in which nothing is missing.

All columns of a class have the same weight then. Sums and products over columns have the bits of `add_row_sums` and
`log_peak` of `kernels.gaussian`; tables are padded to a multiple of four columns.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels import sums
from bayou.kernels.gaussian import CONSTANT_SHARE, LIMIT, LOG_2, ONE_OVER_PI, Position
from bayou.kernels.jit import inner_kernel
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
    where_above,
)
from bayou.kernels.normal import CEILING, ORIGIN, REACH, TINY, VARIES, ceiling_and_reach, is_beyond

LANES, TILE = np.uint64(4), np.uint64(sums.TILE)
# Of four columns: every class has its own variance, well above the floor; some class may use the pooled variance, and
# the sums over classes are not stored yet; they are stored.
OWN, UNREAD, POOLED = 0, 1, 2


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


@inner_kernel
def learn_pooled_rows(
    mean: Floats,
    m2: Floats,
    centre: Floats,
    half: Floats,
    bounds: Floats,
    state: Index,
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
    floor: float,
) -> Position:
    """Do the work of `learn_wide_rows` while classes use pooled variances, as `normal.read_column` computes them.

    Starts at row `begin` and stops before a row of a class with too little weight for a variance, or after a row that
    leaves every class with its own variance in all columns. Returns the row where it stopped. `normal.pooled` adds up
    class after class: its sums over the first classes are stored, so that a row changes those from its class on.

    mean, m2, centre, half : float64[K, wide], in/out, with 0, inf, 0 and 0 behind their p columns
    bounds : float64[3, wide], in/out, with inf behind; state : int64[wide / 4], in/out, of every four columns
    peak, total : float64[K], in/out; out : float64[rows, K], in/out; x : float64[rows, p], in; y : int32[rows], in
    w : float64[rows], in
    """
    k, p, wide = np.uint64(len(total)), np.uint64(x.shape[1]), np.uint64(half.shape[1])
    zero, one = np.uint64(0), np.uint64(1)
    # Row r of these: the weight, means and squares of the classes before r, pooled
    weight, middles, squares = np.zeros(k + one), np.zeros((k + one, wide)), np.zeros((k + one, wide))
    share_of, changed = np.zeros(k), np.zeros(k, np.bool_)
    var, own = np.zeros((k, wide)), np.zeros((k, wide))
    ones, narrow_of, spread_of, middle_of = np.ones(4), np.empty(4), np.empty(4), np.empty(4)
    limit, nothing, full, one_over_pi = four_of(LIMIT), four_of(0.0), four_of(1.0), four_of(ONE_OVER_PI)
    floors, tiny, varies, constant = four_of(floor), four_of(TINY), four_of(VARIES), four_of(CONSTANT_SHARE)
    tile, bias = TILE if wide > TILE else wide, 1023.0 * float(np.int64(wide))
    is_first = True
    for i in range(begin, last):
        learns = y[i] >= 0 and w[i] != 0.0
        c = np.uint64(y[i] if learns else 0)
        if learns and (total[c] == 0.0 or total[c] + w[i] <= 1.0):
            return i
        row, own_class = (i - first) * p, c * wide
        its_class = zero
        for e in range(k):
            away = nothing
            j = zero
            while j < tile:
                d = first_of_four(x, row + j, p - j) - four_at(centre, its_class + j)
                apart = lesser(d * d * four_at(half, its_class + j), limit)
                t = j + TILE
                while t < wide:
                    d = first_of_four(x, row + t, p - t) - four_at(centre, its_class + t)
                    apart = apart + lesser(d * d * four_at(half, its_class + t), limit)
                    t += TILE
                away = away + apart
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
        j = zero
        while j < wide:
            value, old = first_of_four(x, row + j, p - j), four_at(mean, own_class + j)
            d = value - old
            deviations, new = four_at(m2, own_class + j) + d * (d * rest), old + d * shares
            put_lanes(mean, own_class + j, new)
            put_lanes(m2, own_class + j, deviations)
            if state[j // LANES] == OWN:
                halves = above / deviations
                far, reach = size_of(value - four_at(bounds, wide + wide + j)), four_at(bounds, wide + j)
                if any_above(halves, four_at(bounds, j), far, reach):
                    state[j // LANES] = UNREAD
                else:
                    put_lanes(centre, own_class + j, new)
                    put_lanes(half, own_class + j, halves)
            j += LANES
        for e in range(zero if is_first else c, k):
            joint = weight[e] + total[e]
            share_of[e] = total[e] / joint if total[e] > 0.0 else 0.0
            weight[e + one] = joint
        is_first = False
        for e in range(k):
            changed[e] = e == c
        any_pooled = False
        j = zero
        while j < wide:
            if state[j // LANES] == OWN:
                j += LANES
                continue
            stored = state[j // LANES] == POOLED
            begins = c if stored else zero
            middle, added = four_at(middles, begins * wide + j), four_at(squares, begins * wide + j)
            for e in range(begins, k):
                at = e * wide + j
                if total[e] > 0.0:
                    deviations, d = four_at(m2, at), four_at(mean, at) - middle
                    added = added + (deviations + d * d * four_of(weight[e]) * four_of(share_of[e]))
                    middle = middle + d * four_of(share_of[e])
                    if e == c or not stored:
                        size = total[e] - ddof
                        put_lanes(var, at, deviations / four_of(size) if size > 0.0 else nothing)
                        put_lanes(own, at, four_of(0.5 * size) / deviations)
                put_lanes(middles, at + wide, middle)
                put_lanes(squares, at + wide, added)
            # Behind the last column the spread is 0, and every half with it
            spread = where_above(
                first_of_four(ones, zero, p - j), nothing, added / four_of(weight[k]), nothing
            )
            least, part = floors * spread + tiny, constant * spread
            lent = four_of(0.5) / where_above(spread, least, spread, least)
            lent_to_constant = four_of(0.5) / where_above(part, least, part, least)
            narrowest = four_of(np.inf)
            for e in range(k):
                at = e * wide + j
                here = four_at(var, at)
                halves = where_above(here, least, four_at(own, at), lent_to_constant)
                own_var = where_above(here, least, here, nothing)
                if total[e] <= 1.0:
                    halves, own_var = where_above(here, varies * spread, halves, lent), nothing
                halves = where_above(spread, nothing, halves, nothing)
                old = four_at(half, at)
                changed[e] |= any_above(halves, old, old, halves)
                put_lanes(half, at, halves)
                put_lanes(
                    centre,
                    at,
                    where_above(spread, nothing, four_at(mean, at) if total[e] > 0.0 else middle, nothing),
                )
                narrowest = lesser(own_var, narrowest)
            state[j // LANES] = POOLED
            if not any_above(least + least, narrowest, nothing, nothing):
                put_lanes(narrow_of, zero, narrowest)
                put_lanes(spread_of, zero, spread)
                put_lanes(middle_of, zero, middle)
                state[j // LANES] = OWN
                for lane in range(LANES if p - j > LANES else p - j):
                    bounds[CEILING, j + lane], bounds[REACH, j + lane] = ceiling_and_reach(
                        narrow_of[lane], spread_of[lane], floor
                    )
                    bounds[ORIGIN, j + lane] = middle_of[lane]
                    if bounds[CEILING, j + lane] == 0.0:
                        state[j // LANES] = POOLED
            any_pooled |= state[j // LANES] == POOLED
            j += LANES
        for e in range(k):
            if changed[e]:
                product, power = full, nothing
                j = zero
                while j < tile:
                    part, t = full, j
                    while t < wide:
                        halves = four_at(half, e * wide + t)
                        part = part * where_above(halves, nothing, halves * one_over_pi, full)
                        part, power = mantissas(part), power + exponents(part)
                        t += TILE
                    product = product * part
                    j += LANES
                peak[e] = 0.5 * (math.log(product_of_four(product)) + LOG_2 * (sum_of_four(power) - bias))
        if not any_pooled:
            return i + one
    return last


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
    floor: float,
) -> tuple[Position, bool]:
    """Copy the tables to ones padded to a multiple of four columns, learn rows by these, and copy them back.

    Returns the row where it stopped, and whether `read_narrow` must follow.

    n, mean, m2, centre, half : float64[K, p], in/out; bounds : float64[3, p], in/out; peak, total : float64[K], in/out
    out : float64[rows, K], in/out; x : float64[many, p], in; y : int32[rows], in; w : float64[rows], in
    """
    k, p = n.shape
    wide = (p + 3) & ~3
    means, squares, limits = np.zeros((k, wide)), np.full((k, wide), np.inf), np.full((3, wide), np.inf)
    centres, halves, state = np.zeros((k, wide)), np.zeros((k, wide)), np.zeros(wide // 4, np.int64)
    for j in range(p):
        for b in range(3):
            limits[b, j] = bounds[b, j]
        if bounds[CEILING, j] == 0.0:
            state[j // 4] = UNREAD
        for c in range(k):
            means[c, j], centres[c, j], halves[c, j], squares[c, j] = (
                mean[c, j],
                centre[c, j],
                half[c, j],
                m2[c, j],
            )
    done, narrow = begin, False
    if any_ceiling_is_0(bounds):
        done = learn_pooled_rows(
            means,
            squares,
            centres,
            halves,
            limits,
            state,
            peak,
            total,
            out,
            x,
            y,
            w,
            begin,
            first,
            last,
            ddof,
            floor,
        )
    else:
        centres = means
        done, narrow = learn_wide_rows(
            centres, squares, halves, limits, peak, total, out, x, y, w, begin, first, last, ddof
        )
    for j in range(p):
        for b in range(3):
            bounds[b, j] = limits[b, j]
        if state[j // 4] != OWN:
            bounds[CEILING, j] = 0.0
        for c in range(k):
            centre[c, j], half[c, j], m2[c, j] = centres[c, j], halves[c, j], squares[c, j]
            if total[c] > 0.0:
                n[c, j], mean[c, j] = total[c], means[c, j]
    if narrow:
        learned = done - np.uint64(1)
        mark_narrow(bounds, half, np.uint64(y[learned]), x, learned - first)
    return done, narrow


@inner_kernel
def any_ceiling_is_0(bounds: Floats) -> bool:
    """Return whether a class may use the pooled variance of some column.

    bounds : float64[3, p], in
    """
    for j in range(bounds.shape[1]):
        if bounds[CEILING, j] == 0.0:
            return True
    return False


@inner_kernel
def mark_narrow(bounds: Floats, half: Floats, c: Position, x: Floats, i: Position) -> None:
    """Set the ceiling to 0 for the columns that `read_narrow` must compute again after row i of class c.

    bounds : float64[3, p], in/out; half : float64[K, p], in; x : float64[rows, p], in
    """
    for j in range(x.shape[1]):
        if is_beyond(half[c, j], x[i, j], bounds[CEILING, j], bounds[REACH, j], bounds[ORIGIN, j]):
            bounds[CEILING, j] = 0.0
