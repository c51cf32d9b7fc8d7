"""Test-then-train with error-correcting codes: log-odds of each column before each row, which is then counted.

See `bayou.kernels.ecoc` for codes, their columns and folding, and `bayou.kernels.word_counts` for documents.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.ecoc import add_sides, cell_odds, count_sides, fold_row, log_totals, side_width
from bayou.kernels.jit import ZERO, kernel
from bayou.kernels.value_counts import cached_log
from bayou.kernels.word_counts import count_in_turn, word_in_use


@kernel
def prior_odds_then_update(
    weight: Floats,
    out: Floats,
    y: Codes,
    w: Floats,
    dichotomies: Floats,
    fold: Floats,
    logs: Floats,
    alpha: float,
) -> None:
    """Row by row: add the log-odds of the prior as they stood before the row, then count the row.

    weight : float64[K], in/out; out : float64[n, K] if folded, else float64[n, m], in/out; y : int32[n], in
    w : float64[n], in; dichotomies : float64[2, K, m], in; fold : float64[m, K] or [0, 0], in
    logs : float64[l], in, log of integers
    """
    m, wide = dichotomies.shape[2], out.shape[1]
    sides, odds, said, sheet = np.empty(2 * m), np.empty(m), np.empty(wide), fold.reshape(-1)
    changed = True
    for i in range(len(y)):
        if changed:
            add_sides(sides, weight, 0, dichotomies)
            for b in range(m):
                odds[b] = cached_log(sides[b] + alpha, logs) - cached_log(sides[m + b] + alpha, logs)
            if len(fold) > 0:
                fold_row(said, 0, odds, sheet, wide)
            else:
                said[:] = odds
        for c in range(wide):
            out[i, c] += said[c]
        changed = y[i] >= 0
        if changed:
            weight[y[i]] += w[i]


@kernel
def word_odds_then_update(
    counts: Floats,
    total: Floats,
    seen: Index,
    out: Floats,
    indptr: Index,
    ids: Codes,
    amounts: Floats,
    y: Codes,
    w: Floats,
    logs: Floats,
    declared: float,
    alpha: float,
    least: float,
    later: Codes,
    taken_at: Index,
    taken: Codes,
    dichotomies: Floats,
    fold: Floats,
    ternary: bool,
) -> None:
    """Document by document: add the log-odds as they stood before it, then count it.

    Where the columns are `ternary`, the vocabulary of each is the words that occurred in the classes of its two sides.
    counts : float64[V, K], in/out; total : float64[K], in/out; seen : int64[1], in/out
    out : float64[n, K] if folded, else float64[n, m], in/out; indptr : int64[n + 1], in; ids : int32[nnz], in
    amounts : float64[nnz], in; y : int32[n], in; w : float64[n], in; logs : float64[l], in, log of integers
    later : int32[nnz], in; taken_at : int64[n + 1], in, or int64[0]; taken : int32[t], in
    dichotomies : float64[2, K, m], in; fold : float64[m, K] or [0, 0], in
    """
    k, m, wide, folds = dichotomies.shape[1], dichotomies.shape[2], out.shape[1], len(fold) > 0
    met, width, sides, below = np.empty(m), np.empty(m), np.empty(2 * m), np.empty(2 * m)
    odds, said, score, sheet, flat = (
        np.empty(m),
        np.empty(wide),
        np.empty(wide),
        fold.reshape(-1),
        counts.reshape(-1),
    )
    if ternary:
        side_width(met, counts, dichotomies, 0.0, ZERO, len(counts))
    for i in range(len(y)):
        for b in range(m):
            width[b] = max(met[b] if ternary else float(seen[0]), declared)
        log_totals(below, sides, total, width, dichotomies, logs, alpha, 0.0)
        for c in range(wide):
            score[c] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            if least > 0.0 and not word_in_use(counts, ids[e], least):
                continue
            weight = add_sides(sides, flat, ids[e] * k, dichotomies)
            if weight == 0.0:
                continue
            cell_odds(odds, sides, below, weight, width, logs, alpha, 0.0)
            if folds:
                fold_row(said, 0, odds, sheet, k)
                for c in range(wide):
                    score[c] += amounts[e] * said[c]
            else:
                for b in range(m):
                    score[b] += amounts[e] * odds[b]
        for c in range(wide):
            out[i, c] += score[c]
        for e in range(indptr[i], indptr[i + 1] if ternary else indptr[i]):
            count_sides(met, sides, flat, later[e], dichotomies, -1.0)
        count_in_turn(
            counts, total, seen, indptr[i : i + 2], later, amounts, y[i : i + 1], w[i : i + 1], False,
            taken_at[i : i + 2], taken,
        )  # fmt: skip
        for e in range(indptr[i], indptr[i + 1] if ternary else indptr[i]):
            count_sides(met, sides, flat, later[e], dichotomies, 1.0)
