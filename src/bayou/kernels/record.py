"""All that a track record counts, over a batch: what the labels alone say, and what was predicted against them.

The first is the same for all models, and is counted once. Two of them need no more than labels: the baselines.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.outcomes import (
    BINS,
    CELLS,
    COSTLIEST,
    NOTHING,
    SMALLEST,
    heaviest,
    less,
    score_cell,
)
from bayou.kernels.scores import headline_scores, read_recent, read_running

GIVEN, NO_CHANGE, MAJORITY = range(3)  # what is predicted


@kernel
def count_labels(
    no_change: Floats,
    ends: Index,
    weight: Floats,
    majority: Floats,
    faded_true: Floats,
    faded_sums: Floats,
    faded_ends: Index,
    true: Codes,
    values: Floats,
    rows: Index,
    y: Codes,
    w: Floats,
    alpha: float,
    points: Index,
    rivals: Floats,
) -> None:
    """Count how rows would be predicted by their labels alone, and read it at the points: running, recent and faded.

    no_change : float64[3], in/out; ends : int64[2], in/out; weight : float64[K], in/out; majority : float64[3], in/out
    faded_true : float64[K], in/out; faded_sums : float64[8], in/out, all but 4 to 6; faded_ends : int64[3], in/out
    true : int32[m], in/out; values : float64[m, 3], in/out; rows : int64[1], in/out, a ring as `keep_recent` fills it
    y : int32[n], in; w : float64[n], in
    points : int64[p], in, numbers of rows after which there is a point, ascending
    rivals : float64[p, 3, K + 4], out, weight, right by no-change and by the majority before and after, weight by class
    """
    k = len(weight)
    guesses = np.full(len(true), NOTHING, np.int32)
    margins, read = np.empty((3, k)), np.empty(7)
    most, faded_most = heaviest(weight), heaviest(faded_true)
    slot, last = rows[0] % len(true), ends[1]
    lo = 0
    for p in range(len(points) + 1):
        hi = points[p] if p < len(points) else len(y)
        # Single variables: what was just stored would have to be loaded again for every row.
        total, same, before, after = no_change[0], no_change[1], majority[1], majority[2]
        faded, faded_same, faded_before = faded_sums[0], faded_sums[1], faded_sums[2]
        faded_after, faded_first = faded_sums[3], faded_sums[7]
        met = 0
        for i in range(lo, hi):
            c, own = y[i], w[i]
            if c < 0 or not own > 0.0:
                continue
            met += 1
            true[slot] = c
            values[slot, 0] = own
            slot = slot + 1 if slot + 1 < len(true) else 0
            faded_first = less(faded_first, alpha)
            if ends[0] < 0:
                ends[0] = faded_ends[0] = c
                no_change[2] = faded_first = own
            total += own
            same += own * (last == c)
            before += own * (most == c)
            weight[c] += own
            if most < 0 or weight[c] > weight[most] or (weight[c] == weight[most] and c < most):
                most = c
            after += own * (most == c)
            faded = faded * alpha + own
            faded_same = less(faded_same, alpha) + own * (last == c)
            faded_before = less(faded_before, alpha) + own * (faded_most == c)
            faded_most, top = -1, 0.0
            for j in range(k):
                faded_true[j] = less(faded_true[j], alpha) + own * (j == c)
                if faded_true[j] > top:
                    top = faded_true[j]
                    faded_most = j
            faded_after = less(faded_after, alpha) + own * (faded_most == c)
            last = np.int64(c)
        no_change[0], no_change[1], majority[0], majority[1], majority[2] = total, same, total, before, after
        faded_sums[0], faded_sums[1], faded_sums[2], faded_sums[3] = (
            faded,
            faded_same,
            faded_before,
            faded_after,
        )
        faded_sums[7] = faded_first
        rows[0] += met
        faded_ends[2] += met
        ends[1] = faded_ends[1] = last
        lo = hi
        if p < len(points):
            rivals[p, 0, 1], rivals[p, 0, 2], rivals[p, 0, 3] = same, before, after
            read_recent(true, guesses, values, rows, margins, read)
            rivals[p, 1, :4], rivals[p, 1, 4:] = read[:4], margins[0]
            rivals[p, 2, :4], rivals[p, 2, 4:] = faded_sums[:4], faded_true


@inner_kernel
def read_point(
    counts: Floats,
    unanswered: Floats,
    sums: Floats,
    true: Codes,
    predicted: Codes,
    values: Floats,
    rows: int,
    faded_predicted: Floats,
    faded_right: Floats,
    faded_sums: Floats,
    rivals: Floats,
    out: Floats,
) -> None:
    """Running, windowed and faded headlines.

    counts : float64[K, K], in; unanswered : float64[K], in; sums : float64[3], in
    true, predicted : int32[m], in; values : float64[m, 3], in; faded_predicted, faded_right : float64[K], in
    faded_sums : float64[8], in; rivals : float64[3, K + 4], in, as `count_labels` gives them; out : float64[3, 7], out
    """
    margins, read = np.empty((3, len(unanswered))), np.empty(7)
    unknown = np.zeros(3)
    read_running(counts, unanswered, sums, unknown, unknown, margins, read)
    read[1], read[2], read[3] = rivals[0, 1], rivals[0, 2], rivals[0, 3]
    headline_scores(margins, read, out[0])
    read[:4] = rivals[1, :4]
    margins[0] = rivals[1, 4:]
    margins[1:] = 0.0
    log_loss, brier, answered = 0.0, 0.0, 0.0
    kept = min(rows, len(true) // 2)
    slot = (rows - kept) % len(true)
    for _ in range(kept):
        guess, own = predicted[slot], values[slot, 0]
        if guess >= 0:
            margins[1, guess] += own
            margins[2, true[slot]] += own * (guess == true[slot])
            log_loss += own * values[slot, 1]
            brier += own * values[slot, 2]
            answered += own
        slot = slot + 1 if slot + 1 < len(true) else 0
    read[4], read[5], read[6] = log_loss, brier, answered
    headline_scores(margins, read, out[1])
    read[:4] = rivals[2, :4]
    read[4:] = faded_sums[4:7]
    margins[0], margins[1], margins[2] = rivals[2, 4:], faded_predicted, faded_right
    headline_scores(margins, read, out[2])


@kernel
def record_outcomes(
    counts: Floats,
    unanswered: Floats,
    sums: Floats,
    calibration: Floats,
    scores: Floats,
    true: Codes,
    predicted: Codes,
    values: Floats,
    rows: Index,
    faded_predicted: Floats,
    faded_right: Floats,
    faded_sums: Floats,
    weight: Floats,
    last: int,
    kind: int,
    y: Codes,
    w: Floats,
    proba: Floats,
    decided: Codes,
    alpha: float,
    points: Index,
    rivals: Floats,
    out: Floats,
) -> None:
    """Count predicted rows in all summaries as each summary's own kernel does, and read these at the points.

    What is predicted is given, or follows from the labels on the way, with the bits that the baselines' models have.
    counts : float64[K, K], in/out; unanswered : float64[K], in/out; sums : float64[3], in/out
    calibration : float64[b, 3], in/out; scores : float64[K, e, 2], in/out
    true, predicted : int32[m], in/out; values : float64[m, 3], in/out; rows : int64[1], in/out
    faded_predicted, faded_right : float64[K], in/out; faded_sums : float64[8], in/out, 4 to 6
    weight : float64[K], in/out, of the classes before the rows, for `MAJORITY`; `last` is the label before, `NO_CHANGE`
    y : int32[n], in; w : float64[n], in; proba : float64[n, K], in/out, out unless it is `GIVEN` or has no rows
    decided : int32[d], in, as `judge` takes it
    points : int64[p], in; rivals : float64[p, 3, K + 4], in, as `count_labels` gives them
    out : float64[p, 3, 7], out, running, windowed and faded headlines
    """
    k = len(unanswered)
    said, log_weight = np.zeros(k), np.empty(k)
    if kind == NO_CHANGE and last >= 0:
        said[last] = 1.0
    for j in range(k):
        log_weight[j] = math.log(weight[j])
    slot = rows[0] % len(true)
    lo = 0
    for p in range(len(points) + 1):
        hi = points[p] if p < len(points) else len(y)
        # Single variables: what was just stored would have to be loaded again for every row.
        log_losses, briers, answered = sums[0], sums[1], sums[2]
        faded_log_loss, faded_brier, faded_answered = faded_sums[4], faded_sums[5], faded_sums[6]
        met = 0
        for i in range(lo, hi):
            c, own = y[i], w[i]
            if kind == GIVEN:
                for j in range(k):
                    said[j] = proba[i, j]
            elif kind == MAJORITY:
                total, top = 0.0, -np.inf
                for j in range(k):
                    total += weight[j]
                whole = math.log(total)
                for j in range(k):
                    said[j] = log_weight[j] - whole if weight[j] > 0.0 else -np.inf
                    top = said[j] if said[j] > top else top
                total = 0.0
                for j in range(k):
                    gap = said[j] - top
                    said[j] = 1.0 if gap == 0.0 else math.exp(gap) if gap > -np.inf else 0.0
                    total += said[j]
                for j in range(k):
                    said[j] = said[j] / total if top > -np.inf else 0.0
            if kind != GIVEN and len(proba) > 0:
                for j in range(k):
                    proba[i, j] = said[j]
            if c < 0 or not own > 0.0:
                continue
            met += 1
            guess, top, brier, log_loss = NOTHING, 0.0, 0.0, 0.0
            for j in range(k):
                if said[j] > top:
                    top = said[j]
                    guess = j
                miss = said[j] - (j == c)
                brier += miss * miss
            if guess < 0:
                brier = 0.0
            else:
                log_loss = COSTLIEST if said[c] <= SMALLEST else -math.log(said[c]) if said[c] < 1.0 else 0.0
                if len(decided) > 0:
                    guess = decided[i]
            if guess < 0:
                unanswered[c] += own
            else:
                log_losses += own * log_loss
                briers += own * brier
                answered += own
                counts[c, guess] += own
                confidence = said[guess]
                at = min(int(confidence * BINS), BINS - 1)
                calibration[at, 0] += own
                calibration[at, 1] += own * confidence
                calibration[at, 2] += own * (guess == c)
                if confidence == 1.0:  # others have so little that they lie in the lowest cell
                    for j in range(k):
                        scores[j, CELLS - 1 if j == guess else 0, int(j == c)] += own
                else:
                    for j in range(k):
                        scores[j, score_cell(said[j]), int(j == c)] += own
            true[slot] = c
            predicted[slot] = guess
            values[slot, 0] = own
            values[slot, 1] = log_loss
            values[slot, 2] = brier
            slot = slot + 1 if slot + 1 < len(true) else 0
            for j in range(k):
                faded_predicted[j] = less(faded_predicted[j], alpha) + own * (j == guess)
                faded_right[j] = less(faded_right[j], alpha) + own * (j == guess and j == c)
            scored = own * (guess >= 0)
            faded_log_loss = less(faded_log_loss, alpha) + scored * log_loss
            faded_brier = less(faded_brier, alpha) + scored * brier
            faded_answered = less(faded_answered, alpha) + scored
            if kind == NO_CHANGE and c != last:
                if last >= 0:
                    said[last] = 0.0
                said[c] = 1.0
                last = c
            elif kind == MAJORITY:
                weight[c] += own
                log_weight[c] = math.log(weight[c])
        sums[0], sums[1], sums[2] = log_losses, briers, answered
        faded_sums[4], faded_sums[5], faded_sums[6] = faded_log_loss, faded_brier, faded_answered
        rows[0] += met
        lo = hi
        if p < len(points):
            read_point(
                counts, unanswered, sums, true, predicted, values, rows[0],
                faded_predicted, faded_right, faded_sums, rivals[p], out[p],
            )  # fmt: skip
