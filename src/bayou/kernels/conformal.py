"""Prediction sets that contain the true class with a given coverage: adaptive conformal inference, row by row.

The score of a class is 1 - P(c | x). A class is in the set if its score is at most the (1 - alpha)-quantile of the
recent scores of true classes. After each row alpha moves by rate * (1 - coverage - miss), so that the share of misses
over n rows lies within (1 + 2 rate) / (rate n) of 1 - coverage, whatever the stream does (Gibbs and Candès, 2021):
alpha cannot leave [-rate, 1 + rate], since below 0 the set holds all classes, and above 1 none.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Flags, Floats
from bayou.kernels.jit import inner_kernel, kernel

CELLS = 256  # of equal width that divide the range of the scores
ROWS, COVERED, CLASSES = range(3)  # places in `record`


@inner_kernel
def cell_of(score: float) -> int:
    """The cell, 0 to CELLS - 1, of a score in [0, 1]."""
    return min(max(int(score * CELLS), 0), CELLS - 1)


@inner_kernel
def last_cell(scores: Floats, alpha: float) -> int:
    """The last cell of scores that are in the set, that of the (1 - alpha)-quantile: -1 for none, CELLS - 1 for all.

    scores : float64[CELLS], in
    """
    if alpha <= 0.0:
        return CELLS - 1
    if alpha >= 1.0:
        return -1
    total = 0.0
    for s in range(CELLS):
        total += scores[s]
    wanted, below = (1.0 - alpha) * (total + 1.0), 0.0
    for s in range(CELLS):
        below += scores[s]
        if below >= wanted:
            return s
    return CELLS - 1


@kernel
def conformal_rows(
    scores: Floats, alphas: Floats, record: Floats, proba: Floats, known: Floats, y: Codes, w: Floats,
    coverage: float, rate: float, forget: float, by_class: bool, out: Flags,
) -> None:  # fmt: skip
    """Row by row: out[i, c] = whether class c is in the set; then update scores and alphas from the label, if any.

    scores : float64[G, CELLS], in/out, what true classes scored, faded; alphas : float64[G], in/out
    record : float64[3], in/out, rows, those whose set held the label, classes in all sets
    proba : float64[n, K], in; known : float64[K], in/out, weight of each class, counted along
    y : int32[n], in; w : float64[n], in; out : bool[n, K], out
    G is K where `by_class`, else 1.
    """
    k = proba.shape[1]
    last = np.empty(len(alphas), dtype=np.int64)
    for i in range(len(y)):
        for g in range(len(alphas)):
            last[g] = last_cell(scores[g], alphas[g])
        size = 0.0
        for c in range(k):
            g = c if by_class else 0
            out[i, c] = known[c] > 0.0 and cell_of(1.0 - proba[i, c]) <= last[g]
            size += 1.0 if out[i, c] else 0.0
        label = y[i]
        if label < 0 or w[i] <= 0.0:
            continue
        if known[label] > 0.0:
            g = label if by_class else 0
            held = 1.0 if out[i, label] else 0.0
            record[ROWS] += 1.0
            record[COVERED] += held
            record[CLASSES] += size
            alphas[g] += rate * (held - coverage)
            for s in range(CELLS):
                scores[g, s] *= forget
            scores[g, cell_of(1.0 - proba[i, label])] += 1.0
        known[label] += w[i]
