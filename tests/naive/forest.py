"""Forests of counts, slowly and plainly: growing by the same draws, reading from the root down, pooling by formula."""

from __future__ import annotations

import itertools
import math

import numpy as np

MASK = (1 << 64) - 1


def mix(z):
    """The finaliser of splitmix64."""
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def uniform(z):
    return (z >> 11) / 2**53


def bootstrap(seed, tree, row_hash, weight):
    """A Poisson number with mean max(1, weight), times what one draw weighs."""
    mean = max(1.0, weight)
    u = uniform(mix(mix(mix(seed & MASK) ^ tree) ^ (int(row_hash) & MASK)))
    k, p = 0, math.exp(-mean)
    total = p
    while u >= total and k < 2000:
        k += 1
        p *= mean / k
        total += p
    return weight * k / mean


def purity(weights):
    total = sum(weights)
    return sum(w * w for w in weights) / total if total > 0 else 0.0


def numeric_splits(cells, j, rows):
    """Every cut between two neighbouring occupied cells."""
    there = sorted({int(cells[i, j]) for i in rows})
    for low, high in itertools.pairwise(there):
        yield (low + high) // 2


def goes_left(cell, j, p, threshold):
    return cell <= threshold if j < p else bool((int(threshold) & MASK) >> int(cell) & 1)


def gain_of(cells, y, drawn, rows, j, p, threshold, k):
    """What a split adds to the sum of squares over the sum."""

    def weights(some):
        out = [0.0] * k
        for i in some:
            out[y[i]] += drawn[i]
        return out

    left = [i for i in rows if goes_left(cells[i, j], j, p, threshold)]
    right = [i for i in rows if not goes_left(cells[i, j], j, p, threshold)]
    return purity(weights(left)) + purity(weights(right)) - purity(weights(rows)), left, right


def down(attribute, threshold, left, root, p, row):
    """The nodes a row passes, from the root to its leaf."""
    path = [root]
    while attribute[path[-1]] >= 0:
        v = path[-1]
        j = attribute[v]
        path.append(int(left[v]) + (0 if goes_left(row[j], j, p, threshold[v]) else 1))
    return path


def read(counts, path, c, declared=0, off=None):
    """p_l = (N_l + c p_(l-1)) / (N_l + c), from the root down; `off` is the label of a row that does not count."""

    def at(v):
        weights = counts[v].copy()
        if off is not None:
            weights[off] -= 1.0
        return weights

    root = counts[path[0]]
    known = (root > 0) | (declared > 0)
    size = max(int((root > 0).sum()), declared)
    weights = at(path[0])
    p = np.where(known, (weights + 1.0 / size) / (weights.sum() + 1.0), 0.0)
    for v in path[1:]:
        weights = at(v)
        if weights.sum() <= 0:
            break
        p = (weights + c * p) / (weights.sum() + c)
    return p


class Pool:
    """The log-linear pool of a few opinions, by its formulas, beside their plain mean."""

    def __init__(self, opinions, k, eta):
        self.e, self.eta = opinions, eta
        self.u, self.u_mean, self.u_squares = np.zeros(opinions), np.zeros(opinions), np.zeros(opinions)
        self.v, self.v_mean, self.v_squares = (np.zeros((opinions + 1, k)) for _ in range(3))
        self.rows, self.credit = 0, np.array([0.9, 0.1])

    def _proba(self, u, v, z, prior):
        h = prior + v[-1] + ((1.0 / self.e + u[:, None] + v[:-1]) * z).sum(axis=0)
        h = np.exp(h - h.max())
        return h / h.sum()

    def predict(self, opinions, classes):
        prior = np.log((classes + 1.0 / len(classes)) / (classes.sum() + 1.0))
        z = np.log(np.maximum(opinions, 1e-6)) - prior
        both = np.array([opinions.mean(axis=0), self._proba(self.u_mean, self.v_mean, z, prior)])
        return z, prior, both, self.credit @ both

    def learn(self, opinions, classes, label, weight):
        z, prior, both, said = self.predict(opinions, classes)
        self.credit = self.credit * both[:, label] / (self.credit * both[:, label]).sum()
        error = self._proba(self.u, self.v, z, prior)
        error[label] -= 1.0
        inputs = np.vstack([z, np.ones_like(prior)])
        g = weight * error * inputs
        self.v_squares += g**2
        step_v = -self.eta * g / np.sqrt(1.0 + self.v_squares)
        whole = g[:-1].sum(axis=1)
        self.u_squares += whole**2
        step_u = -self.eta * whole / np.sqrt(1.0 + self.u_squares)
        change = (step_v * inputs).sum(axis=0) + (step_u[:, None] * z).sum(axis=0)
        spread, gain = change.max() - change.min(), -(error * change).sum()
        share = 1.0 / (1.0 + spread**2 / (4.0 * gain)) if gain > 0 else 0.0
        share = 1.0 if spread == 0 else share
        self.u, self.v = self.u + share * step_u, self.v + share * step_v
        newest = 2.0 / (self.rows + 2.0)
        self.u_mean += newest * (self.u - self.u_mean)
        self.v_mean += newest * (self.v - self.v_mean)
        self.rows += 1
        return said
