"""From joint log-probabilities to class probabilities."""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.jit import inner_kernel, kernel


@inner_kernel
def posterior_of_two(joint: Floats, order: Index, blank: float) -> None:
    """Do as `posterior` for two classes, bit for bit, without a branch on the larger one, which would be mispredicted.

    joint : float64[n, 2], in/out; order : int64[2], in
    """
    zero, one = np.uint64(0), np.uint64(1)
    left, right = np.uint64(order[0]), np.uint64(order[1])
    for i in range(np.uint64(joint.shape[0])):
        a, b = joint[i, left], joint[i, right]
        below = math.exp(-abs(a - b))
        total = 1.0 + below
        possible = a > -np.inf or b > -np.inf
        joint[i, zero] = (1.0 if a > b else below) / total if possible else blank
        joint[i, one] = (below if a > b else 1.0) / total if possible else blank


@kernel
def posterior(joint: Floats, order: Index, blank: float) -> None:
    """Replace joint[i, r] by exp(joint[i, order[r]] - log sum_c exp joint[i, c]), the class probabilities.

    Where no class is possible, because no row was learned yet, every class gets `blank`.
    joint : float64[n, K], in/out; order : int64[K], in
    """
    k = len(order)
    if k == 2:
        posterior_of_two(joint, order, blank)
        return
    share = np.empty(k)
    for i in range(joint.shape[0]):
        top = -np.inf
        for r in range(k):
            top = joint[i, order[r]] if joint[i, order[r]] > top else top
        total = 0.0
        for r in range(k):
            gap = joint[i, order[r]] - top
            share[r] = 1.0 if gap == 0.0 else math.exp(gap)
            total += share[r]
        for r in range(k):
            joint[i, r] = share[r] / total if top > -np.inf else blank


@kernel
def log_posterior(joint: Floats, order: Index) -> None:
    """Replace joint[i, r] by joint[i, order[r]] - log sum_c exp joint[i, c], the log of `posterior`.

    joint : float64[n, K], in/out; order : int64[K], in
    """
    k = len(order)
    above = np.empty(k)
    for i in range(joint.shape[0]):
        top = -np.inf
        for r in range(k):
            top = joint[i, order[r]] if joint[i, order[r]] > top else top
        total = 0.0
        for r in range(k):
            above[r] = joint[i, order[r]] - top if top > -np.inf else 0.0
            total += math.exp(above[r])
        for r in range(k):
            joint[i, r] = above[r] - math.log(total)
