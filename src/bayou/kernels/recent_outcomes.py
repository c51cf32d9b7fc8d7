"""Outcomes of the latest rows, kept one by one, and outcomes that fade with every row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import kernel
from bayou.kernels.outcomes import heaviest


@kernel
def read_recent(
    true: NDArray[np.int32],
    predicted: NDArray[np.int32],
    values: NDArray[np.float64],
    rows: int,
    weight: NDArray[np.float64],
    margins: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:
    """Margins and sums of the latest m/2 rows; the m/2 before them tell what the majority was.

    true : int32[m], in; predicted : int32[m], in; values : float64[m, 3], in, weight, log-loss, Brier
    weight : float64[K], in/out, zeros, scratch
    margins : float64[3, K], out, zeros before; weight by true class, by predicted class, of right answers
    sums : float64[7], out, zeros before; weight, right by no-change, by the majority before, by it after, log-loss,
    Brier score, weight of the rows with a loss
    """
    m = len(true)
    window = m // 2
    oldest = rows - m if rows > m else 0
    for r in range(oldest, rows):
        slot = r % m
        c = true[slot]
        w = values[slot, 0]
        before = heaviest(weight)  # of the m/2 rows before this one
        if r - window >= oldest:
            gone = (r - window) % m
            weight[true[gone]] -= values[gone, 0]
        weight[c] += w
        after = heaviest(weight)
        if r < rows - window:
            continue
        margins[0, c] += w
        sums[0] += w
        sums[1] += w if r > 0 and true[(r - 1) % m] == c else 0.0
        sums[2] += w if before == c else 0.0
        sums[3] += w if after == c else 0.0
        guess = predicted[slot]
        if guess >= 0:
            margins[1, guess] += w
            margins[2, c] += w if guess == c else 0.0
            sums[4] += w * values[slot, 1]
            sums[5] += w * values[slot, 2]
            sums[6] += w


@kernel
def fade_outcomes(
    true: NDArray[np.float64],
    predicted: NDArray[np.float64],
    right: NDArray[np.float64],
    sums: NDArray[np.float64],
    ends: NDArray[np.int64],
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    guesses: NDArray[np.int32],
    losses: NDArray[np.float64],
    alpha: float,
) -> None:
    """Multiply all by alpha, then add the row; row after row, all of them labelled and with weight.

    true : float64[K], in/out; predicted : float64[K], in/out; right : float64[K], in/out
    sums : float64[8], in/out, as `read_recent` gives them, then the weight of the first row
    ends : int64[3], in/out, first and last label, rows; y : int32[n], in; w : float64[n], in
    guesses : int32[n], in; losses : float64[n, 2], in, log-loss, Brier score
    """
    for i in range(len(y)):
        c = y[i]
        before = heaviest(true)
        for j in range(len(true)):
            true[j] *= alpha
            predicted[j] *= alpha
            right[j] *= alpha
        for part in range(len(sums)):
            sums[part] *= alpha
        true[c] += w[i]
        sums[0] += w[i]
        if ends[0] < 0:
            ends[0] = c
            sums[7] = w[i]
        elif ends[1] == c:
            sums[1] += w[i]
        sums[2] += w[i] if before == c else 0.0
        sums[3] += w[i] if heaviest(true) == c else 0.0
        guess = guesses[i]
        if guess >= 0:
            predicted[guess] += w[i]
            right[c] += w[i] if guess == c else 0.0
            sums[4] += w[i] * losses[i, 0]
            sums[5] += w[i] * losses[i, 1]
            sums[6] += w[i]
        ends[1] = c
        ends[2] += 1
