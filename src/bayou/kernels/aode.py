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
from bayou.kernels.products import RUN, in_range, multiply
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
def gather_pairs(
    room: Floats,
    places: NDArray[np.uint64],
    k: np.uint64,
    flat: Floats,
    at: NDArray[np.uint64],
    row: Codes,
    stride: int,
    size: int,
    lo: int,
    hi: int,
) -> None:
    """room[stride (8 + j - lo) + K d + c] = n(x_j, x_s, c) for lo <= j < hi and s = places[0, d], where x_j is there.

    room : float64[stride (8 + r)], in/out; places : uint64[3, >= size], in; flat : float64[P K], in
    at : uint64[3, m], in; row : int32[m], in
    """
    one, begin, end, base = np.uint64(1), np.uint64(0), np.uint64(size), np.uint64(7 * stride)
    for h in range(lo, hi):
        j = np.uint64(h)
        base += np.uint64(stride)
        while begin < end and places[0, begin] < j:
            begin += one
        if row[j] < 0:
            continue
        after = begin + one if begin < end and places[0, begin] == j else begin
        mine, rows = at[0, j] * k, at[1, j] * k
        if k == 2:
            for d in range(begin):
                top, x = rows + places[1, d], base + d + d
                room[x], room[x + one] = flat[top], flat[top + one]
            for d in range(after, end):
                top, x = places[2, d] + mine, base + d + d
                room[x], room[x + one] = flat[top], flat[top + one]
        else:
            for d in range(begin):
                for c in range(k):
                    room[base + d * k + c] = flat[rows + places[1, d] + c]
            for d in range(after, end):
                for c in range(k):
                    room[base + d * k + c] = flat[places[2, d] + mine + c]


@inner_kernel
def gather_margins(
    room: Floats,
    pairs: Floats,
    layout: Index,
    at: NDArray[np.uint64],
    row: Codes,
    places: NDArray[np.uint64],
    stride: int,
    size: int,
    j: int,
) -> None:
    """room[7 stride + K d + c] = sum over the values of column j of n(v, x_s, c), s = places[0, d].

    room : float64[stride (8 + r)], in/out; pairs : float64[P, K], in; layout : int64[3, m + 1], in
    at : uint64[3, m], in; row : int32[m], in; places : uint64[3, >= size], in
    """
    k, mine, v = np.uint64(pairs.shape[1]), np.uint64(j), np.uint64(row[j])
    values, x = layout[0, j + 1] - layout[0, j], np.uint64(7 * stride)
    for d in range(size):
        s = places[0, d]
        if s != mine:
            top = at[1, mine] + at[0, s] if mine > s else at[1, s] + at[0, mine]
            step = np.uint64(layout[0, j] if mine > s else 1)
            for c in range(k):
                room[x + c] = margin(pairs, top, step, v, values, c)
        x += k


@tight_kernel
def multiply_shares(
    room: Floats, lane: np.uint64, near: np.uint64, under: np.uint64, w: np.uint64, added: float, alpha: float,
    lo: np.uint64, hi: np.uint64,
) -> None:  # fmt: skip
    """near becomes (near + alpha) / (under + added), 1 from lo to hi, and lane its product with that.

    The compiler vectorizes this loop, since the three ranges of w cells lie apart.
    room : float64[r], in/out
    """
    for x in range(w):
        a = share(room[near + x] + alpha, room[under + x] + added)
        a = 1.0 if lo <= x < hi else a
        room[near + x] = a
        room[lane + x] *= a


@tight_kernel
def close_run(room: Floats, row: Codes, stride: int, w: int, lo: int, hi: int) -> None:
    """Multiply the products by the four lanes of a run, in logarithms where that leaves the range of safe products.

    room : float64[stride (8 + r)], in/out, see `multiply_given`; row : int32[m], in
    """
    step = np.uint64(stride)
    for x in range(np.uint64(w)):
        second, fourth = x + step + step, x + np.uint64(4) * step
        a = (room[second] * room[second + step]) * (room[fourth] * room[fourth + step])
        if in_range(a):
            room[x] *= a
        else:
            total = 0.0
            for j in range(lo, hi):
                total += log_or_floor(room[x + step * np.uint64(8 + j - lo)]) if row[j] >= 0 else 0.0
            room[x + step] += total
        if not in_range(room[x]):
            room[x + step] += math.log(room[x])
            room[x] = 1.0


@tight_kernel
def multiply_given(
    room: Floats,
    alone: Floats,
    pairs: Floats,
    flat: Floats,
    layout: Index,
    at: NDArray[np.uint64],
    row: Codes,
    places: NDArray[np.uint64],
    stride: int,
    size: int,
    width: Index,
    no_missing: Flags,
    alpha: float,
    split: int,
) -> None:
    """room[K d + c] exp(room[stride + K d + c]) = prod_j P(x_j | c, x_s), s = places[0, d]: the bits of `multiply`.

    All parents go side by side, child after child. The room has rows of `stride` cells, a multiple of four: products
    and their logarithms, four lanes, n(x_s, c), the same of rows that have x_j, and the factors of a run. It is flat,
    and none of this a call, since Numba counts references to what is sliced or passed on, which takes longer.
    room : float64[stride (8 + r)], scratch and out; alone : float64[cells K], in; pairs : float64[P, K], in
    flat : float64[P K], in, the same; layout : int64[3, m + 1], in; at : uint64[3, m], in; row : int32[m], in
    places : uint64[3, >= size], in, column, cell and first pair of every parent, the latter two times K
    width : int64[m], in; no_missing : bool[m], in
    """
    m, k, one, step = len(row), pairs.shape[1], np.uint64(1), np.uint64(stride)
    w, x = size * k, np.uint64(0)
    for d in range(np.uint64(size)):
        for c in range(np.uint64(k)):
            room[x], room[x + step], room[x + np.uint64(6) * step] = 1.0, 0.0, alone[places[1, d] + c]
            x += one
    full = np.uint64((w + 3) // 4 * 4)
    for part in range(2):
        lo, hi = (0, split) if part == 0 else (split, m)
        for t in range(lo, hi, RUN):
            end = min(hi, t + RUN)
            gather_pairs(room, places, np.uint64(k), flat, at, row, stride, size, t, end)
            for x in range(np.uint64(2) * step, np.uint64(6) * step):
                room[x] = 1.0
            d = np.uint64(0)
            for h in range(t, end):
                j = np.uint64(h)
                while d < np.uint64(size) and places[0, d] < j:
                    d += one
                if row[j] < 0:
                    continue
                begin = d * np.uint64(k)
                past = begin + np.uint64(k) if d < np.uint64(size) and places[0, d] == j else begin
                under = np.uint64(6) * step
                if not no_missing[j]:
                    gather_margins(room, pairs, layout, at, row, places, stride, size, h)
                    under += step
                multiply_shares(
                    room, np.uint64(2 + ((h - t) & 3)) * step, np.uint64(8 + h - t) * step, under, full,
                    alpha * width[j], alpha, begin, past,
                )  # fmt: skip
            close_run(room, row, stride, w, t, end)


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
        for cell in range(layout[0, s], layout[0, s + 1]):
            met[cell] = cell_seen(singles, cell)
            frequent[cell] = met[cell] and row_total(singles, np.uint64(cell)) >= min_count
            for c in range(k):
                first[cell, c] = share(singles[cell, c] + alpha, below)
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
