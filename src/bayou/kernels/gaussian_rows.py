"""Test-then-train with normal densities: log-densities as they stood before each row, which is then learned."""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.gaussian import CONSTANT_SHARE, Position, add_row_sums, fill_peaks, log_peak
from bayou.kernels.gaussian_lanes import any_ceiling_is_0, learn_in_lanes, mark_narrow
from bayou.kernels.jit import inner_kernel, kernel, tight_kernel
from bayou.kernels.moments import all_equal
from bayou.kernels.normal import CEILING, ORIGIN, REACH, is_beyond, read_narrow
from bayou.kernels.side_by_side import put_side_by_side
from bayou.kernels.sums import TILE


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
    lanes: bool,
    ddof: float,
    floor: float,
) -> tuple[Position, bool]:
    """Predict and learn rows from `begin` on, column by column: one row if `lanes` can learn the next, else until then.

    With `narrow`, `read_narrow` is due before the first row. Returns where it stopped, and whether that is due now.
    n, mean, m2, centre, half : float64[K, p], in/out; bounds : float64[3, p], in/out; peak, total : float64[K], in/out
    even : bool[K], in/out; out : float64[rows, K], in/out; x : float64[some, p], in, the rows from `first` on
    y : int32[rows], in; w : float64[rows], in; with `fits`, lanes may be used later
    """
    k, p = n.shape
    unasked, tile, ahead = np.empty((k, 0)), np.empty(TILE), np.zeros(k, np.bool_)
    end = begin + np.uint64(1) if lanes and begin < last else last
    for at in range(begin, end):
        i = at - first
        if narrow:
            for e in range(np.uint64(k)):
                settle(n, mean, ahead, total, centre, e)
            read_narrow(unasked, centre, half, bounds, n, mean, m2, ddof, floor, CONSTANT_SHARE)
            fill_peaks(peak, tile, half)
            narrow = False
            if fits and (p <= TILE or any_ceiling_is_0(bounds)):
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
    fits = no_missing
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
            lanes = fits and not narrow and (p <= TILE or any_ceiling_is_0(bounds))
            if lanes:
                at, narrow = learn_in_lanes(
                    n, mean, m2, centre, half, bounds, peak, total, out, x, y, w, at, first, last, ddof, floor
                )
            at, narrow = learn_rows(
                n, mean, m2, centre, half, bounds, peak, total, even, out, x, y, w, at, first, last, narrow, fits,
                lanes, ddof, floor,
            )  # fmt: skip
        first = last
