"""Averaged one-dependence estimators: log (1/|S|) sum_{s in S} P(c, x_s) prod_{i != s} P(x_i | c, x_s).

S are the columns whose value was seen often enough; P(c, x_s) = (n(x_s, c) + alpha) / (N_s + alpha k V_s). Where S
is empty, the estimate is that of naive Bayes. A class without weight that was not declared has probability 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.class_counts import add_prior, prior_size
from bayou.kernels.collection import add_tiles, log_alone, margin, place_row, place_value, share
from bayou.kernels.jit import ZERO, inner_kernel, kernel, tight_kernel
from bayou.kernels.parent_products import (
    ALONE,
    EXPONENT,
    LANES,
    MARGIN,
    PRODUCT,
    multiply_given,
    multiply_known,
    reciprocal,
    room_for,
    rows_of,
)
from bayou.kernels.sums import TILE
from bayou.kernels.value_counts import cell_seen, log_or_floor


@tight_kernel
def total_from(cells: Floats, start: np.uint64, k: np.uint64) -> float:
    """Sum over the classes of the counts from `start` on, in order.

    cells : float64[r], in
    """
    total = 0.0
    for c in range(k):
        total += cells[start + c]
    return total


@inner_kernel
def give(
    given: Floats,
    singles: Floats,
    pairs: Floats,
    layout: Index,
    at: NDArray[np.uint64],
    row: Codes,
    width: Index,
    no_missing: Flags,
    alpha: float,
    s: int,
    lo: int,
    hi: int,
    base: np.uint64,
) -> None:
    """given[base + j, c] = P(x_j | c, x_s) for lo <= j < hi, 1 for column s and where x_j is missing.

    given : float64[r, K], in/out; singles : float64[cells, K], in; pairs : float64[P, K], in
    layout : int64[3, m + 1], in; at : uint64[3, m], in; row : int32[m], in; width : int64[m], in
    no_missing : bool[m], in
    """
    k, parent, under = given.shape[1], np.uint64(s), at[0, s]
    for h in range(lo, hi):
        j, observed = np.uint64(h), row[h] >= 0 and h != s
        top = at[1, j] + under if h > s else at[1, parent] + at[0, j]
        added, known = alpha * width[j], no_missing[j]
        for c in range(0, k, 2):
            x, y = np.uint64(max(0, min(c, k - 2))), np.uint64(min(c + 1, k - 1))
            a, b = 1.0, 1.0
            if observed:
                if known:
                    n, o = singles[under, x], singles[under, y]
                else:
                    v, size = np.uint64(row[j]), layout[0, h + 1] - layout[0, h]
                    step = np.uint64(layout[0, h] if h > s else 1)
                    n, o = margin(pairs, top, step, v, size, x), margin(pairs, top, step, v, size, y)
                a = (pairs[top, x] + alpha) * reciprocal(n + added)
                b = (pairs[top, y] + alpha) * reciprocal(o + added)
            given[base + j, x], given[base + j, y] = a, b


@tight_kernel
def mean_of_parents(room: Floats, start: np.uint64, k: np.uint64, size: int) -> float:
    """The mean over the parents of the scores of one class, which lie K apart from `start` on; summed as in `row_sum`.

    room : float64[r], in
    """
    total, x = 0.0, start
    for t in range(0, size, TILE):
        end = min(size, t + TILE)
        a, b, d, e = 0.0, 0.0, 0.0, 0.0
        for _ in range((end - t) // 4):
            a += room[x]
            b += room[x + k]
            d += room[x + k + k]
            e += room[x + k + k + k]
            x += k + k + k + k
        rest = (end - t) % 4
        a += room[x] if rest > 0 else 0.0
        b += room[x + k] if rest > 1 else 0.0
        d += room[x + k + k] if rest > 2 else 0.0
        x += np.uint64(rest) * k
        total += (a + b) + (d + e)
    return total / size


@tight_kernel
def add_mean(
    out: Floats, start: np.uint64, room: Floats, step: np.uint64, classes: Floats, declared: int, size: int
) -> None:
    """out[start + c] += log of the mean of the parents' scores; -inf for a class without weight that was not declared.

    The score of a parent is room[LANES] exp(room[EXPONENT]), each a row of `step` numbers.
    out : float64[n K], in/out; room : float64[r step], in/out, spent; classes : float64[K], in
    """
    k, scores, exponents = np.uint64(len(classes)), LANES * step, EXPONENT * step
    odd = 0
    for x in range(np.uint64(size) * k):
        odd += not ((room[exponents + x] == 0.0) & (room[scores + x] > 1e-290))
    for c in range(k):
        if classes[c] <= 0.0 and declared == 0:
            out[start + c] = -np.inf
            continue
        top, plain = 0.0, True
        if odd > 0:
            for d in range(np.uint64(size)):
                at = d * k + c
                plain = plain and room[exponents + at] == 0.0 and room[scores + at] > 1e-290
        if not plain:
            top = -np.inf
            for d in range(np.uint64(size)):
                at = d * k + c
                room[scores + at] = log_or_floor(room[scores + at]) + room[exponents + at]
                top = max(top, room[scores + at])
            for d in range(np.uint64(size)):
                at = scores + d * k + c
                room[at] = math.exp(room[at] - top)
        out[start + c] += top + math.log(mean_of_parents(room, scores + c, k, size))


@inner_kernel
def add_naive(
    out: Floats,
    terms: Floats,
    classes: Floats,
    singles: Floats,
    present: Floats,
    at: NDArray[np.uint64],
    row: Codes,
    width: Index,
    declared: int,
    alpha: float,
    split: int,
    start: np.uint64,
) -> None:
    """out[start + c] += log P(c) + sum_j log P(x_j | c), with Laplace's prior.

    out : float64[n K], in/out; terms : float64[K, m], scratch; classes : float64[K], in
    singles : float64[cells, K], in; present : float64[m, K], in; at : uint64[3, m], in; row : int32[m], in
    width : int64[m], in
    """
    prior = np.zeros((1, len(classes)))
    add_prior(prior, classes, declared, alpha)
    terms[:] = 0.0
    for j in range(len(row)):
        if row[j] >= 0:
            log_alone(terms, singles, present, at[0, j], alpha, width[j], j)
    for c in range(len(classes)):
        total = add_tiles(prior[0, c], terms, c, ZERO, split)
        out[start + np.uint64(c)] += add_tiles(total, terms, c, split, len(row))


@tight_kernel
def find_parents(
    places: NDArray[np.uint64],
    alone: Floats,
    k: np.uint64,
    at: NDArray[np.uint64],
    row: Codes,
    min_count: float,
) -> int:
    """Write the columns whose values were seen often enough, with cells and first pairs, times K; return how many.

    places : uint64[3, m], out; alone : float64[cells K], in; at : uint64[3, m], in; row : int32[m], in
    """
    d = ZERO
    for s in range(np.uint64(len(row))):
        cell = at[0, s] * k
        if row[s] >= 0 and total_from(alone, cell, k) >= min_count:
            places[0, d], places[1, d], places[2, d] = s, cell, at[1, s] * k
            d += 1
    return d


@tight_kernel
def average_parents(
    out: Floats,
    room: Floats,
    stride: int,
    classes: Floats,
    alone: Floats,
    there: Floats,
    flat: Floats,
    layout: Index,
    at: NDArray[np.uint64],
    row: Codes,
    places: NDArray[np.uint64],
    size: int,
    width: Index,
    no_missing: Flags,
    declared: int,
    alpha: float,
    split: int,
    start: np.uint64,
) -> None:
    """out[start + c] += log P(c, x) of one row with at least one parent, computed directly from the counts.

    out : float64[r n K], in/out; room : float64[r stride], scratch; classes : float64[K], in
    alone : float64[cells K], in; there : float64[m K], in; flat : float64[P K], in, the counts of cells, columns and
    pairs; layout : int64[3, m + 1], in; at : uint64[3, m], in; row : int32[m], in
    places : uint64[3, >= size], in, see `find_parents`; width : int64[m], in; no_missing : bool[m], in
    """
    k, step, met = np.uint64(len(classes)), np.uint64(stride), ZERO
    for c in range(k):
        met += classes[c] > 0.0
    values, below = alpha * max(met, declared), MARGIN * step
    multiply_given(
        room, alone, flat, k, layout, at, row, places, stride, size, width, no_missing, alpha, split
    )
    for d in range(np.uint64(size)):
        s = places[0, d]
        total = total_from(there, s * k, k) + values * width[s]
        for c in range(k):
            room[below + d * k + c] = total
    for x in range(np.uint64(size) * k):
        first = share(room[ALONE * step + x] + alpha, room[below + x])
        room[LANES * step + x] = room[PRODUCT * step + x] * first
    add_mean(out, start, room, step, classes, declared, size)


@kernel
def fill_aode(
    table: Floats,
    singles: Floats,
    pairs: Floats,
    layout: Index,
    width: Index,
    no_missing: Flags,
    alpha: float,
) -> None:
    """table[parent (cells + 1) + child, c] = P(child | c, parent), for `add_aode` to look up.

    It is 1 where both are cells of one column, and for the extra cell that stands for a missing value.

    table : float64[(cells + 1)^2, K], out; singles : float64[cells, K], in; pairs : float64[P, K], in
    layout : int64[3, m + 1], in; width : int64[m], in; no_missing : bool[m], in
    """
    m, o = len(width), layout[0]
    at, row = np.zeros((3, m), dtype=np.uint64), np.zeros(m, dtype=np.int32)
    table[:] = 1.0
    for s in range(m):
        for a in range(o[s], o[s + 1]):
            place_value(at, layout, s, a - o[s])
            for j in range(m):
                if j == s:
                    continue
                for b in range(o[j], o[j + 1]):
                    place_value(at, layout, j, b - o[j])
                    row[j] = b - o[j]
                    base = np.uint64(a * (len(singles) + 1) + b - j)
                    give(table, singles, pairs, layout, at, row, width, no_missing, alpha, s, j, j + 1, base)


@kernel
def add_aode(
    out: Floats,
    table: Floats,
    classes: Floats,
    singles: Floats,
    present: Floats,
    layout: Index,
    codes: Codes,
    width: Index,
    declared: int,
    alpha: float,
    min_count: float,
    split: int,
) -> None:
    """out[i, c] += log P(c, x), by look-up in the table of `fill_aode`.

    out : float64[n, K], in/out; table : float64[(cells + 1)^2, K], in; classes : float64[K], in
    singles : float64[cells, K], in; present : float64[m, K], in; layout : int64[3, m + 1], in
    codes : int32[n, m], in; width : int64[m], in
    """
    k, m, cells, one = np.uint64(out.shape[1]), codes.shape[1], np.uint64(len(singles)), np.uint64(1)
    alone, there, factors, said = singles.reshape(-1), present.reshape(-1), table.reshape(-1), out.reshape(-1)
    stride = rows_of(m, out.shape[1])
    terms, room, first = np.empty((out.shape[1], m)), room_for(m, out.shape[1]), np.empty(singles.size)
    bases, chosen, mine = (
        np.empty(m, dtype=np.uint64),
        np.empty(m, dtype=np.uint64),
        np.empty(m, dtype=np.uint64),
    )
    met, frequent = np.empty(len(singles), dtype=np.bool_), np.empty(len(singles), dtype=np.bool_)
    at, row = np.empty((3, m), dtype=np.uint64), np.empty(m, dtype=np.int32)
    size, step, given = prior_size(classes, declared), np.uint64(stride), codes.reshape(-1)
    for s in range(m):
        below = total_from(there, np.uint64(s) * k, k) + alpha * size * width[s]
        for value in range(layout[0, s], layout[0, s + 1]):
            met[value] = cell_seen(singles, value)
            frequent[value] = met[value] and total_from(alone, np.uint64(value) * k, k) >= min_count
            for c in range(k):
                x = np.uint64(value) * k + c
                first[x] = share(alone[x] + alpha, below)
    for i in range(np.uint64(out.shape[0])):
        d = np.uint64(0)
        for j in range(np.uint64(m)):
            v = given[i * np.uint64(m) + j]
            cell = np.uint64(layout[0, j] + v)
            mine[j] = (cell if v >= 0 and met[cell] else cells) * k
            if v >= 0 and frequent[cell]:
                bases[d], chosen[d] = cell * (cells + one) * k, cell * k
                d += one
        if d == 0:
            place_row(at, row, codes, singles, layout, i)
            add_naive(said, terms, classes, singles, present, at, row, width, declared, alpha, split, i * k)
            continue
        multiply_known(room, factors, k, mine, bases, stride, int(d), split)
        for r in range(d):
            for c in range(k):
                x = r * k + c
                room[LANES * step + x] = room[PRODUCT * step + x] * first[chosen[r] + c]
        add_mean(said, i * k, room, step, classes, declared, int(d))
