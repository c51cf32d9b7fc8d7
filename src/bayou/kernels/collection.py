"""Reading a collection of Bayesian networks off joint counts: sum_i log sum_{pa in PA_i} u P(x_i | c, pa).

Terms are rows (child, parent, parent) with -1 for none, sorted by child; the terms of column j are
starts[j] .. starts[j + 1] - 1. With alpha imaginary rows per value, P(x_i | c, pa) = (n(x_i, pa, c) + alpha) /
(n_i(pa, c) + alpha V_i), where n_i(pa, c) counts the rows that have x_i and all of pa. A term with a missing or
never seen value is dropped; a column none of whose terms remains, or says anything, is read with the class
alone. A column with one term adds a difference of logarithms, as naive Bayes does; the others form products of
four columns before the logarithm is taken.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import kernel
from bayou.kernels.joint_counts import count_row, triple_cell
from bayou.kernels.sums import TILE, tile_sum
from bayou.kernels.value_counts import cell_seen, log_or_floor

SMALL = 1e-280  # a product of four below this, or above its inverse, is taken apart
LARGE = 1e280


@kernel
def known_values(
    row: NDArray[np.int32], codes: NDArray[np.int32], singles: NDArray[np.float64], layout: NDArray[np.int64]
) -> None:
    """The row with values never seen in any class taken for missing.

    row : int32[m], out; codes : int32[m], in; singles : float64[cells, K], in; layout : int64[3, m + 1], in
    """
    for j in range(len(row)):
        row[j] = codes[j] if codes[j] >= 0 and cell_seen(singles, layout[0, j] + codes[j]) else -1


@kernel
def find_counts(
    found: NDArray[np.float64],
    singles: NDArray[np.float64],
    present: NDArray[np.float64],
    pairs: NDArray[np.float64],
    triples: NDArray[np.float64],
    layout: NDArray[np.int64],
    row: NDArray[np.int32],
    term: NDArray[np.int64],
) -> None:
    """found[0, c] = n(x_i, pa, c) and found[1, c] = n_i(pa, c) of one term of a row that has all its values.

    found : float64[2, K], out; singles : float64[cells, K], in; present : float64[m, K], in
    pairs : float64[P, K], in; triples : float64[T, K], in; layout : int64[3, m + 1], in; row : int32[m], in
    term : int64[3], in
    """
    o = layout[0]
    i, p, q = term[0], term[1], term[2]
    if p < 0:
        for c in range(found.shape[1]):
            found[0, c] = singles[o[i] + row[i], c]
            found[1, c] = present[i, c]
        return
    stride = o[i] if i > p else 1
    table = pairs
    if q < 0 and i > p:
        base = layout[1, i] + o[p] + row[p]
    elif q < 0:
        base = layout[1, p] + row[p] * o[p] + o[i]
    else:
        table = triples
        base = triple_cell(layout, i, o[i], p, o[p] + row[p], q, o[q] + row[q])
        stride = layout[1, i] if i > p and i > q else (o[i] if i > p or i > q else 1)
    for c in range(found.shape[1]):
        found[1, c] = 0.0
    for v in range(o[i + 1] - o[i]):
        for c in range(found.shape[1]):
            n = table[base + v * stride, c]
            found[1, c] += n
            if v == row[i]:
                found[0, c] = n


@kernel
def usable(row: NDArray[np.int32], term: NDArray[np.int64]) -> bool:
    """Whether the row has all values of a term.

    row : int32[m], in; term : int64[3], in
    """
    return bool(
        row[term[0]] >= 0 and (term[1] < 0 or row[term[1]] >= 0) and (term[2] < 0 or row[term[2]] >= 0)
    )


@kernel
def speaks(found: NDArray[np.float64], alpha: float) -> bool:
    """Whether a term gives any class a positive probability.

    found : float64[2, K], in
    """
    for c in range(found.shape[1]):
        if found[0, c] + alpha > 0.0:
            return True
    return False


@kernel
def read_column(
    terms: NDArray[np.float64],
    factors: NDArray[np.float64],
    found: NDArray[np.float64],
    singles: NDArray[np.float64],
    present: NDArray[np.float64],
    pairs: NDArray[np.float64],
    triples: NDArray[np.float64],
    layout: NDArray[np.int64],
    row: NDArray[np.int32],
    sets: NDArray[np.int64],
    u: NDArray[np.float64],
    alpha: float,
    width: int,
    j: int,
) -> None:
    """terms[c, j] or factors[c, j] of one row, straight from the counts.

    terms : float64[K, m], out; factors : float64[K, m], out; found : float64[2, K], scratch
    singles : float64[cells, K], in; present : float64[m, K], in; pairs : float64[P, K], in
    triples : float64[T, K], in; layout : int64[3, m + 1], in; row : int32[m], in
    sets : int64[t, 3], in, the terms of column j; u : float64[t], in, their weights
    """
    k = found.shape[1]
    for c in range(k):
        terms[c, j] = 0.0
        factors[c, j] = 1.0
    if row[j] < 0 or len(sets) == 0:
        return
    if len(sets) > 1:
        heard = False
        for c in range(k):
            factors[c, j] = 0.0
        for t in range(len(sets)):
            if usable(row, sets[t]):
                find_counts(found, singles, present, pairs, triples, layout, row, sets[t])
                heard = heard or speaks(found, alpha)
                for c in range(k):
                    below = found[1, c] + alpha * width
                    factors[c, j] += u[t] * ((found[0, c] + alpha) / below) if below > 0.0 else 0.0
        if heard:
            return
        for c in range(k):
            factors[c, j] = 1.0
    said = False
    if len(sets) == 1 and usable(row, sets[0]):
        find_counts(found, singles, present, pairs, triples, layout, row, sets[0])
        said = speaks(found, alpha)
    if not said:
        alone = np.array([j, -1, -1])
        find_counts(found, singles, present, pairs, triples, layout, row, alone)
    for c in range(k):
        terms[c, j] = log_or_floor(found[0, c] + alpha) - log_or_floor(found[1, c] + alpha * width)


@kernel
def log_product(factors: NDArray[np.float64], logs: NDArray[np.float64], lo: int, hi: int) -> float:
    """sum of log factors[j] over lo <= j < hi, in products of four.

    factors : float64[m], in; logs : float64[64], scratch
    """
    total = 0.0
    for t in range(lo, hi, 4 * TILE):
        d = 0
        for j in range(t, min(hi, t + 4 * TILE), 4):
            end = min(hi, j + 4)
            product = 1.0
            for i in range(j, end):
                product *= factors[np.uint64(i)]
            if SMALL < product < LARGE:
                logs[d] = math.log(product) if product != 1.0 else 0.0
            else:
                logs[d] = 0.0
                for i in range(j, end):
                    logs[d] += log_or_floor(factors[i])
            d += 1
        total += tile_sum(logs[:d])
    return total


@kernel
def add_row(
    out: NDArray[np.float64],
    terms: NDArray[np.float64],
    factors: NDArray[np.float64],
    logs: NDArray[np.float64],
    split: int,
) -> None:
    """out[c] += sum_j terms[c, j] + sum_j log factors[c, j]: the columns before `split`, then the others.

    Both parts only ever grow at their ends, so that a column to come, whose term is 0, leaves the bits alone.
    out : float64[K], in/out; terms : float64[K, m], in; factors : float64[K, m], in; logs : float64[64], scratch
    """
    for c in range(len(out)):
        first, last = terms[c, :split], terms[c, split:]
        for t in range(0, len(first), TILE):
            out[c] += tile_sum(first[t : t + TILE])
        for t in range(0, len(last), TILE):
            out[c] += tile_sum(last[t : t + TILE])
        out[c] += log_product(factors[c], logs, 0, split)
        out[c] += log_product(factors[c], logs, split, factors.shape[1])


@kernel
def add_collection_direct(
    out: NDArray[np.float64],
    singles: NDArray[np.float64],
    present: NDArray[np.float64],
    pairs: NDArray[np.float64],
    triples: NDArray[np.float64],
    layout: NDArray[np.int64],
    codes: NDArray[np.int32],
    sets: NDArray[np.int64],
    starts: NDArray[np.int64],
    u: NDArray[np.float64],
    width: NDArray[np.int64],
    alpha: float,
    split: int,
) -> None:
    """out[i, c] += the collection's log-probability, straight from the counts: for few rows.

    out : float64[n, K], in/out; singles : float64[cells, K], in; present : float64[m, K], in
    pairs : float64[P, K], in; triples : float64[T, K], in; layout : int64[3, m + 1], in; codes : int32[n, m], in
    sets : int64[t, 3], in; starts : int64[m + 1], in; u : float64[t], in; width : int64[m], in
    """
    k, m = out.shape[1], codes.shape[1]
    terms, factors, logs = np.zeros((k, m)), np.ones((k, m)), np.empty(TILE)
    found, row = np.empty((2, k)), np.empty(m, dtype=np.int32)
    for i in range(out.shape[0]):
        known_values(row, codes[i], singles, layout)
        for j in range(m):
            a, b = starts[j], starts[j + 1]
            read_column(
                terms, factors, found, singles, present, pairs, triples, layout, row,
                sets[a:b], u[a:b], alpha, width[j], j,
            )  # fmt: skip
        add_row(out[i], terms, factors, logs, split)


@kernel
def trail_collection(
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
    sets: NDArray[np.int64],
    starts: NDArray[np.int64],
    u: NDArray[np.float64],
    declared: NDArray[np.int64],
    alpha: float,
    split: int,
) -> None:
    """Row by row: add the log-probability as it stood before the row, then count the row.

    classes : float64[K], in/out; singles : float64[cells, K], in/out; present : float64[m, K], in/out
    seen : int64[m], in/out; pairs : float64[P, K], in/out; triples : float64[T, K], in/out
    out : float64[n, K], in/out; layout : int64[3, m + 1], in; codes : int32[n, m], in; y : int32[n], in
    w : float64[n], in; sets : int64[t, 3], in; starts : int64[m + 1], in; u : float64[t], in
    declared : int64[m], in
    """
    width = np.empty(codes.shape[1], dtype=np.int64)
    held = np.empty((2, codes.shape[1]), dtype=np.uint64)
    for i in range(len(y)):
        for j in range(len(width)):
            width[j] = max(seen[j], declared[j])
        add_collection_direct(
            out[i : i + 1], singles, present, pairs, triples, layout, codes[i : i + 1],
            sets, starts, u, width, alpha, split,
        )  # fmt: skip
        if y[i] >= 0 and w[i] > 0.0:
            count_row(classes, singles, present, seen, pairs, triples, held, layout, codes[i], y[i], w[i])
