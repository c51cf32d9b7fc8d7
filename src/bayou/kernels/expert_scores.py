"""Log-probabilities of a row by each expert, all of which combine the terms of naive Bayes.

The experts are: naive Bayes; naive Bayes tempered by a learned factor; the current weights; the average of the weights
so far; the weights plus how the last label changes the odds of the next; naive Bayes tempered by a half and by a
quarter.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.jit import kernel_piece
from bayou.kernels.weights import RHO, SHIFT, SHIFT_MEAN, TAU, log_softmax

NAIVE, TEMPERED, LAST, MEAN, PERSISTENT, HALF, QUARTER = range(7)
EXPERTS = 7


@kernel_piece
def last_label_pmi(follows: Floats, last: int, prior: Floats, out: Floats) -> None:
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


@kernel_piece
def sum_up(
    scores: Floats,
    evidence: Floats,
    inputs: Floats,
    weights: Floats,
    mean: Floats,
    columns: Floats,
    index: Index,
    least: float,
) -> None:
    """Sum the inputs of each class, unbounded and bounded below by `least`, and add the weighted sums to the scores.

    The scores of the current weights and of their mean grow by sum_j (u_j + v_j) Z_j over the bounded inputs Z_j, in
    the order of the columns.
    scores : float64[7, K], in/out; evidence : float64[2, K], out; inputs : float64[active, K], in/out, are raised
    weights, mean : float64[d, K], in; columns : float64[d, 3], in; index : int64[active], in, the inputs' columns
    """
    last, average = scores[LAST], scores[MEAN]
    free, bounded = evidence[0], evidence[1]
    for c in range(len(free)):
        free[c] = 0.0
        bounded[c] = 0.0
    for a in range(len(index)):
        j = index[a]
        z, v, m = inputs[a], weights[j], mean[j]
        u, um = columns[j, 0], columns[j, 1]
        for c in range(len(z)):
            free[c] += z[c]
            raised = max(z[c], least)
            z[c] = raised
            bounded[c] += raised
            last[c] += (u + v[c]) * raised
            average[c] += (um + m[c]) * raised


@kernel_piece
def sum_up_tied(
    scores: Floats,
    evidence: Floats,
    inputs: Floats,
    weights: Floats,
    mean: Floats,
    columns: Floats,
    index: Index,
    least: float,
) -> None:
    """Compute what `sum_up` does for tied weights, and for weights whose mean is not kept.

    scores : float64[7, K], in/out; evidence : float64[2, K], out; inputs : float64[active, K], in/out
    weights : float64[d, K or 1], in; mean : float64[d, K or 1] or [0, 0], in; columns : float64[d, 3] or [0, 3], in
    index : int64[active], in
    """
    for c in range(evidence.shape[1]):
        evidence[0, c] = 0.0
        evidence[1, c] = 0.0
    free = 1 if weights.shape[1] > 1 else 0
    for a in range(len(index)):
        j = index[a]
        shared = columns[j, 0] if columns.shape[0] > 0 else 0.0
        for c in range(evidence.shape[1]):
            evidence[0, c] += inputs[a, c]
            raised = max(inputs[a, c], least)
            inputs[a, c] = raised
            evidence[1, c] += raised
            scores[LAST, c] += (shared + weights[j, c * free]) * raised
            if mean.shape[0] > 0:
                scores[MEAN, c] += mean[j, c * free] * raised


@kernel_piece
def score_experts(
    scores: Floats,
    evidence: Floats,
    heat: Floats,
    inputs: Floats,
    weights: Floats,
    mean: Floats,
    columns: Floats,
    bias: Floats,
    scalars: Floats,
    index: Index,
    prior: Floats,
    pull: Floats,
    mixture_weights: Floats,
    temper_prior: bool,
    least: float,
) -> None:
    """Write the log-probabilities of every expert that takes part; the scores of the others are not normalised.

    scores : float64[7, K], out; evidence : float64[2, K], out, sums of the inputs, as they come and bounded
    heat : float64[K], out, what is tempered; inputs : float64[active, K], in/out, are raised to `least`
    weights : float64[d, K or 1], in; mean : float64[d, K or 1] or [0, 0], in
    columns : float64[d, 3], in, [0, 3] if tied; bias : float64[3, K], in; scalars : float64[12], in
    index : int64[active], in; prior : float64[K], in, log; pull : float64[K], in, of the last label
    mixture_weights : float64[7], in, 0 = takes no part
    `temper_prior`: the prior is tempered too
    """
    for c in range(len(prior)):
        scores[LAST, c] = 0.0
        scores[MEAN, c] = 0.0
    if columns.shape[0] > 0 and mean.shape[0] > 0:
        sum_up(scores, evidence, inputs, weights, mean, columns, index, least)
    else:
        sum_up_tied(scores, evidence, inputs, weights, mean, columns, index, least)
    for c in range(len(prior)):
        joint = prior[c] + evidence[0, c]
        bounded = prior[c] + evidence[1, c]
        heat[c] = evidence[0, c] + (prior[c] if temper_prior and prior[c] > -np.inf else 0.0)
        scores[NAIVE, c] = joint
        scores[TEMPERED, c] = joint + scalars[TAU] * heat[c]
        scores[LAST, c] += bounded + bias[0, c] + scalars[SHIFT] * evidence[1, c]
        scores[MEAN, c] += bounded + bias[1, c] + scalars[SHIFT_MEAN] * evidence[1, c]
        scores[PERSISTENT, c] = scores[LAST, c] + (1.0 + scalars[RHO]) * pull[c]
        scores[HALF, c] = joint - 0.5 * heat[c]
        scores[QUARTER, c] = joint - 0.75 * heat[c]
    for a in range(EXPERTS):
        if a == TEMPERED or a == LAST or mixture_weights[a] > 0.0:  # gradient steps need these two
            log_softmax(scores[a])
