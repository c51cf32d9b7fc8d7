"""What normal densities say of the classes in cells, row by row, every row's class fitted anew without the row."""

from __future__ import annotations

import math

import numpy as np


def rows_of(upper, counts):
    """The rows behind cells of whole counts: values and classes."""
    cells, classes = np.nonzero(counts)
    times = counts[cells, classes].astype(int)
    return np.repeat(np.asarray(upper, float)[cells], times), np.repeat(classes, times)


def log_density(x, values, spread, middle):
    """Log-density of x under the normal of these values: one has the spread of the column, none its middle too."""
    mean = np.mean(values) if len(values) else middle
    var = np.var(values) if len(values) > 1 else spread
    if var <= 1e-9 * spread:
        var = 0.01 * spread
    return -0.5 * (math.log(var) + (x - mean) ** 2 / var)


def chances(x, by_class, spread, middle, priors):
    """P(c | x) of the classes with a prior."""
    said = [
        math.log(p) + log_density(x, v, spread, middle) if p else -math.inf
        for v, p in zip(by_class, priors, strict=True)
    ]
    top = max(said)
    odds = [math.exp(s - top) for s in said]
    return [o / sum(odds) for o in odds]


def shares_and_length(upper, counts):
    """[m, K] the weight of each cell divided among the classes, and the code length of the classes in nats."""
    counts = np.asarray(counts, float)
    x, y = rows_of(upper, counts)
    by_class, priors = [x[y == c] for c in range(counts.shape[1])], counts.sum(axis=0)
    spread, middle = float(np.var(x)), float(np.mean(x))
    shares = np.array(
        [
            np.array(chances(v, by_class, spread, middle, priors)) * row.sum()
            for v, row in zip(upper, counts, strict=True)
        ]
    )
    length = 0.0
    for i, (v, c) in enumerate(zip(x, y, strict=True)):
        left = list(by_class)
        left[c] = np.delete(x, i)[np.delete(y, i) == c]
        length -= math.log(max(chances(v, left, spread, middle, priors)[c], 1e-300))
    return shares, length
