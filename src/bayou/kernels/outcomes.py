"""Counting what was predicted against what was true: confusion, losses, and the two rivals of every stream.

A row of `proba` that is all zero is "no prediction yet": wrong for every count of right answers, and left out of
the losses. Ties go to the first class. Rows without label or weight are absent.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import inner_kernel, kernel

SMALLEST = 2.0**-52  # a probability of 0 costs as much as this one


@inner_kernel
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
def judge(
    y: NDArray[np.int32],
    proba: NDArray[np.float64],
    predicted: NDArray[np.int32],
    losses: NDArray[np.float64],
) -> None:
    """What was predicted for each labelled row, and what it cost; no prediction costs nothing.

    y : int32[n], in; proba : float64[n, K], in
    predicted : int32[n], out, -1 where there is no prediction; losses : float64[n, 2], out, log-loss, Brier score
    """
    for i in range(len(y)):
        guess = best_class(proba, i)
        predicted[i] = guess
        if guess < 0:
            losses[i, 0] = 0.0
            losses[i, 1] = 0.0
        else:
            p = proba[i, y[i]]
            losses[i, 0] = -math.log(p if p > SMALLEST else SMALLEST)
            losses[i, 1] = brier(proba, i, y[i])


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
