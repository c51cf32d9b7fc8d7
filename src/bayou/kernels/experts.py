"""Experts on the terms of naive Bayes, mixed by their log-loss (rule D, and what was added to it).

Weights are 1 + s + u_i + v_ik, the three kept apart, so that a new column starts at 1 + s and a new class at
1 + s + u_i: steps of AdaGrad for the shift, each column and each cell, cut back so that none overshoots. Tied weights
are 1 + v_i. The inputs of the weights are bounded below by `LEAST_LIFT`: the tails of normal densities are unreliable,
and one wrong term of hundreds of nats against the true class would stop everything else from being learned.

Weights that are learned during a run of one label predict that label, and are right as long as the run lasts: a stream
sorted by class never shows that they forgot the other classes. So the experts with learned weights take part only once
labels recur: once the number of rows whose known label differs from the one before has reached the square root of the
number of rows. The same holds for the expert with the learned temperature, which may invert the predictions of naive
Bayes to fit the label of a run. Until then naive Bayes and its versions tempered by a half and by a quarter predict.
They alone also predict rows outside the latest section of a stream that is sorted by a column
(`bayou.kernels.sections`). For rows far from the recent ones of a stream that moves in small steps, the expert with
the current weights takes no part, while the one with their average does.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.expert_scores import (
    EXPERTS,
    LAST,
    MEAN,
    PERSISTENT,
    TEMPERED,
    last_label_pmi,
    score_experts,
)
from bayou.kernels.jit import kernel
from bayou.kernels.mixture_weights import mix, share_mixture_weights
from bayou.kernels.weight_steps import (
    fade_squares,
    find_free_direction,
    find_tied_direction,
    learn_factor,
    move_means,
    move_weights,
)
from bayou.kernels.weights import (
    HEAVIEST,
    LEAST,
    RETURNS,
    RHO,
    SHIFT,
    SHIFT_MEAN,
    TAU,
    WEIGHT,
    keep_informative,
    pmi_terms,
    residuals,
    safe_share,
)

LEAST_LIFT = -5.0


@kernel
def learn_experts(
    weights: Floats,
    mean: Floats,
    squares: Floats,
    columns: Floats,
    bias: Floats,
    scalars: Floats,
    mixture_weights: Floats,
    follows: Floats,
    last: Index,
    terms: Floats,
    prior: Floats,
    pmi_prior: Floats,
    index: Index,
    as_pmi: int,
    y: Codes,
    w: Floats,
    outside: Flags,
    far: Flags,
    rule: Floats,
    out: Floats,
) -> None:
    """Row by row: write the log of the mixed probabilities to out, then learn both kinds of weights from the label.

    Rows without a label are only predicted.

    weights : float64[d, K or 1], in/out; mean, squares : float64[d, K or 1], in/out
    columns : float64[d, 3], in/out, u, its mean, its squared gradients, [0, 3] if tied
    bias : float64[3, K], in/out, b, its mean, its squared gradients
    scalars : float64[12], in/out; mixture_weights : float64[7], in/out, 0 = takes no part
    follows : float64[K, K], in/out
    last : int64[1], in/out; terms : float64[n, active, K], in/out, become inputs;
    prior, pmi_prior : float64[n, K], in, log; index : int64[active], in, the columns that have terms
    the first `as_pmi` come as pointwise mutual information already
    y : int32[n], in; w : float64[n], in; outside : bool[n], in, rows for which the weights are not used
    far : bool[n], in, rows for which only the average of the weights is used
    rule : float64[4], in, eta, forget, share, whether the
    rule is the published one (the prior is not tempered, inputs are not bounded); out : float64[n, K], out
    """
    k = out.shape[1]
    eta, forget, share = rule[0], rule[1], rule[2]
    scores = np.empty((EXPERTS, k))
    published = rule[3] > 0.0
    least = LEAST if published else LEAST_LIFT
    evidence, heat = np.empty((2, k)), np.empty(k)
    pull, residual = np.empty(k), np.empty(k)
    change, bias_step = np.empty(k), np.empty(k)
    delta, column_delta = np.empty((len(index), weights.shape[1])), np.empty(len(index))
    here = np.empty(len(index), dtype=np.int64)
    persistent = mixture_weights[PERSISTENT] > 0.0
    takes_part = np.ones(EXPERTS, np.bool_)
    pull[:] = 0.0
    for i in range(len(y)):
        pmi_terms(terms[i, as_pmi:], pmi_prior[i])
        n_informative = keep_informative(terms[i], index, here)
        inputs, at = terms[i, :n_informative], here[:n_informative]
        if persistent:
            last_label_pmi(follows, last[0], prior[i], pull)
        score_experts(
            scores, evidence, heat, inputs, weights, mean, columns, bias, scalars, at, prior[i], pull,
            mixture_weights, not published, least,
        )  # fmt: skip
        trusted = published or persistent or scalars[RETURNS] * scalars[RETURNS] >= scalars[WEIGHT]
        trusted &= not outside[i]
        for a in (TEMPERED, LAST, MEAN):
            takes_part[a] = trusted
        takes_part[LAST] = trusted and not far[i]
        mix(mixture_weights, scores, takes_part, out[i])
        label = y[i]
        if label < 0 or w[i] == 0.0:
            continue
        weight = min(w[i], HEAVIEST)
        if persistent:
            if last[0] >= 0:
                for c in range(k):
                    follows[last[0], c] *= forget
                follows[last[0], label] += w[i]
        before = last[0]
        last[0] = label
        # The first row of a class: the sequence of labels goes on, but every expert gave it probability 0, so that
        # there is no finite loss to share weights by and no gradient to follow.
        if prior[i, label] == -np.inf:
            continue
        if before >= 0 and before != label:
            scalars[RETURNS] += 1.0
        share_mixture_weights(mixture_weights, scores, label, weight, share)
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
                delta, column_delta, squares, columns, scalars, change, residual, inputs, at, evidence[1],
                weight, eta, forget,
            )  # fmt: skip
        else:
            find_tied_direction(delta, squares, change, residual, inputs, at, weight, eta)
        # Steps that are each small enough alone add up over hundreds of columns: all are cut back by one share, after
        # their joint effect on this row is known.
        part = safe_share(residual, change, prior[i])
        # The t-th weights enter the mean in proportion to t, so that the poor ones of the start are soon outweighed.
        fresh = 2.0 * weight / (scalars[WEIGHT] + 2.0 * weight)
        scalars[SHIFT] += part * shift
        scalars[SHIFT_MEAN] += (scalars[SHIFT] - scalars[SHIFT_MEAN]) * fresh
        for c in range(k):
            bias[0, c] += part * bias_step[c]
            bias[1, c] += (bias[0, c] - bias[1, c]) * fresh
        move_weights(weights, columns, delta, column_delta, at, part)
        move_means(mean, columns, weights, fresh)
        scalars[WEIGHT] += weight
