"""How much a column tells about the class by itself."""

from __future__ import annotations

import numpy as np

from bayou.block import Floats

_NODES = 24  # of Gauss-Hermite quadrature, per class


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


def normal_information(weight: Floats, centre: Floats, spread: Floats) -> Floats:
    """I(C; X) / H(C) of normal densities, arrays [K, p]: sum over c of P(c) E[log p(x | c) / p(x)] by quadrature.

    >>> two = normal_information(np.ones((2, 1)), np.array([[0.0], [9.0]]), np.ones((2, 1)))
    >>> bool(two[0] > 0.99)
    True
    """
    k, p = weight.shape
    total = np.maximum(weight.sum(axis=0), 1e-300)
    prior = weight / total
    nodes, mass = np.polynomial.hermite_e.hermegauss(_NODES)
    mass = mass / mass.sum()
    out, whole = np.zeros(p), np.zeros(p)
    with np.errstate(divide="ignore", over="ignore"):
        log_prior = np.log(prior)
        for c in range(k):
            x = centre[c] + spread[c] * nodes[:, np.newaxis]
            own = -0.5 * nodes[:, np.newaxis] ** 2 - np.log(spread[c])
            mixed = np.full((_NODES, p), -np.inf)
            for b in range(k):
                z = (x - centre[b]) / spread[b]
                mixed = np.logaddexp(mixed, log_prior[b] - 0.5 * np.minimum(z * z, 1e200) - np.log(spread[b]))
            gain = mass @ np.where(prior[c] > 0, own - np.where(prior[c] > 0, mixed, 0.0), 0.0)
            out += prior[c] * gain
            whole -= np.where(prior[c] > 0, prior[c] * np.where(prior[c] > 0, log_prior[c], 0.0), 0.0)
    share: Floats = np.divide(out, whole, out=np.zeros(p), where=whole > 0)
    return np.asarray(np.clip(np.nan_to_num(share), 0.0, 1.0))
