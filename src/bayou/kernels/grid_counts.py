"""Counting per cell of a grid that splits its heaviest cells (PiD), and merges its lightest ones (cPiD).

A column has m cells ``(-inf, b_0], (b_0, b_1], .., (b_{m-2}, inf)``. Dividing a cell gives each half one half of
its counts, so the weight at or below a new break is known only up to its `slack`: half of the cell plus the
larger slack of the cell's ends. Later values are counted on the right side of it, so the slack does not grow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel

TILE = 8  # columns transposed at a time
LEAST_AHEAD = 8  # values looked up together after a division
MOST_AHEAD = 128  # and after a long time without one


@kernel
def warm_up(
    values: Floats,
    labels: Codes,
    weights: Floats,
    filled: Index,
    frozen: Flags,
    numeric: Floats,
    y: Codes,
    w: Floats,
    first: Index,
) -> None:
    """Store the first values of the columns that are not frozen; first[j] = the first row after these. O(n p).

    values : float64[p, R], in/out
    labels : int32[p, R], in/out
    weights : float64[p, R], in/out
    filled : int64[p], in/out
    frozen : bool[p], in
    numeric : float64[n, p], in
    y : int32[n], in
    w : float64[n], in
    first : int64[p], out
    """
    for j in range(len(filled)):
        first[j] = 0
        if frozen[j]:
            continue
        i = 0
        at = filled[j]
        while i < len(y) and at < values.shape[1]:
            x = numeric[i, j]
            if y[i] >= 0 and w[i] > 0.0 and x == x:
                values[j, at] = x
                labels[j, at] = y[i]
                weights[j, at] = w[i]
                at += 1
            i += 1
        filled[j] = at
        first[j] = i


@inner_kernel
def find_cells(breaks: Floats, x: Floats, spots: NDArray[np.uint64]) -> None:
    """spots[i] = number of breaks below x_i (0 for NaN), all values side by side. O(n log m).

    breaks : float64[m], in; increasing, then infinite; m a power of two
    x : float64[n], in
    spots : uint64[n], out
    """
    one = np.uint64(1)
    for i in range(len(spots)):
        spots[i] = np.uint64(0)
    half = np.uint64(len(breaks) // 2)
    while half > np.uint64(0):
        for i in range(len(spots)):
            spot = spots[i]
            spots[i] = spot + half * np.uint64(breaks[spot + half - one] < x[i])
        half >>= one


@inner_kernel
def _weight(counts: Floats) -> float:
    """Sum over the classes.

    counts : float64[K], in
    """
    total = 0.0
    for c in range(len(counts)):
        total += counts[c]
    return total


@inner_kernel
def divide_cell(breaks: Floats, slack: Floats, counts: Floats, size: int, v: int, step: float) -> bool:
    """Divide cell v: an inner one in the middle, an outer one `step` beyond its break. O(m K).

    Returns False, and does nothing, where no number lies between the cell's ends.

    breaks : float64[m], in/out
    slack : float64[m], in/out
    counts : float64[m, K], in/out
    """
    below = 0.0
    above = 0.0
    if v > 0:
        below = slack[v - 1]
    if v < size - 1:
        above = slack[v]
    if v == 0:
        cut = breaks[0] - step
        fits = cut < breaks[0]
    elif v == size - 1:
        cut = breaks[v - 1] + step
        fits = cut > breaks[v - 1]
    else:
        cut = breaks[v - 1] + (breaks[v] - breaks[v - 1]) / 2.0
        fits = breaks[v - 1] < cut < breaks[v]
    if not fits:
        return False
    for q in range(size - 1, v, -1):
        breaks[q] = breaks[q - 1]
        slack[q] = slack[q - 1]
        for c in range(counts.shape[1]):
            counts[q + 1, c] = counts[q, c]
    for c in range(counts.shape[1]):
        counts[v, c] /= 2.0
        counts[v + 1, c] = counts[v, c]
    breaks[v] = cut
    slack[v] = _weight(counts[v]) + max(below, above)
    return True


@kernel
def join_cells(breaks: Floats, slack: Floats, counts: Floats, size: int, spared: int) -> int:
    """Join the two neighbours with the least weight, the leftmost on ties, not the pair `spared`. O(m K).

    breaks : float64[m], in/out
    slack : float64[m], in/out
    counts : float64[m, K], in/out; returns the first cell of the pair
    """
    least = np.inf
    pair = 0
    left = _weight(counts[0])
    for v in range(size - 1):
        right = _weight(counts[v + 1])
        if v != spared and left + right < least:
            least = left + right
            pair = v
        left = right
    for c in range(counts.shape[1]):
        counts[pair, c] += counts[pair + 1, c]
        for q in range(pair + 1, size - 1):
            counts[q, c] = counts[q + 1, c]
        counts[size - 1, c] = 0.0
    for q in range(pair, size - 2):
        breaks[q] = breaks[q + 1]
        slack[q] = slack[q + 1]
    breaks[size - 2] = np.inf
    slack[size - 2] = 0.0
    return pair


@kernel
def count_values(
    breaks: Floats,
    slack: Floats,
    counts: Floats,
    size: Index,
    sums: Floats,
    x: Floats,
    y: Codes,
    w: Floats,
    alpha: float,
    wait: float,
    step: float,
    cells: int,
    joins: bool,
) -> None:
    """Count values one by one; a cell with a share above alpha is divided. O(n log m), a division O(m K).

    With `joins` the two emptiest neighbours are joined after each division (the fresh halves excepted);
    without, division stops at `cells`. No division before the weight reaches `wait`.

    breaks : float64[m], in/out
    slack : float64[m], in/out
    counts : float64[m, K], in/out
    size : int64[1], in/out; cells in use
    sums : float64[2], in/out; weight, and the largest value
    x : float64[n], in; NaN = missing
    y : int32[n], in
    w : float64[n], in
    """
    spots = np.empty(MOST_AHEAD, np.uint64)
    total = sums[0]
    top = sums[1]
    i = 0
    ahead = LEAST_AHEAD  # values whose cells are looked up at once; a division invalidates the rest of them
    while i < len(x):
        end = min(i + ahead, len(x))
        here = spots[: end - i]
        find_cells(breaks, x[i:end], here)
        ahead = min(2 * ahead, len(spots))
        for r in range(len(here)):
            value = x[i]
            c = y[i]
            weight = w[i]
            i += 1
            if not (value == value and c >= 0 and weight > 0.0):
                continue
            row = counts[here[r]]
            row[np.uint64(c)] += weight
            total += weight
            top = max(top, value)
            if total < wait or 1.0 + _weight(row) <= alpha * (total + 2.0):
                continue
            v = int(np.int64(here[r]))
            if (joins or size[0] < cells) and divide_cell(breaks, slack, counts, size[0], v, step):
                size[0] += 1
                if joins:
                    join_cells(breaks, slack, counts, size[0], v)
                    size[0] -= 1
                ahead = LEAST_AHEAD
                break
    sums[0] = total
    sums[1] = top


@kernel
def count_columns(
    breaks: Floats,
    slack: Floats,
    counts: Floats,
    sizes: Index,
    sums: Floats,
    numeric: Floats,
    y: Codes,
    w: Floats,
    first: Index,
    steps: Floats,
    alpha: float,
    wait: float,
    cells: int,
    joins: bool,
    lo: int,
    hi: int,
) -> None:
    """Count rows first[j].. of the frozen columns among lo..hi. O(n log m) per column.

    breaks : float64[p, m], in/out
    slack : float64[p, m], in/out
    counts : float64[p, m, K], in/out
    sizes : int64[p], in/out; 0 where a column is not frozen
    sums : float64[p, 2], in/out
    numeric : float64[n, p], in
    y : int32[n], in
    w : float64[n], in
    first : int64[p], in
    steps : float64[p], in; width of the frame's intervals
    """
    n = len(y)
    tile = np.empty((TILE, n))
    for t in range(lo, hi, TILE):
        d = min(TILE, hi - t)
        for i in range(n):
            row = numeric[i, t : t + d]
            for j in range(len(row)):
                tile[j, i] = row[j]
        for j in range(t, t + d):
            if sizes[j] > 0 and first[j] < n:
                count_values(
                    breaks[j], slack[j], counts[j], sizes[j : j + 1], sums[j], tile[j - t, first[j] :],
                    y[first[j] :], w[first[j] :], alpha, wait, steps[j], cells, joins,
                )  # fmt: skip


@kernel
def refine_column(
    new_slack: Floats, new_counts: Floats, breaks: Floats, slack: Floats, counts: Floats, finer: Floats
) -> None:
    """Add a column's cells to a finer grid: by width inside, by halves beyond the ends. O(m K).

    new_slack : float64[f], in/out
    new_counts : float64[f + 1, K], in/out
    breaks : float64[m - 1], in
    slack : float64[m - 1], in
    counts : float64[m, K], in
    finer : float64[f], in; increasing, holds all of `breaks`
    """
    at = 0
    m = len(counts)
    for v in range(m):
        start = at
        while at < len(finer) and (v == m - 1 or finer[at] < breaks[v]):
            at += 1
        inside = at - start
        weight = _weight(counts[v])
        below = 0.0
        above = 0.0
        if v > 0:
            below = slack[v - 1]
        if v < m - 1:
            above = slack[v]
        before = 0.0
        for q in range(inside + 1):
            upto = 1.0
            if q < inside:
                if v == 0:
                    upto = 0.5 ** (inside - q)
                elif v == m - 1:
                    upto = 1.0 - 0.5 ** (q + 1)
                else:
                    upto = (finer[start + q] - breaks[v - 1]) / (breaks[v] - breaks[v - 1])
                new_slack[start + q] += max(upto * weight + below, (1.0 - upto) * weight + above)
            for c in range(counts.shape[1]):
                new_counts[start + q, c] += (upto - before) * counts[v, c]
            before = upto
        if v < m - 1:
            new_slack[at] += above
            at += 1


@kernel
def grid_error(slack: Floats, counts: Floats, size: int) -> float:
    """The greatest possible error of the weight at or below a point, relative to all weight. O(m K).

    Inside a cell it is the weight of the cell plus the slack of its upper end, or the slack of its lower end.

    slack : float64[m], in
    counts : float64[m, K], in
    """
    total = 0.0
    worst = 0.0
    for v in range(size):
        weight = _weight(counts[v])
        total += weight
        below = 0.0
        above = 0.0
        if v > 0:
            below = slack[v - 1]
        if v < size - 1:
            above = slack[v]
        worst = max(worst, below, weight + above)
    return worst / total if total > 0.0 else 0.0
