"""Rule D: four experts on the terms of naive Bayes, mixed by their log-loss.

Naive Bayes, tempered naive Bayes, the weights as they are, and the average of the weights so far; on request a
fifth that adds how the last label changes the odds of the next. Weights are 1 + s + u_i + v_ik, the three kept
apart, so that a new column starts at 1 + s and a new class at 1 + s + u_i: steps of AdaGrad for the shift, each
column and each cell, cut back so that none overshoots. Tied weights are 1 + v_i.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import kernel
from bayou.kernels.weights import (
    HEAVIEST,
    RHO,
    SHIFT,
    SHIFT_MEAN,
    SHIFT_SQUARES,
    TAU,
    WEIGHT,
    lift_terms,
    log_softmax,
    residuals,
    safe_share,
    tied_gradient,
)

NAIVE, TEMPERED, LAST, MEAN, PERSISTENT = range(5)
EXPERTS = 5
LEAST_PROBABILITY = 1e-9


@kernel
def last_label_lift(
    follows: NDArray[np.float64], last: int, prior: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """out[c] = ln P(c | last label) - ln P(c), the first estimated with one imaginary row spread as the prior.

    follows : float64[K, K], in, weight of label c after label b; prior : float64[K], in, log; out : float64[K], out
    """
    total = 0.0
    for c in range(len(out)):
        out[c] = 0.0
        if last >= 0:
            total += follows[last, c]
    for c in range(len(out)):
        if last >= 0 and prior[c] > -np.inf:
            chance = math.exp(prior[c])
            out[c] = math.log((follows[last, c] + chance) / (total + 1.0)) - prior[c]


@kernel
def sum_up(
    scores: NDArray[np.float64],
    evidence: NDArray[np.float64],
    weights: NDArray[np.float64],
    mean: NDArray[np.float64],
    columns: NDArray[np.float64],
    inputs: NDArray[np.float64],
    index: NDArray[np.int64],
) -> None:
    """evidence = sum_j Z_j; the scores of the weights and of their mean grow by sum_j (u_j + v_j) Z_j, in order.

    scores : float64[5, K], in/out; evidence : float64[K], out; weights, mean : float64[d, K], in
    columns : float64[d, 3], in; inputs : float64[active, K], in; index : int64[active], in, their columns
    """
    last, average = scores[LAST], scores[MEAN]
    for c in range(len(evidence)):
        evidence[c] = 0.0
    for a in range(len(index)):
        j = index[a]
        z, v, m = inputs[a], weights[j], mean[j]
        u, um = columns[j, 0], columns[j, 1]
        for c in range(len(z)):
            evidence[c] += z[c]
            last[c] += (u + v[c]) * z[c]
            average[c] += (um + m[c]) * z[c]


@kernel
def sum_up_tied(
    scores: NDArray[np.float64],
    evidence: NDArray[np.float64],
    weights: NDArray[np.float64],
    mean: NDArray[np.float64],
    columns: NDArray[np.float64],
    inputs: NDArray[np.float64],
    index: NDArray[np.int64],
) -> None:
    """The same for tied weights, and where the mean is not kept.

    scores : float64[5, K], in/out; evidence : float64[K], out; weights : float64[d, K or 1], in
    mean : float64[d, K or 1] or [0, 0], in; columns : float64[d, 3] or [0, 3], in; inputs : float64[active, K], in
    index : int64[active], in
    """
    for c in range(len(evidence)):
        evidence[c] = 0.0
    free = 1 if weights.shape[1] > 1 else 0
    for a in range(len(index)):
        j = index[a]
        shared = columns[j, 0] if columns.shape[0] > 0 else 0.0
        for c in range(len(evidence)):
            z = inputs[a, c]
            evidence[c] += z
            scores[LAST, c] += (shared + weights[j, c * free]) * z
            if mean.shape[0] > 0:
                scores[MEAN, c] += mean[j, c * free] * z


@kernel
def score_experts(
    weights: NDArray[np.float64],
    mean: NDArray[np.float64],
    columns: NDArray[np.float64],
    bias: NDArray[np.float64],
    scalars: NDArray[np.float64],
    inputs: NDArray[np.float64],
    index: NDArray[np.int64],
    prior: NDArray[np.float64],
    pull: NDArray[np.float64],
    whole: bool,
    evidence: NDArray[np.float64],
    heat: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Log-probabilities of every expert.

    weights : float64[d, K or 1], in; mean : float64[d, K or 1] or [0, 0], in
    columns : float64[d, 3], in, [0, 3] if tied
    bias : float64[3, K], in; scalars : float64[11], in; inputs : float64[active, K], in; index : int64[active], in
    prior : float64[K], in, log
    pull : float64[K], in, of the last label; `whole`: the prior is tempered too; evidence : float64[K], out, sum
    of the inputs; heat : float64[K], out, what is tempered; scores : float64[5, K], out
    """
    for c in range(len(prior)):
        scores[LAST, c] = 0.0
        scores[MEAN, c] = 0.0
    if columns.shape[0] > 0 and mean.shape[0] > 0:
        sum_up(scores, evidence, weights, mean, columns, inputs, index)
    else:
        sum_up_tied(scores, evidence, weights, mean, columns, inputs, index)
    for c in range(len(prior)):
        joint = prior[c] + evidence[c]
        heat[c] = evidence[c] + (prior[c] if whole and prior[c] > -np.inf else 0.0)
        scores[NAIVE, c] = joint
        scores[TEMPERED, c] = joint + scalars[TAU] * heat[c]
        scores[LAST, c] += joint + bias[0, c] + scalars[SHIFT] * evidence[c]
        scores[MEAN, c] += joint + bias[1, c] + scalars[SHIFT_MEAN] * evidence[c]
        scores[PERSISTENT, c] = scores[LAST, c] + (1.0 + scalars[RHO]) * pull[c]
    for a in range(EXPERTS):
        log_softmax(scores[a])


