"""Binary classifiers between groups of classes, computed from the counts of the classes, and their decoding (ECOC).

A code has m columns, each a dichotomy: column b puts class c on the side + (dichotomies[0, c, b] = 1), on the
side - (dichotomies[1, c, b] = 1), or leaves it out. Its log-odds are z_b = log p(x, +) - log p(x, -),
both sides smoothed after their counts are added up; classes are added in storage order. Where the
 decoding is linear in z, tables hold sum_b z_b fold[b, c] instead.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.gaussian import CONSTANT_SHARE
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.moments import merge_moments
from bayou.kernels.normal import read_columns
from bayou.kernels.value_counts import cached_log, log_or_floor
from bayou.kernels.word_counts import word_in_use

LOG_2 = math.log(2.0)


@inner_kernel
def add_sides(sides: Floats, counts: Floats, start: int, dichotomies: Floats) -> float:
    """sides[b], sides[m + b] = sum of the K counts from `start` on over the classes on either side of column b.

    Returns the sum of all K counts if they are whole numbers, else infinity. Uses no slices, since Numba would count
    references for each.
    sides : float64[2 m], out; counts : float64[r], in; dichotomies : float64[2, K, m], in
    """
    k, m = np.uint64(dichotomies.shape[1]), np.uint64(dichotomies.shape[2])
    flat, first, weight = dichotomies.reshape(-1), np.uint64(start), 0.0
    for b in range(m + m):
        sides[b] = 0.0
    for c in range(k):
        count = counts[first + c]
        if count != 0.0:
            weight += count if count > 0.0 and count == np.floor(count) else np.inf
            up, down = c * m, (k + c) * m
            for b in range(m):
                sides[b] += count * flat[up + b]
                sides[m + b] += count * flat[down + b]
    return weight


@kernel
def prior_odds(out: Floats, weight: Floats, dichotomies: Floats, alpha: float) -> None:
    """out[b] = log(N_+ + alpha) - log(N_- + alpha).

    out : float64[m], out; weight : float64[K], in; dichotomies : float64[2, K, m], in
    """
    m = len(out)
    sides = np.empty(2 * m)
    add_sides(sides, weight, 0, dichotomies)
    for b in range(m):
        out[b] = log_or_floor(sides[b] + alpha) - log_or_floor(sides[m + b] + alpha)


@kernel
def side_width(width: Floats, counts: Floats, dichotomies: Floats, declared: float, lo: int, hi: int) -> None:
    """width[b] = number of cells lo..hi with weight on either side of column b, or the declared number if larger.

    width : float64[m], out; counts : float64[cells, K], in; dichotomies : float64[2, K, m], in
    """
    sides, flat = np.empty(2 * len(width)), counts.reshape(-1)
    width[:] = 0.0
    for v in range(lo, hi):
        count_sides(width, sides, flat, v, dichotomies, 1.0)
    for b in range(len(width)):
        width[b] = max(width[b], declared)


@inner_kernel
def count_sides(
    width: Floats, sides: Floats, counts: Floats, v: int, dichotomies: Floats, step: float
) -> None:
    """width[b] += step where cell v has weight on either side of column b.

    width : float64[m], in/out; sides : float64[2 m], scratch; counts : float64[cells K], in
    dichotomies : float64[2, K, m], in
    """
    m = len(width)
    add_sides(sides, counts, v * dichotomies.shape[1], dichotomies)
    for b in range(m):
        width[b] += step if sides[b] > 0.0 or sides[m + b] > 0.0 else 0.0


@inner_kernel
def log_totals(
    below: Floats,
    sides: Floats,
    total: Floats,
    width: Floats,
    dichotomies: Floats,
    logs: Floats,
    alpha: float,
    m: float,
) -> None:
    """below[b], below[columns + b] = log(N + alpha V + m) of either side of column b, V = width[b].

    below, sides : float64[2 columns], out; total : float64[K], in; width : float64[columns], in
    dichotomies : float64[2, K, columns], in; logs : float64[l], in, log of integers
    """
    columns = len(width)
    add_sides(sides, total, 0, dichotomies)
    for b in range(columns):
        added = alpha * width[b] + m
        below[b] = cached_log(sides[b] + added, logs)
        below[columns + b] = cached_log(sides[columns + b] + added, logs)


@inner_kernel
def cell_odds(
    odds: Floats,
    sides: Floats,
    below: Floats,
    weight: float,
    width: Floats,
    logs: Floats,
    alpha: float,
    m: float,
) -> None:
    """odds[b] = log P(v | +) - log P(v | -) of a cell with these counts on the sides, 0 where it has none on both.

    Where the counts are whole numbers and so is alpha, all logarithms are looked up, several at a time.
    odds : float64[columns], out; sides, below : float64[2 columns], in; weight : see `add_sides`
    width : float64[columns], in; logs : float64[l], in, log of integers
    """
    columns = np.uint64(len(odds))
    if m == 0.0 and alpha == np.floor(alpha) and weight + alpha < len(logs):
        for b in range(columns):
            plus, minus = sides[b], sides[columns + b]
            up = logs[np.uint32(plus + alpha)] - below[b]
            z = up - (logs[np.uint32(minus + alpha)] - below[columns + b])
            odds[b] = z if plus + minus > 0.0 else 0.0
        return
    for b in range(columns):
        odds[b] = 0.0
        plus, minus = sides[b], sides[columns + b]
        if plus > 0.0 or minus > 0.0:
            a = alpha + m / max(width[b], 1.0)
            up = cached_log(plus + a, logs) - below[b]
            odds[b] = up - (cached_log(minus + a, logs) - below[columns + b])


@kernel
def odds_table(
    counts: Floats,
    cells: Index,
    total: Floats,
    width: Floats,
    dichotomies: Floats,
    fold: Floats,
    logs: Floats,
    alpha: float,
    m: float,
    least: float,
    out: Floats,
) -> None:
    """Write the log-odds of cell v = cells[r] to row r, log P(v | +) - log P(v | -), column by column or folded.

    P(v | side) = (n + alpha + m/V) / (N + alpha V + m), V = width[b]. The log-odds are 0 for a cell without weight on
    both sides, and for one that weighs less than `least` in all classes together.
    counts : float64[cells, K], in; cells : int64[r], in; total : float64[K], in; width : float64[m], in
    dichotomies : float64[2, K, m], in; fold : float64[m, K] or [0, 0], in; logs : float64[l], in, log of integers
    out : float64[r, K] if folded, else float64[r, m], out
    """
    columns, k, flat = len(width), len(total), counts.reshape(-1)
    sides, below, odds = np.empty(2 * columns), np.empty(2 * columns), np.empty(columns)
    said, sheet, wide = out.reshape(-1), fold.reshape(-1), out.shape[1]
    log_totals(below, sides, total, width, dichotomies, logs, alpha, m)
    for r in range(len(cells)):
        if least > 0.0 and not word_in_use(counts, cells[r], least):
            for c in range(wide):
                said[r * wide + c] = 0.0
            continue
        weight = add_sides(sides, flat, cells[r] * k, dichotomies)
        cell_odds(odds, sides, below, weight, width, logs, alpha, m)
        if len(fold) == 0:
            for b in range(columns):
                said[r * columns + b] = odds[b]
        else:
            fold_row(said, r * k, odds, sheet, k)


@inner_kernel
def fold_row(out: Floats, start: int, odds: Floats, fold: Floats, size: int) -> None:
    """out[start + c] = sum_b odds[b] fold[K b + c], columns in order.

    out : float64[r], in/out; odds : float64[m], in; fold : float64[m K], in
    """
    k, first, at = np.uint64(size), np.uint64(start), np.uint64(0)
    for c in range(k):
        out[first + c] = 0.0
    for b in range(len(odds)):
        z = odds[b]
        for c in range(k):
            out[first + c] += z * fold[at + c]
        at += k


@kernel
def add_folded(out: Floats, odds: Floats, fold: Floats) -> None:
    """out[i, c] += sum_b odds[i, b] fold[b, c].

    out : float64[n, K], in/out; odds : float64[n, m], in; fold : float64[m, K], in
    """
    score, sheet = np.empty(out.shape[1]), fold.reshape(-1)
    for i in range(len(out)):
        fold_row(score, 0, odds[i], sheet, out.shape[1])
        for c in range(out.shape[1]):
            out[i, c] += score[c]


@kernel
def side_gaussians(
    n: Floats,
    mean: Floats,
    m2: Floats,
    dichotomies: Floats,
    ddof: float,
    floor: float,
    peak: Floats,
    centre: Floats,
    half: Floats,
) -> None:
    """Fit normal densities to both sides of every column: side + of column b in row 2 b, side - in row 2 b + 1.

    n, mean, m2 : float64[K, p], in; dichotomies : float64[2, K, m], in; peak, centre, half : float64[2 m, p], out
    """
    p = n.shape[1]
    weight = np.empty((2, p))
    middle = np.empty((2, p))
    squares = np.empty((2, p))
    bounds = np.empty((3, p))
    for b in range(dichotomies.shape[2]):
        weight[:] = 0.0
        middle[:] = 0.0
        squares[:] = 0.0
        for c in range(n.shape[0]):
            for s in range(2):
                if dichotomies[s, c, b] > 0.0:
                    merge_moments(
                        weight[s : s + 1], middle[s : s + 1], squares[s : s + 1],
                        n[c : c + 1], mean[c : c + 1], m2[c : c + 1],
                    )  # fmt: skip
        lo, hi = 2 * b, 2 * b + 2
        read_columns(
            peak[lo:hi],
            centre[lo:hi],
            half[lo:hi],
            bounds,
            weight,
            middle,
            squares,
            ddof,
            floor,
            CONSTANT_SHARE,
        )


@kernel
def add_difference(out: Floats, both: Floats) -> None:
    """out[i, b] += both[i, 2 b] - both[i, 2 b + 1].

    out : float64[n, m], in/out; both : float64[n, 2 m], in
    """
    for i in range(len(out)):
        for b in range(out.shape[1]):
            out[i, b] += both[i, 2 * b] - both[i, 2 * b + 1]


@kernel
def log_sigmoid(z: float) -> float:
    """log(1 / (1 + exp(-z))), without overflow."""
    return -math.log1p(math.exp(-z)) if z > 0.0 else z - math.log1p(math.exp(z))


@kernel
def decode_soft(odds: Floats, signs: Floats, weight: Floats, out: Floats) -> None:
    """out[i, c] = sum_b weight_b log p_b(sign of class c); a class left out by a column gets log 1/2 there.

    odds : float64[n, m], in; signs : float64[m, K], in; weight : float64[m], in; out : float64[n, K], out
    """
    out[:] = 0.0
    for i in range(len(out)):
        for b in range(len(weight)):
            z = odds[i, b]
            rest = math.log1p(math.exp(-abs(z)))
            up, down = weight[b] * (min(z, 0.0) - rest), weight[b] * (min(-z, 0.0) - rest)
            left_out = -weight[b] * LOG_2
            for c in range(out.shape[1]):
                sign = signs[b, c]
                out[i, c] += up if sign > 0.0 else (down if sign < 0.0 else left_out)


@kernel
def decode_absolute(odds: Floats, signs: Floats, weight: Floats, out: Floats) -> None:
    """out[i, c] = -sum_b weight_b |(1 + sign) / 2 - p_b|; half a bit where a column leaves the class out.

    odds : float64[n, m], in; signs : float64[m, K], in; weight : float64[m], in; out : float64[n, K], out
    """
    out[:] = 0.0
    for i in range(len(out)):
        for b in range(len(weight)):
            p = math.exp(log_sigmoid(odds[i, b]))
            for c in range(out.shape[1]):
                sign = signs[b, c]
                out[i, c] -= weight[b] * ((1.0 - p) if sign > 0.0 else (p if sign < 0.0 else 0.5))


@kernel
def decode_votes(
    odds: Floats, signs: Floats, weight: Floats, prior: Floats, lexical: bool, tie: float, out: Floats
) -> None:
    """out[i, c] = sum_b weight_b sign_bc bit_b / 2, plus less than `tie` to rank equal votes.

    bit_b is the sign of z_b, 0 where it is 0. Equal votes are ranked by the sum of weight_b sign_bc z_b, then by the
    prior; or, if `lexical`, by the first column in which exactly one of two classes has its bit wrong: that class
    ranks higher, as the standard array has it. Classes whose log prior is -inf are not compared: the schema may list
    them for rows still to come.
    odds : float64[n, m], in; signs : float64[m, K], in; weight : float64[m], in; prior : float64[n, K], in
    out : float64[n, K], out
    """
    k = out.shape[1]
    votes, margin, beaten = np.empty(k), np.empty(k), np.empty(k)
    for i in range(len(out)):
        votes[:] = 0.0
        margin[:] = 0.0
        for b in range(len(weight)):
            z = odds[i, b]
            bit = weight[b] * np.sign(z)
            for c in range(k):
                votes[c] += signs[b, c] * bit
                margin[c] += signs[b, c] * (weight[b] * z)
        beaten[:] = 0.0
        possible = 0.0
        for c in range(k):
            if prior[i, c] == -np.inf:
                continue
            possible += 1.0
            for other in range(c):
                if votes[other] == votes[c] and prior[i, other] > -np.inf:
                    if lexical:
                        first = first_error(odds[i], signs, c, other)
                    elif margin[other] != margin[c]:
                        first = 1 if margin[c] > margin[other] else -1
                    else:
                        first = (
                            1
                            if prior[i, c] > prior[i, other]
                            else (-1 if prior[i, c] < prior[i, other] else 0)
                        )
                    if first > 0:
                        beaten[c] += 1.0
                    elif first < 0:
                        beaten[other] += 1.0
        for c in range(k):
            out[i, c] = 0.5 * votes[c] + tie * beaten[c] / max(possible, 1.0)


@inner_kernel
def first_error(odds: Floats, signs: Floats, c: int, other: int) -> int:
    """1 if class c is the first of the two to have a bit wrong where the other has it right, -1 if not, 0 if never.

    odds : float64[m], in; signs : float64[m, K], in
    """
    for b in range(len(odds)):
        mine = signs[b, c] * odds[b] < 0.0
        theirs = signs[b, other] * odds[b] < 0.0
        if mine != theirs:
            return 1 if mine else -1
    return 0
