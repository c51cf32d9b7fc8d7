"""Counting classes, and the log prior as it stands, or as it stood before each row."""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats
from bayou.kernels.jit import kernel
from bayou.kernels.value_counts import cached_log


@kernel
def count_classes(weight: Floats, y: Codes, w: Floats, sign: float) -> None:
    """weight[c] += sign * w over the labelled rows.

    weight : float64[K], in/out; y : int32[n], in; w : float64[n], in
    """
    for i in range(len(y)):
        if y[i] >= 0:
            weight[y[i]] += sign * w[i]


@kernel
def prior_size(weight: Floats, declared: int) -> int:
    """Number of classes that smoothing counts: those with weight, or the declared number if larger.

    weight : float64[K], in
    """
    seen = 0
    for c in range(len(weight)):
        if weight[c] > 0.0:
            seen += 1
    return seen if seen > declared else declared


@kernel
def class_total(weight: Floats) -> float:
    """Sum over classes, in order.

    weight : float64[K], in
    """
    total = 0.0
    for c in range(len(weight)):
        total += weight[c]
    return total


@kernel
def add_prior(out: Floats, weight: Floats, declared: int, alpha: float) -> None:
    """out[i, c] += log(N_c + alpha) - log(N + alpha k); -inf for a class without weight that nobody declared.

    out : float64[n, K], in/out; weight : float64[K], in
    """
    total = math.log(class_total(weight) + alpha * prior_size(weight, declared))
    for c in range(len(weight)):
        if weight[c] > 0.0 or (declared > 0 and alpha > 0.0):
            prior = math.log(weight[c] + alpha) - total
        else:
            prior = -np.inf
        for i in range(out.shape[0]):
            out[i, c] += prior


@kernel
def add_vector(out: Floats, vector: Floats) -> None:
    """Add the same vector to every row.

    out : float64[n, K], in/out; vector : float64[K], in
    """
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[i, c] += vector[c]


@kernel
def prior_predict_then_update(
    weight: Floats, out: Floats, y: Codes, w: Floats, logs: Floats, declared: int, alpha: float
) -> None:
    """Add the log prior as it stood before each row, then count the row.

    weight : float64[K], in/out; out : float64[n, K], in/out; y : int32[n], in; w : float64[n], in
    logs : float64[m], in, log of integers
    """
    k = np.uint64(len(weight))
    log_weight = np.empty(len(weight))
    for c in range(k):
        log_weight[c] = cached_log(weight[c] + alpha, logs)
    changed, total = True, 0.0
    for i in range(np.uint64(len(y))):
        if changed:
            total = cached_log(class_total(weight) + alpha * prior_size(weight, declared), logs)
        for c in range(k):
            possible = weight[c] > 0.0 or (declared > 0 and alpha > 0.0)
            out[i, c] += log_weight[c] - total if possible else -np.inf
        changed = y[i] >= 0
        if changed:
            label = np.uint64(y[i])
            weight[label] += w[i]
            log_weight[label] = cached_log(weight[label] + alpha, logs)
