"""From joint log-probabilities to class probabilities."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import kernel


@kernel
def posterior(
    joint: NDArray[np.float64], order: NDArray[np.int64], blank: float, out: NDArray[np.float64]
) -> None:
    """out[i, r] = exp(joint[i, order[r]] - log sum_c exp joint[i, c]), classes taken in the given order.

    Where no class is possible, because nothing is learned yet, every class gets `blank`.
    joint : float64[n, K], in; order : int64[K], in; out : float64[n, K], out
    """
    k = len(order)
    for i in range(joint.shape[0]):
        top = -np.inf
        for r in range(k):
            top = max(top, joint[i, order[r]])
        if top == -np.inf:
            out[i, :] = blank
            continue
        total = 0.0
        for r in range(k):
            out[i, r] = math.exp(joint[i, order[r]] - top)
            total += out[i, r]
        for r in range(k):
            out[i, r] /= total


@kernel
def log_posterior(joint: NDArray[np.float64], order: NDArray[np.int64], out: NDArray[np.float64]) -> None:
    """out[i, r] = joint[i, order[r]] - log sum_c exp joint[i, c]; the logarithm of `posterior`, kept in log space.

    joint : float64[n, K], in; order : int64[K], in; out : float64[n, K], out
    """
    k = len(order)
    for i in range(joint.shape[0]):
        top = -np.inf
        for r in range(k):
            top = max(top, joint[i, order[r]])
        total = 0.0
        for r in range(k):
            total += math.exp(joint[i, order[r]] - top) if top > -np.inf else 1.0
        for r in range(k):
            out[i, r] = (joint[i, order[r]] - top if top > -np.inf else 0.0) - math.log(total)
