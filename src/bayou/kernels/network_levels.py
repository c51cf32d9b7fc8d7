"""Weights on the evidence of each column without a parent, and on what one and two parents add to it, learned online.

Level l of column i has l parents and gives log P_l(x_i | k). Its pointwise mutual information with the class is
L_ilk = log P_l(x_i | k) - log sum_j prior_j P_l(x_i | j), and the inputs are Z_i0k = L_i0k and
Z_ilk = L_ilk - L_i,l-1,k, each within [-5, 5]. The score of a class is
H_k = log prior_k + b_k + sum_il (1 + u_il + v_ilk) Z_ilk; u, v and b learn as those of a pool do (`kernels/pool.py`).
"""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.pool import MEANS, ROWS, log_prior, score, step
from bayou.kernels.weights import informative, pmi_row

LEVELS = 3
MOST = 5.0  # bound on an input, so that no single column decides alone


@inner_kernel
def fill_increments(levels: Floats, prior: Floats, inputs: Floats, lifted: Floats) -> None:
    """Compute the inputs Z from log P_l(x_i | k); 0 for unknown classes, and for columns without evidence.

    levels : float64[3 m, K], in, level by level; prior : float64[K], in, log; inputs : float64[3 m, K], out
    lifted : float64[2, K], scratch, this level and the one before
    """
    m, k = len(levels) // LEVELS, len(prior)
    for i in range(m):
        for c in range(k):
            lifted[1, c] = 0.0
        for level in range(LEVELS):
            row, here = levels[level * m + i], lifted[0]
            for c in range(k):
                here[c] = row[c]
            if informative(here, prior):
                pmi_row(here, prior)
            for c in range(k):
                known = prior[c] > -np.inf
                more = here[c] - lifted[1, c] if known else 0.0
                inputs[level * m + i, c] = min(max(more, -MOST), MOST)
                lifted[1, c] = here[c] if known else 0.0


@kernel
def weigh_levels(
    shared: Floats, cells: Floats, scalars: Floats, classes: Floats, declared: int, levels: Floats,
    y: Codes, w: Floats, eta: float, out: Floats,
) -> None:  # fmt: skip
    """Predict, then learn, row by row: out[i, k] += H_k - log prior_k; then a step, if the row has label and weight.

    shared : float64[3, E], in/out; cells : float64[3, E + 1, K], in/out; scalars : float64[1], in/out, rows learned
    classes : float64[K], in/out; levels : float64[E, n, K], in; y : int32[n], in; w : float64[n], in
    out : float64[n, K], in/out
    """
    e, k = levels.shape[0], levels.shape[2]
    prior, said, lifted = np.empty(k), np.empty(k), np.empty((2, k))
    inputs, scratch = np.empty((e, k)), np.empty((3, k))
    delta, shared_delta = np.empty((e + 1, k)), np.empty(e)
    for i in range(len(y)):
        log_prior(classes, declared, prior)
        fill_increments(levels[:, i], prior, inputs, lifted)
        score(MEANS, 1.0, shared, cells, inputs, prior, said)
        for c in range(k):
            if prior[c] > -np.inf:
                out[i, c] += said[c] - prior[c]
        label = y[i]
        if label < 0 or w[i] <= 0.0:
            continue
        if prior[label] > -np.inf:
            step(
                1.0,
                shared,
                cells,
                scalars,
                inputs,
                prior,
                label,
                w[i],
                eta,
                1.0,
                scratch,
                delta,
                shared_delta,
            )
        scalars[ROWS] += 1.0
        classes[label] += w[i]
