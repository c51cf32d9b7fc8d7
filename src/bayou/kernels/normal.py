"""Normal densities off moments, column by column, and kept current row by row.

The term of x in class c and column j is  peak - (x - centre)^2 half,  with half = 1 / (2 var) and
peak = log(half / pi) / 2. A class whose variance is at most `floor` times the column's pooled variance counts as
constant and takes `share` of the pooled one: it stays decisive without a veto over everything else. A class with at
most one row's weight in a column takes the pooled variance (and, with none, the pooled mean), unless its values vary,
as those of rows with small weights do. A column that is constant over all classes says nothing: its peak and half
are 0.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Floats
from bayou.kernels.jit import inner_kernel, kernel, kernel_piece

TINY = 2.2250738585072014e-308
LOG_PI = 1.1447298858494002
VARIES = 1e-6  # of the pooled variance: what rounding never leaves behind in a class of one row
CEILING, REACH, ORIGIN = 0, 1, 2  # of a column, in `bounds`


@kernel_piece
def pooled(n: Floats, mean: Floats, m2: Floats, j: int) -> tuple[float, float]:
    """Mean and population variance of column j over all classes; variance 0 if the column is constant or empty.

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
    """1 / (2 var) of one class in a column whose pooled variance is `spread` > 0, and its own variance.

    The own variance is 0 if the class may lean on the pooled one.
    """
    least = floor * spread + TINY
    var = m2 / (size - ddof) if size > ddof else 0.0
    if size <= 1.0 and var <= VARIES * spread:
        return 0.5 / (spread if spread > least else least), 0.0
    if var <= least:
        return 0.5 / (share * spread if share * spread > least else least), 0.0
    return 0.5 * (size - ddof) / m2, var if size > 1.0 else 0.0


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
    """The tables of one column, and what `read_row` needs to keep them current.

    While no class has a `half` above the ceiling and no value lies further than the reach from the origin, no variance
    falls to the floor: the least variance of a class would have to pass a level in the middle between the two, or the
    pooled one, which further values leave below twice what it is or the square of their distance.
    peak : float64[K, p], out, or [K, 0] where nobody asks; centre, half : float64[K, p], out
    bounds : float64[3, p], out, ceiling (0 if a class leans on the pooled variance), reach and origin
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
    least = 2.0 * (floor * spread + TINY)
    bounds[CEILING, j], bounds[REACH, j], bounds[ORIGIN, j] = 0.0, 0.0, middle
    if narrowest > least:
        level = math.sqrt(least) * math.sqrt(narrowest)
        bounds[CEILING, j] = 0.5 / level
        bounds[REACH, j] = 0.5 * math.sqrt((0.5 * level - TINY) / (floor + TINY))


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
    """The tables of all columns.

    peak, centre, half : float64[K, p], out; bounds : float64[3, p], out; n, mean, m2 : float64[K, p], in
    """
    for j in range(n.shape[1]):
        read_column(peak, centre, half, bounds, n, mean, m2, j, ddof, floor, share)


@kernel_piece
def is_beyond(half: float, x: float, ceiling: float, reach: float, origin: float) -> bool:
    """Whether a class that learned x, and now has this half, may have brought a variance of the column to the floor."""
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
    """The tables after row x was added to the moments of class c, as `read_column` would read them.

    Only the row's own class changes its tables, unless a variance may lie below the floor: then all of the column must
    be read, by `read_narrow`, before anybody looks. Returns whether that is so.
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
    """The tables of the columns in which a variance may lie below the floor; with bounds of 0, of all.

    peak : float64[K, p], in/out, or [K, 0] where nobody asks; centre, half : float64[K, p], in/out
    bounds : float64[3, p], in/out, see `read_column`; n, mean, m2 : float64[K, p], in
    """
    for j in range(n.shape[1]):
        if bounds[CEILING, j] == 0.0:
            read_column(peak, centre, half, bounds, n, mean, m2, j, ddof, floor, share)
