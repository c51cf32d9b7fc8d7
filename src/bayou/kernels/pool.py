"""A log-linear pool of the predictions of several experts, learned online, beside their arithmetic mean.

Expert e predicts P_e(k), its row of `opinions`. Inputs are Z_ek = log max(P_e(k), 1e-6) - log prior_k, the score of a
class is H_k = log prior_k + b_k + sum_e (1/E + u_e + v_ek) Z_ek. Each row moves u, v and b by a step against the
gradient of -log P(label), with AdaGrad's rates, cut back so that it cannot overshoot; the prediction uses the running
mean of the weights. Pool and mean are mixed by the probability each has given to the labels so far.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats
from bayou.kernels.class_counts import prior_size
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.weights import HEAVIEST, log_softmax, residuals, safe_share

LEAST = 1e-6  # smaller probabilities are clipped to this one
# places in `scalars`: rows learned, and the mixture weights of the mean and of the pool
ROWS, OF_MEAN, OF_POOL = range(3)
SCALARS = 3
FIRST_MEAN, FIRST_POOL = 0.9, 0.1
# first axis of `shared` and `cells`; the last row of `cells` has the biases
WEIGHTS, MEANS, SQUARES = range(3)


@inner_kernel
def fill_inputs(opinions: Floats, prior: Floats, inputs: Floats) -> None:
    """Write the inputs Z_ek, 0 for classes that are not known.

    opinions, inputs : float64[E, K], in and out; prior : float64[K], in, log
    """
    for e in range(opinions.shape[0]):
        for c in range(opinions.shape[1]):
            known = prior[c] > -np.inf
            inputs[e, c] = math.log(max(opinions[e, c], LEAST)) - prior[c] if known else 0.0


@inner_kernel
def score(
    which: int, start: float, shared: Floats, cells: Floats, inputs: Floats, prior: Floats, out: Floats
) -> None:
    """Write log P(k) under the current weights, or under their running means; weights are deviations from `start`.

    shared : float64[3, E], in; cells : float64[3, E + 1, K], in; inputs : float64[E, K], in
    prior : float64[K], in, log; out : float64[K], out
    """
    e = inputs.shape[0]
    for c in range(len(out)):
        total = prior[c] + cells[which, e, c]
        for j in range(e):
            total += (start + shared[which, j] + cells[which, j, c]) * inputs[j, c]
        out[c] = total
    log_softmax(out)


@inner_kernel
def step(
    start: float, shared: Floats, cells: Floats, scalars: Floats, inputs: Floats, prior: Floats,
    label: int, weight: float, eta: float, forget: float, scratch: Floats, delta: Floats, shared_delta: Floats,
) -> None:  # fmt: skip
    """Take one AdaGrad step on -log P(label), and update the running means of the weights.

    shared : float64[3, E], in/out; cells : float64[3, E + 1, K], in/out; scalars : float64[3], in/out
    inputs : float64[E, K], in; prior : float64[K], in, log
    scratch : float64[3, K]; delta : float64[E + 1, K]; shared_delta : float64[E]
    """
    e, k = inputs.shape
    log_proba, residual, change = scratch[0], scratch[1], scratch[2]
    score(WEIGHTS, start, shared, cells, inputs, prior, log_proba)
    residuals(log_proba, label, residual)
    weight = min(weight, HEAVIEST)
    for c in range(k):
        g = weight * residual[c] if prior[c] > -np.inf else 0.0
        cells[SQUARES, e, c] = forget * cells[SQUARES, e, c] + g * g
        delta[e, c] = -eta * g / math.sqrt(1.0 + cells[SQUARES, e, c])
        change[c] = delta[e, c]
    for j in range(e):
        whole = 0.0
        for c in range(k):
            g = weight * residual[c] * inputs[j, c]
            whole += g
            cells[SQUARES, j, c] = forget * cells[SQUARES, j, c] + g * g
            delta[j, c] = -eta * g / math.sqrt(1.0 + cells[SQUARES, j, c])
        shared[SQUARES, j] = forget * shared[SQUARES, j] + whole * whole
        shared_delta[j] = -eta * whole / math.sqrt(1.0 + shared[SQUARES, j])
        for c in range(k):
            change[c] += (delta[j, c] + shared_delta[j]) * inputs[j, c]
    share = safe_share(residual, change, prior)
    newest = max(2.0 / (scalars[ROWS] + 2.0), 1.0 - forget)
    for j in range(e):
        shared[WEIGHTS, j] += share * shared_delta[j]
        shared[MEANS, j] += newest * (shared[WEIGHTS, j] - shared[MEANS, j])
    for j in range(e + 1):
        for c in range(k):
            cells[WEIGHTS, j, c] += share * delta[j, c]
            cells[MEANS, j, c] += newest * (cells[WEIGHTS, j, c] - cells[MEANS, j, c])


@inner_kernel
def log_prior(classes: Floats, declared: int, out: Floats) -> None:
    """Write the log prior log((N_k + 1 / J) / (N + 1)) of the J classes that are known, -inf for the others.

    classes : float64[K], in; out : float64[K], out
    """
    size, total = prior_size(classes, declared), 0.0
    for c in range(len(classes)):
        total += classes[c]
    for c in range(len(classes)):
        known = classes[c] > 0.0 or declared > 0
        out[c] = math.log((classes[c] + 1.0 / size) / (total + 1.0)) if known else -np.inf


@kernel
def pool_rows(
    shared: Floats, cells: Floats, scalars: Floats, opinions: Floats, classes: Floats, declared: int,
    y: Codes, w: Floats, eta: float, forget: float, moving: bool, out: Floats,
) -> None:  # fmt: skip
    """Predict, then learn, row by row: out = log P(k); then a step on the label, if the row has label and weight.

    shared : float64[3, E], in/out; cells : float64[3, E + 1, K], in/out; scalars : float64[3], in/out
    opinions : float64[n, E, K], in; classes : float64[K], in/out, counted along where `moving`
    y : int32[n], in; w : float64[n], in; out : float64[n, K], out
    """
    e, k = opinions.shape[1], opinions.shape[2]
    prior, inputs, scratch = np.empty(k), np.empty((e, k)), np.empty((3, k))
    pooled, delta, shared_delta = np.empty(k), np.empty((e + 1, k)), np.empty(e)
    for i in range(len(y)):
        log_prior(classes, declared, prior)
        fill_inputs(opinions[i], prior, inputs)
        score(MEANS, 1.0 / e, shared, cells, inputs, prior, pooled)
        for c in range(k):
            mean = 0.0
            for j in range(e):
                mean += opinions[i, j, c]
            pooled[c] = math.exp(pooled[c]) if prior[c] > -np.inf else 0.0
            scratch[0, c] = mean / e
            mixed = scalars[OF_MEAN] * scratch[0, c] + scalars[OF_POOL] * pooled[c]
            out[i, c] = math.log(mixed) if mixed > 0.0 else -np.inf
        label = y[i]
        if label < 0 or w[i] <= 0.0:
            continue
        if prior[label] > -np.inf:
            believe(scalars, scratch[0, label], pooled[label], forget)
            step(
                1.0 / e, shared, cells, scalars, inputs, prior, label, w[i], eta, forget,
                scratch, delta, shared_delta,
            )  # fmt: skip
        scalars[ROWS] += 1.0
        if moving:
            classes[label] += w[i]


@inner_kernel
def believe(scalars: Floats, mean: float, pooled: float, forget: float) -> None:
    """Update the mixture weights of mean and pool by Bayes' rule: each times the probability it gave the label.

    They add up to 1 and are at least 1e-12, so that either can recover. With `forget` < 1 they are drawn back towards
    their initial values at every row.

    scalars : float64[3], in/out
    """
    by_mean, by_pool = scalars[OF_MEAN] * max(mean, 1e-300), scalars[OF_POOL] * max(pooled, 1e-300)
    total = by_mean + by_pool
    if total > 0.0:
        share = forget * by_mean / total + (1.0 - forget) * FIRST_MEAN
        scalars[OF_MEAN] = min(max(share, 1e-12), 1.0 - 1e-12)
        scalars[OF_POOL] = 1.0 - scalars[OF_MEAN]
