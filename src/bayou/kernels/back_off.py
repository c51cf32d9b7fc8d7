"""Conditional probabilities that back off to fewer parents, row by row as the counts stood before each row.

    p(x)            = (N[x] + c_0 / V) / (N + c_0)
    p(x | k)        = (N[x, k] + c_1 p(x)) / (N[k] + c_1)
    p(x | k, a)     = (N[x, a, k] + c_2 p(x | k)) / (N[a, k] + c_2)
    p(x | k, a, b)  = (N[x, a, b, k] + c_3 p(x | k, a)) / (N[a, b, k] + c_3)

Columns, terms and missing values are as in `kernels.collection`: a term with a missing or never seen value is dropped,
and a column without terms is conditioned on the class alone. Several models (readings) may be computed from the same
counts. With `one_dependent`, reading s < m starts from P(c, x_s), as averaged one-dependence estimators do, and reading
m from P(c).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Floats, Index
from bayou.kernels.class_counts import add_prior, prior_size
from bayou.kernels.collection import margin, mark_no_missing, place_row
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.joint_counts import count_row


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
def fill_alone(
    out: Floats, singles: Floats, present: Floats, cell: np.uint64, j: int, width: int, top: float, own: float
) -> None:
    """out[c] = p(x_j | c).

    out : float64[K], out; singles : float64[cells, K], in; present : float64[m, K], in
    """
    overall = (row_total(singles, cell) + top / width) / (row_total(present, np.uint64(j)) + top)
    for c in range(len(out)):
        out[c] = (singles[cell, c] + own * overall) / (present[j, c] + own)


@inner_kernel
def fill_given_one(
    out: Floats,
    alone: Floats,
    singles: Floats,
    pairs: Floats,
    layout: Index,
    at: NDArray[np.uint64],
    j: int,
    p: int,
    v: int,
    known: bool,
    own: float,
) -> None:
    """out[c] = p(x_j | c, x_p).

    out, alone : float64[K], out and in; singles : float64[cells, K], in; pairs : float64[P, K], in
    layout : int64[3, m + 1], in; at : uint64[3, m], in
    """
    top = at[1, j] + at[0, p] if j > p else at[1, p] + at[0, j]
    step, size = np.uint64(layout[0, j] if j > p else 1), layout[0, j + 1] - layout[0, j]
    for c in range(len(out)):
        x = np.uint64(c)
        n = singles[at[0, p], x] if known else margin(pairs, top, step, np.uint64(v), size, x)
        out[c] = (pairs[top, x] + own * alone[c]) / (n + own)


@inner_kernel
def fill_given_two(
    out: Floats,
    pairs: Floats,
    triples: Floats,
    layout: Index,
    at: NDArray[np.uint64],
    plan: NDArray[np.uint64],
    t: int,
    j: int,
    v: int,
    known: bool,
    own: float,
) -> None:
    """Replace out[c] = p(x_j | c, a) by p(x_j | c, a, b).

    out : float64[K], in/out; pairs : float64[P, K], in; triples : float64[T, K], in; layout : int64[3, m + 1], in
    at : uint64[3, m], in; plan : uint64[6, t], in
    """
    top = at[2, plan[0, t]] + at[1, plan[1, t]] + at[0, plan[2, t]]
    under = at[1, plan[3, t]] + at[0, plan[4, t]]
    step = np.uint64(layout[plan[5, t] - 1, j] if plan[5, t] > 0 else 1)
    size = layout[0, j + 1] - layout[0, j]
    for c in range(len(out)):
        x = np.uint64(c)
        n = pairs[under, x] if known else margin(triples, top, step, np.uint64(v), size, x)
        out[c] = (triples[top, x] + own * out[c]) / (n + own)


@inner_kernel
def start_reading(
    out: Floats, classes: Floats, singles: Floats, present: Floats, at: NDArray[np.uint64], row: Codes,
    width: Index, declared: int, min_count: float, r: int,
) -> bool:  # fmt: skip
    """out[0, c] = log P(c, x_r), or log P(c) for r = m; return whether reading r takes part.

    It does not where x_r is missing or was seen fewer than `min_count` times.

    out : float64[1, K], out; classes : float64[K], in; singles : float64[cells, K], in; present : float64[m, K], in
    at : uint64[3, m], in; row : int32[m], in; width : int64[m], in
    """
    out[0] = 0.0
    if r == len(row):
        add_prior(out, classes, declared, 1.0)
        return True
    if row[r] < 0 or row_total(singles, at[0, r]) < min_count:
        return False
    below = row_total(present, np.uint64(r)) + prior_size(classes, declared) * width[r]
    for c in range(len(classes)):
        possible = classes[c] > 0.0 or declared > 0
        out[0, c] = math.log((singles[at[0, r], c] + 1.0) / below) if possible else -np.inf
    return True


@kernel
def back_off_rows(
    classes: Floats, singles: Floats, present: Floats, seen: Index, pairs: Floats, triples: Floats, out: Floats,
    layout: Index, codes: Codes, y: Codes, w: Floats, plan: NDArray[np.uint64], ends: Index, u: Floats,
    declared: Index, declared_classes: int, of_alone: Floats, of_pairs: Floats, of_triples: Floats, first: Index,
    min_count: float, one_dependent: bool, learn: bool,
) -> None:  # fmt: skip
    """Row by row: add the log-probabilities of every reading as they stood before row i, then count it if `learn`.

    classes : float64[K], in/out; singles : float64[cells, K], in/out; present : float64[m, K], in/out
    seen : int64[m], in/out; pairs : float64[P, K], in/out; triples : float64[T, K], in/out
    out : float64[r, n, K], in/out; layout : int64[3, m + 1], in; codes : int32[n, m], in; y : int32[n], in
    w : float64[n], in; plan : uint64[6, t], in; ends : int64[r, m, 4], in; u : float64[t], in
    declared : int64[m], in; of_alone : float64[2, m], in, c_0 and c_1; of_pairs : float64[m, m], in, c_2 of child and
    parent; of_triples : float64[t], in, c_3; first : int64[t], in, the parent a of a term with two
    """
    k, m = out.shape[2], codes.shape[1]
    at, row = np.empty((3, m), dtype=np.uint64), np.empty(m, dtype=np.int32)
    no_missing, width = np.empty(m, dtype=np.bool_), np.empty(m, dtype=np.int64)
    held, alone = np.empty((2, m), dtype=np.uint64), np.ones((m, k))
    two, three = pairs.reshape(-1), triples.reshape(-1)
    given, total, start = np.empty(k), np.empty(k), np.zeros((1, k))
    for i in range(len(y)):
        place_row(at, row, codes, singles, layout, i)
        mark_no_missing(no_missing, classes, present)
        for j in range(m):
            width[j] = max(seen[j], declared[j])
            if row[j] >= 0:
                fill_alone(
                    alone[j], singles, present, at[0, j], j, width[j], of_alone[0, j], of_alone[1, j]
                )  # fmt: skip
        for r in range(out.shape[0]):
            if one_dependent:
                takes_part = start_reading(
                    start, classes, singles, present, at, row, width, declared_classes, min_count, r
                )
                for c in range(k):
                    out[r, i, c] += start[0, c] if takes_part else -np.inf
                if not takes_part:
                    continue
            for j in range(m):
                if row[j] < 0 or (one_dependent and j == r):
                    continue
                weight = 0.0
                for c in range(k):
                    total[c] = 0.0
                for t in range(ends[r, j, 0], ends[r, j, 3]):
                    for c in range(k):
                        given[c] = alone[j, c]
                    if t >= ends[r, j, 2]:
                        if row[plan[3, t]] < 0 or row[plan[4, t]] < 0:
                            continue
                        fill_given_one(
                            given, alone[j], singles, pairs, layout, at, j, first[t], row[j], no_missing[j],
                            of_pairs[j, first[t]],
                        )  # fmt: skip
                        fill_given_two(
                            given,
                            pairs,
                            triples,
                            layout,
                            at,
                            plan,
                            t,
                            j,
                            row[j],
                            no_missing[j],
                            of_triples[t],
                        )
                    elif t >= ends[r, j, 1]:
                        if row[plan[3, t]] < 0:
                            continue
                        p = int(plan[3, t])
                        fill_given_one(
                            given, alone[j], singles, pairs, layout, at, j, p, row[j], no_missing[j], of_pairs[j, p]
                        )  # fmt: skip
                    weight += u[t]
                    for c in range(k):
                        total[c] += u[t] * given[c]
                for c in range(k):
                    out[r, i, c] += math.log(total[c] if weight > 0.0 else alone[j, c])
        if learn and y[i] >= 0 and w[i] > 0.0:
            count_row(classes, singles, present, seen, two, three, held, layout, codes[i], y[i], w[i])
