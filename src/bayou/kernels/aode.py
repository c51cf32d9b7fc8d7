"""Averaged one-dependence estimators: log (1/|S|) sum_{s in S} P(c, x_s) prod_{i != s} P(x_i | c, x_s).

S are the columns whose value was seen often enough; P(c, x_s) = (n(x_s, c) + alpha) / (N_s + alpha k V_s). Where S
is empty, naive Bayes. A class without weight that nobody declared has probability 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.class_counts import add_prior, class_total, prior_size
from bayou.kernels.collection import find_counts, known_values
from bayou.kernels.jit import kernel
from bayou.kernels.joint_counts import count_row
from bayou.kernels.sums import TILE, tile_sum
from bayou.kernels.value_counts import cell_seen, log_or_floor


@kernel
def log_joint(n: float, rows: float, alpha: float, k: int, width: int) -> float:
    """log P(c, x_s)."""
    return log_or_floor(n + alpha) - log_or_floor(rows + alpha * k * width)


@kernel
def is_parent(singles: NDArray[np.float64], cell: int, min_count: float) -> bool:
    """Whether a value was seen often enough.

    singles : float64[cells, K], in
    """
    return class_total(singles[cell]) >= min_count


@kernel
def add_mean(
    out: NDArray[np.float64], scores: NDArray[np.float64], classes: NDArray[np.float64], declared: int, d: int
) -> None:
    """out[c] += log of the mean of exp scores[c, :d], over the classes that are possible.

    out : float64[K], in/out; scores : float64[K, m], in/out, spent; classes : float64[K], in
    """
    for c in range(len(out)):
        if classes[c] <= 0.0 and declared == 0:
            out[c] = -np.inf
            continue
        top = -np.inf
        mine = scores[c]
        for s in range(d):
            top = max(top, mine[s])
        total = 0.0
        for t in range(0, d, TILE):
            for s in range(t, min(d, t + TILE)):
                mine[s] = math.exp(mine[s] - top)
            total += tile_sum(mine[t : min(d, t + TILE)])
        out[c] += top + math.log(total / d)


@kernel
def sum_tiles(terms: NDArray[np.float64], split: int) -> float:
    """Sum over the columns before `split`, then over the others, tile by tile.

    terms : float64[m], in
    """
    total = 0.0
    first, last = terms[:split], terms[split:]
    for t in range(0, len(first), TILE):
        total += tile_sum(first[t : t + TILE])
    for t in range(0, len(last), TILE):
        total += tile_sum(last[t : t + TILE])
    return total


@kernel
def sum_given(
    found: NDArray[np.float64], given: NDArray[np.float64], cells: NDArray[np.uint64], split: int
) -> None:
    """found[c] = sum over columns of given[cells[j], c], in the order of `sum_tiles`, for two classes.

    found : float64[2], out; given : float64[cells + 1, 2], in; cells : uint64[m], in
    """
    zero, one = np.uint64(0), np.uint64(1)
    x, y = 0.0, 0.0
    for part in range(2):
        lo, hi = (0, split) if part == 0 else (split, len(cells))
        for t in range(lo, hi, TILE):
            end = min(hi, t + TILE)
            full = end - (end - t) % 4
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            e, f, g, h = 0.0, 0.0, 0.0, 0.0
            for j in range(t, full, 4):
                at = cells[np.uint64(j)]
                a += given[at, zero]
                e += given[at, one]
                at = cells[np.uint64(j + 1)]
                b += given[at, zero]
                f += given[at, one]
                at = cells[np.uint64(j + 2)]
                c += given[at, zero]
                g += given[at, one]
                at = cells[np.uint64(j + 3)]
                d += given[at, zero]
                h += given[at, one]
            if full < end:
                a += given[cells[full], zero]
                e += given[cells[full], one]
            if full + 1 < end:
                b += given[cells[full + 1], zero]
                f += given[cells[full + 1], one]
            if full + 2 < end:
                c += given[cells[full + 2], zero]
                g += given[cells[full + 2], one]
            x += (a + b) + (c + d)
            y += (e + f) + (g + h)
    found[0] = x
    found[1] = y


@kernel
def add_naive(
    out: NDArray[np.float64],
    terms: NDArray[np.float64],
    classes: NDArray[np.float64],
    singles: NDArray[np.float64],
    present: NDArray[np.float64],
    layout: NDArray[np.int64],
    row: NDArray[np.int32],
    width: NDArray[np.int64],
    declared: int,
    alpha: float,
    split: int,
) -> None:
    """out[c] += log P(c) + sum_i log P(x_i | c), with Laplace's prior.

    out : float64[K], in/out; terms : float64[m], scratch; classes : float64[K], in
    singles : float64[cells, K], in; present : float64[m, K], in; layout : int64[3, m + 1], in
    row : int32[m], in; width : int64[m], in
    """
    prior = np.zeros((1, len(out)))
    add_prior(prior, classes, declared, alpha)
    for c in range(len(out)):
        for j in range(len(row)):
            terms[j] = 0.0
            if row[j] >= 0:
                n = singles[layout[0, j] + row[j], c]
                terms[j] = log_or_floor(n + alpha) - log_or_floor(present[j, c] + alpha * width[j])
        out[c] += prior[0, c] + sum_tiles(terms, split)


@kernel
def add_aode_direct(
    out: NDArray[np.float64],
    classes: NDArray[np.float64],
    singles: NDArray[np.float64],
    present: NDArray[np.float64],
    pairs: NDArray[np.float64],
    layout: NDArray[np.int64],
    codes: NDArray[np.int32],
    width: NDArray[np.int64],
    declared: int,
    alpha: float,
    min_count: float,
    split: int,
) -> None:
    """out[i, c] += log P(c, x) straight from the counts: for few rows.

    out : float64[n, K], in/out; classes : float64[K], in; singles : float64[cells, K], in
    present : float64[m, K], in; pairs : float64[P, K], in; layout : int64[3, m + 1], in; codes : int32[n, m], in
    width : int64[m], in
    """
    k, m = out.shape[1], codes.shape[1]
    size = prior_size(classes, declared)
    terms, scores, found = np.zeros((k, m)), np.empty((k, m)), np.empty((2, k))
    row, term = np.empty(m, dtype=np.int32), np.full(3, -1, dtype=np.int64)
    for i in range(out.shape[0]):
        known_values(row, codes[i], singles, layout)
        d = 0
        for s in range(m):
            if row[s] < 0 or not is_parent(singles, layout[0, s] + row[s], min_count):
                continue
            term[1] = s
            for j in range(m):
                for c in range(k):
                    terms[c, j] = 0.0
                if row[j] >= 0 and j != s:
                    term[0] = j
                    find_counts(found, singles, present, pairs, pairs, layout, row, term)
                    for c in range(k):
                        below = log_or_floor(found[1, c] + alpha * width[j])
                        terms[c, j] = log_or_floor(found[0, c] + alpha) - below
            rows = class_total(present[s])
            for c in range(k):
                joint = log_joint(singles[layout[0, s] + row[s], c], rows, alpha, size, width[s])
                scores[c, d] = joint + sum_tiles(terms[c], split)
            d += 1
        if d > 0:
            add_mean(out[i], scores, classes, declared, d)
        else:
            add_naive(out[i], terms[0], classes, singles, present, layout, row, width, declared, alpha, split)


@kernel
def fill_aode(
    table: NDArray[np.float64],
    joint: NDArray[np.float64],
    classes: NDArray[np.float64],
    singles: NDArray[np.float64],
    present: NDArray[np.float64],
    pairs: NDArray[np.float64],
    layout: NDArray[np.int64],
    width: NDArray[np.int64],
    declared: int,
    alpha: float,
) -> None:
    """table[parent, child, c] = log P(child | c, parent), 0 within a column and for the extra cell that stands
    for missing; joint[cell, c] = log P(c, cell).

    table : float64[cells + 1, cells + 1, K], out; joint : float64[cells, K], out; classes : float64[K], in
    singles : float64[cells, K], in; present : float64[m, K], in; pairs : float64[P, K], in
    layout : int64[3, m + 1], in; width : int64[m], in
    """
    m, k, o = len(width), table.shape[2], layout[0]
    size = prior_size(classes, declared)
    found, term = np.empty((2, k)), np.full(3, -1, dtype=np.int64)
    row = np.zeros(m, dtype=np.int32)
    table[:] = 0.0
    for s in range(m):
        rows = class_total(present[s])
        for a in range(o[s], o[s + 1]):
            for c in range(k):
                joint[a, c] = log_joint(singles[a, c], rows, alpha, size, width[s])
            row[s] = a - o[s]
            term[1] = s
            for j in range(m):
                if j == s:
                    continue
                term[0] = j
                for b in range(o[j], o[j + 1]):
                    row[j] = b - o[j]
                    find_counts(found, singles, present, pairs, pairs, layout, row, term)
                    for c in range(k):
                        below = log_or_floor(found[1, c] + alpha * width[j])
                        table[a, b, c] = log_or_floor(found[0, c] + alpha) - below


@kernel
def mark_parents(state: NDArray[np.int64], singles: NDArray[np.float64], min_count: float) -> None:
    """state[cell] = 0 for a value never seen, 1 for one seen, 2 for one seen often enough to be a parent.

    state : int64[cells], out; singles : float64[cells, K], in
    """
    for cell in range(len(state)):
        state[cell] = 0
        if cell_seen(singles, cell):
            state[cell] = 2 if is_parent(singles, cell, min_count) else 1


@kernel
def add_aode(
    out: NDArray[np.float64],
    table: NDArray[np.float64],
    joint: NDArray[np.float64],
    state: NDArray[np.int64],
    classes: NDArray[np.float64],
    singles: NDArray[np.float64],
    present: NDArray[np.float64],
    layout: NDArray[np.int64],
    codes: NDArray[np.int32],
    width: NDArray[np.int64],
    declared: int,
    alpha: float,
    split: int,
) -> None:
    """out[i, c] += log P(c, x), by look-up.

    out : float64[n, K], in/out; table : float64[cells + 1, cells + 1, K], in; joint : float64[cells, K], in
    state : int64[cells], in; classes : float64[K], in; singles : float64[cells, K], in
    present : float64[m, K], in; layout : int64[3, m + 1], in; codes : int32[n, m], in; width : int64[m], in
    """
    k, m = out.shape[1], codes.shape[1]
    terms, scores, found = np.zeros((k, m)), np.empty((k, m)), np.empty(k)
    row, cells = np.empty(m, dtype=np.int32), np.empty(m, dtype=np.uint64)
    for i in range(out.shape[0]):
        for j in range(m):
            cell = layout[0, j] + codes[i, j]
            row[j] = codes[i, j] if codes[i, j] >= 0 and state[cell] > 0 else -1
            cells[j] = cell if row[j] >= 0 else len(joint)
        d = 0
        for s in range(m):
            if row[s] < 0 or state[cells[s]] < 2:
                continue
            given = table[cells[s]]
            if k == 2:
                sum_given(found, given, cells, split)
            else:
                for j in range(m):
                    for c in range(k):
                        terms[c, j] = given[cells[j], c]
                for c in range(k):
                    found[c] = sum_tiles(terms[c], split)
            for c in range(k):
                scores[c, d] = joint[cells[s], c] + found[c]
            d += 1
        if d > 0:
            add_mean(out[i], scores, classes, declared, d)
        else:
            add_naive(out[i], terms[0], classes, singles, present, layout, row, width, declared, alpha, split)


@kernel
def trail_aode(
    classes: NDArray[np.float64],
    singles: NDArray[np.float64],
    present: NDArray[np.float64],
    seen: NDArray[np.int64],
    pairs: NDArray[np.float64],
    triples: NDArray[np.float64],
    out: NDArray[np.float64],
    layout: NDArray[np.int64],
    codes: NDArray[np.int32],
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    declared: NDArray[np.int64],
    declared_classes: int,
    alpha: float,
    min_count: float,
    split: int,
) -> None:
    """Row by row: add log P(c, x) as it stood before the row, then count the row.

    classes : float64[K], in/out; singles : float64[cells, K], in/out; present : float64[m, K], in/out
    seen : int64[m], in/out; pairs : float64[P, K], in/out; triples : float64[T, K], in/out
    out : float64[n, K], in/out; layout : int64[3, m + 1], in; codes : int32[n, m], in; y : int32[n], in
    w : float64[n], in; declared : int64[m], in
    """
    width = np.empty(codes.shape[1], dtype=np.int64)
    held = np.empty((2, codes.shape[1]), dtype=np.uint64)
    for i in range(len(y)):
        for j in range(len(width)):
            width[j] = max(seen[j], declared[j])
        add_aode_direct(
            out[i : i + 1], classes, singles, present, pairs, layout, codes[i : i + 1], width,
            declared_classes, alpha, min_count, split,
        )  # fmt: skip
        if y[i] >= 0 and w[i] > 0.0:
            count_row(classes, singles, present, seen, pairs, triples, held, layout, codes[i], y[i], w[i])
