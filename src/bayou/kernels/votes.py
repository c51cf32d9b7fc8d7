"""Votes of several classifiers on the same rows."""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel


@kernel
def choice(joint: Floats, order: Index) -> int:
    """Return the class with the greatest log-probability, the first in the given order on ties; -1 if none is possible.

    joint : float64[K], in; order : int64[K], in
    """
    best = -1
    for r in range(len(order)):
        c = order[r]
        if joint[c] > -np.inf and (best < 0 or joint[c] > joint[best]):
            best = c
    return best


@inner_kernel
def add_vote(out: Floats, joint: Floats, chosen: int, weight: float, hard: bool) -> None:
    """Add one member's vote: its weight on the class it chose (`hard`), or divided by its probabilities (soft).

    out : float64[K], in/out; joint : float64[K], in
    """
    if hard:
        out[chosen] += weight
        return
    total = 0.0
    for c in range(len(joint)):
        total += math.exp(joint[c] - joint[chosen])
    for c in range(len(joint)):
        out[c] += weight * (math.exp(joint[c] - joint[chosen]) / total)


@kernel
def log_votes(joint: Floats, weights: Floats, order: Index, hard: bool, out: Floats) -> None:
    """out[i, c] = log of the weighted votes for c; -inf for all where no member votes.

    joint : float64[M, n, K], in; weights : float64[n, M], in; order : int64[K], in; out : float64[n, K], out
    """
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[i, c] = 0.0
        for m in range(joint.shape[0]):
            if weights[i, m] > 0.0:
                chosen = choice(joint[m, i], order)
                if chosen >= 0:
                    add_vote(out[i], joint[m, i], chosen, weights[i, m], hard)
        for c in range(out.shape[1]):
            out[i, c] = math.log(out[i, c]) if out[i, c] > 0.0 else -np.inf


@kernel
def losses(joint: Floats, y: Codes, order: Index, out: Floats) -> None:
    """out[i] = 0 if the most probable class is the row's own, else 1.

    joint : float64[n, K], in; y : int32[n], in; order : int64[K], in; out : float64[n], out
    """
    for i in range(len(y)):
        out[i] = 0.0 if choice(joint[i], order) == y[i] else 1.0


@kernel
def running_weights(record: Floats, joint: Floats, y: Codes, w: Floats, order: Index, out: Floats) -> None:
    """out[i, m] = (right + 1) / (all + 2) of each member before the row; then the row is added to its record.

    record : float64[M + 1], in/out, weight each member got right, then all; joint : float64[M, n, K], in
    y : int32[n], in; w : float64[n], in; order : int64[K], in; out : float64[n, M], out
    """
    members = joint.shape[0]
    for i in range(len(y)):
        for m in range(members):
            out[i, m] = (record[m] + 1.0) / (record[members] + 2.0)
        if y[i] >= 0 and w[i] > 0.0:
            record[members] += w[i]
            for m in range(members):
                if choice(joint[m, i], order) == y[i]:
                    record[m] += w[i]


@kernel
def faded_weights(
    record: Floats, joint: Floats, y: Codes, w: Floats, order: Index, fade: float, out: Floats
) -> None:
    """out[i, m] = the fourth power of the faded accuracy of each member before the row.

    The record of a member is moved towards 1 by each row that it gets right, towards 0 by each that it does not.
    record : float64[M], in/out; joint : float64[M, n, K], in; y : int32[n], in; w : float64[n], in
    order : int64[K], in; out : float64[n, M], out
    """
    for i in range(len(y)):
        for m in range(len(record)):
            square = record[m] * record[m]
            out[i, m] = square * square
            if y[i] >= 0 and w[i] > 0.0:
                right = 1.0 if choice(joint[m, i], order) == y[i] else 0.0
                record[m] = fade * record[m] + (1.0 - fade) * right


@kernel
def squared_errors(joint: Floats, y: Codes, w: Floats) -> float:
    """Return the weighted sum of (1 - p(true class))^2.

    joint : float64[n, K], in; y : int32[n], in; w : float64[n], in
    """
    error = 0.0
    for i in range(len(y)):
        top = -np.inf
        for c in range(joint.shape[1]):
            top = max(top, joint[i, c])
        p = 0.0
        if top > -np.inf:
            total = 0.0
            for c in range(joint.shape[1]):
                total += math.exp(joint[i, c] - top)
            p = math.exp(joint[i, y[i]] - top) / total
        error += w[i] * (1.0 - p) * (1.0 - p)
    return error
