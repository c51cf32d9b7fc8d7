"""All that a track record counts, in one call per batch: outcomes of its rows, and the points of its curve."""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import kernel
from bayou.kernels.outcomes import (
    count_confusion,
    count_losses,
    count_majority,
    count_no_change,
    fade_outcomes,
    judge,
    keep_recent,
)
from bayou.kernels.scores import headline_scores, read_recent, read_running


@kernel
def record_outcomes(
    y: Codes,
    w: Floats,
    proba: Floats,
    decided: Codes,
    counts: Floats,
    unanswered: Floats,
    sums: Floats,
    calibration: Floats,
    scores: Floats,
    true: Codes,
    predicted: Codes,
    values: Floats,
    rows: Index,
    faded_true: Floats,
    faded_predicted: Floats,
    faded_right: Floats,
    faded_sums: Floats,
    faded_ends: Index,
    alpha: float,
    no_change: Floats,
    ends: Index,
    weight: Floats,
    majority: Floats,
    points: Index,
    out: Floats,
) -> None:
    """Count predicted rows in all summaries, and read these at the points: what each summary's own kernel does.

    y : int32[n], in; w : float64[n], in; proba : float64[n, K], in; decided : int32[d], in, as `judge` takes it
    counts : float64[K, K], in/out; unanswered : float64[K], in/out
    sums : float64[3], in/out; calibration : float64[b, 3], in/out; scores : float64[K, e, 2], in/out
    true, predicted : int32[m], in/out; values : float64[m, 3], in/out; rows : int64[1], in/out
    faded_true, faded_predicted, faded_right : float64[K], in/out
    faded_sums : float64[8], in/out; faded_ends : int64[3], in/out
    no_change : float64[3], in/out; ends : int64[2], in/out; weight : float64[K], in/out; majority : float64[3], in/out
    points : int64[p], in, numbers of rows after which there is a point, ascending
    out : float64[p, 3, 7], out, running, windowed and faded headlines
    """
    guesses = np.empty(len(y), np.int32)
    losses = np.empty((len(y), 2))
    judge(y, w, proba, decided, guesses, losses)
    margins, read = np.empty((3, len(weight))), np.empty(7)
    lo = 0
    for p in range(len(points) + 1):
        hi = points[p] if p < len(points) else len(y)
        y_, w_, guesses_, losses_ = y[lo:hi], w[lo:hi], guesses[lo:hi], losses[lo:hi]
        count_confusion(counts, unanswered, y_, w_, guesses_)
        count_losses(sums, calibration, scores, y_, w_, proba[lo:hi], guesses_, losses_)
        keep_recent(true, predicted, values, rows, y_, w_, guesses_, losses_)
        faded = (faded_true, faded_predicted, faded_right)
        fade_outcomes(*faded, faded_sums, faded_ends, alpha, y_, w_, guesses_, losses_)
        count_no_change(no_change, ends, y_, w_)
        count_majority(weight, majority, y_, w_)
        lo = hi
        if p < len(points):
            read_running(counts, unanswered, sums, no_change, majority, margins, read)
            headline_scores(margins, read, out[p, 0])
            read_recent(true, predicted, values, rows, margins, read)
            headline_scores(margins, read, out[p, 1])
            margins[0], margins[1], margins[2] = faded
            headline_scores(margins, faded_sums[:7], out[p, 2])
