"""Normal log-densities computed from moments, column by column, and updated row by row.

The term of x in class c and column j is  peak - (x - centre)^2 half,  with half = 1 / (2 var) and
peak = log(half / pi) / 2. A class whose variance is at most `floor` times the column's pooled variance counts as
constant and gets `share` of the pooled one, so that its column counts much but cannot outweigh all others. A class with
at most one row's weight in a column takes the pooled variance (and, with none, the pooled mean), unless its values
vary, as those of rows with small weights do. A column that is constant over all classes adds 0 to every class: its peak
and half are 0.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Floats
from bayou.kernels.jit import inner_kernel, kernel, kernel_piece

TINY = 2.2250738585072014e-308
LOG_PI = 1.1447298858494002
VARIES = 1e-6  # share of the pooled variance that rounding errors in a class of one row never reach
CEILING, REACH, ORIGIN = 0, 1, 2  # rows of `bounds`


@kernel_piece
def pooled(n: Floats, mean: Floats, m2: Floats, j: int) -> tuple[float, float]:
    """Return mean and population variance of column j over all classes; variance 0 if it is constant or empty.

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


@kernel_piece
def read_cell(
    size: float, m2: float, spread: float, ddof: float, floor: float, share: float
) -> tuple[float, float]:
    """Return 1 / (2 var) of one class in a column with pooled variance `spread` > 0, and the class's own variance.

    The own variance is given as 0 if the pooled one may replace it.
    """
    least = floor * spread + TINY
    var = m2 / (size - ddof) if size > ddof else 0.0
    if size <= 1.0 and var <= VARIES * spread:
        return 0.5 / (spread if spread > least else least), 0.0
    if var <= least:
        return 0.5 / (share * spread if share * spread > least else least), 0.0
    return 0.5 * (size - ddof) / m2, var if size > 1.0 else 0.0


@kernel_piece
def ceiling_and_reach(narrowest: float, spread: float, floor: float) -> tuple[float, float]:
    """Return ceiling and reach of a column from its least class variance and its pooled variance `spread`.

    Both are 0 if a class uses the pooled variance.

    While no class has a `half` above the ceiling and no value lies further than the reach from the origin, no variance
    falls to the floor: the least variance of a class would have to pass a level in the middle between the two, or the
    pooled one, which further values leave below twice what it is or the square of their distance.
    """
    least = 2.0 * (floor * spread + TINY)
    level = math.sqrt(least) * math.sqrt(narrowest)
    stays = narrowest > least
    return 0.5 / level if stays else 0.0, (
        0.5 * math.sqrt((0.5 * level - TINY) / (floor + TINY)) if stays else 0.0
    )


@inner_kernel
def read_column(
    peak: Floats,
    centre: Floats,
    half: Floats,
    bounds: Floats,
    n: Floats,
    mean: Floats,
    m2: Floats,
    j: int,
    ddof: float,
    floor: float,
    share: float,
) -> None:
    """Compute peak, centre and half of every class in one column, and the bounds that `read_row` needs to update them.

    peak : float64[K, p], out, or [K, 0] where nobody asks; centre, half : float64[K, p], out
    bounds : float64[3, p], out, ceiling (0 if a class uses the pooled variance), reach and origin
    n, mean, m2 : float64[K, p], in
    """
    middle, spread = pooled(n, mean, m2, j)
    narrowest = np.inf if spread > 0.0 else 0.0
    for c in range(n.shape[0]):
        centre[c, j], half[c, j] = 0.0, 0.0
        if spread > 0.0:
            half[c, j], own = read_cell(n[c, j], m2[c, j], spread, ddof, floor, share)
            centre[c, j] = mean[c, j] if n[c, j] > 0.0 else middle
            narrowest = own if own < narrowest else narrowest
        if peak.shape[1] > 0:
            peak[c, j] = 0.5 * (math.log(half[c, j]) - LOG_PI) if spread > 0.0 else 0.0
    bounds[CEILING, j], bounds[REACH, j] = ceiling_and_reach(narrowest, spread, floor)
    bounds[ORIGIN, j] = middle


@kernel
def read_columns(
    peak: Floats,
    centre: Floats,
    half: Floats,
    bounds: Floats,
    n: Floats,
    mean: Floats,
    m2: Floats,
    ddof: float,
    floor: float,
    share: float,
) -> None:
    """Compute peak, centre, half and bounds of all columns, as `read_column` does.

    peak, centre, half : float64[K, p], out; bounds : float64[3, p], out; n, mean, m2 : float64[K, p], in
    """
    for j in range(n.shape[1]):
        read_column(peak, centre, half, bounds, n, mean, m2, j, ddof, floor, share)


@kernel_piece
def is_beyond(half: float, x: float, ceiling: float, reach: float, origin: float) -> bool:
    """Return whether learning x may have brought a variance of the column to the floor; `half` is that of x's class."""
    return (half > ceiling) | (abs(x - origin) > reach)


@inner_kernel
def read_row(
    peak: Floats,
    centre: Floats,
    half: Floats,
    bounds: Floats,
    n: Floats,
    mean: Floats,
    m2: Floats,
    x: Floats,
    c: int,
    ddof: float,
    floor: float,
) -> bool:
    """Update the tables after row x was added to the moments of class c, to what `read_column` would compute.

    Only the tables of the row's own class change, unless a variance may lie below the floor: then the whole column must
    be recomputed by `read_narrow` before its tables are used. Returns whether that is so.
    peak : float64[K, p], in/out, or [K, 0] where nobody asks; centre, half : float64[K, p], in/out
    bounds : float64[3, p], in/out, see `read_column`; n, mean, m2 : float64[K, p], in
    x : float64[p], in, NaN = missing
    """
    narrow = False
    for j in range(len(x)):
        if x[j] != x[j]:
            continue
        size = n[c, j]
        own = 0.5 * (size - ddof) / m2[c, j] if size > 1.0 and size > ddof else np.inf
        if is_beyond(own, x[j], bounds[CEILING, j], bounds[REACH, j], bounds[ORIGIN, j]):
            bounds[CEILING, j] = 0.0
            narrow = True
        else:
            centre[c, j], half[c, j] = mean[c, j], own
            if peak.shape[1] > 0:
                peak[c, j] = 0.5 * (math.log(own) - LOG_PI)
    return narrow


@inner_kernel
def read_narrow(
    peak: Floats,
    centre: Floats,
    half: Floats,
    bounds: Floats,
    n: Floats,
    mean: Floats,
    m2: Floats,
    ddof: float,
    floor: float,
    share: float,
) -> None:
    """Recompute the tables of the columns whose ceiling is 0, where a variance may lie below the floor.

    peak : float64[K, p], in/out, or [K, 0] where nobody asks; centre, half : float64[K, p], in/out
    bounds : float64[3, p], in/out, see `read_column`; n, mean, m2 : float64[K, p], in
    """
    for j in range(n.shape[1]):
        if bounds[CEILING, j] == 0.0:
            read_column(peak, centre, half, bounds, n, mean, m2, j, ddof, floor, share)
