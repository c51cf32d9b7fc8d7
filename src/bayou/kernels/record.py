"""Prequential evaluation of a batch of rows: the predictions of a model, or of a baseline, against the labels.

Every row has a label and weight 1, so that counts are integers, whose sums are exact in any order.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.outcomes import CELLS, COSTLIEST, PORTION, forget_faintest
from bayou.kernels.portions import (
    add_mirrored,
    certain_scores,
    count_certain,
    count_guesses,
    count_mirrored,
    count_scores,
    fade_further,
    judge_shares,
    judge_two_classes,
    shares_before,
)
from bayou.kernels.rivals import end_of_portion
from bayou.kernels.scores import headline_scores, read_running


@inner_kernel
def read_point(
    counts: Floats,
    unanswered: Floats,
    sums: Floats,
    true: Codes,
    guess: Codes,
    within: Floats,
    faded_predicted: Floats,
    faded_right: Floats,
    faded_sums: Floats,
    rivals: Floats,
    margins: Floats,
    read: Floats,
    out: Floats,
) -> None:
    """Compute the headline scores at one point of the curve: running, windowed and faded.

    counts : float64[K, K], in; unanswered : float64[K], in; sums : float64[3], in
    true, guess : int32[m], in, of the rows of the window; within : float64[2], in, their log-loss and Brier score
    faded_predicted, faded_right : float64[K], in; faded_sums : float64[8], in
    rivals : float64[3, K + 4], in, as `count_labels` gives them; margins : float64[3, K], out; read : float64[7], out
    out : float64[3, 7], out
    """
    read_running(counts, unanswered, sums, sums, sums, margins, read)
    read[1], read[2], read[3] = rivals[0, 1], rivals[0, 2], rivals[0, 3]
    headline_scores(margins, read, out[0])
    for i in range(4):
        read[i] = rivals[1, i]
    answered = 0
    for j in range(len(unanswered)):
        predicted = right = 0
        for i in range(len(true)):
            predicted += guess[i] == j
            right += (guess[i] == j) & (true[i] == j)
        answered += predicted
        margins[0, j], margins[1, j], margins[2, j] = rivals[1, 4 + j], predicted, right
    read[4], read[5], read[6] = within[0], within[1], answered
    headline_scores(margins, read, out[1])
    for i in range(7):
        read[i] = rivals[2, i] if i < 4 else faded_sums[i]
    for j in range(len(unanswered)):
        margins[0, j], margins[1, j], margins[2, j] = rivals[2, 4 + j], faded_predicted[j], faded_right[j]
    headline_scores(margins, read, out[2])


@inner_kernel
def forget_predictions(predicted: Floats, right: Floats, sums: Floats, rows: int) -> None:
    """Set faded counts that are nearly 0 to 0 where a portion ends after this number of rows.

    predicted, right : float64[K], in/out; sums : float64[8], in/out, 4 to 6
    """
    if rows % PORTION == 0:
        forget_faintest(predicted)
        forget_faintest(right)
        forget_faintest(sums[4:7])


@kernel
def record_no_change(
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
    labels: Codes,
    marks: Index,
    alpha: float,
    rivals: Floats,
    out: Floats,
) -> None:
    """Do as `record_outcomes` for the no-change baseline: the label before has probability 1.

    counts : float64[K, K], in/out; unanswered : float64[K], in/out; sums : float64[3], in/out
    calibration : float64[b, 3], in/out; scores : float64[K, e, 2], in/out
    true, predicted : int32[m], in/out; values : float64[m, 3], in/out; rows : int64[1], in/out
    faded_predicted, faded_right : float64[K], in/out; faded_sums : float64[8], in/out, 4 to 6
    labels : int32[l], in; marks : int64[p], in, as `count_labels` has them
    rivals : float64[p, 3, K + 4], in, as `count_labels` gives them; out : float64[p, 3, 7], out
    """
    lo = room = len(true)
    end, four, within = len(labels), np.empty(4), np.empty(2)
    margins, read = np.empty((3, len(unanswered))), np.empty(7)
    for p in range(len(marks) + 1):
        until = room + marks[p] if p < len(marks) else end
        while lo < until:
            hi = end_of_portion(rows[0] + lo - room, lo, until)
            c, guess = labels[lo:hi], labels[lo - 1 : hi - 1]
            count_certain(
                counts, unanswered, sums, calibration, faded_predicted, faded_right, faded_sums, c, guess, alpha, four
            )  # fmt: skip
            fade_further(faded_predicted, faded_right, guess, c, alpha, four)
            forget_predictions(faded_predicted, faded_right, faded_sums, rows[0] + hi - room)
            lo = hi
        if p < len(marks):
            first, wrong = until - int(rivals[p, 1, 0]), 0
            c, guess = labels[first:until], labels[first - 1 : until - 1]
            for i in range(len(c)):
                wrong += (guess[i] >= 0) & (guess[i] != c[i])
            within[0], within[1] = 0.0, 2 * wrong
            for _ in range(wrong):
                within[0] += COSTLIEST
            read_point(
                counts, unanswered, sums, c, guess, within, faded_predicted, faded_right, faded_sums, rivals[p],
                margins, read, out[p],
            )  # fmt: skip
    certain_scores(scores, counts)
    lo = max(room, end - room)
    slot = (rows[0] + lo) % room
    for i in range(lo, end):
        guessed = labels[i - 1]
        wrong = int(guessed >= 0 and guessed != labels[i])
        true[slot], predicted[slot] = labels[i], guessed
        values[slot, 0], values[slot, 1], values[slot, 2] = 1.0, COSTLIEST * wrong, 2 * wrong
        slot = slot + 1 if slot + 1 < room else 0
    rows[0] += end - room


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
    labels: Codes,
    marks: Index,
    alpha: float,
    rivals: Floats,
    out: Floats,
    weight: Floats,
    proba: Floats,
    decided: Codes,
) -> None:
    """Update all summaries of a track record with predicted rows, and write the headline scores at every point.

    The summaries get the bits that their own kernels (`judge`, `count_losses` ..) give them. Predictions are given in
    `proba`, or are the frequencies of the classes so far, if `weight` is not empty.
    counts : float64[K, K], in/out; unanswered : float64[K], in/out; sums : float64[3], in/out
    calibration : float64[b, 3], in/out; scores : float64[K, e, 2], in/out
    true, predicted : int32[m], in/out; values : float64[m, 3], in/out; rows : int64[1], in/out
    faded_predicted, faded_right : float64[K], in/out; faded_sums : float64[8], in/out, 4 to 6
    labels : int32[l], in; marks : int64[p], in, as `count_labels` has them
    rivals : float64[p, 3, K + 4], in, as `count_labels` gives them; out : float64[p, 3, 7], out
    weight : float64[K], in/out, of the classes before the rows, or nothing
    proba : float64[n, K], in; decided : int32[d], in, as `judge` takes it
    """
    lo = room = len(true)  # two windows: as many rows stand before these in `labels`
    end, majority = len(labels), len(weight) > 0
    guesses, loss, brier = np.empty(end, np.int32), np.empty(end), np.empty(end)
    # The window of the first point may begin before these rows.
    for i in range(room - room // 2 + marks[0] if len(marks) > 0 else room, room):
        slot = (rows[0] + i) % room
        guesses[i], loss[i], brier[i] = predicted[slot], values[slot, 1], values[slot, 2]
    said, confidence = np.empty((len(unanswered), PORTION)), np.empty(PORTION)
    cells, opposite, mirrored = (
        np.empty(PORTION, np.int32),
        np.empty(PORTION, np.int32),
        np.zeros(2 * CELLS, np.int64),
    )
    pair, within = np.empty(4), np.empty(2)
    margins, read = np.empty((3, len(unanswered))), np.empty(7)
    for p in range(len(marks) + 1):
        until = room + marks[p] if p < len(marks) else end
        first = until - int(rivals[p, 1, 0]) if p < len(marks) else end  # row of the window
        overlaps = first < lo
        while lo < until:
            if lo == first:
                within[0], within[1] = 0.0, 0.0
            hi = end_of_portion(rows[0] + lo - room, lo, first if lo < first else until)
            c, guess, sure = labels[lo:hi], guesses[lo:hi], confidence[: hi - lo]
            if majority:
                shares_before(weight, c, said)
            else:
                for j in range(len(said)):
                    column = said[j]
                    for i in range(len(c)):
                        column[i] = proba[np.uint64(lo - room + i), np.uint64(j)]
            if len(said) == 2 and len(decided) == 0:
                judge_two_classes(said, c, guess, sure, loss[lo:hi], brier[lo:hi])
            else:
                judge_shares(said, c, decided[lo - room : hi - room], guess, sure, loss[lo:hi], brier[lo:hi])
            if majority or not (len(said) == 2 and count_mirrored(mirrored, said, c, guess, cells, opposite)):
                count_scores(scores, said, c, guess, cells, majority and guess[0] >= 0)
            count_guesses(
                counts, unanswered, sums, calibration, faded_predicted, faded_right, faded_sums,
                c, guess, sure, loss[lo:hi], brier[lo:hi], alpha, pair, within,
            )  # fmt: skip
            fade_further(faded_predicted, faded_right, guess, c, alpha, pair)
            forget_predictions(faded_predicted, faded_right, faded_sums, rows[0] + hi - room)
            lo = hi
        if p < len(marks):
            if overlaps:
                within[0], within[1] = 0.0, 0.0
                for i in range(first, until):
                    within[0] += loss[i]
                    within[1] += brier[i]
            read_point(
                counts, unanswered, sums, labels[first:until], guesses[first:until], within,
                faded_predicted, faded_right, faded_sums, rivals[p], margins, read, out[p],
            )  # fmt: skip
    if len(said) == 2:
        add_mirrored(scores, mirrored)
    lo = max(room, end - room)
    slot = (rows[0] + lo) % room
    for i in range(lo, end):
        true[slot], predicted[slot] = labels[i], guesses[i]
        values[slot, 0], values[slot, 1], values[slot, 2] = 1.0, loss[i], brier[i]
        slot = slot + 1 if slot + 1 < room else 0
    rows[0] += end - room
