"""Kernel densities over rounded values: the kernels' centres, their bandwidths, and the resulting log-probabilities.

Values are rounded to multiples of a precision; one Gaussian is centred at every value seen, weighted by its count. The
probability of x is the mass of [x - precision/2, x + precision/2]. Column K of weights and widths is all classes
together: it is used for a class without weight in the column. Where a cell represents all values since the one before,
its kernel is centred at the middle of that interval and has the variance of the interval, h^2 / 12, on top of its own.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Flags, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.sums import TILE, row_sum

TINY = 2.2250738585072014e-308
DEFAULT = 0.01  # precision where all values are equal
ROOT_HALF = 0.7071067811865476
LOG_ROOT_2PI = 0.9189385332046727
THIN = 1e-5  # for an interval of fewer deviations, the mass is its length times the density
FAINT = 1e-3  # the share of kernels of bounded reach that is Gaussian
FAR = 38.0  # beyond so many deviations the mass underflows
LIMIT = 1e144


@kernel
def rounded(x: float, precision: float) -> float:
    """The nearest multiple of the precision, halves to even; x itself where multiples are finer than x."""
    steps = x / precision
    return float(np.rint(steps) * precision) if abs(steps) < 4503599627370496.0 else x


@kernel
def mass(a: float, b: float) -> float:
    """Standard normal probability of [a, b], with |a| <= b."""
    if b - a < THIN:
        middle = 0.5 * (a + b)
        return (b - a) * math.exp(-0.5 * middle * middle - LOG_ROOT_2PI)
    if a < 0.0:
        return 0.5 * (math.erf(b * ROOT_HALF) + math.erf(-a * ROOT_HALF))
    return 0.5 * (math.erfc(a * ROOT_HALF) - math.erfc(b * ROOT_HALF))


@kernel
def log_far_mass(a: float, b: float) -> float:
    """log of the standard normal probability of [a, b] for a far out, to first order of 1 / a^2."""
    a = min(a, LIMIT)
    width = min(b - a, 6.0) if b > a else 0.0
    if width < THIN:
        middle = a + 0.5 * width
        return -0.5 * middle * middle - LOG_ROOT_2PI + math.log(max(width, TINY))
    lost = a / (a + width) * math.exp(-width * (a + 0.5 * width))
    return -0.5 * a * a - LOG_ROOT_2PI - math.log(a) + math.log1p(-lost)


@kernel
def place_kernels(
    centres: Floats,
    weights: Floats,
    extra: Floats,
    sizes: Index,
    precision: Floats,
    offsets: Index,
    upper: Floats,
    counts: Floats,
    exact: Flags,
    given: float,
) -> None:
    """Write the rounded values of every column and their weights; precision as given, or by Weka's rule. O(m K).

    centres : float64[m], out, column j's from offsets[j] on; weights : float64[m, K + 1], out; zeros before
    extra : float64[m], out, variance on top of the kernel's own; zeros before
    sizes : int64[p], out, kernels per column; precision : float64[p], out
    offsets : int64[p + 1], in; upper : float64[m], in, ascending in a column; counts : float64[m, K], in
    exact : bool[p], in, whether every cell of the column is one value
    """
    k = counts.shape[1]
    for j in range(len(sizes)):
        first = offsets[j]
        last = offsets[j + 1]
        step = given
        if step <= 0.0:
            step = (upper[last - 1] - upper[first]) / (last - first - 1) if last - first > 1 else DEFAULT
        step = max(step, TINY)
        precision[j] = step if last > first else 0.0  # 0 for a column without values
        at = first - 1
        for v in range(first, last):
            gap = 0.0 if exact[j] or v == first else upper[v] - upper[v - 1]
            centre = rounded(upper[v] - 0.5 * gap, step)
            if at < first or centre != centres[at]:
                at += 1
                centres[at] = centre
            extra[at] = max(extra[at], min(gap * gap, 1e300) / 12.0)
            for c in range(k):
                weights[at, c] += counts[v, c]
                weights[at, k] += counts[v, c]
        sizes[j] = at + 1 - first


@kernel
def spread_kernels(
    widths: Floats, centres: Floats, weights: Floats, offsets: Index, precision: Floats
) -> None:
    """widths[j, c] = max(range / sqrt(n), precision / 6), with range and n of the class; 0 without weight. O(m K).

    widths : float64[p, K + 1], out; centres : float64[m], in; weights : float64[m, K + 1], in
    offsets : int64[p + 1], in; precision : float64[p], in
    """
    for j in range(len(precision)):
        for c in range(widths.shape[1]):
            n = 0.0
            low = 0.0
            high = 0.0
            for v in range(offsets[j], offsets[j + 1]):
                if weights[v, c] > 0.0:
                    if n == 0.0:
                        low = centres[v]
                    high = centres[v]
                    n += weights[v, c]
            widths[j, c] = max((high - low) / math.sqrt(n), precision[j] / 6.0, TINY) if n > 0.0 else 0.0


@kernel
def spread_by_rule(
    widths: Floats,
    centres: Floats,
    weights: Floats,
    offsets: Index,
    precision: Floats,
    rule: int,
    given: float,
) -> None:
    """widths[j, c] = the deviation of kernels by Scott's rule (1), Silverman's (2), or as given (0). O(m K).

    It is not below precision / 6, and 0 for a class without weight.
    widths : float64[p, K + 1], out; centres : float64[m], in; weights : float64[m, K + 1], in
    offsets : int64[p + 1], in; precision : float64[p], in
    """
    for j in range(len(precision)):
        for c in range(widths.shape[1]):
            n = 0.0
            mean = 0.0
            squares = 0.0
            for v in range(offsets[j], offsets[j + 1]):
                w = weights[v, c]
                if w > 0.0:
                    n += w
                    d = centres[v] - mean
                    mean += d * (w / n)
                    squares += w * d * (centres[v] - mean)
            if n == 0.0:
                widths[j, c] = 0.0
                continue
            spread = math.sqrt(max(squares, 0.0) / n)
            if rule == 2:
                below = 0.0
                low = high = math.nan
                for v in range(offsets[j], offsets[j + 1]):
                    below += weights[v, c]
                    if below >= 0.25 * n and math.isnan(low):
                        low = centres[v]
                    if below >= 0.75 * n and math.isnan(high):
                        high = centres[v]
                if high > low:  # otherwise half of the values are equal, and the quartiles measure no spread
                    spread = min(spread, (high - low) / 1.34)
            width = given if rule == 0 else (1.06 if rule == 1 else 0.9) * spread * n**-0.2
            widths[j, c] = max(width, precision[j] / 6.0, TINY)


@kernel
def place_normals(
    normals: Floats, widths: Floats, weights: Floats, centres: Floats, offsets: Index, precision: Floats
) -> None:
    """Write mean and deviation (at least precision / 6, 0 without weight) of every class in every column. O(m K).

    normals : float64[p, K + 1], out; widths : float64[p, K + 1], out; weights : float64[m, K + 1], in
    centres : float64[m], in; offsets : int64[p + 1], in; precision : float64[p], in
    """
    for j in range(len(precision)):
        for c in range(widths.shape[1]):
            n = 0.0
            mean = 0.0
            squares = 0.0
            for v in range(offsets[j], offsets[j + 1]):
                w = weights[v, c]
                if w > 0.0:
                    n += w
                    d = centres[v] - mean
                    mean += d * (w / n)
                    squares += w * d * (centres[v] - mean)
            normals[j, c] = mean
            widths[j, c] = max(math.sqrt(max(squares, 0.0) / n), precision[j] / 6.0, TINY) if n > 0.0 else 0.0


@inner_kernel
def wider(width: float, extra: float) -> float:
    """The deviation of a kernel after the variance `extra` of its interval is added to its own."""
    return math.sqrt(width * width + extra) if extra > 0.0 else width


@inner_kernel
def log_density(
    centres: Floats, weights: Floats, extra: Floats, x: float, width: float, half: float
) -> float:
    """log of sum_i w_i mass_i(x) / sum_i w_i; where all masses underflow, their logarithms are summed instead. O(m).

    centres : float64[m], in; weights : float64[m], in; extra : float64[m], in
    """
    total = 0.0
    found = 0.0
    for v in range(len(centres)):
        w = weights[v]
        if w > 0.0:
            total += w
            d = abs(x - centres[v])
            own = wider(width, extra[v])
            a = (d - half) / own
            if a < FAR:
                found += w * mass(a, (d + half) / own)
    if found > 1e-290 * total:
        return math.log(found) - math.log(total)
    best = -math.inf
    for v in range(len(centres)):
        if weights[v] > 0.0:
            d, own = abs(x - centres[v]), wider(width, extra[v])
            best = max(best, math.log(weights[v]) + log_far_mass((d - half) / own, (d + half) / own))
    summed = 0.0
    for v in range(len(centres)):
        if weights[v] > 0.0:
            d, own = abs(x - centres[v]), wider(width, extra[v])
            one = math.log(weights[v]) + log_far_mass((d - half) / own, (d + half) / own)
            summed += math.exp(one - best)
    return best + math.log(summed) - math.log(total)


@inner_kernel
def bounded_mass(shape: int, a: float, b: float) -> float:
    """Probability of [a, b] under the kernel of deviation 1: Epanechnikov's (1), triangular (2), uniform (3)."""
    reach = math.sqrt(5.0 if shape == 1 else (6.0 if shape == 2 else 3.0))
    a = min(max(a / reach, -1.0), 1.0)
    b = min(max(b / reach, -1.0), 1.0)
    if b - a < THIN:  # the difference of two cumulative probabilities would have few digits
        u = 0.5 * (a + b)
        return (b - a) * (0.75 * (1.0 - u * u) if shape == 1 else (1.0 - abs(u) if shape == 2 else 0.5))
    if shape == 1:
        return 0.75 * (b - a - (b * b * b - a * a * a) / 3.0)
    if shape == 2:
        return b - a - 0.5 * (b * abs(b) - a * abs(a))
    return 0.5 * (b - a)


