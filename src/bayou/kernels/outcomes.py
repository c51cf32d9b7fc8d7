"""Counting what was predicted against what was true: confusion, losses, and the two rivals of every stream.

A row of `proba` that is all zero is "no prediction yet": wrong for every count of right answers, and left out of
the losses. Ties go to the first class. Rows without label or weight are absent.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import kernel

SMALLEST = 2.0**-52  # a probability of 0 costs as much as this one
REACH = 16.0  # scores are told apart between log-odds of -16 and 16 ...
STEPS = 8.0  # ... in steps of an eighth
CELLS = 256
BINS = 15  # of confidence, for the calibration error


@kernel
def best_class(proba: NDArray[np.float64], i: int) -> int:
    """The first of the most probable classes of row i; -1 where no class has any probability.

    proba : float64[n, K], in
    """
    best = -1
    top = 0.0
    for c in range(proba.shape[1]):
        if proba[i, c] > top:
            top = proba[i, c]
            best = c
    return best


@kernel
def log_loss(p: float) -> float:
    """-log p, with p no smaller than 2^-52."""
    return -math.log(p if p > SMALLEST else SMALLEST)


@kernel
def brier(proba: NDArray[np.float64], i: int, c: int) -> float:
    """Squared distance of row i from certainty in class c, summed over classes: 0 to 2.

    proba : float64[n, K], in
    """
    total = 0.0
    for j in range(proba.shape[1]):
        miss = proba[i, j] - (1.0 if j == c else 0.0)
        total += miss * miss
    return total


@kernel
def score_cell(p: float) -> int:
    """Cell of a probability: its log-odds in steps of an eighth, between -16 and 16.

    0.5 is the lower edge of cell 128.
    """
    if p < 1e-7:
        return 0
    if p > 1.0 - 1e-7:
        return CELLS - 1
    cell = math.floor((math.log(p / (1.0 - p)) + REACH) * STEPS)
    if cell < 0:
        return 0
    return cell if cell < CELLS else CELLS - 1


@kernel
def heaviest(weight: NDArray[np.float64]) -> int:
    """The first of the classes with most weight; -1 if none has any.

    weight : float64[K], in
    """
    best = -1
    top = 0.0
    for c in range(len(weight)):
        if weight[c] > top:
            top = weight[c]
            best = c
    return best


@kernel
def count_outcomes(
    counts: NDArray[np.float64],
    unanswered: NDArray[np.float64],
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    proba: NDArray[np.float64],
) -> None:
    """counts[true, predicted] += w; where nothing was predicted, unanswered[true] += w.

    counts : float64[K, K], in/out; unanswered : float64[K], in/out
    y : int32[n], in; w : float64[n], in; proba : float64[n, K], in
    """
    for i in range(len(y)):
        if y[i] < 0 or w[i] == 0.0:
            continue
        guess = best_class(proba, i)
        if guess < 0:
            unanswered[y[i]] += w[i]
        else:
            counts[y[i], guess] += w[i]


@kernel
def add_losses(
    sums: NDArray[np.float64],
    calibration: NDArray[np.float64],
    scores: NDArray[np.float64],
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    proba: NDArray[np.float64],
) -> None:
    """Add log-loss, Brier score and weight; confidence by bin; the score of every class by cell and truth.

    sums : float64[3], in/out, log-loss, Brier score, weight
    calibration : float64[BINS, 3], in/out, weight, confidence, right
    scores : float64[K, CELLS, 2], in/out, weight of rows of other classes, of this class
    y : int32[n], in; w : float64[n], in; proba : float64[n, K], in
    """
    for i in range(len(y)):
        c = y[i]
        guess = best_class(proba, i)
        if c < 0 or w[i] == 0.0 or guess < 0:
            continue
        sums[0] += w[i] * log_loss(proba[i, c])
        sums[1] += w[i] * brier(proba, i, c)
        sums[2] += w[i]
        confidence = proba[i, guess]
        b = int(confidence * BINS)
        if b >= BINS:
            b = BINS - 1
        calibration[b, 0] += w[i]
        calibration[b, 1] += w[i] * confidence
        calibration[b, 2] += w[i] if guess == c else 0.0
        for j in range(proba.shape[1]):
            scores[j, score_cell(proba[i, j]), 1 if j == c else 0] += w[i]


@kernel
def count_no_change(
    sums: NDArray[np.float64], ends: NDArray[np.int64], y: NDArray[np.int32], w: NDArray[np.float64]
) -> None:
    """Weight of the rows, and of those whose label is that of the row before; the first counts as wrong.

    sums : float64[3], in/out, weight, right, weight of the first row
    ends : int64[2], in/out, first and last label, -1 before there is one
    y : int32[n], in; w : float64[n], in
    """
    for i in range(len(y)):
        if y[i] < 0 or w[i] == 0.0:
            continue
        sums[0] += w[i]
        if ends[0] < 0:
            ends[0] = y[i]
            sums[2] = w[i]
        elif ends[1] == y[i]:
            sums[1] += w[i]
        ends[1] = y[i]


@kernel
def count_majority(
    weight: NDArray[np.float64], sums: NDArray[np.float64], y: NDArray[np.int32], w: NDArray[np.float64]
) -> None:
    """Weight of the rows whose label is the majority, before and after the row itself is counted.

    weight : float64[K], in/out; sums : float64[3], in/out, weight, right before, right after
    y : int32[n], in; w : float64[n], in
    """
    for i in range(len(y)):
        c = y[i]
        if c < 0 or w[i] == 0.0:
            continue
        sums[0] += w[i]
        sums[1] += w[i] if heaviest(weight) == c else 0.0
        weight[c] += w[i]
        sums[2] += w[i] if heaviest(weight) == c else 0.0
