"""Prequential evaluation of one portion of rows, each of which has a label and weight 1.

Arrays lie class by class where possible, so that loops over rows are vectorised. Sums that depend on the order of rows
are kept in local variables: array elements would be stored and loaded again for every row.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, tight_kernel
from bayou.kernels.lanes import Lanes, four_at, four_of, put_lanes
from bayou.kernels.outcomes import BINS, CELLS, COSTLIEST, EDGES, NOTHING, log_loss_of, score_cell

# What a row adds to the counts of two classes: predicted (two lanes) and predicted correctly (two lanes). The first is
# predicted, wrongly or correctly, or the second is; or neither.
_ADDED = np.array([1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0], np.float64)
_NEITHER = 16
# What a row whose predicted class has probability 1 adds to log-loss, Brier score, and the weight of rows with a
# prediction: if it is wrong, if it is right, and if it has no prediction.
_CERTAIN = np.array([COSTLIEST, 2, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0], np.float64)
_NO_LOSS = 8


@inner_kernel
def most_of(counts: Codes, most: Codes, top: Codes) -> None:
    """Write the class with the largest count for each row, the first on ties; -1 if none is above 0.

    counts : int32[K, m], in; most : int32[n], out; top : int32[n], out, its count
    """
    for i in range(len(most)):
        most[i], top[i] = NOTHING, 0
    for j in range(len(counts)):
        column = counts[j]
        for i in range(len(most)):
            count, best, known = column[i], top[i], most[i]
            most[i] = np.int32(j) if count > best else known
            top[i] = count if count > best else best


@inner_kernel
def shares_before(weight: Floats, true: Codes, shares: Floats) -> None:
    """Write the class frequencies among all rows before each row, 0 where there are none; then count the row.

    weight : float64[K], in/out; true : int32[n], in; shares : float64[K, m], out
    """
    total = 0.0
    for j in range(len(weight)):
        total += weight[j]
    rest, left = shares[len(weight) - 1], 0.0
    for i in range(len(true)):
        rest[i] = total + i
    for j in range(len(weight) - 1):
        share, before, rows = shares[j], weight[j], 0
        for i in range(len(true)):
            share[i] = rows
            rows += true[i] == j
        for i in range(len(true)):
            count = before + share[i]
            rest[i] -= count
            share[i] = count / max(total + i, 1.0)
        weight[j] += rows
        left += weight[j]
    for i in range(len(true)):
        rest[i] /= max(total + i, 1.0)
    weight[len(weight) - 1] = total + len(true) - left


@inner_kernel
def judge_shares(
    said: Floats,
    true: Codes,
    decided: Codes,
    guess: Codes,
    confidence: Floats,
    loss: Floats,
    brier: Floats,
) -> None:
    """Write the predicted class of each row, its probability, log-loss and Brier score, as `judge` does.

    said : float64[K, m], in; true : int32[n], in; decided : int32[d], in, as `judge` takes it, of these rows
    guess : int32[n], out, -1 where there is no prediction; confidence : float64[n], out, its probability
    loss, brier : float64[n], out, log-loss, Brier score
    """
    for i in range(len(true)):
        guess[i], confidence[i] = NOTHING, 0.0
        loss[i], brier[i] = 0.0, 0.0
    for j in range(len(said)):
        column = said[j]
        for i in range(len(true)):
            p, best, known = column[i], confidence[i], guess[i]
            guess[i] = np.int32(j) if p > best else known
            confidence[i] = p if p > best else best
        for i in range(len(true)):
            p, known_p, own_class = column[i], loss[i], true[i] == j
            miss = p - own_class
            brier[i] += miss * miss
            loss[i] = p if own_class else known_p
    for i in range(len(decided)):
        if guess[i] >= 0:
            guess[i] = decided[i]
            confidence[i] = said[max(guess[i], 0), i]
    for i in range(len(true)):
        answered = guess[i] >= 0
        loss[i] = log_loss_of(loss[i]) * answered
        brier[i] *= answered


@inner_kernel
def judge_two_classes(
    said: Floats, true: Codes, guess: Codes, confidence: Floats, loss: Floats, brier: Floats
) -> None:
    """Do as `judge_shares` for two classes, of which the more probable one is decided for: in fewer loops.

    said : float64[2, m], in; true : int32[n], in; guess : int32[n], out; confidence : float64[n], out
    loss, brier : float64[n], out
    """
    ones, twos = said[0], said[1]
    for i in range(len(true)):
        p, q = ones[i], twos[i]
        best = p if p > 0.0 else 0.0
        known = np.int32(0) if p > 0.0 else np.int32(NOTHING)
        guess[i] = np.int32(1) if q > best else known
        confidence[i] = q if q > best else best
    for i in range(len(true)):
        p, q, first = ones[i], twos[i], true[i] == 0
        miss, other_miss = p - first, q - (not first)
        answered = (p > 0.0) | (q > 0.0)
        brier[i] = (miss * miss + other_miss * other_miss) * answered
        loss[i] = log_loss_of(p if first else q) * answered


@tight_kernel
def faded_pair(predicted: Floats, right: Floats, j: int, pair: Floats) -> Lanes:
    """Load the faded counts of classes j and j + 1 as lanes, 0 for classes there are not.

    predicted, right : float64[K], in; pair : float64[4], out
    """
    for i in range(2):
        pair[i] = predicted[j + i] if j + i < len(predicted) else 0.0
        pair[2 + i] = right[j + i] if j + i < len(right) else 0.0
    return four_at(pair, np.uint64(0))


@tight_kernel
def keep_pair(predicted: Floats, right: Floats, j: int, pair: Floats, lanes: Lanes) -> None:
    """Store the faded counts of classes j and j + 1.

    predicted, right : float64[K], out; pair : float64[4], out
    """
    put_lanes(pair, np.uint64(0), lanes)
    for i in range(min(2, len(predicted) - j)):
        predicted[j + i], right[j + i] = pair[i], pair[2 + i]


@tight_kernel
def added_to_pair(guess: int, right: bool, j: int) -> Lanes:
    """The lanes that a row with this prediction adds to the counts of classes j and j + 1."""
    # Below the first class, the index becomes larger than any.
    return four_at(_ADDED, min(np.uint64(8 * (guess - j) + 4 * right), np.uint64(_NEITHER)))


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
    guess: Codes,
    confidence: Floats,
    loss: Floats,
    brier: Floats,
    alpha: float,
    pair: Floats,
    within: Floats,
) -> None:
    """Update confusion matrix, calibration bins, losses, and the faded counts of the first two classes.

    Each of these sums depends on the row before; in one loop their latencies overlap.
    counts : float64[K, K], in/out; unanswered : float64[K], in/out; sums : float64[3], in/out
    calibration : float64[b, 3], in/out; faded_predicted, faded_right : float64[K], in/out
    faded_sums : float64[8], in/out, 4 to 6; true : int32[n], in; guess : int32[n], in
    confidence : float64[n], in; loss, brier : float64[n], in; pair : float64[4], out
    within : float64[2], in/out, log-loss and Brier score in the window
    """
    log_loss, square, answered = sums[0], sums[1], 0
    recent_log_loss, recent_square = within[0], within[1]
    faded_log_loss, faded_brier, faded_answered = faded_sums[4], faded_sums[5], faded_sums[6]
    faded, decay = faded_pair(faded_predicted, faded_right, 0, pair), four_of(alpha)
    for i in range(len(true)):
        c, g, p = np.uint64(true[i]), guess[i], confidence[i]
        right = g == true[i]
        if g < 0:
            unanswered[c] += 1.0
            faded_answered *= alpha
        else:
            counts[c, np.uint64(g)] += 1.0
            at = np.uint64(min(int(p * BINS), BINS - 1))
            calibration[at, np.uint64(0)] += 1.0
            calibration[at, np.uint64(1)] += p
            calibration[at, np.uint64(2)] += right
            answered += 1
            faded_answered = faded_answered * alpha + 1.0
        log_loss += loss[i]
        square += brier[i]
        recent_log_loss += loss[i]
        recent_square += brier[i]
        faded_log_loss = faded_log_loss * alpha + loss[i]
        faded_brier = faded_brier * alpha + brier[i]
        faded = faded * decay + added_to_pair(g, right, 0)
    sums[0], sums[1] = log_loss, square
    within[0], within[1] = recent_log_loss, recent_square
    sums[2] += answered
    faded_sums[4], faded_sums[5], faded_sums[6] = faded_log_loss, faded_brier, faded_answered
    keep_pair(faded_predicted, faded_right, 0, pair, faded)


@inner_kernel
def count_certain(
    counts: Floats,
    unanswered: Floats,
    sums: Floats,
    calibration: Floats,
    faded_predicted: Floats,
    faded_right: Floats,
    faded_sums: Floats,
    true: Codes,
    guess: Codes,
    alpha: float,
    four: Floats,
) -> None:
    """Do as `count_guesses` where every predicted class has probability 1.

    counts : float64[K, K], in/out; unanswered : float64[K], in/out; sums : float64[3], in/out
    calibration : float64[b, 3], in/out; faded_predicted, faded_right : float64[K], in/out
    faded_sums : float64[8], in/out, 4 to 6; true : int32[n], in; guess : int32[n], in; four : float64[4], out
    """
    four[0], four[1], four[2], four[3] = faded_sums[4], faded_sums[5], faded_sums[6], 0.0
    losses, decay = four_at(four, np.uint64(0)), four_of(alpha)
    faded = faded_pair(faded_predicted, faded_right, 0, four)
    log_loss, answered, wrong = sums[0], 0, 0
    for i in range(len(true)):
        c, g, at = true[i], guess[i], np.uint64(_NO_LOSS)
        if g < 0:
            unanswered[c] += 1.0
        else:
            counts[np.uint64(c), np.uint64(g)] += 1.0
            answered += 1
            wrong += g != c
            at = np.uint64(4 * (g == c))
        log_loss += _CERTAIN[at]
        losses = losses * decay + four_at(_CERTAIN, at)
        faded = faded * decay + added_to_pair(g, g == c, 0)
    sums[0] = log_loss
    sums[1] += 2 * wrong
    sums[2] += answered
    calibration[BINS - 1, 0] += answered
    calibration[BINS - 1, 1] += answered
    calibration[BINS - 1, 2] += answered - wrong
    keep_pair(faded_predicted, faded_right, 0, four, faded)
    put_lanes(four, np.uint64(0), losses)
    faded_sums[4], faded_sums[5], faded_sums[6] = four[0], four[1], four[2]


@inner_kernel
def fade_further(
    predicted: Floats, right: Floats, guess: Codes, true: Codes, alpha: float, pair: Floats
) -> None:
    """Update the faded counts of predictions and of correct predictions, from the third class on, four at a time.

    predicted, right : float64[K], in/out; guess, true : int32[n], in; pair : float64[4], out
    """
    decay = four_of(alpha)
    for j in range(2, len(predicted), 4):
        one, two = faded_pair(predicted, right, j, pair), faded_pair(predicted, right, j + 2, pair)
        for i in range(len(guess)):
            g, hit = guess[i], guess[i] == true[i]
            one = one * decay + added_to_pair(g, hit, j)
            two = two * decay + added_to_pair(g, hit, j + 2)
        keep_pair(predicted, right, j, pair, one)
        keep_pair(predicted, right, j + 2, pair, two)


@inner_kernel
def count_scores(scores: Floats, said: Floats, true: Codes, guess: Codes, at: Codes, steady: bool) -> None:
    """Add rows that have a prediction to the histogram of scores of every class.

    With `steady` (every row has a prediction, and scores vary little), all scores of a class mostly fall into one cell
    or two, and are added at once.
    scores : float64[K, e, 2], in/out; said : float64[K, m], in; true : int32[n], in
    guess : int32[n], in; at : int32[n], out
    """
    for j in range(len(said)):
        column, cells = said[j], scores[j].reshape(-1)
        if steady:
            bits = column.view(np.int64)  # the order of doubles >= 0, and faster to compare
            least = most = bits[0]
            mine = 0
            for i in range(len(true)):
                least, most = min(least, bits[i]), max(most, bits[i])
                mine += true[i] == j
            cell, last = (
                score_cell(np.int64(least).view(np.float64)),
                score_cell(np.int64(most).view(np.float64)),
            )
            if last <= cell + 1:
                edge, above, mine_above = EDGES[last] if last > cell else np.inf, 0, 0
                for i in range(len(true)):
                    above += column[i] >= edge
                    mine_above += (column[i] >= edge) & (true[i] == j)
                cells[2 * cell] += len(true) - mine - (above - mine_above)
                cells[2 * cell + 1] += mine - mine_above
                cells[2 * last] += above - mine_above
                cells[2 * last + 1] += mine_above
                continue
        for i in range(len(true)):
            at[i] = 2 * score_cell(column[i]) + (true[i] == j)
        for i in range(len(true)):
            cells[np.uint64(at[i])] += guess[i] >= 0


@inner_kernel
def count_mirrored(mirrored: Index, said: Floats, true: Codes, guess: Codes, at: Codes, other: Codes) -> bool:
    """Count rows of two classes by the place of both scores, and return True, or return False if not all can be.

    As both probabilities add up to 1, the score of the second class mostly falls into the opposite cell, and the row,
    which is of the other class or not, into the opposite place of its histogram: one count is enough.
    mirrored : int64[2 e], in/out; said : float64[2, m], in; true, guess : int32[n], in; at, other : int32[n], out
    """
    ones, twos, last = said[0], said[1], len(mirrored) - 1
    for i in range(len(true)):
        at[i] = 2 * score_cell(ones[i]) + (true[i] == 0)
    for i in range(len(true)):
        other[i] = 2 * score_cell(twos[i]) + (true[i] == 1)
    opposite = 0
    for i in range(len(true)):
        opposite += (at[i] + other[i] == last) & (guess[i] >= 0)
    if opposite < len(true):
        return False
    for i in range(len(true)):
        mirrored[np.uint64(at[i])] += 1
    return True


@inner_kernel
def add_mirrored(scores: Floats, mirrored: Index) -> None:
    """Add the rows that `count_mirrored` has counted to the histograms of both classes.

    scores : float64[2, e, 2], in/out; mirrored : int64[2 e], in
    """
    ones, twos, last = scores[0].reshape(-1), scores[1].reshape(-1), len(mirrored) - 1
    for i in range(len(mirrored)):
        add_rows(ones, i, mirrored[i])
        add_rows(twos, last - i, mirrored[i])


@tight_kernel
def add_rows(cells: Floats, at: int, rows: int) -> None:
    """Add rows of weight 1 to a cell: at once to an integer, else one by one, since every sum is rounded.

    cells : float64[n], in/out
    """
    if cells[at] == np.floor(cells[at]):
        cells[at] += rows
    else:
        for _ in range(rows):
            cells[at] += 1.0


@inner_kernel
def certain_scores(scores: Floats, counts: Floats) -> None:
    """Add rows to the histograms of scores, where the predicted class had probability 1 in every row.

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
