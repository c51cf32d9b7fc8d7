"""Counts and losses of predictions against true labels, row by row: running, in a recent window, and faded.

A row of `proba` that is all zero means "no prediction yet": it counts as wrong for accuracy, and is left out of the
losses. Ties go to the first class. Rows without label or weight are skipped ("absent").
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import inner_kernel, kernel, tight_kernel
from bayou.kernels.logarithm import natural_log

SMALLEST = 2.0**-52  # smaller probabilities are clipped to this one in the log-loss
COSTLIEST = -math.log(SMALLEST)
TINY = 1e-300
NOTHING, ABSENT = -1, -2  # instead of a predicted class
PORTION = 256  # rows that are counted together; after each portion, faded weights that are nearly 0 become 0

BINS = 15  # of confidence, for the calibration error
CELLS = 256  # of scores: log-odds from -16 to 16 in steps of an eighth; 0.5 is an edge
EDGES = np.array([0.0, *(1.0 / (1.0 + math.exp(16.0 - i / 8.0)) for i in range(1, CELLS)), np.inf])


def _first_cells() -> NDArray[np.int64]:
    """Tabulate the cell of scores in which a short interval of probabilities begins, by the leading bits of p or 1 - p.

    Each octave (from one power of two to the next) has sixteen intervals, so that none holds more than one edge.
    """
    lows = np.array([0.0, *(2.0**e * (1 + i / 16) for e in range(-23, -1) for i in range(16)), 0.5])
    below = np.searchsorted(EDGES, lows, side="right") - 1
    above = np.searchsorted(EDGES, 1.0 - np.append(lows[1:], 0.5), side="right") - 1
    return np.stack([below, above])


FIRST_CELL = _first_cells()
_KEYS = FIRST_CELL.shape[1]
_LOWEST = int(np.float64(2.0**-23).view(np.int64) >> 48) - 1


@tight_kernel
def score_cell(p: float) -> int:
    """Return the cell of scores that contains a probability: the last one whose lower edge is not above it."""
    key = (np.float64(min(p, 1.0 - p)).view(np.int64) >> 48) - _LOWEST
    cell = FIRST_CELL[int(p >= 0.5), min(max(key, 0), _KEYS - 1)]
    return int(cell + (p >= EDGES[cell + 1]))


@tight_kernel
def heaviest(weight: NDArray[np.float64]) -> int:
    """Return the class with the most weight, the first on ties; -1 if no class has weight.

    weight : float64[K], in
    """
    best = -1
    top = 0.0
    for c in range(len(weight)):
        if weight[c] > top:
            top = weight[c]
            best = c
    return best


@tight_kernel
def log_loss_of(p: float) -> float:
    """Return the log-loss -log p, where p is the predicted probability of the true class."""
    return COSTLIEST if p <= SMALLEST else 0.0 - natural_log(p if p < 1.0 else 1.0)


@kernel
def judge(
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    proba: NDArray[np.float64],
    decided: NDArray[np.int32],
    predicted: NDArray[np.int32],
    losses: NDArray[np.float64],
) -> None:
    """Write the predicted class, log-loss and Brier score of each row; losses are 0 where there is no prediction.

    y : int32[n], in; w : float64[n], in; proba : float64[n, K], in
    decided : int32[m], in, the classes decided for (-1: none), or nothing if these are the most probable ones
    predicted : int32[n], out, -1 where there is no prediction, -2 for rows that are absent
    losses : float64[n, 2], out, log-loss, Brier score (summed over classes: 0 to 2)
    """
    for i in range(len(y)):
        losses[i, 0] = 0.0
        losses[i, 1] = 0.0
        if y[i] < 0 or not w[i] > 0.0:
            predicted[i] = ABSENT
            continue
        guess = heaviest(proba[i])
        if guess >= 0 and len(decided) > 0:
            guess = decided[i]
        if guess >= 0:
            losses[i, 0] = log_loss_of(proba[i, y[i]])
            for c in range(proba.shape[1]):
                miss = proba[i, c] - (c == y[i])
                losses[i, 1] += miss * miss
        predicted[i] = guess


@kernel
def count_confusion(
    counts: NDArray[np.float64],
    unanswered: NDArray[np.float64],
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    predicted: NDArray[np.int32],
) -> None:
    """Add the weights of rows to the confusion matrix of true and predicted classes.

    counts : float64[K, K], in/out; unanswered : float64[K], in/out
    y : int32[n], in; w : float64[n], in; predicted : int32[n], in, as `judge` gives it
    """
    for i in range(len(y)):
        if predicted[i] >= 0:
            counts[y[i], predicted[i]] += w[i]
        elif predicted[i] == NOTHING:
            unanswered[y[i]] += w[i]


@kernel
def count_losses(
    sums: NDArray[np.float64],
    calibration: NDArray[np.float64],
    scores: NDArray[np.float64],
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    proba: NDArray[np.float64],
    predicted: NDArray[np.int32],
    losses: NDArray[np.float64],
) -> None:
    """Add rows to the sums of the losses, to the calibration bins, and to the histogram of scores of every class.

    sums : float64[3], in/out, log-loss, Brier score, weight
    calibration : float64[b, 3], in/out, weight, confidence, right
    scores : float64[K, e, 2], in/out, weight of rows of other classes, of its own
    y : int32[n], in; w : float64[n], in; proba : float64[n, K], in
    predicted : int32[n], in; losses : float64[n, 2], in, as `judge` gives them
    """
    # Local variables stay in registers; array elements would be stored and loaded again for every row.
    log_loss, brier, weight = sums[0], sums[1], sums[2]
    for i in range(len(y)):
        guess = predicted[i]
        if guess < 0:
            continue
        true, own = y[i], w[i]
        log_loss += own * losses[i, 0]
        brier += own * losses[i, 1]
        weight += own
        confidence = proba[i, guess]
        at = min(int(confidence * BINS), BINS - 1)
        calibration[at, 0] += own
        calibration[at, 1] += own * confidence
        calibration[at, 2] += own * (guess == true)
        for c in range(proba.shape[1]):
            scores[c, score_cell(proba[i, c]), int(c == true)] += own
    sums[0], sums[1], sums[2] = log_loss, brier, weight


@kernel
def count_no_change(
    sums: NDArray[np.float64], ends: NDArray[np.int64], y: NDArray[np.int32], w: NDArray[np.float64]
) -> None:
    """Count the weight of rows that the no-change baseline gets right: those with the label of the row before.

    sums : float64[3], in/out, weight, right, weight of the first row; ends : int64[2], in/out, first and last label
    y : int32[n], in; w : float64[n], in
    """
    weight, right, last = sums[0], sums[1], ends[1]
    for i in range(len(y)):
        c, own = y[i], w[i]
        if c < 0 or not own > 0.0:
            continue
        if ends[0] < 0:
            ends[0] = c
            sums[2] = own
        weight += own
        right += own * (last == c)
        last = np.int64(c)
    sums[0], sums[1], ends[1] = weight, right, last


@kernel
def count_majority(
    weight: NDArray[np.float64], sums: NDArray[np.float64], y: NDArray[np.int32], w: NDArray[np.float64]
) -> None:
    """Count the weight of rows whose label is the majority class, before and after the row itself is counted.

    weight : float64[K], in/out; sums : float64[3], in/out, weight, right before, right after
    y : int32[n], in; w : float64[n], in
    """
    most = heaviest(weight)
    total, before, after = sums[0], sums[1], sums[2]
    for i in range(len(y)):
        c, own = y[i], w[i]
        if c < 0 or not own > 0.0:
            continue
        total += own
        before += own * (most == c)
        weight[c] += own
        if most < 0 or weight[c] > weight[most] or (weight[c] == weight[most] and c < most):
            most = c
        after += own * (most == c)
    sums[0], sums[1], sums[2] = total, before, after


@kernel
def keep_recent(
    true: NDArray[np.int32],
    predicted: NDArray[np.int32],
    values: NDArray[np.float64],
    rows: NDArray[np.int64],
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    guesses: NDArray[np.int32],
    losses: NDArray[np.float64],
) -> None:
    """Write rows into a ring buffer, each at its row number modulo the size.

    true : int32[m], in/out; predicted : int32[m], in/out; values : float64[m, 3], in/out, weight, log-loss, Brier
    rows : int64[1], in/out, number of rows so far; y : int32[n], in; w : float64[n], in
    guesses : int32[n], in; losses : float64[n, 2], in, as `judge` gives them
    """
    slot = rows[0] % len(true)
    for i in range(len(y)):
        if guesses[i] == ABSENT:
            continue
        true[slot] = y[i]
        predicted[slot] = guesses[i]
        values[slot, 0] = w[i]
        values[slot, 1] = losses[i, 0]
        values[slot, 2] = losses[i, 1]
        rows[0] += 1
        slot = slot + 1 if slot + 1 < len(true) else 0


@inner_kernel
def forget_faintest(values: NDArray[np.float64]) -> None:
    """Set values that have nearly faded to 0: they would become denormal numbers, which slow down all arithmetic.

    values : float64[n], in/out
    """
    for i in range(len(values)):
        if values[i] <= TINY:
            values[i] = 0.0


@kernel
def fade_outcomes(
    true: NDArray[np.float64],
    predicted: NDArray[np.float64],
    right: NDArray[np.float64],
    sums: NDArray[np.float64],
    ends: NDArray[np.int64],
    alpha: float,
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    guesses: NDArray[np.int32],
    losses: NDArray[np.float64],
) -> None:
    """Update exponentially faded counts and losses: for each row, multiply all by alpha, then add the row.

    true : float64[K], in/out; predicted : float64[K], in/out; right : float64[K], in/out
    sums : float64[8], in/out, as `read_recent` gives them, then the weight of the first row
    ends : int64[3], in/out, first and last label, rows; y : int32[n], in; w : float64[n], in
    guesses : int32[n], in; losses : float64[n, 2], in, as `judge` gives them
    """
    most = heaviest(true)
    for i in range(len(y)):
        guess, c, own = guesses[i], y[i], w[i]
        if guess == ABSENT:
            continue
        for j in range(len(true)):
            true[j] *= alpha
            predicted[j] *= alpha
            right[j] *= alpha
        for j in range(len(sums)):
            sums[j] *= alpha
        if ends[0] < 0:
            ends[0] = c
            sums[7] = own
        true[c] += own
        sums[0] += own
        sums[1] += own * (ends[1] == c)
        sums[2] += own * (most == c)
        most = heaviest(true)
        sums[3] += own * (most == c)
        if guess >= 0:
            predicted[guess] += own
            right[c] += own * (guess == c)
            sums[4] += own * losses[i, 0]
            sums[5] += own * losses[i, 1]
            sums[6] += own
        ends[1] = c
        ends[2] += 1
        if ends[2] % PORTION == 0:
            forget_faintest(true)
            forget_faintest(predicted)
            forget_faintest(right)
            forget_faintest(sums)
