"""Slow, obvious probabilities of intervals."""

from __future__ import annotations

import math


def log_prob(counts, i, c, smoothing):
    """counts[I][K]; smoothing: ("m", m), ("alpha", a) or ("khiops", None)."""
    parts = len(counts)
    if parts == 1:
        return 0.0
    kind, value = smoothing
    weight = sum(row[c] for row in counts)
    total = sum(map(sum, counts))
    a = {"m": lambda: value / parts, "alpha": lambda: value, "khiops": lambda: 1 / (total + 1)}[kind]()
    if weight == 0:
        return -math.log(parts)
    return math.log((counts[i][c] + a) / (weight + a * parts))


def cell(cuts, x):
    return sum(cut < x for cut in cuts)
