"""Slow, obvious twins of the Gaussian kernels: two passes over exact fractions, one density at a time."""

from __future__ import annotations

import math
from fractions import Fraction


def moments(values, weights):
    """Weight, mean and sum of squared deviations of the values that are not missing, exactly."""
    pairs = [
        (Fraction(x), Fraction(w))
        for x, w in zip(values, weights, strict=True)
        if not math.isnan(x) and w > 0
    ]
    n = sum(w for _, w in pairs)
    if n == 0:
        return Fraction(0), Fraction(0), Fraction(0)
    mean = sum(x * w for x, w in pairs) / n
    return n, mean, sum(w * (x - mean) ** 2 for x, w in pairs)


def log_density(x, own, pooled, ddof=0, floor=1e-9):
    """Log-density of x given (n, mean, m2) of its class and of the whole column."""
    n, mean, m2 = own
    if math.isnan(x) or pooled[0] == 0 or pooled[2] == 0:
        return 0.0
    spread = pooled[2] / pooled[0]
    var = m2 / (n - ddof) if n > ddof else Fraction(0)
    if n <= 1 and var <= spread / 10**6:
        var = spread
    if var <= floor * spread:
        var = max(0.01, floor) * spread
    var = float(var)
    centre = float(mean if n > 0 else pooled[1])
    return -0.5 * math.log(2 * math.pi * var) - (x - centre) ** 2 / (2 * var)


def log_density_of_row(x, centre, half):
    """Sum over the columns that speak of log(half / pi) / 2 - (x - centre)^2 half, rounded once."""
    there = [(v, m, h) for v, m, h in zip(x, centre, half, strict=True) if not math.isnan(v) and h > 0]
    parts = [0.5 * (math.log(h) - math.log(math.pi)) for _, _, h in there]
    return math.fsum(parts + [-((v - m) ** 2) * h for v, m, h in there])
