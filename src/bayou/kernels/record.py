"""All that a track record counts, over a batch: what the labels alone say, and what was predicted against them.

The first is the same for all models, and is counted once. Two of them need no more than labels: the baselines.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.outcomes import heaviest, less
from bayou.kernels.portions import (
    add_by_class,
    certain_scores,
    count_guesses,
    count_scores,
    count_steady_scores,
    fade_further,
    judge_no_change,
    judge_shares,
    shares_of,
)
from bayou.kernels.scores import headline_scores, read_running, recent_rivals

GIVEN, NO_CHANGE, MAJORITY = range(3)  # what is predicted
PORTION = 256  # rows


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
    at: Index,
    labels: Codes,
    own: Floats,
    marks: Index,
    rivals: Floats,
) -> int:
    """Count how rows would be predicted by their labels alone, and read it at the points: running, recent and faded.

    Rows with a label and weight are collected on the way, for the records of the models; returns their number.
    no_change : float64[3], in/out; ends : int64[2], in/out; weight : float64[K], in/out; majority : float64[3], in/out
    faded_true : float64[K], in/out; faded_sums : float64[8], in/out, all but 4 to 6; faded_ends : int64[3], in/out
    true : int32[m], in/out; values : float64[m, 3], in/out; rows : int64[1], in/out, a ring as `keep_recent` fills it
    y : int32[n], in; w : float64[n], in
    points : int64[p], in, numbers of rows after which there is a point, ascending
    at : int64[n], out, where the collected rows are; labels : int32[n], out; own : float64[n], out, their weights
    marks : int64[p], out, how many of them there are up to each point
    rivals : float64[p, 3, K + 4], out, weight, right by no-change and by the majority before and after, weight by class
    """
    latest = np.empty(len(weight))  # by class, of the rows of a window
    most, faded_most = heaviest(weight), heaviest(faded_true)
    slot, last = rows[0] % len(true), ends[1]
    lo = met = 0
    for p in range(len(points) + 1):
        hi = points[p] if p < len(points) else len(y)
        # Single variables: what was just stored would have to be loaded again for every row.
        total, same, before, after = no_change[0], no_change[1], majority[1], majority[2]
        faded, faded_same, faded_before = faded_sums[0], faded_sums[1], faded_sums[2]
        faded_after, faded_first = faded_sums[3], faded_sums[7]
        already = met
        for i in range(lo, hi):
            c, one = y[i], w[i]
            if c < 0 or not one > 0.0:
                continue
            at[met], labels[met], own[met] = i, c, one
            met += 1
            true[slot] = c
            values[slot, 0] = one
            slot = slot + 1 if slot + 1 < len(true) else 0
            faded_first = less(faded_first, alpha)
            if ends[0] < 0:
                ends[0] = faded_ends[0] = c
                no_change[2] = faded_first = one
            total += one
            same += one * (last == c)
            before += one * (most == c)
            weight[c] += one
            if most < 0 or weight[c] > weight[most] or (weight[c] == weight[most] and c < most):
                most = c
            after += one * (most == c)
            faded = faded * alpha + one
            faded_same = less(faded_same, alpha) + one * (last == c)
            faded_before = less(faded_before, alpha) + one * (faded_most == c)
            faded_most, top = -1, 0.0
            for j in range(len(weight)):
                faded_true[j] = less(faded_true[j], alpha) + one * (j == c)
                if faded_true[j] > top:
                    top = faded_true[j]
                    faded_most = j
            faded_after = less(faded_after, alpha) + one * (faded_most == c)
            last = np.int64(c)
        no_change[0], no_change[1], majority[0], majority[1], majority[2] = total, same, total, before, after
        faded_sums[0], faded_sums[1], faded_sums[2], faded_sums[3] = (
            faded,
            faded_same,
            faded_before,
            faded_after,
        )
        faded_sums[7] = faded_first
        rows[0] += met - already
        faded_ends[2] += met - already
        ends[1] = faded_ends[1] = last
        lo = hi
        if p < len(points):
            marks[p] = met
            rivals[p, 0, 1], rivals[p, 0, 2], rivals[p, 0, 3] = same, before, after
            recent_rivals(
                latest, p > 0 and met - already == len(true) // 2, true, values, rows[0], rivals[p, 1]
            )
            rivals[p, 2, :4], rivals[p, 2, 4:] = faded_sums[:4], faded_true
    return met


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
    at: Index,
    labels: Codes,
    own: Floats,
    marks: Index,
    proba: Floats,
    decided: Codes,
    alpha: float,
    logs: Floats,
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
    at : int64[m], in; labels : int32[m], in; own : float64[m], in; marks : int64[p], in, as `count_labels` gives them
    proba : float64[n, K], in/out, out unless it is `GIVEN` or has no rows; decided : int32[d], in, as `judge` takes it
    logs : float64[l], in, of integers; rivals : float64[p, 3, K + 4], in, as `count_labels` gives them
    out : float64[p, 3, 7], out, running, windowed and faded headlines
    """
    k, room = len(unanswered), min(len(at), PORTION)
    said, weights, lost = np.empty((k, room)), np.empty((k, room)), np.empty((2, room))
    guesses, cells = np.empty(room, np.int32), np.empty(room, np.int32)
    confidence, top = np.empty(room), np.empty(room)
    lo = 0
    for p in range(len(marks) + 1):
        end = marks[p] if p < len(marks) else len(at)
        while lo < end:
            hi = min(lo + PORTION, end)
            n, here, c, some = hi - lo, at[lo:hi], labels[lo:hi], own[lo:hi]
            guess, sure = guesses[:n], confidence[:n]
            if kind == NO_CHANGE:
                last = judge_no_change(last, c, guess, sure, lost)
                for i in range(n if len(proba) > 0 else 0):
                    if guess[i] >= 0:
                        proba[here[i], guess[i]] = 1.0
            elif kind == MAJORITY:
                add_by_class(weight, weights, c, some)
                shares_of(weights, logs, said, sure, top[:n])
                judge_shares(said, c, guess, sure, lost)
                count_steady_scores(scores, said, c, some, guess, cells)
                for i in range(n if len(proba) > 0 else 0):
                    for j in range(k):
                        proba[here[i], j] = said[j, i]
            else:
                for j in range(k):
                    column = said[j]
                    for i in range(n):
                        column[i] = proba[np.uint64(here[i]), np.uint64(j)]
                judge_shares(said, c, guess, sure, lost)
                for i in range(n if len(decided) > 0 else 0):
                    if guess[i] >= 0:
                        guess[i] = decided[here[i]]
                        sure[i] = said[guess[i], i]
                count_scores(scores, said, c, some, guess, cells)
            count_guesses(
                counts, unanswered, sums, calibration, faded_predicted, faded_right, faded_sums,
                c, some, guess, sure, lost, alpha,
            )  # fmt: skip
            fade_further(faded_predicted, faded_right, guess, c, some, alpha)
            slot = rows[0] % len(true)
            for i in range(n):
                true[slot], predicted[slot] = c[i], guess[i]
                values[slot, 0], values[slot, 1], values[slot, 2] = some[i], lost[0, i], lost[1, i]
                slot = slot + 1 if slot + 1 < len(true) else 0
            rows[0] += n
            lo = hi
        if p < len(marks):
            read_point(
                counts, unanswered, sums, true, predicted, values, rows[0],
                faded_predicted, faded_right, faded_sums, rivals[p], out[p],
            )  # fmt: skip
    if kind == NO_CHANGE:
        certain_scores(scores, counts)
