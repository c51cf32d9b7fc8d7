"""Adaptive windowing (Bifet and Gavalda, 2007): the longest window in which the mean of a stream is constant.

The window is kept as buckets: row r of `totals` and `squares` holds up to 6 buckets of 2^r values each, oldest first.
"""

from __future__ import annotations

import math

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel

MOST = 5  # buckets of a size; with one more, the two oldest are merged into one of the next size
LEAST = 5.0  # values on each side of a cut
GRACE = 10.0  # values before the first test
WIDTH, TOTAL, SQUARES, TICKS = 0, 1, 2, 3


@inner_kernel
def insert(totals: Floats, squares: Floats, filled: Index, window: Floats, value: float) -> None:
    """Add one value to the window; where a size has one bucket too many, its two oldest are merged.

    totals, squares : float64[R, 6], in/out; filled : int64[R], in/out; window : float64[4], in/out
    """
    window[WIDTH] += 1.0
    window[TOTAL] += value
    window[SQUARES] += value * value
    total, square = value, value * value
    for r in range(len(filled)):
        totals[r, filled[r]], squares[r, filled[r]] = total, square
        filled[r] += 1
        if filled[r] <= MOST or r == len(filled) - 1:
            return
        total, square = totals[r, 0] + totals[r, 1], squares[r, 0] + squares[r, 1]
        drop(totals, squares, filled, r)
        drop(totals, squares, filled, r)


@inner_kernel
def drop(totals: Floats, squares: Floats, filled: Index, r: int) -> None:
    """Remove the oldest bucket from row r.

    totals, squares : float64[R, 6], in/out; filled : int64[R], in/out
    """
    filled[r] -= 1
    for b in range(MOST + 1):
        totals[r, b] = totals[r, b + 1] if b < filled[r] else 0.0
        squares[r, b] = squares[r, b + 1] if b < filled[r] else 0.0


@inner_kernel
def find_cut(totals: Floats, filled: Index, window: Floats, delta: float) -> int:
    """Whether the means on both sides of some cut differ: 1 if the newer one is greater, -1 if smaller, 0 if none does.

    epsilon = sqrt(2 v d / m) + 2 d / (3 m), with d = log(2 log(width) / delta), v the variance of the window and m
    half the harmonic mean of both lengths.
    totals : float64[R, 6], in; filled : int64[R], in; window : float64[4], in
    """
    width = window[WIDTH]
    mean = window[TOTAL] / width
    var = max(0.0, window[SQUARES] / width - mean * mean)
    d = math.log(2.0 * math.log(width) / delta)
    n0, u0 = 0.0, 0.0
    for r in range(len(filled) - 1, -1, -1):
        for b in range(filled[r]):
            n0 += 2.0**r
            u0 += totals[r, b]
            n1 = width - n0
            if n1 < LEAST:
                return 0
            if n0 >= LEAST:
                m = 1.0 / (n0 - LEAST + 1.0) + 1.0 / (n1 - LEAST + 1.0)
                difference = (window[TOTAL] - u0) / n1 - u0 / n0
                if abs(difference) > math.sqrt(2.0 * m * var * d) + 2.0 / 3.0 * d * m:
                    return 1 if difference > 0.0 else -1
    return 0


@kernel
def watch(
    totals: Floats,
    squares: Floats,
    filled: Index,
    window: Floats,
    values: Floats,
    y: Codes,
    w: Floats,
    delta: float,
    clock: int,
) -> int:
    """Add the values of labelled rows with weight up to the first after which the mean has risen; return it, else -1.

    Cuts are tested every `clock` values; while one is found, the oldest bucket is dropped. A mean that has fallen
    shortens the window, too, but is not reported.
    totals, squares : float64[R, 6], in/out; filled : int64[R], in/out; window : float64[4], in/out
    values : float64[n], in; y : int32[n], in; w : float64[n], in
    """
    for i in range(len(y)):
        if y[i] < 0 or w[i] <= 0.0:
            continue
        insert(totals, squares, filled, window, values[i])
        window[TICKS] += 1.0
        if window[TICKS] % clock != 0.0:
            continue
        rose = False
        while window[WIDTH] > GRACE:
            found = find_cut(totals, filled, window, delta)
            if found == 0:
                break
            rose = rose or found > 0
            r = len(filled) - 1
            while filled[r] == 0:
                r -= 1
            window[WIDTH] -= 2.0**r
            window[TOTAL] -= totals[r, 0]
            window[SQUARES] -= squares[r, 0]
            drop(totals, squares, filled, r)
        if rose:
            return i
    return -1
