"""Weights on the terms of naive Bayes: inputs, scores, and rules that keep one set of weights.

The score of class k is  H_k = J_k + b_k + sum_i v_ik Z_ik:  J the joint log-probability of naive Bayes (the same
bits), v = w - 1 the weights' deviation from 1, Z the inputs, which may differ from the terms by something that is
the same for all classes. A class whose log prior is -inf is impossible and is ignored.

Weights lie as [d, K], or as [d, 1] where all classes share them ("tied", kept in [0, 1]).
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel, kernel_piece
from bayou.kernels.sums import TILE, row_sum

LEAST = -700.0  # bound on inputs: exp of a smaller one is nearly below the least double
HEAVIEST = 1e6  # larger row weights are clipped to this one
# places in `scalars`
(
    WEIGHT, SHIFT, SHIFT_MEAN, TAU, TAU_SQUARES, SHIFT_SQUARES, SPEED, ROWS, WRONG, RHO, RHO_SQUARES, RETURNS,
) = range(12)  # fmt: skip
SCALARS = 12


@inner_kernel
def add_terms(joint: Floats, terms: Floats, edges: Index, tile: Floats) -> None:
    """joint[c] += sum of the terms, view by view and tile by tile, as naive Bayes adds them.

    joint : float64[K], in/out; terms : float64[d, K], in; edges : int64[views + 1], in; tile : float64[64], scratch
    """
    for v in range(len(edges) - 1):
        for t in range(edges[v], edges[v + 1], TILE):
            d = min(TILE, edges[v + 1] - t)
            for c in range(len(joint)):
                for j in range(d):
                    tile[j] = terms[t + j, c]
                joint[c] = row_sum(joint[c], tile[:d])


@inner_kernel
def informative(row: Floats, prior: Floats) -> bool:
    """Return whether a column has evidence: a term other than 0 for a possible class.

    row, prior : float64[K], in
    """
    for c in range(len(row)):
        if row[c] != 0.0 and prior[c] > -np.inf:
            return True
    return False


@kernel_piece
def pmi_row(row: Floats, prior: Floats) -> None:
    """Replace log P(x | c) of one column by log P(x | c) - log sum_j P(j) P(x | j); the column must be informative.

    row : float64[K], in/out; prior : float64[K], in, log
    """
    top, best = -np.inf, 0
    for c in range(len(prior)):
        if prior[c] + row[c] > top:
            top, best = prior[c] + row[c], c
    total = 1.0
    for c in range(len(prior)):
        if c != best:
            total += math.exp(prior[c] + row[c] - top)
    log_total = top + math.log(total)
    for c in range(len(prior)):
        row[c] = max(row[c] - log_total, LEAST)


@inner_kernel
def pmi_terms(terms: Floats, prior: Floats) -> None:
    """Do as `pmi_row` for all columns: ln p(x | c) - ln sum_b P(b) p(x | b), 0 if a column is not informative.

    terms : float64[d, K], in/out; prior : float64[K], in, log
    """
    k = len(prior)
    for j in range(terms.shape[0]):
        row = terms[j]
        if not informative(row, prior):
            for c in range(k):
                row[c] = 0.0
            continue
        pmi_row(row, prior)


@inner_kernel
def keep_informative(terms: Floats, index: Index, here: Index) -> int:
    """Move the columns with a term other than 0 to the front, in order; return their number.

    The other columns (missing values, most often) change no score and no weight. Without them, the time for a row
    depends on the values it has, not on the number of columns.
    terms : float64[d, K], in/out; index : int64[d], in; here : int64[d], out, the columns that were kept
    """
    kept = 0
    for a in range(len(index)):
        informative = False
        for c in range(terms.shape[1]):
            informative |= terms[a, c] != 0.0
        if informative:
            if kept < a:
                for c in range(terms.shape[1]):
                    terms[kept, c] = terms[a, c]
            here[kept] = index[a]
            kept += 1
    return kept


@kernel
def pmi_table(table: Floats, counts: Floats, offsets: Index) -> None:
    """Replace log-probabilities in a table by pointwise mutual information, with the class counts of each column.

    table : float64[cells or more, K], in/out; counts : float64[cells, K], in; offsets : int64[d + 1], in
    """
    k = counts.shape[1]
    prior = np.empty(k)
    for j in range(len(offsets) - 1):
        total = 0.0
        prior[:] = 0.0
        for cell in range(offsets[j], offsets[j + 1]):
            for c in range(k):
                prior[c] += counts[cell, c]
                total += counts[cell, c]
        for c in range(k):
            prior[c] = math.log(prior[c] / total) if prior[c] > 0.0 else -np.inf
        pmi_terms(table[offsets[j] : offsets[j + 1]], prior)


@inner_kernel
def mass_terms(terms: Floats, units: Floats, prior: Floats) -> None:
    """Replace densities by the mass of an interval of one unit of the column, which does not depend on its scale.

    terms : float64[d, K], in/out; units : float64[p], in, log; of the first p <= d columns
    prior : float64[K], in, log
    """
    for j in range(terms.shape[0]):
        unit = units[j] if j < len(units) else 0.0
        known = informative(terms[j], prior)
        for c in range(terms.shape[1]):
            terms[j, c] = min(max(terms[j, c] + unit, LEAST), -LEAST) if known else 0.0


@inner_kernel
def log_softmax(scores: Floats) -> None:
    """Replace scores by scores - log sum exp scores; -inf stays, and scores that are all -inf are left unchanged.

    scores : float64[K], in/out
    """
    top = -np.inf
    for c in range(len(scores)):
        top = max(top, scores[c])
    if top == -np.inf:
        return
    total = 0.0
    if len(scores) == 2:  # one of the two terms is 1: the same bits for half the exponentials
        total = 1.0 + math.exp(-abs(scores[0] - scores[1]))
    else:
        for c in range(len(scores)):
            total += math.exp(scores[c] - top)
    log_total = math.log(total) + top
    for c in range(len(scores)):
        scores[c] -= log_total


@inner_kernel
def residuals(log_proba: Floats, label: int, out: Floats) -> None:
    """out[c] = P_c - T_c, the predicted probability less 1 for the label, 0 for other classes.

    log_proba : float64[K], in; out : float64[K], out
    """
    for c in range(len(out)):
        out[c] = math.exp(log_proba[c])
    out[label] -= 1.0


@inner_kernel
def safe_share(residual: Floats, change: Floats, prior: Floats) -> float:
    """Return the share of a step to take so that it cannot overshoot: 1 / (1 + range(dH)^2 / (4 D)), D = -e dH.

    residual, change : float64[K], in, e and dH; prior : float64[K], in, log
    """
    least, most, gain = np.inf, -np.inf, 0.0
    for c in range(len(change)):
        if prior[c] > -np.inf:
            least = min(least, change[c])
            most = max(most, change[c])
            gain -= residual[c] * change[c]
    spread = most - least
    if spread == 0.0:
        return 1.0
    return 1.0 / (1.0 + spread * spread / (4.0 * gain)) if gain > 0.0 else 0.0


@inner_kernel
def add_weighted(scores: Floats, weights: Floats, inputs: Floats) -> None:
    """scores[c] += sum_j v_jc Z_jc, in order.

    scores : float64[K], in/out; weights : float64[d, K or 1], in; inputs : float64[d, K], in
    """
    free = 1 if weights.shape[1] > 1 else 0
    for j in range(inputs.shape[0]):
        for c in range(len(scores)):
            scores[c] += weights[j, c * free] * inputs[j, c]


@inner_kernel
def tied_gradient(residual: Floats, inputs: Floats) -> float:
    """dCost/dw = sum_c (P_c - T_c) Z_c of one column.

    residual, inputs : float64[K], in
    """
    total = 0.0
    for c in range(len(residual)):
        total += residual[c] * inputs[c]
    return total


@inner_kernel
def clip_tied(weights: Floats) -> None:
    """Clip tied weights to [0, 1]; the array holds their deviations from 1.

    weights : float64[d, 1], in/out
    """
    for j in range(weights.shape[0]):
        weights[j, 0] = min(max(weights[j, 0], -1.0), 0.0)


@inner_kernel
def find_direction(
    delta: Floats,
    squares: Floats,
    change: Floats,
    residual: Floats,
    inputs: Floats,
    rate: float,
    weight: float,
    adaptive: bool,
) -> None:
    """Write the step of every weight, -rate dCost/dw (over the root of its squared gradients), and the change of H.

    delta : float64[d, K or 1], out; squares : float64[d, K or 1] or [0, 0], in/out; change : float64[K], in/out
    residual : float64[K], in; inputs : float64[d, K], in
    """
    tied = delta.shape[1] == 1
    for j in range(inputs.shape[0]):
        for c in range(delta.shape[1]):
            g = tied_gradient(residual, inputs[j]) if tied else residual[c] * inputs[j, c]
            g *= weight
            if adaptive:
                squares[j, c] += g * g
                delta[j, c] = -rate * g / math.sqrt(1.0 + squares[j, c])
            else:
                delta[j, c] = -rate * g
        for c in range(len(change)):
            change[c] += inputs[j, c] * delta[j, 0 if tied else c]


@kernel
def next_speed(scalars: Floats, ring: Floats, wrong: float, start: float) -> float:
    """Return the learning rate of Kuncheva and Plumpton after one more prediction, wrong (1) or right (0).

    scalars : float64[12], in/out; ring : float64[2, M], in/out, outcomes and error rates of the last M rows
    """
    size = ring.shape[1]
    row = int(scalars[ROWS])
    at = row % size
    scalars[WRONG] += wrong - ring[0, at]
    ring[0, at] = wrong
    rate = scalars[WRONG] / min(row + 1, size)
    if row < size:
        scalars[SPEED] = start
    else:
        scalars[SPEED] = min(max(scalars[SPEED] ** (1.0 + ring[1, at] - rate), 1e-6), 1.0 - 1e-6)
    ring[1, at] = rate
    scalars[ROWS] = row + 1
    return float(scalars[SPEED])


@inner_kernel
def count_present(inputs: Floats, prior: Floats) -> float:
    """Return the number of informative columns.

    inputs : float64[d, K], in; prior : float64[K], in, log
    """
    present = 0.0
    for j in range(inputs.shape[0]):
        if informative(inputs[j], prior):
            present += 1.0
    return present


@kernel
def learn_weights(
    weights: Floats,
    squares: Floats,
    bias: Floats,
    scalars: Floats,
    ring: Floats,
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
    """Predict, then learn, row by row: out = H, then one step on -log P(y) (equations 2 to 4) if there is a label.

    weights : float64[d, K or 1], in/out; squares : float64[d, K or 1] or [0, 0], in/out; bias : float64[2, K], in/out,
    b and its squared gradients; scalars : float64[12], in/out; ring : float64[2, M], in/out, M = 0 unless the
    rate follows errors; terms : float64[n, d, K], in/out, become inputs; units : float64[n, p], in
    prior, pmi_prior : float64[n, K], in, log; edges : int64[views + 1], in; y : int32[n], in; w : float64[n], in
    rule : float64[5], in, rate, horizon, power, whether adaptive, whether PMI; out : float64[n, K], out
    """
    k = out.shape[1]
    adaptive, as_pmi = rule[3] > 0.0, rule[4] > 0.0
    tile = np.empty(TILE)
    log_proba, residual = np.empty(k), np.empty(k)
    change, step = np.empty(k), np.empty(k)
    delta = np.empty_like(weights)
    for i in range(len(y)):
        inputs = terms[i]
        for c in range(k):
            out[i, c] = prior[i, c]  # no slices: Numba would compile their error messages, too
        add_terms(out[i], inputs, edges, tile)
        if as_pmi:
            pmi_terms(inputs, pmi_prior[i])
        else:
            mass_terms(inputs, units[i], prior[i])
        for c in range(k):
            out[i, c] += bias[0, c]
        add_weighted(out[i], weights, inputs)
        label = y[i]
        if label < 0 or w[i] == 0.0 or prior[i, label] == -np.inf:
            continue
        weight = min(w[i], HEAVIEST)
        for c in range(k):
            log_proba[c] = out[i, c]
        log_softmax(log_proba)
        residuals(log_proba, label, residual)
        rate = rule[0]
        if ring.shape[1] > 0:
            rate = next_speed(scalars, ring, 1.0 if np.argmax(log_proba) != label else 0.0, rule[0])
            rate /= 1.0 + count_present(inputs, prior[i])
        elif rule[2] > 0.0:
            rate /= (1.0 + scalars[WEIGHT] / rule[1]) ** rule[2]
        for c in range(k):
            g = weight * residual[c]
            if adaptive:
                bias[1, c] += g * g
                step[c] = -rate * g / math.sqrt(1.0 + bias[1, c])
            else:
                step[c] = -rate * g
            change[c] = step[c]
        find_direction(delta, squares, change, residual, inputs, rate, weight, adaptive)
        share = safe_share(residual, change, prior[i]) if adaptive else 1.0
        for c in range(k):
            bias[0, c] += share * step[c]
        for j in range(delta.shape[0]):
            for c in range(delta.shape[1]):
                weights[j, c] += share * delta[j, c]
        if delta.shape[1] == 1:
            clip_tied(weights)
        scalars[WEIGHT] += w[i]
