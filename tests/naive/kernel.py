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
