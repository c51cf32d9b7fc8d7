"""Normal densities fitted to cells of a column: the class distribution they give each cell, and its code length."""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.gaussian import CONSTANT_SHARE
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.partition import log_factorial

FLOOR = 1e-9  # a class with less than this share of the column's variance counts as constant


@inner_kernel
def _variance(m2: float, n: float, spread: float) -> float:
    """Return the variance of the normal density of n rows; `spread` is the variance of the column."""
    var = m2 / n if n > 1.0 else spread
    return CONSTANT_SHARE * spread if var <= FLOOR * spread else var


@inner_kernel
def _log_density(x: float, mean: float, m2: float, n: float, spread: float) -> float:
    """Return the log-density of x, up to a constant, under the normal of n rows; `spread` is the column's variance."""
    var = _variance(m2, n, spread)
    d = x - mean
    return -0.5 * (math.log(var) + d * d / var)


@inner_kernel
def _share(
    shared: Floats,
    upper: Floats,
    counts: Floats,
    n: Floats,
    mean: Floats,
    m2: Floats,
    middle: float,
    spread: float,
) -> float:
    """Divide the weight of every cell among classes by their normal densities; return the code length of the labels.

    The density of a row's own class leaves the row out, so that a class of few rows does not fit its own rows.

    shared : float64[m, K], out; upper : float64[m], in; counts : float64[m, K], in; n, mean, m2 : float64[K], in
    """
    k = len(n)
    said, odds = np.empty(k), np.empty(k)
    var, log_var, log_n = np.empty(k), np.empty(k), np.empty(k)
    for c in range(k):
        if n[c] > 0.0:
            var[c] = _variance(m2[c], n[c], spread)
            log_var[c], log_n[c] = math.log(var[c]), math.log(n[c])
    length = 0.0
    for i in range(len(upper)):
        x = upper[i]
        top = -np.inf
        weight = 0.0
        for c in range(k):
            weight += counts[i, c]
            said[c] = -np.inf
            if n[c] > 0.0:
                d = x - mean[c]
                said[c] = log_n[c] + -0.5 * (log_var[c] + d * d / var[c])
                top = max(top, said[c])
        total = 0.0
        for c in range(k):
            odds[c] = math.exp(said[c] - top)
            total += odds[c]
        for c in range(k):
            shared[i, c] = weight * odds[c] / total
            if counts[i, c] > 0.0:
                out = min(1.0, counts[i, c])
                left = n[c] - out
                d = x - mean[c]
                if left > 0.0:
                    rest = max(0.0, m2[c] - d * d * out * n[c] / left)
                    own = _log_density(x, mean[c] - d * out / left, rest, left, spread)
                else:
                    own = _log_density(x, middle, 0.0, 0.0, spread)
                own = math.exp(log_n[c] + own - top)
                others = total - odds[c]
                if others < 1e-3 * total:  # digits of the difference have cancelled: add up the others
                    others = 0.0
                    for b in range(k):
                        if b != c:
                            others += odds[b]
                length -= counts[i, c] * math.log(max(own / (own + others), 1e-300))
    return length


@kernel
def normal_columns(
    shared: Floats, levels: Floats, offsets: Index, upper: Floats, counts: Floats, table: Floats, k: int
) -> None:
    """Fit one normal per class to the cells of every column; its level compares with the level of intervals. O(K m).

    shared : float64[total, K], out; the weight of every cell, divided among the classes
    levels : float64[d], out; 1 - code length / that of a single interval, 0 where the normals save nothing
    offsets : int64[d+1], in; column j's cells are offsets[j] .. offsets[j+1]-1
    upper : float64[total], in; counts : float64[total, K], in; table : float64[t], in; ln 0!, ln 1!, ..
    """
    classes = counts.shape[1]
    n = np.empty(classes)
    mean = np.empty(classes)
    m2 = np.empty(classes)
    for j in range(len(levels)):
        levels[j] = 0.0
        low, high = offsets[j], offsets[j + 1]
        total = 0.0
        middle = 0.0
        met = 0
        for c in range(classes):
            n[c], mean[c], m2[c] = 0.0, 0.0, 0.0
            for i in range(low, high):
                if counts[i, c] > 0.0:
                    n[c] += counts[i, c]
                    d = upper[i] - mean[c]
                    mean[c] += d * counts[i, c] / n[c]
                    m2[c] += counts[i, c] * d * (upper[i] - mean[c])
            if n[c] > 0.0:
                met += 1
                total += n[c]
                middle += (mean[c] - middle) * n[c] / total
        if met < 2:
            continue
        spread = 0.0
        null = math.log(max(total, 1.0)) + log_factorial(table, total + (k - 1.0)) - table[k - 1]
        for c in range(classes):
            if n[c] > 0.0:
                d = mean[c] - middle
                spread += (m2[c] + n[c] * d * d) / total
                null -= log_factorial(table, n[c])
        if not 0.0 < spread < np.inf:
            continue
        length = _share(shared[low:high], upper[low:high], counts[low:high], n, mean, m2, middle, spread)
        if length < null:
            levels[j] = 1.0 - length / null
