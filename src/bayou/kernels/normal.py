"""Normal densities off moments, column by column, and kept current row by row.

The term of x in class c and column j is  peak - (x - centre)^2 half,  with half = 1 / (2 var) and
peak = -log(2 pi var) / 2. A class whose variance is at most `floor` times the column's pooled variance counts as
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
LOG_2PI = 1.8378770664093453
VARIES = 1e-6  # of the pooled variance: what rounding never leaves behind in a class of one row


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
    """Variance of one class in a column whose pooled variance is `spread` > 0, and its own; 0 if it may lean on it."""
    least = floor * spread + TINY
    var = m2 / (size - ddof) if size > ddof else 0.0
    if size <= 1.0 and var <= VARIES * spread:
        var = spread
    constant = var <= least
    lent = share * spread if share * spread > least else least
    return lent if constant else var, var if size > 1.0 and not constant else 0.0


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

    peak, centre, half : float64[K, p], out; n, mean, m2 : float64[K, p], in
    bounds : float64[3, p], out, at most the least variance of a class (0 if one leans on the pooled variance),
    at least the pooled one, an origin
    """
    middle, spread = pooled(n, mean, m2, j)
    narrowest = np.inf if spread > 0.0 else 0.0
    for c in range(n.shape[0]):
        if spread <= 0.0:
            peak[c, j], centre[c, j], half[c, j] = 0.0, 0.0, 0.0
            continue
        var, own = read_cell(n[c, j], m2[c, j], spread, ddof, floor, share)
        narrowest = own if own < narrowest else narrowest
        centre[c, j] = mean[c, j] if n[c, j] > 0.0 else middle
        peak[c, j] = -0.5 * (LOG_2PI + math.log(var))
        half[c, j] = 0.5 / var
    bounds[0, j] = narrowest
    bounds[1, j] = 2.0 * spread
    bounds[2, j] = middle


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
    peak, centre, half : float64[K, p], in/out; bounds : float64[3, p], in/out, see `read_column`
    n, mean, m2 : float64[K, p], in; x : float64[p], in, NaN = missing
    """
    narrow = False
    for j in range(len(x)):
        if x[j] != x[j]:
            continue
        away = x[j] - bounds[2, j]
        if 4.0 * away * away > bounds[1, j]:
            bounds[1, j] = 4.0 * away * away
        size = n[c, j]
        var = m2[c, j] / (size - ddof) if size > 1.0 and size > ddof else 0.0
        if var < bounds[0, j]:
            bounds[0, j] = var
        if bounds[0, j] <= floor * bounds[1, j] + TINY:
            narrow = True
        else:
            centre[c, j] = mean[c, j]
            peak[c, j] = -0.5 * (LOG_2PI + math.log(var))
            half[c, j] = 0.5 / var
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

    peak, centre, half : float64[K, p], in/out; bounds : float64[3, p], in/out, see `read_column`
    n, mean, m2 : float64[K, p], in
    """
    for j in range(n.shape[1]):
        if bounds[0, j] <= floor * bounds[1, j] + TINY:
            read_column(peak, centre, half, bounds, n, mean, m2, j, ddof, floor, share)
