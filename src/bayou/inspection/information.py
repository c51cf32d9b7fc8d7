"""Mutual information of one column with the class."""

from __future__ import annotations

import numpy as np

from bayou.block import Floats


def entropy(weights: Floats) -> float:
    """Entropy in nats of weights, which need not sum to one."""
    p = weights[weights > 0] / max(float(weights.sum()), 1e-300)
    return float(-np.sum(p * np.log(p)))


def count_information(counts: Floats) -> float:
    """I(C; X) / H(C) of a table [parts, K], less the (P - 1)(K - 1) / 2N expected by chance alone.

    >>> count_information(np.array([[500.0, 0.0], [0.0, 500.0]])) > 0.99
    True
    >>> count_information(np.array([[5.0, 5.0], [5.0, 5.0]]))
    0.0
    """
    parts, classes = counts.sum(axis=1), counts.sum(axis=0)
    total, class_entropy = float(counts.sum()), entropy(classes)
    if total <= 0 or class_entropy <= 0:
        return 0.0
    shared = entropy(parts) + class_entropy - entropy(counts.ravel())
    chance = (np.count_nonzero(parts) - 1) * (np.count_nonzero(classes) - 1) / (2 * total)
    return float(min(1.0, max(0.0, (shared - chance) / class_entropy)))


def mean_information(weight: Floats, mean: Floats, squares: Floats) -> float:
    r"""A lower bound of I(C; X) / H(C), given weight, mean and squared deviations of each class.

    It holds for every distribution. For two groups of classes, the posterior's variance is at least that of its best
    linear estimate from x, $\pi (1 - \pi) \rho^2$ with $\rho$ the correlation of x and the group; entropy is a concave
    function of p (1 - p); so by Jensen $H(G | X) \le h(p)$ where $p (1 - p) = \pi (1 - \pi) (1 - \rho^2)$. Classes are
    split by their means recursively, and the information of the splits adds up (the chain rule), less what is expected
    by chance alone. A column whose classes differ in variance holds more information than this.

    >>> far = mean_information(np.array([500.0, 500.0]), np.array([0.0, 9.0]), np.array([500.0, 500.0]))
    >>> near = mean_information(np.array([500.0, 500.0]), np.array([0.0, 1.0]), np.array([500.0, 500.0]))
    >>> round(far, 2), round(near, 2)
    (0.91, 0.15)
    """
    seen = np.flatnonzero(weight > 0)
    class_entropy = entropy(weight[seen]) * float(weight.sum())
    if len(seen) < 2 or class_entropy <= 0:
        return 0.0
    order = seen[np.argsort(mean[seen], kind="stable")]
    shared, pending = 0.0, [(0, len(order))]
    while pending:
        lo, hi = pending.pop()
        group = order[lo:hi]
        at, gain = _best_split(weight[group], mean[group], squares[group])
        shared += max(0.0, gain - 0.5)
        pending += [part for part in ((lo, lo + at), (lo + at, hi)) if part[1] - part[0] > 1]
    return float(min(1.0, shared / class_entropy))


def _best_split(weight: Floats, mean: Floats, squares: Floats) -> tuple[int, float]:
    """The best split of classes sorted by their means, and its information times the weight."""
    total, centre = float(weight.sum()), float(weight @ mean) / float(weight.sum())
    shift = mean - centre
    variation = float(squares.sum() + weight @ (shift * shift))
    below = np.cumsum(weight)[:-1]
    above = total - below
    moment = np.cumsum(weight * shift)[:-1]
    if variation <= 1e-24 * total * float(np.abs(mean).max()) ** 2:
        return 1, 0.0
    correlation = np.clip(moment * moment * total / np.maximum(below * above, 1e-300) / variation, 0.0, 1.0)
    pi = below / total
    product = pi * (1 - pi) * (1 - correlation)
    posterior = 0.5 - np.sqrt(np.maximum(0.25 - product, 0.0))
    gain = total * (_binary_entropy(pi) - _binary_entropy(posterior))
    best = int(np.argmax(gain))
    return best + 1, float(gain[best])


def _binary_entropy(p: Floats) -> Floats:
    q = 1.0 - p
    with np.errstate(divide="ignore", invalid="ignore"):
        nats = -(np.where(p > 0, p * np.log(p), 0.0) + np.where(q > 0, q * np.log(q), 0.0))
    return np.asarray(nats)
