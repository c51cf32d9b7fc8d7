"""Scores of a track record: from counts to margins and sums, and from these to accuracy, kappa, F1 and losses.

Margins are weights by true class, by predicted class, and of correct predictions by class. Sums are the weight of all
rows; of those the no-change baseline gets right, and the majority class before the row, and after it; then log-loss,
Brier score, and the weight of rows with a loss.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import kernel, tight_kernel
from bayou.kernels.outcomes import heaviest


@tight_kernel
def lost_in_sum(total: float, value: float) -> float:
    """Return the rounding error of total + value."""
    more = total + value
    return (total - (more - (more - total))) + (value - (more - total))


@kernel
def exact_sum(values: NDArray[np.float64]) -> float:
    """Compensated sum (rounding errors are added up separately): non-negative numbers give the same in any order.

    values : float64[n], in
    """
    total = 0.0
    lost = 0.0
    for value in values:
        lost += lost_in_sum(total, value)
        total += value
    return total + lost


@kernel
def kappa_against(accuracy: float, rival: float) -> float:
    """(p0 - pe) / (1 - pe): the share of a baseline's errors that was avoided; 0 where the baseline makes none.

    >>> kappa_against(0.75, 0.5)
    0.5
    """
    return (accuracy - rival) / (1.0 - rival) if rival < 1.0 else 0.0


@kernel
def headline_scores(
    margins: NDArray[np.float64], sums: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Write accuracy, kappa, kappa-temporal, kappa-M, macro F1, log-loss and Brier score, from margins and sums.

    margins : float64[3, K], in; sums : float64[7], in; out : float64[7], out
    """
    for i in range(len(out)):
        out[i] = 0.0
    weight = sums[0]
    if not weight > 0.0:
        return
    k = margins.shape[1]
    chance, chance_lost, f1, f1_lost, met = 0.0, 0.0, 0.0, 0.0, 0
    for c in range(k):
        true, predicted, right = margins[0, c], margins[1, c], margins[2, c]
        agree = (true / weight) * (predicted / weight)
        chance_lost += lost_in_sum(chance, agree)
        chance += agree
        if true > 0.0 or predicted > 0.0:
            met += 1
            own = 2.0 * right / (true + predicted)
            f1_lost += lost_in_sum(f1, own)
            f1 += own
    out[0] = exact_sum(margins[2]) / weight
    out[1] = kappa_against(out[0], chance + chance_lost)
    out[2] = kappa_against(out[0], sums[1] / weight)
    out[3] = kappa_against(out[0], sums[2] / weight)
    out[4] = (f1 + f1_lost) / met
    if sums[6] > 0.0:
        out[5] = sums[4] / sums[6]
        out[6] = sums[5] / sums[6]


@kernel
def read_running(
    counts: NDArray[np.float64],
    unanswered: NDArray[np.float64],
    losses: NDArray[np.float64],
    no_change: NDArray[np.float64],
    majority: NDArray[np.float64],
    margins: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:
    """Write the margins and sums of all rows so far.

    counts : float64[K, K], in; unanswered : float64[K], in; losses : float64[3], in
    no_change : float64[3], in; majority : float64[3], in; margins : float64[3, K], out; sums : float64[7], out
    """
    for c in range(len(unanswered)):
        margins[0, c] = unanswered[c] + exact_sum(counts[c])
        margins[1, c] = 0.0
        margins[2, c] = counts[c, c]
    for c in range(len(unanswered)):
        for guess in range(len(unanswered)):
            margins[1, guess] += counts[c, guess]
    sums[0], sums[1], sums[2], sums[3] = exact_sum(margins[0]), no_change[1], majority[1], majority[2]
    sums[4], sums[5], sums[6] = losses[0], losses[1], losses[2]


@kernel
def read_recent(
    true: NDArray[np.int32],
    predicted: NDArray[np.int32],
    values: NDArray[np.float64],
    rows: NDArray[np.int64],
    margins: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:
    """Write the margins and sums of the latest m/2 rows; the m/2 rows before them give the majority class.

    true : int32[m], in; predicted : int32[m], in; values : float64[m, 3], in, weight, log-loss, Brier
    rows : int64[1], in; margins : float64[3, K], out; sums : float64[7], out
    """
    margins[:] = 0.0
    sums[:] = 0.0
    weight = np.zeros(margins.shape[1])
    m = len(true)
    window = m // 2
    kept = min(rows[0], m)
    slot = (rows[0] - kept) % m
    gone = slot
    last = most = -1  # label of the row before, majority of the m/2 rows before
    for r in range(kept):
        c = true[slot]
        w = values[slot, 0]
        if r >= window:
            weight[true[gone]] -= values[gone, 0]
            gone = gone + 1 if gone + 1 < m else 0
        weight[c] += w
        before = most
        if r >= kept - window - 1:
            most = heaviest(weight)
        if r >= kept - window:
            margins[0, c] += w
            sums[0] += w
            sums[1] += w * (last == c)
            sums[2] += w * (before == c)
            sums[3] += w * (most == c)
            guess = predicted[slot]
            if guess >= 0:
                margins[1, guess] += w
                margins[2, c] += w * (guess == c)
                sums[4] += w * values[slot, 1]
                sums[5] += w * values[slot, 2]
                sums[6] += w
        last = c
        slot = slot + 1 if slot + 1 < m else 0