@inner_kernel
def log_bounded_density(
    centres: Floats, weights: Floats, extra: Floats, x: float, width: float, half: float, shape: int
) -> float:
    """log of the mass under kernels of bounded reach, a share FAINT of whose weight is Gaussian. O(m).

    centres : float64[m], in; weights : float64[m], in; extra : float64[m], in
    """
    everywhere = math.log(FAINT) + log_density(centres, weights, extra, x, width, half)
    total = 0.0
    found = 0.0
    for v in range(len(centres)):
        w = weights[v]
        if w > 0.0:
            total += w
            d, own = abs(x - centres[v]), wider(width, extra[v])
            found += w * bounded_mass(shape, (d - half) / own, (d + half) / own)
    if found <= 0.0:
        return everywhere
    return math.log((1.0 - FAINT) * found / total + math.exp(everywhere))


@kernel
def density_terms(
    out: Floats,
    centres: Floats,
    weights: Floats,
    extra: Floats,
    offsets: Index,
    widths: Floats,
    precision: Floats,
    numeric: Floats,
    rounds: bool,
    shape: int,
) -> None:
    """out[i, j, c] = log P(x_ij | c); 0 where x is missing or the column has one value at most. O(n m K).

    out : float64[n, p, K], out; centres : float64[m], in; weights : float64[K + 1, m], in; extra : float64[m], in
    offsets : int64[p + 1], in; widths : float64[p, K + 1], in; precision : float64[p], in; numeric : float64[n, p], in
    """
    k = out.shape[2]
    for i in range(numeric.shape[0]):
        for j in range(numeric.shape[1]):
            first = offsets[j]
            last = offsets[j + 1]
            x = numeric[i, j]
            if last - first < 2 or x != x:
                for c in range(k):
                    out[i, j, c] = 0.0
                continue
            if rounds:
                x = rounded(x, precision[j])
            for c in range(k):
                who = c if widths[j, c] > 0.0 else k
                if shape > 0:
                    out[i, j, c] = log_bounded_density(
                        centres[first:last],
                        weights[who, first:last],
                        extra[first:last],
                        x,
                        widths[j, who],
                        0.5 * precision[j],
                        shape,
                    )
                    continue
                out[i, j, c] = log_density(
                    centres[first:last],
                    weights[who, first:last],
                    extra[first:last],
                    x,
                    widths[j, who],
                    0.5 * precision[j],
                )


@kernel
def add_tiles(out: Floats, terms: Floats) -> None:
    """out[i, c] += sum over columns of terms[i, j, c], tile by tile.

    out : float64[n, K], in/out; terms : float64[n, p, K], in
    """
    line = np.empty(TILE)
    for i in range(terms.shape[0]):
        for t in range(0, terms.shape[1], TILE):
            d = min(TILE, terms.shape[1] - t)
            for c in range(terms.shape[2]):
                for j in range(d):
                    line[j] = terms[i, t + j, c]
                out[i, c] = row_sum(out[i, c], line[:d])
