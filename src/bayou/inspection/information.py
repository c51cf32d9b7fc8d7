"""How much a column tells about the class by itself."""

from __future__ import annotations

import numpy as np

from bayou.block import Floats


def entropy(weights: Floats) -> float:
    """In nats, of weights that need not sum to one."""
    p = weights[weights > 0] / max(float(weights.sum()), 1e-300)
    return float(-np.sum(p * np.log(p)))


def count_information(counts: Floats) -> float:
    """I(C; X) / H(C) of a table [parts, K], less the (P - 1)(K - 1) / 2N that chance alone would show.

    >>> count_information(np.array([[500.0, 0.0], [0.0, 500.0]])) > 0.99
    True
    >>> count_information(np.array([[5.0, 5.0], [5.0, 5.0]]))
    0.0
    """
    parts, classes = counts.sum(axis=1), counts.sum(axis=0)
    total, whole = float(counts.sum()), entropy(classes)
    if total <= 0 or whole <= 0:
        return 0.0
    shared = entropy(parts) + whole - entropy(counts.ravel())
    chance = (np.count_nonzero(parts) - 1) * (np.count_nonzero(classes) - 1) / (2 * total)
    return float(min(1.0, max(0.0, (shared - chance) / whole)))


def mean_information(weight: Floats, mean: Floats, squares: Floats) -> float:
    r"""The least share I(C; X) / H(C) that a column tells, given weight, mean and squared deviations of each class.

    It holds whatever the distribution. For two groups of classes, the posterior's variance is at least that of its best
    linear estimate from x, $\pi (1 - \pi) \rho^2$ with $\rho$ the correlation of x and the group; entropy is a concave
    function of p (1 - p); so by Jensen $H(G | X) \le h(p)$ where $p (1 - p) = \pi (1 - \pi) (1 - \rho^2)$. Classes are
    parted by their means again and again, and what the partings tell adds up (the chain rule), less what chance
    alone would show. Columns that differ in their variances alone tell more than this.

    >>> far = mean_information(np.array([500.0, 500.0]), np.array([0.0, 9.0]), np.array([500.0, 500.0]))
    >>> near = mean_information(np.array([500.0, 500.0]), np.array([0.0, 1.0]), np.array([500.0, 500.0]))
    >>> round(far, 2), round(near, 2)
    (0.91, 0.15)
    """
    met = np.flatnonzero(weight > 0)
    whole = entropy(weight[met]) * float(weight.sum())
    if len(met) < 2 or whole <= 0:
        return 0.0
    order = met[np.argsort(mean[met], kind="stable")]
    shared, todo = 0.0, [(0, len(order))]
    while todo:
        lo, hi = todo.pop()
        inside = order[lo:hi]
        at, gain = _best_parting(weight[inside], mean[inside], squares[inside])
        shared += max(0.0, gain - 0.5)
        todo += [part for part in ((lo, lo + at), (lo + at, hi)) if part[1] - part[0] > 1]
    return float(min(1.0, shared / whole))


def _best_parting(weight: Floats, mean: Floats, squares: Floats) -> tuple[int, float]:
    """Where classes, sorted by their means, are parted best, and the information of the parting times the weight."""
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
        found = -(np.where(p > 0, p * np.log(p), 0.0) + np.where(q > 0, q * np.log(q), 0.0))
    return np.asarray(found)
