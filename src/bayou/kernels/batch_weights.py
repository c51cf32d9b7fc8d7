"""Learning weights in mini-batches: several passes of averaged gradient steps over a buffer of recent rows."""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import kernel, kernel_piece
from bayou.kernels.sums import TILE
from bayou.kernels.weights import (
    HEAVIEST,
    WEIGHT,
    add_terms,
    add_weighted,
    clip_tied,
    log_softmax,
    mass_terms,
    pmi_terms,
    residuals,
)


@kernel_piece
def batch_gradient(
    weights: Floats,
    bias: Floats,
    inputs: Floats,
    joint: Floats,
    labels: Codes,
    amounts: Floats,
    slopes: Floats,
    bias_slopes: Floats,
) -> None:
    """Mean gradient of -log P(label) over the rows, each counted by its weight.

    weights : float64[d, K or 1], in; bias : float64[2, K], in; inputs : float64[rows, d, K], in
    joint : float64[rows, K], in; labels : int32[rows], in; amounts : float64[rows], in
    slopes : float64[d, K or 1], out; bias_slopes : float64[K], out
    """
    k = len(bias_slopes)
    scores, residual = np.empty(k), np.empty(k)
    slopes[:] = 0.0
    bias_slopes[:] = 0.0
    free = 1 if weights.shape[1] > 1 else 0
    total = 0.0
    for i in range(len(labels)):
        for c in range(k):
            scores[c] = joint[i, c] + bias[0, c]
        add_weighted(scores, weights, inputs[i])
        log_softmax(scores)
        residuals(scores, labels[i], residual)
        weight = min(amounts[i], HEAVIEST)
        total += weight
        for c in range(k):
            bias_slopes[c] += weight * residual[c]
        for j in range(inputs.shape[1]):
            for c in range(k):
                slopes[j, c * free] += weight * residual[c] * inputs[i, j, c]
    for c in range(k):
        bias_slopes[c] /= total
    for j in range(slopes.shape[0]):
        for c in range(slopes.shape[1]):
            slopes[j, c] /= total


@kernel_piece
def batch_share(
    delta: Floats, bias_delta: Floats, slopes: Floats, bias_slopes: Floats, inputs: Floats, joint: Floats
) -> float:
    """The share of a gradient step to take, from 0 to 1, so that on average over the rows it does not overshoot.

    delta, slopes : float64[d, K or 1], in; bias_delta, bias_slopes : float64[K], in
    inputs : float64[rows, d, K], in; joint : float64[rows, K], in
    """
    gain = 0.0
    for c in range(len(bias_delta)):
        gain -= bias_slopes[c] * bias_delta[c]
    for j in range(delta.shape[0]):
        for c in range(delta.shape[1]):
            gain -= slopes[j, c] * delta[j, c]
    change = np.empty(len(bias_delta))
    spread = 0.0
    for i in range(joint.shape[0]):
        for c in range(len(change)):
            change[c] = bias_delta[c]
        add_weighted(change, delta, inputs[i])
        least, most = np.inf, -np.inf
        for c in range(len(change)):
            if joint[i, c] > -np.inf:
                least, most = min(least, change[c]), max(most, change[c])
        spread += (most - least) ** 2 / joint.shape[0]
    if spread == 0.0:
        return 1.0
    return 1.0 / (1.0 + spread / (4.0 * gain)) if gain > 0.0 else 0.0


@kernel_piece
def learn_buffer(
    weights: Floats,
    squares: Floats,
    bias: Floats,
    inputs: Floats,
    joint: Floats,
    labels: Codes,
    amounts: Floats,
    eta: float,
    passes: int,
) -> None:
    """Learn the rows of the buffer: one AdaGrad step on their mean gradient in each pass.

    weights, squares : float64[d, K or 1], in/out; bias : float64[2, K], in/out
    inputs : float64[rows, d, K], in; joint : float64[rows, K], in; labels : int32[rows], in
    amounts : float64[rows], in
    """
    slopes, delta = np.empty_like(weights), np.empty_like(weights)
    bias_slopes, bias_delta = np.empty(bias.shape[1]), np.empty(bias.shape[1])
    for _ in range(passes):
        batch_gradient(weights, bias, inputs, joint, labels, amounts, slopes, bias_slopes)
        for c in range(len(bias_slopes)):
            bias[1, c] += bias_slopes[c] * bias_slopes[c]
            bias_delta[c] = -eta * bias_slopes[c] / math.sqrt(bias[1, c] + 1e-4)
        for j in range(slopes.shape[0]):
            for c in range(slopes.shape[1]):
                squares[j, c] += slopes[j, c] * slopes[j, c]
                delta[j, c] = -eta * slopes[j, c] / math.sqrt(squares[j, c] + 1e-4)
        share = batch_share(delta, bias_delta, slopes, bias_slopes, inputs, joint)
        for c in range(len(bias_delta)):
            bias[0, c] += share * bias_delta[c]
        for j in range(delta.shape[0]):
            for c in range(delta.shape[1]):
                weights[j, c] += share * delta[j, c]
        if weights.shape[1] == 1:
            clip_tied(weights)


@kernel
def learn_batches(
    weights: Floats,
    squares: Floats,
    bias: Floats,
    scalars: Floats,
    inputs: Floats,
    joint: Floats,
    labels: Codes,
    amounts: Floats,
    fill: Index,
    terms: Floats,
    units: Floats,
    prior: Floats,
    pmi_prior: Floats,
    edges: Index,
    y: Codes,
    w: Floats,
    rule: Floats,
    out: Floats,
) -> None:
    """Row by row: write the scores H to out and put labelled rows into the buffer, which is learned once it is full.

    weights, squares : float64[d, K or 1], in/out; bias : float64[2, K], in/out; scalars : float64[12], in/out
    inputs : float64[rows, d, K], joint : float64[rows, K], labels : int32[rows], amounts : float64[rows], in/out
    fill : int64[1], in/out; terms : float64[n, d, K], in/out; units : float64[n, p], in
    prior, pmi_prior : float64[n, K], in, log; edges : int64[views + 1], in; y : int32[n], in; w : float64[n], in
    rule : float64[3], in, eta, passes, whether as pointwise mutual information; out : float64[n, K], out
    """
    k = out.shape[1]
    tile = np.empty(TILE)
    for i in range(len(y)):
        row = terms[i]
        for c in range(k):
            out[i, c] = prior[i, c]  # no slices: the code of their error messages would be compiled, too
        add_terms(out[i], row, edges, tile)
        at = fill[0]
        label = y[i]
        teaches = label >= 0 and w[i] > 0.0 and prior[i, label] > -np.inf
        if rule[2] > 0.0:
            pmi_terms(row, pmi_prior[i])
        else:
            mass_terms(row, units[i], prior[i])
        if teaches:
            for c in range(k):
                joint[at, c] = out[i, c]
                for j in range(row.shape[0]):
                    inputs[at, j, c] = row[j, c] if prior[i, c] > -np.inf else 0.0
            labels[at] = label
            amounts[at] = w[i]
            fill[0] += 1
        for c in range(k):
            out[i, c] += bias[0, c]
        add_weighted(out[i], weights, row)
        if teaches:
            scalars[WEIGHT] += min(w[i], HEAVIEST)
            if fill[0] == len(labels):
                learn_buffer(
                    weights, squares, bias, inputs, joint, labels, amounts, rule[0], int(rule[1])
                )  # fmt: skip
                fill[0] = 0
