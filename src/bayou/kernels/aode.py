"""Averaged one-dependence estimators: log (1/|S|) sum_{s in S} P(c, x_s) prod_{i != s} P(x_i | c, x_s).

S are the columns whose value was seen often enough; P(c, x_s) = (n(x_s, c) + alpha) / (N_s + alpha k V_s). Where S
is empty, naive Bayes. A class without weight that nobody declared has probability 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.class_counts import add_prior, prior_size
from bayou.kernels.collection import add_tiles, log_alone, margin, place_row, place_value, share
from bayou.kernels.jit import ZERO, inner_kernel, kernel, tight_kernel
from bayou.kernels.parent_products import multiply_given
from bayou.kernels.products import multiply
from bayou.kernels.value_counts import cell_seen, log_or_floor


@inner_kernel
def row_total(table: Floats, i: np.uint64) -> float:
    """Sum over classes of one row of a table, in order.

    table : float64[r, K], in
    """
    total = 0.0
    for c in range(table.shape[1]):
        total += table[i, c]
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
                a = share(pairs[top, x] + alpha, n + added)
                b = share(pairs[top, y] + alpha, o + added)
            given[base + j, x], given[base + j, y] = a, b


@inner_kernel
def add_mean(out: Floats, scores: Floats, classes: Floats, declared: int, d: int, i: int) -> None:
    """out[i, c] += log of the mean of scores[0, c, :d] exp(scores[1, c, :d]), over the classes that are possible.

    out : float64[n, K], in/out; scores : float64[2, K, m], in/out, spent; classes : float64[K], in
    """
    for c in range(out.shape[1]):
        if classes[c] <= 0.0 and declared == 0:
            out[i, c] = -np.inf
            continue
        top, plain = 0.0, True
        for s in range(d):
            plain = plain and scores[1, c, s] == 0.0 and scores[0, c, s] > 1e-290
        if not plain:
            top = -np.inf
            for s in range(d):
                scores[0, c, s] = log_or_floor(scores[0, c, s]) + scores[1, c, s]
                top = max(top, scores[0, c, s])
            for s in range(d):
                scores[0, c, s] = math.exp(scores[0, c, s] - top)
        out[i, c] += top + math.log(add_tiles(0.0, scores[0], c, ZERO, d) / d)


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
    i: int,
) -> None:
    """out[i, c] += log P(c) + sum_j log P(x_j | c), with Laplace's prior.

    out : float64[n, K], in/out; terms : float64[K, m], scratch; classes : float64[K], in
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
        out[i, c] += add_tiles(total, terms, c, split, len(row))


@tight_kernel
def read_one_dependence(
    out: Floats,
    terms: Floats,
    room: Floats,
    scores: Floats,
    places: NDArray[np.uint64],
    stride: int,
    classes: Floats,
    singles: Floats,
    present: Floats,
    pairs: Floats,
    alone: Floats,
    flat: Floats,
    layout: Index,
    at: NDArray[np.uint64],
    row: Codes,
    width: Index,
    no_missing: Flags,
    declared: int,
    alpha: float,
    min_count: float,
    split: int,
    i: int,
) -> None:
    """out[i, c] += log P(c, x) of one row, straight from the counts.

    out : float64[n, K], in/out; terms : float64[K, m], scratch; room : float64[stride (8 + r)], scratch
    scores : float64[2, K, m], scratch; places : uint64[3, m], scratch; classes : float64[K], in
    singles : float64[cells, K], in; present : float64[m, K], in; pairs : float64[P, K], in
    layout : int64[3, m + 1], in; at : uint64[3, m], in; row : int32[m], in
    width : int64[m], in; no_missing : bool[m], in
    """
    m, k, d, size = len(row), singles.shape[1], ZERO, prior_size(classes, declared)
    for s in range(m):
        if row[s] >= 0 and row_total(singles, at[0, s]) >= min_count:
            places[0, d], places[1, d], places[2, d] = s, at[0, s] * np.uint64(k), at[1, s] * np.uint64(k)
            d += 1
    if d == 0:
        add_naive(out, terms, classes, singles, present, at, row, width, declared, alpha, split, i)
        return
    multiply_given(
        room, alone, pairs, flat, layout, at, row, places, stride, d, width, no_missing, alpha, split
    )
    for r in range(d):
        s = places[0, r]
        below = row_total(present, s) + alpha * size * width[s]
        for c in range(k):
            scores[0, c, r] = room[r * k + c] * share(singles[at[0, s], c] + alpha, below)
            scores[1, c, r] = room[stride + r * k + c]
    add_mean(out, scores, classes, declared, d, i)


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
    """table[parent (cells + 1) + child, c] = P(child | c, parent); 1 within a column, and for the extra cell that
    stands for missing.

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
    """out[i, c] += log P(c, x), by look-up.

    out : float64[n, K], in/out; table : float64[(cells + 1)^2, K], in; classes : float64[K], in
    singles : float64[cells, K], in; present : float64[m, K], in; layout : int64[3, m + 1], in
    codes : int32[n, m], in; width : int64[m], in
    """
    k, m, cells, one = out.shape[1], codes.shape[1], np.uint64(len(singles)), np.uint64(1)
    terms, scores, first = np.empty((k, m)), np.empty((2, k, m)), np.empty((len(singles), k))
    bases, chosen, mine = (
        np.empty(m, dtype=np.uint64),
        np.empty(m, dtype=np.uint64),
        np.empty(m, dtype=np.uint64),
    )
    met, frequent = np.empty(len(singles), dtype=np.bool_), np.empty(len(singles), dtype=np.bool_)
    at, row = np.empty((3, m), dtype=np.uint64), np.empty(m, dtype=np.int32)
    size = prior_size(classes, declared)
    for s in range(m):
        below = row_total(present, np.uint64(s)) + alpha * size * width[s]
        for value in range(layout[0, s], layout[0, s + 1]):
            met[value] = cell_seen(singles, value)
            frequent[value] = met[value] and row_total(singles, np.uint64(value)) >= min_count
            for c in range(k):
                first[value, c] = share(singles[value, c] + alpha, below)
    for i in range(out.shape[0]):
        d = np.uint64(0)
        for h in range(m):
            j, v = np.uint64(h), codes[i, h]
            cell = np.uint64(layout[0, j] + v)
            mine[j] = cell if v >= 0 and met[cell] else cells
            if v >= 0 and frequent[cell]:
                bases[d], chosen[d] = cell * (cells + one), cell
                d += one
        if d == 0:
            place_row(at, row, codes, singles, layout, i)
            add_naive(out, terms, classes, singles, present, at, row, width, declared, alpha, split, i)
            continue
        multiply(scores, table, mine, bases[:d], split)
        for s in range(d):
            for c in range(k):
                scores[0, c, s] *= first[chosen[s], c]
        add_mean(out, scores, classes, declared, int(d), i)