@kernel
def mix(credit: NDArray[np.float64], scores: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """out[c] = log sum_a q_a P_a(c).

    credit : float64[5], in, 0 = takes no part; scores : float64[5, K], in, log P_a; out : float64[K], out
    """
    for c in range(len(out)):
        top = -np.inf
        for a in range(EXPERTS):
            if credit[a] > 0.0:
                top = max(top, scores[a, c])
        total = 0.0
        for a in range(EXPERTS):
            if credit[a] > 0.0 and top > -np.inf:
                total += credit[a] * math.exp(scores[a, c] - top)
        out[c] = top + math.log(total) if top > -np.inf else -np.inf


@kernel
def share_credit(
    credit: NDArray[np.float64], scores: NDArray[np.float64], label: int, weight: float, share: float
) -> None:
    """q_a times P_a(label)^weight, normalised; then a small share spread evenly over those that take part.

    credit : float64[5], in/out; scores : float64[5, K], in, log P_a
    """
    floor = math.log(LEAST_PROBABILITY)
    top = -np.inf
    part = 0.0
    for a in range(EXPERTS):
        if credit[a] > 0.0:
            part += 1.0
            top = max(top, max(scores[a, label], floor))
    total = 0.0
    for a in range(EXPERTS):
        if credit[a] > 0.0:
            credit[a] = max(credit[a] * math.exp(weight * (max(scores[a, label], floor) - top)), 1e-300)
            total += credit[a]
    for a in range(EXPERTS):
        if credit[a] > 0.0:
            credit[a] = (1.0 - share) * (credit[a] / total) + share / part


@kernel
def learn_factor(
    scalars: NDArray[np.float64],
    place: int,
    log_proba: NDArray[np.float64],
    inputs: NDArray[np.float64],
    prior: NDArray[np.float64],
    label: int,
    weight: float,
    eta: float,
    forget: float,
    residual: NDArray[np.float64],
    change: NDArray[np.float64],
) -> None:
    """One step of a single factor on given inputs; its squared gradients stand one place further on.

    scalars : float64[11], in/out; log_proba, inputs, prior : float64[K], in; residual, change : float64[K], scratch
    """
    residuals(log_proba, label, residual)
    g = weight * tied_gradient(residual, inputs)
    scalars[place + 1] = forget * scalars[place + 1] + g * g
    step = -eta * g / math.sqrt(1.0 + scalars[place + 1])
    for c in range(len(change)):
        change[c] = step * inputs[c]
    scalars[place] += safe_share(residual, change, prior) * step


@kernel
def find_free_direction(
    delta: NDArray[np.float64],
    column_delta: NDArray[np.float64],
    squares: NDArray[np.float64],
    columns: NDArray[np.float64],
    scalars: NDArray[np.float64],
    change: NDArray[np.float64],
    residual: NDArray[np.float64],
    inputs: NDArray[np.float64],
    index: NDArray[np.int64],
    evidence: NDArray[np.float64],
    weight: float,
    eta: float,
    forget: float,
) -> float:
    """Steps of cells and columns into the deltas, of the shift as result; what all of them do to H.

    delta : float64[active, K], out; column_delta : float64[active], out; squares : float64[d, K], in/out
    columns : float64[d, 3], in/out; scalars : float64[11], in/out; change : float64[K], in/out
    residual, evidence : float64[K], in; inputs : float64[active, K], in; index : int64[active], in
    """
    k = len(change)
    whole = 0.0
    for a in range(len(index)):
        j = index[a]
        z, g_row, d_row = inputs[a], squares[j], delta[a]
        g_column = 0.0
        for c in range(k):
            g_column += residual[c] * z[c]
        g_column *= weight
        whole += g_column
        columns[j, 2] += g_column * g_column
        shared = -eta * g_column / math.sqrt(1.0 + columns[j, 2])
        column_delta[a] = shared
        for c in range(k):
            g = weight * residual[c] * z[c]
            g_row[c] += g * g
            d_row[c] = -eta * g / math.sqrt(1.0 + g_row[c])
            change[c] += z[c] * (d_row[c] + shared)
    scalars[SHIFT_SQUARES] = forget * scalars[SHIFT_SQUARES] + whole * whole
    step = -eta * whole / math.sqrt(1.0 + scalars[SHIFT_SQUARES])
    for c in range(k):
        change[c] += step * evidence[c]
    return step


@kernel
def find_tied_direction(
    delta: NDArray[np.float64],
    squares: NDArray[np.float64],
    change: NDArray[np.float64],
    residual: NDArray[np.float64],
    inputs: NDArray[np.float64],
    index: NDArray[np.int64],
    weight: float,
    eta: float,
) -> None:
    """Steps of one weight per column, and what they do to H.

    delta : float64[active, 1], out; squares : float64[d, 1], in/out; change : float64[K], in/out
    residual : float64[K], in; inputs : float64[active, K], in; index : int64[active], in
    """
    for a in range(len(index)):
        g = weight * tied_gradient(residual, inputs[a])
        squares[index[a], 0] += g * g
        delta[a, 0] = -eta * g / math.sqrt(1.0 + squares[index[a], 0])
        for c in range(len(change)):
            change[c] += inputs[a, c] * delta[a, 0]


@kernel
def fade_squares(squares: NDArray[np.float64], columns: NDArray[np.float64], forget: float) -> None:
    """What remains of the squared gradients before a row.

    squares : float64[d, K or 1], in/out; columns : float64[d, 3] or [0, 3], in/out
    """
    for j in range(squares.shape[0]):
        for c in range(squares.shape[1]):
            squares[j, c] *= forget
    for j in range(columns.shape[0]):
        columns[j, 2] *= forget


@kernel
def move_weights(
    weights: NDArray[np.float64],
    columns: NDArray[np.float64],
    delta: NDArray[np.float64],
    column_delta: NDArray[np.float64],
    index: NDArray[np.int64],
    share: float,
) -> None:
    """Take a share of the steps; tied weights stay in [0, 1].

    weights : float64[d, K or 1], in/out; columns : float64[d, 3] or [0, 3], in/out
    delta : float64[active, K or 1], in; column_delta : float64[active], in; index : int64[active], in
    """
    for a in range(len(index)):
        row, step = weights[index[a]], delta[a]
        for c in range(len(row)):
            row[c] += share * step[c]
        if columns.shape[0] > 0:
            columns[index[a], 0] += share * column_delta[a]
        else:
            row[0] = min(max(row[0], -1.0), 0.0)


@kernel
def move_means(
    mean: NDArray[np.float64], columns: NDArray[np.float64], weights: NDArray[np.float64], fresh: float
) -> None:
    """The means follow all weights by a part `fresh`.

    mean : float64[d, K or 1] or [0, 0], in/out; columns : float64[d, 3] or [0, 3], in/out
    weights : float64[d, K or 1], in
    """
    into, of = mean.reshape(-1), weights.reshape(-1)
    for i in range(len(into)):
        into[i] += (of[i] - into[i]) * fresh
    for j in range(columns.shape[0]):
        columns[j, 1] += (columns[j, 0] - columns[j, 1]) * fresh


@kernel
def learn_experts(
    weights: NDArray[np.float64],
    mean: NDArray[np.float64],
    squares: NDArray[np.float64],
    columns: NDArray[np.float64],
    bias: NDArray[np.float64],
    scalars: NDArray[np.float64],
    credit: NDArray[np.float64],
    follows: NDArray[np.float64],
    last: NDArray[np.int64],
    terms: NDArray[np.float64],
    prior: NDArray[np.float64],
    lift: NDArray[np.float64],
    index: NDArray[np.int64],
    lifted: int,
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    rule: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Row by row: out = log of the mixed probabilities; then, if the label is known, credit and weights learn.

    weights : float64[d, K or 1], in/out; mean, squares : float64[d, K or 1], in/out
    columns : float64[d, 3], in/out, u, its mean, its squared gradients, [0, 3] if tied
    bias : float64[3, K], in/out, b, its mean, its squared gradients
    scalars : float64[11], in/out; credit : float64[5], in/out; follows : float64[K, K], in/out
    last : int64[1], in/out; terms : float64[n, active, K], in/out, become inputs;
    prior, lift : float64[n, K], in, log; index : int64[active], in, the columns that have terms
    the first `lifted` come lift-centred already
    y : int32[n], in; w : float64[n], in; rule : float64[4], in, eta, forget, share, whether the prior is
    tempered too; out : float64[n, K], out
    """
    k = out.shape[1]
    eta, forget, share = rule[0], rule[1], rule[2]
    scores = np.empty((EXPERTS, k))
    whole = rule[3] > 0.0
    evidence, pull, residual = np.empty(k), np.empty(k), np.empty(k)
    heat = np.empty(k)
    change, bias_step = np.empty(k), np.empty(k)
    delta, column_delta = np.empty((len(index), weights.shape[1])), np.empty(len(index))
    persistent = credit[PERSISTENT] > 0.0
    pull[:] = 0.0
    for i in range(len(y)):
        inputs = terms[i]
        lift_terms(inputs[lifted:], lift[i])
        if persistent:
            last_label_lift(follows, last[0], prior[i], pull)
        score_experts(
            weights,
            mean,
            columns,
            bias,
            scalars,
            inputs,
            index,
            prior[i],
            pull,
            whole,
            evidence,
            heat,
            scores,
        )
        mix(credit, scores, out[i])
        label = y[i]
        if label < 0 or w[i] == 0.0:
            continue
        weight = min(w[i], HEAVIEST)
        if persistent:
            if last[0] >= 0:
                for c in range(k):
                    follows[last[0], c] *= forget
                follows[last[0], label] += w[i]
            last[0] = label
        if prior[i, label] == -np.inf:
            continue
        share_credit(credit, scores, label, weight, share)
        learn_factor(
            scalars, TAU, scores[TEMPERED], heat, prior[i], label, weight, eta, forget, residual, change
        )
        if persistent:
            learn_factor(
                scalars, RHO, scores[PERSISTENT], pull, prior[i], label, weight, eta, forget, residual, change
            )
        residuals(scores[LAST], label, residual)
        for c in range(k):
            g = weight * residual[c]
            bias[2, c] = forget * bias[2, c] + g * g
            bias_step[c] = -eta * g / math.sqrt(1.0 + bias[2, c])
            change[c] = bias_step[c]
        if forget < 1.0:
            fade_squares(squares, columns, forget)
        shift = 0.0
        if columns.shape[0] > 0:
            shift = find_free_direction(
                delta, column_delta, squares, columns, scalars, change, residual, inputs, index, evidence,
                weight, eta, forget,
            )  # fmt: skip
        else:
            find_tied_direction(delta, squares, change, residual, inputs, index, weight, eta)
        part = safe_share(residual, change, prior[i])
        fresh = 2.0 * weight / (scalars[WEIGHT] + 2.0 * weight)
        scalars[SHIFT] += part * shift
        scalars[SHIFT_MEAN] += (scalars[SHIFT] - scalars[SHIFT_MEAN]) * fresh
        for c in range(k):
            bias[0, c] += part * bias_step[c]
            bias[1, c] += (bias[0, c] - bias[1, c]) * fresh
        move_weights(weights, columns, delta, column_delta, index, part)
        move_means(mean, columns, weights, fresh)
        scalars[WEIGHT] += weight
