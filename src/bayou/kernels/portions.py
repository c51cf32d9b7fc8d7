"""Steps of a track record over a portion of rows, each with a label and a weight.

Where they can, they handle rows side by side, class by class. Sums that follow the order of the rows stay in
variables: what was just stored would have to be loaded again for every row.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats
from bayou.kernels.jit import inner_kernel
from bayou.kernels.outcomes import BINS, CELLS, COSTLIEST, NOTHING, SMALLEST, less, score_cell
from bayou.kernels.value_counts import cached_log


@inner_kernel
def add_by_class(weight: Floats, before: Floats, true: Codes, own: Floats) -> None:
    """Add up weights by class; four classes at once, since each sum waits for itself.

    weight : float64[K], in/out; before : float64[K, m], out, as they stood before each row
    true : int32[n], in; own : float64[n], in
    """
    k = len(weight) - 1
    for j in range(0, len(weight), 4):
        second, third, fourth = min(j + 1, k), min(j + 2, k), min(j + 3, k)
        a, b, c, d = weight[j], weight[second], weight[third], weight[fourth]
        of_a, of_b, of_c, of_d = before[j], before[second], before[third], before[fourth]
        for i in range(len(true)):
            of_a[i], of_b[i], of_c[i], of_d[i] = a, b, c, d
            a += own[i] * (true[i] == j)
            b += own[i] * (true[i] == second)
            c += own[i] * (true[i] == third)
            d += own[i] * (true[i] == fourth)
        weight[j], weight[second], weight[third], weight[fourth] = a, b, c, d


@inner_kernel
def most_of(values: Floats, most: Codes, top: Floats) -> None:
    """The first of the classes with the largest value, -1 if none is above 0.

    values : float64[K, m], in; most : int32[n], out; top : float64[n], out, its value
    """
    for i in range(len(most)):
        most[i], top[i] = NOTHING, 0.0
    for j in range(len(values)):
        column = values[j]
        for i in range(len(most)):
            value, best, known = column[i], top[i], most[i]
            most[i] = np.int32(j) if value > best else known
            top[i] = value if value > best else best


@inner_kernel
def look_up_logs(values: Floats, logs: Floats, out: Floats) -> None:
    """Logarithms, looked up where all values are small integers.

    values : float64[n], in; logs : float64[m], in, of integers; out : float64[m], out
    """
    most, known = np.uint64(len(logs) - 1), 0
    for i in range(len(values)):
        known += 0.0 <= values[i] <= most and values[i] == np.floor(values[i])
    if known < len(values):
        for i in range(len(values)):
            out[i] = cached_log(values[i], logs)
        return
    for i in range(len(values)):
        out[i] = logs[np.uint64(values[i])]


@inner_kernel
def shares_of(weights: Floats, logs: Floats, shares: Floats, whole: Floats, top: Floats) -> None:
    """The probabilities that the model of the majority class has, by the weights of the classes, bit for bit.

    weights : float64[K, m], in; logs : float64[m], in, of integers; shares : float64[K, m], out
    whole, top : float64[n], out
    """
    n = len(whole)
    for i in range(n):
        whole[i], top[i] = 0.0, -np.inf
    for j in range(len(weights)):
        column = weights[j]
        for i in range(n):
            whole[i] += column[i]
    look_up_logs(whole, logs, whole)
    for j in range(len(weights)):
        column, share = weights[j], shares[j]
        look_up_logs(column[:n], logs, share)
        for i in range(n):
            log_share, best = share[i] - whole[i], top[i]
            share[i] = log_share if column[i] > 0.0 else -np.inf
            top[i] = share[i] if share[i] > best else best
    for i in range(n):
        whole[i] = 0.0
    for j in range(len(weights)):
        share = shares[j]
        for i in range(n):
            gap = share[i] - top[i]
            share[i] = 1.0 if gap == 0.0 else math.exp(gap) if gap > -np.inf else 0.0
        for i in range(n):
            whole[i] += share[i]
    for j in range(len(weights)):
        share = shares[j]
        for i in range(n):
            share[i] = share[i] / whole[i] if whole[i] > 0.0 else 0.0


@inner_kernel
def judge_shares(said: Floats, true: Codes, guess: Codes, confidence: Floats, losses: Floats) -> None:
    """What is predicted for each row, and what it costs, as `judge` has it.

    said : float64[K, m], in; true : int32[n], in
    guess : int32[n], out, -1 where there is no prediction; confidence : float64[n], out, its probability
    losses : float64[2, m], out, log-loss, Brier score
    """
    most_of(said, guess, confidence)
    loss, brier = losses[0], losses[1]
    for i in range(len(true)):
        loss[i], brier[i] = 0.0, 0.0
    for j in range(len(said)):
        column = said[j]
        for i in range(len(true)):
            p, known, own_class = column[i], loss[i], true[i] == j
            miss = p - own_class
            brier[i] += miss * miss
            loss[i] = p if own_class else known
    for i in range(len(true)):
        p = loss[i]
        loss[i] = COSTLIEST if p <= SMALLEST else -math.log(p) if p < 1.0 else 0.0
    for i in range(len(true)):
        answered = guess[i] >= 0
        loss[i] *= answered
        brier[i] *= answered


@inner_kernel
def judge_no_change(last: int, true: Codes, guess: Codes, confidence: Floats, losses: Floats) -> int:
    """As `judge_shares`, where the label before has all the probability; returns the last label.

    true : int32[n], in; guess : int32[n], out; confidence : float64[n], out; losses : float64[2, m], out
    """
    loss, brier = losses[0], losses[1]
    guess[0] = last
    for i in range(1, len(true)):
        guess[i] = true[i - 1]
    for i in range(len(true)):
        wrong = guess[i] >= 0 and guess[i] != true[i]
        confidence[i] = guess[i] >= 0
        loss[i], brier[i] = COSTLIEST * wrong, 2.0 * wrong
    return int(true[len(true) - 1])


@inner_kernel
def count_guesses(
    counts: Floats,
    unanswered: Floats,
    sums: Floats,
    calibration: Floats,
    faded_predicted: Floats,
    faded_right: Floats,
    faded_sums: Floats,
    true: Codes,
    own: Floats,
    guess: Codes,
    confidence: Floats,
    losses: Floats,
    alpha: float,
) -> None:
    """Weight by true and predicted class, and by confidence, and the losses; what fades, of the first two classes.

    All this waits for the row before: in one loop it waits together.
    counts : float64[K, K], in/out; unanswered : float64[K], in/out; sums : float64[3], in/out
    calibration : float64[b, 3], in/out; faded_predicted, faded_right : float64[K], in/out
    faded_sums : float64[8], in/out, 4 to 6; true : int32[n], in; own : float64[n], in
    guess : int32[n], in; confidence : float64[n], in; losses : float64[2, m], in
    """
    log_loss, brier, answered = sums[0], sums[1], sums[2]
    faded_log_loss, faded_brier, faded_answered = faded_sums[4], faded_sums[5], faded_sums[6]
    other = min(1, len(unanswered) - 1)
    a, b, a_right, b_right = faded_predicted[0], faded_predicted[other], faded_right[0], faded_right[other]
    for i in range(len(true)):
        c, g, w, p = true[i], guess[i], own[i], confidence[i]
        if g < 0:
            unanswered[c] += w
        else:
            counts[c, g] += w
            at = min(int(p * BINS), BINS - 1)
            calibration[at, 0] += w
            calibration[at, 1] += w * p
            calibration[at, 2] += w * (g == c)
        scored = w * (g >= 0)
        loss, square = scored * losses[0, i], scored * losses[1, i]
        log_loss += loss
        brier += square
        answered += scored
        faded_log_loss = less(faded_log_loss, alpha) + loss
        faded_brier = less(faded_brier, alpha) + square
        faded_answered = less(faded_answered, alpha) + scored
        said_a, said_b = w * (g == 0), w * (g == other)
        a = less(a, alpha) + said_a
        b = less(b, alpha) + said_b
        a_right = less(a_right, alpha) + said_a * (c == 0)
        b_right = less(b_right, alpha) + said_b * (c == other)
    sums[0], sums[1], sums[2] = log_loss, brier, answered
    faded_sums[4], faded_sums[5], faded_sums[6] = faded_log_loss, faded_brier, faded_answered
    faded_predicted[0], faded_predicted[other], faded_right[0], faded_right[other] = a, b, a_right, b_right


@inner_kernel
def fade_further(
    predicted: Floats, right: Floats, guess: Codes, true: Codes, own: Floats, alpha: float
) -> None:
    """Let the weights of predicted classes, and of right ones, fade and add each row's, from the third class on.

    predicted, right : float64[K], in/out; guess, true : int32[n], in; own : float64[n], in
    """
    for j in range(2, len(predicted), 2):
        other = min(j + 1, len(predicted) - 1)
        a, b, a_right, b_right = predicted[j], predicted[other], right[j], right[other]
        for i in range(len(guess)):
            said_a, said_b = own[i] * (guess[i] == j), own[i] * (guess[i] == other)
            a = less(a, alpha) + said_a
            b = less(b, alpha) + said_b
            a_right = less(a_right, alpha) + said_a * (true[i] == j)
            b_right = less(b_right, alpha) + said_b * (true[i] == other)
        predicted[j], predicted[other], right[j], right[other] = a, b, a_right, b_right


@inner_kernel
def count_scores(scores: Floats, said: Floats, true: Codes, own: Floats, guess: Codes, at: Codes) -> None:
    """Every class's scores by cell, of rows with a prediction.

    scores : float64[K, e, 2], in/out; said : float64[K, m], in; true : int32[n], in; own : float64[n], in
    guess : int32[n], in; at : int32[n], out
    """
    for j in range(len(said)):
        column, cells = said[j], scores[j].reshape(-1)
        for i in range(len(true)):
            at[i] = 2 * score_cell(column[i]) + (true[i] == j)
        for i in range(len(true)):
            cells[np.uint64(at[i])] += own[i] * (guess[i] >= 0)


@inner_kernel
def count_steady_scores(
    scores: Floats, said: Floats, true: Codes, own: Floats, guess: Codes, at: Codes
) -> None:
    """As `count_scores`, where a row has mostly the cells of the row before: their weights stay in variables.

    scores : float64[K, e, 2], in/out; said : float64[K, m], in; true : int32[n], in; own : float64[n], in
    guess : int32[n], in; at : int32[n], out
    """
    for j in range(len(said)):
        column, cells = said[j], scores[j]
        for i in range(len(true)):
            at[i] = score_cell(column[i])
        here = at[0]
        others, mine = cells[here, 0], cells[here, 1]
        for i in range(len(true)):
            if at[i] != here:
                cells[here, 0], cells[here, 1] = others, mine
                here = at[i]
                others, mine = cells[here, 0], cells[here, 1]
            scored = own[i] * (guess[i] >= 0)
            others += scored * (true[i] != j)
            mine += scored * (true[i] == j)
        cells[here, 0], cells[here, 1] = others, mine


@inner_kernel
def certain_scores(scores: Floats, counts: Floats) -> None:
    """Every class's scores by cell, where the predicted class had all the probability in all rows; of whole weights.

    scores : float64[K, e, 2], in/out; counts : float64[K, K], in, by true and predicted class
    """
    total = 0.0
    for c in range(len(counts)):
        for guess in range(len(counts)):
            total += counts[c, guess]
    for j in range(len(counts)):
        predicted, true = 0.0, 0.0
        for other in range(len(counts)):
            predicted += counts[other, j]
            true += counts[j, other]
        scores[j, CELLS - 1, 1] = counts[j, j]
        scores[j, CELLS - 1, 0] = predicted - counts[j, j]
        scores[j, 0, 1] = true - counts[j, j]
        scores[j, 0, 0] = total - predicted - true + counts[j, j]
