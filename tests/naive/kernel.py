"""Kernel densities over rounded values, and one normal over them, straight from Weka's rules."""

from __future__ import annotations

import math


def precision_of(values):
    distinct = sorted(set(values))
    return (distinct[-1] - distinct[0]) / (len(distinct) - 1) if len(distinct) > 1 else 0.01


def rounded(x, p):
    return round(x / p) * p


def phi(z):
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def interval(x, mu, sd, p):
    """Mass of [x - p/2, x + p/2], taken on the left side of the mean, where the digits are."""
    d = -abs(x - mu)
    return phi((d + p / 2) / sd) - phi((d - p / 2) / sd)


def kernel_probability(x, values, p, weights=None):
    weights = weights or [1.0] * len(values)
    centres = [rounded(v, p) for v in values]
    n = sum(weights)
    sd = max((max(centres) - min(centres)) / math.sqrt(n), p / 6)
    return sum(w * interval(x, mu, sd, p) for w, mu in zip(weights, centres, strict=True)) / n


def normal_probability(x, values, p):
    centres = [rounded(v, p) for v in values]
    mean = sum(centres) / len(centres)
    sd = max(math.sqrt(sum((v - mean) ** 2 for v in centres) / len(centres)), p / 6)
    return interval(rounded(x, p), mean, sd, p)


def deviation(values):
    mean = sum(values) / len(values)
    return math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))


def bandwidth(values, p, rule):
    """Deviation of the kernels over rounded values."""
    centres = sorted(rounded(v, p) for v in values)
    n, s = len(centres), deviation([rounded(v, p) for v in values])
    quartiles = [centres[math.ceil(q * n) - 1] for q in (0.25, 0.75)]
    iqr = quartiles[1] - quartiles[0]
    widths = {
        "weka": (centres[-1] - centres[0]) / math.sqrt(n),
        "scott": 1.06 * s * n**-0.2,
        "silverman": 0.9 * (min(s, iqr / 1.34) if iqr else s) * n**-0.2,
    }
    return max(widths.get(rule, rule), p / 6)


DENSITIES = {  # of deviation 1: reach, and the density inside it
    "epanechnikov": (math.sqrt(5), lambda u: 0.75 * (1 - u * u)),
    "triangular": (math.sqrt(6), lambda u: 1 - abs(u)),
    "uniform": (math.sqrt(3), lambda u: 0.5),
}


def shaped_probability(x, values, p, rule="weka", shape="gaussian", steps=2000):
    """Mass of [x - p/2, x + p/2], bounded kernels integrated by the midpoint rule."""
    h = bandwidth(values, p, rule)
    centres = [rounded(v, p) for v in values]
    gaussian = sum(interval(x, mu, h, p) for mu in centres) / len(centres)
    if shape == "gaussian":
        return gaussian
    reach, density = DENSITIES[shape]
    found = 0.0
    for mu in centres:
        lo, hi = max(x - p / 2, mu - reach * h), min(x + p / 2, mu + reach * h)
        step = (hi - lo) / steps
        if step > 0:
            places = (lo + (i + 0.5) * step for i in range(steps))
            found += sum(density((t - mu) / (reach * h)) for t in places) * step / (reach * h)
    return 0.999 * found / len(centres) + 0.001 * gaussian
