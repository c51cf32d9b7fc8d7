"""Calibration of probabilities, learned row by row from a classifier's predictions before it knew the labels.

Three rules score classes anew, H_k = (a_1 + v_1k) log P_k + (a_2 + v_2k) (-log(1 - P_k)) + b_k, P' = softmax(H):
"temperature" moves a_1 alone, so that the order of the classes stays; "vector" v_1k and b_k; "beta" all of them. Their
steps are the pool's (`kernels/pool.py`). "isotonic" counts, class by class, how often rows in a range of P_k were of
class k, and fits shares that rise with P_k. The result is mixed with P itself, weighted by the probabilities that each
has given to the labels.

Last, the confidence of the mixture Q is matched to its accuracy: P_k ~ Q_k^{e^c}, where c, interpolated between levels
of the greatest probability, moves by `HOLD` (hit - confidence) after each row. Steps of constant size add up: over T
rows the sum of hit - confidence at a level is what its c has moved, over `HOLD`, whatever the stream does (gradient
equilibrium; Angelopoulos, Jordan and Tibshirani, 2025). A power keeps the order of the classes.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.outcomes import BINS
from bayou.kernels.pool import (
    LEAST,
    MEANS,
    OF_MEAN,
    OF_POOL,
    ROWS,
    SQUARES,
    WEIGHTS,
    believe,
    log_prior,
    score,
    step,
)
from bayou.kernels.weights import HEAVIEST, residuals, safe_share

TEMPERATURE, VECTOR, BETA, ISOTONIC = range(4)
RANGES = 56  # of the log-odds of a probability, each half a unit wide
COLDEST = -0.99  # lower bound of a_1 - 1: the order of the classes is kept, never reversed
LEVELS = 31  # of the greatest probability, from 0 to 1, each with a power of its own
HOLD = 0.05  # size of the steps of the logarithms of these powers
FLATTEST, SHARPEST = -6.0, 3.0  # bounds of the logarithm of the power


@inner_kernel
def range_of(p: float) -> int:
    """The range, 0 to RANGES - 1, in which the log-odds of a probability lie."""
    if p <= 0.0:
        return 0
    if p >= 1.0:
        return RANGES - 1
    at = math.floor(2.0 * math.log(p / (1.0 - p))) + RANGES // 2
    return min(max(int(at), 0), RANGES - 1)


@inner_kernel
def temper(
    shared: Floats, cells: Floats, scalars: Floats, inputs: Floats, prior: Floats, label: int, weight: float,
    eta: float, forget: float, scratch: Floats,
) -> None:  # fmt: skip
    """Take one gradient step of the temperature alone on -log P(label), and update its running mean.

    shared : float64[3, E], in/out; cells : float64[3, E + 1, K], in; scalars : float64[3], in
    inputs : float64[E, K], in; prior : float64[K], in; scratch : float64[3, K]
    """
    log_proba, residual, change = scratch[0], scratch[1], scratch[2]
    score(WEIGHTS, 1.0 / inputs.shape[0], shared, cells, inputs, prior, log_proba)
    residuals(log_proba, label, residual)
    g = 0.0
    for c in range(inputs.shape[1]):
        g += min(weight, HEAVIEST) * residual[c] * inputs[0, c]
    shared[SQUARES, 0] = forget * shared[SQUARES, 0] + g * g
    move = -eta * g / math.sqrt(1.0 + shared[SQUARES, 0])
    for c in range(inputs.shape[1]):
        change[c] = move * inputs[0, c]
    moved = shared[WEIGHTS, 0] + safe_share(residual, change, prior) * move
    shared[WEIGHTS, 0] = max(moved, COLDEST)
    newest = max(2.0 / (scalars[ROWS] + 2.0), 1.0 - forget)
    shared[MEANS, 0] += newest * (shared[WEIGHTS, 0] - shared[MEANS, 0])


@inner_kernel
def fit_isotonic(counts: Floats, classes: Floats, fitted: Floats) -> None:
    """Fit the share of each class in each range by isotonic regression: shares rise with the range.

    Computed by pooling adjacent violators. Each range is smoothed by one imaginary row, whose share of the class is
    the probability in the middle of the range. Classes of which no row was learned stay as they are: a block may list
    them before their first row comes.

    counts : float64[2, K, RANGES], in, all rows and those of the class; classes : float64[K], in
    fitted : float64[K, RANGES], out
    """
    value, weight = np.empty(RANGES), np.empty(RANGES)
    length = np.empty(RANGES, dtype=np.int64)
    for c in range(fitted.shape[0]):
        if classes[c] <= 0.0:
            continue
        blocks = 0
        for r in range(RANGES):
            middle = 1.0 / (1.0 + math.exp(-(r - RANGES // 2 + 0.5) / 2.0))
            weight[blocks] = counts[0, c, r] + 1.0
            value[blocks] = (counts[1, c, r] + middle) / weight[blocks]
            length[blocks] = 1
            while blocks > 0 and value[blocks - 1] > value[blocks]:
                total = weight[blocks - 1] + weight[blocks]
                value[blocks - 1] += (value[blocks] - value[blocks - 1]) * (weight[blocks] / total)
                weight[blocks - 1] = total
                length[blocks - 1] += length[blocks]
                blocks -= 1
            blocks += 1
        r = 0
        for b in range(blocks):
            for _ in range(length[b]):
                fitted[c, r] = value[b]
                r += 1


@inner_kernel
def read_isotonic(fitted: Floats, proba: Floats, out: Floats) -> None:
    """Write the fitted shares for a row's probabilities, normalised to sum to 1; a class not fitted yet keeps its own.

    fitted : float64[K, RANGES], in; proba : float64[K], in; out : float64[K], out
    """
    total = 0.0
    for c in range(len(out)):
        share = fitted[c, range_of(proba[c])] if proba[c] > 0.0 else 0.0
        out[c] = share if share > 0.0 else proba[c]
        total += out[c]
    for c in range(len(out)):
        out[c] = out[c] / total if total > 0.0 else proba[c]


@inner_kernel
def hold(levels: Floats, flat: Floats, proba: Floats, label: int, weight: float) -> None:
    """Raise the probabilities of a row to the power learned at its confidence and normalise; then learn from the label.

    The confidence is the greatest probability. Without a label, or with weight 0, nothing is learned.

    levels : float64[LEVELS], in/out; flat : float64[K], in, -inf for classes that are not known
    proba : float64[K], in/out; a known class has no less than LEAST
    """
    best, known = 0, 0
    for c in range(len(proba)):
        known += 1 if flat[c] > -np.inf else 0
        if proba[c] > proba[best]:
            best = c
    top = proba[best]
    if known < 2 or top <= 0.0:
        return
    at = min(int(top * (LEVELS - 1)), LEVELS - 2)
    upper = min(top * (LEVELS - 1) - at, 1.0)
    power = math.exp((1.0 - upper) * levels[at] + upper * levels[at + 1])
    total = 0.0
    for c in range(len(proba)):
        if flat[c] > -np.inf:
            proba[c] = math.exp(power * math.log(max(proba[c], LEAST) / top))
            total += proba[c]
    for c in range(len(proba)):
        proba[c] = proba[c] / total if flat[c] > -np.inf else 0.0
    if label < 0 or weight <= 0.0:
        return
    step_of = HOLD * min(weight, HEAVIEST) * ((1.0 if best == label else 0.0) - proba[best])
    levels[at] = min(max(levels[at] + (1.0 - upper) * step_of, FLATTEST), SHARPEST)
    levels[at + 1] = min(max(levels[at + 1] + upper * step_of, FLATTEST), SHARPEST)


@inner_kernel
def count_confidence(bins: Floats, proba: Floats, label: int, weight: float) -> None:
    """Add a row to the bin of its greatest probability: weight, confidence, and whether the prediction was right.

    bins : float64[BINS, 3], in/out; proba : float64[K], in
    """
    best = 0
    for c in range(len(proba)):
        if proba[c] > proba[best]:
            best = c
    at = min(int(proba[best] * BINS), BINS - 1)
    bins[at, 0] += weight
    bins[at, 1] += weight * proba[best]
    bins[at, 2] += weight * (1.0 if best == label else 0.0)


@inner_kernel
def next_fit(rows: float, forget: float) -> float:
    """The row count at which shares are fitted next: double up to 64, then a quarter of the remembered rows more."""
    if rows < 64.0:
        return 2.0 * rows
    remembered = rows if forget >= 1.0 else min(rows, 1.0 / (1.0 - forget))
    return rows + max(16.0, math.floor(0.25 * remembered))


@kernel
def calibrate_rows(
    shared: Floats, cells: Floats, scalars: Floats, counts: Floats, fitted: Floats, points: Floats, levels: Floats,
    bins: Floats, proba: Floats, classes: Floats, declared: int, y: Codes, w: Floats,
    method: int, eta: float, forget: float, out: Floats,
) -> None:  # fmt: skip
    """Row by row: write the log of the calibrated probabilities to out, then learn from the label if there is one.

    shared : float64[3, E], in/out; cells : float64[3, E + 1, K], in/out; scalars : float64[3], in/out
    counts : float64[2, K, RANGES], in/out; fitted : float64[K, RANGES], in/out
    points : float64[2], in/out, rows counted, and when shares are fitted next
    levels : float64[LEVELS], in/out, logarithms of powers
    bins : float64[2, BINS, 3], in/out, reliability before and after
    proba : float64[n, K], in; classes : float64[K], in/out, counted along; y : int32[n], in; w : float64[n], in
    out : float64[n, K], out
    """
    k, e = proba.shape[1], shared.shape[1]
    flat, inputs, scratch = np.empty(k), np.empty((e, k)), np.empty((3, k))
    said, mixed, delta, shared_delta = np.empty(k), np.empty(k), np.empty((e + 1, k)), np.empty(e)
    for i in range(len(y)):
        log_prior(classes, declared, flat)
        for c in range(k):
            known = flat[c] > -np.inf
            flat[c] = 0.0 if known else -np.inf
            inputs[0, c] = math.log(max(proba[i, c], LEAST)) if known else 0.0
            if e == 2:
                inputs[1, c] = -math.log(max(1.0 - proba[i, c], LEAST)) if known else 0.0
        if method == ISOTONIC:
            read_isotonic(fitted, proba[i], said)
        else:
            score(MEANS, 1.0 / e, shared, cells, inputs, flat, said)
            for c in range(k):
                said[c] = math.exp(said[c]) if flat[c] > -np.inf else 0.0
        for c in range(k):
            mixed[c] = scalars[OF_MEAN] * proba[i, c] + scalars[OF_POOL] * said[c]
        label = y[i]
        learned = label >= 0 and w[i] > 0.0 and flat[label] > -np.inf
        hold(levels, flat, mixed, label if learned else -1, w[i])
        for c in range(k):
            out[i, c] = math.log(mixed[c]) if mixed[c] > 0.0 else -np.inf
        if label < 0 or w[i] <= 0.0:
            continue
        if learned:
            count_confidence(bins[0], proba[i], label, w[i])
            count_confidence(bins[1], mixed, label, w[i])
            believe(scalars, proba[i, label], said[label], forget)
            if method == TEMPERATURE:
                temper(shared, cells, scalars, inputs, flat, label, w[i], eta, forget, scratch)
            elif method != ISOTONIC:
                step(
                    1.0 / e,
                    shared,
                    cells,
                    scalars,
                    inputs,
                    flat,
                    label,
                    w[i],
                    eta,
                    forget,
                    scratch,
                    delta,
                    shared_delta,
                )
            else:
                for c in range(k):
                    if proba[i, c] > 0.0:
                        at = range_of(proba[i, c])
                        counts[0, c, at] += w[i]
                        counts[1, c, at] += w[i] if c == label else 0.0
        scalars[ROWS] += 1.0
        points[0] += 1.0
        classes[label] += w[i]
        if method == ISOTONIC and points[0] >= points[1]:
            fit_isotonic(counts, classes, fitted)
            following = next_fit(points[1], forget)
            fade = forget ** (following - points[1])
            for c in range(k):
                for r in range(RANGES):
                    counts[0, c, r] *= fade
                    counts[1, c, r] *= fade
            points[1] = following
