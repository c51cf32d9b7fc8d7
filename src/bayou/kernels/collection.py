"""A collection of Bayesian networks, computed from joint counts: sum_i log sum_{pa in PA_i} u P(x_i | c, pa).

Terms are sets of a child and at most two parents, sorted by child and then by their number of parents; `plan`
holds where a term's cells are found, `ends` where the terms of a column begin. With alpha imaginary rows per
value, P(x_i | c, pa) = (n(x_i, pa, c) + alpha) / (n_i(pa, c) + alpha V_i), where n_i(pa, c) counts the rows that
have x_i and all of pa: the parents' own count where column i was never missing, else a sum over its values. A
term with a missing or never seen value is dropped; a column none of whose terms remains, or gives any class a
probability above 0, is conditioned on the class alone. A column with one term adds a difference of logarithms, as
naive Bayes does; the sums of the others are multiplied before a logarithm is taken.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.jit import ZERO, inner_kernel, kernel, tight_kernel
from bayou.kernels.products import multiply
from bayou.kernels.sums import TILE
from bayou.kernels.value_counts import log_or_floor


@inner_kernel
def place_value(at: NDArray[np.uint64], layout: Index, j: int, v: int) -> None:
    """at[:, j] = the cell of value v of column j, and where its pairs and triples with the columns before j begin.

    at : uint64[3, m], in/out; layout : int64[3, m + 1], in
    """
    at[0, j] = layout[0, j] + v
    at[1, j] = layout[1, j] + v * layout[0, j]
    at[2, j] = layout[2, j] + v * layout[1, j]


@tight_kernel
def place_row(
    at: NDArray[np.uint64], row: Codes, codes: Codes, singles: Floats, layout: Index, i: int
) -> bool:
    """Write the values of row i and the places of their cells; return whether none is missing.

    A value that was never seen in any class counts as missing.

    at : uint64[3, m], out; row : int32[m], out; codes : int32[n, m], in; singles : float64[cells, K], in
    layout : int64[3, m + 1], in
    """
    full, k = True, np.uint64(singles.shape[1])
    for j in range(np.uint64(len(row))):
        v = codes[np.uint64(i), j]
        first, place = np.uint64(layout[0, j]), np.uint64(max(v, 0))
        cell, here = first + place, False
        if v >= 0:  # a column without values has no cells
            for c in range(k):
                here |= singles[cell, c] > 0.0
        row[j] = v if here else -1
        full &= here
        at[0, j] = cell
        at[1, j] = np.uint64(layout[1, j]) + place * first
        at[2, j] = np.uint64(layout[2, j]) + place * np.uint64(layout[1, j])
    return full


@tight_kernel
def find_no_missing(no_missing: Flags, classes: Floats, present: Floats) -> None:
    """Write which columns were never missing in a row that was learned.

    no_missing : bool[m], out; classes : float64[K], in; present : float64[m, K], in
    """
    for j in range(np.uint64(len(no_missing))):
        never = True
        for c in range(np.uint64(len(classes))):
            never &= present[j, c] == classes[c]
        no_missing[j] = never


@kernel
def mark_no_missing(no_missing: Flags, classes: Floats, present: Floats) -> None:
    """Write which columns were never missing in a row that was learned; Python can call it, unlike `find_no_missing`.

    no_missing : bool[m], out; classes : float64[K], in; present : float64[m, K], in
    """
    find_no_missing(no_missing, classes, present)


@inner_kernel
def margin(table: Floats, top: np.uint64, step: np.uint64, v: np.uint64, size: int, c: np.uint64) -> float:
    """Sum the counts of class c over all values of a child, whose cells lie `step` apart; `top` is that of value v.

    table : float64[cells, K], in
    """
    at, total = top - v * step, 0.0
    for _ in range(size):
        total += table[at, c]
        at += step
    return total


@inner_kernel
def share(n: float, total: float) -> float:
    """n / total, and 0 where the total is 0."""
    return n / total if total > 0.0 else 0.0


@inner_kernel
def sum_terms(
    factors: Floats,
    singles: Floats,
    present: Floats,
    pairs: Floats,
    triples: Floats,
    layout: Index,
    at: NDArray[np.uint64],
    row: Codes,
    plan: NDArray[np.uint64],
    ends: Index,
    u: Floats,
    width: Index,
    no_missing: Flags,
    full: bool,
    alpha: float,
    least: int,
    lo: int,
    hi: int,
) -> None:
    """factors[j, c] = sum of u P(x_j | c, pa) over the terms of column j whose values the row has, lo <= j < hi.

    Columns that are missing or have fewer than `least` terms get 1. Written as one function, since a call costs more
    than the terms of a column; classes are processed in pairs, the last one together with its neighbour.
    factors : float64[m, K], in/out; singles : float64[cells, K], in; present : float64[m, K], in
    pairs : float64[P, K], in; triples : float64[T, K], in; layout : int64[3, m + 1], in; at : uint64[3, m], in
    row : int32[m], in; plan : uint64[6, t], in; ends : int64[m, 4], in; u : float64[t], in
    width : int64[m], in; no_missing : bool[m], in
    """
    k = factors.shape[1]
    for j in range(lo, hi):
        mine, observed = np.uint64(j), row[j] >= 0 and ends[j, 3] - ends[j, 0] >= least
        added, v, known = alpha * width[j], np.uint64(max(row[j], 0)), no_missing[j]
        size = layout[0, j + 1] - layout[0, j]
        for c in range(0, k, 2):
            x, y = np.uint64(max(0, min(c, k - 2))), np.uint64(min(c + 1, k - 1))
            a, b = 1.0, 1.0
            if observed:
                a, b = 0.0, 0.0
                for s in range(ends[j, 0], ends[j, 1]):
                    a += u[s] * share(singles[at[0, mine], x] + alpha, present[mine, x] + added)
                    b += u[s] * share(singles[at[0, mine], y] + alpha, present[mine, y] + added)
                for s in range(ends[j, 1], ends[j, 2]):
                    t = np.uint64(s)
                    if full or row[plan[3, t]] >= 0:
                        top = at[1, plan[0, t]] + at[0, plan[2, t]]
                        if known:
                            under = at[0, plan[3, t]]
                            n, o = singles[under, x], singles[under, y]
                        else:
                            step = np.uint64(layout[0, j] if plan[5, t] == 1 else 1)
                            n, o = margin(pairs, top, step, v, size, x), margin(pairs, top, step, v, size, y)
                        a += u[t] * share(pairs[top, x] + alpha, n + added)
                        b += u[t] * share(pairs[top, y] + alpha, o + added)
                for s in range(ends[j, 2], ends[j, 3]):
                    t = np.uint64(s)
                    if full or (row[plan[3, t]] >= 0 and row[plan[4, t]] >= 0):
                        top = at[2, plan[0, t]] + at[1, plan[1, t]] + at[0, plan[2, t]]
                        if known:
                            under = at[1, plan[3, t]] + at[0, plan[4, t]]
                            n, o = pairs[under, x], pairs[under, y]
                        else:
                            step = np.uint64(layout[plan[5, t] - 1, j] if plan[5, t] > 0 else 1)
                            n = margin(triples, top, step, v, size, x)
                            o = margin(triples, top, step, v, size, y)
                        a += u[t] * share(triples[top, x] + alpha, n + added)
                        b += u[t] * share(triples[top, y] + alpha, o + added)
            factors[mine, x], factors[mine, y] = a, b


@inner_kernel
def log_alone(
    terms: Floats, singles: Floats, present: Floats, cell: np.uint64, alpha: float, width: int, j: int
) -> None:
    """terms[c, j] = log P(x_j | c).

    terms : float64[K, m], in/out; singles : float64[cells, K], in; present : float64[m, K], in
    """
    for c in range(len(terms)):
        below = log_or_floor(present[j, c] + alpha * width)
        terms[c, j] = log_or_floor(singles[cell, c] + alpha) - below


@inner_kernel
def log_given(
    terms: Floats,
    singles: Floats,
    pairs: Floats,
    triples: Floats,
    layout: Index,
    at: NDArray[np.uint64],
    plan: NDArray[np.uint64],
    t: int,
    parents: int,
    v: int,
    no_missing: bool,
    alpha: float,
    width: int,
    j: int,
) -> bool:
    """terms[c, j] = log P(x_j | c, pa) of one term with parents; return whether any class has a probability above 0.

    terms : float64[K, m], in/out; singles : float64[cells, K], in; pairs : float64[P, K], in
    triples : float64[T, K], in; layout : int64[3, m + 1], in; at : uint64[3, m], in; plan : uint64[6, t], in
    """
    high, middle, low, first, second = plan[0, t], plan[1, t], plan[2, t], plan[3, t], plan[4, t]
    table, margins = pairs, singles
    top, under = at[1, high] + at[0, low], at[0, first]
    if parents == 2:
        table, margins = triples, pairs
        top, under = at[2, high] + at[1, middle] + at[0, low], at[1, first] + at[0, second]
    step = np.uint64(layout[plan[5, t] - 1, j] if plan[5, t] > 0 else 1)
    size, said = layout[0, j + 1] - layout[0, j], False
    for c in range(len(terms)):
        x = np.uint64(c)
        n = margins[under, x] if no_missing else margin(table, top, step, np.uint64(v), size, x)
        terms[c, j] = log_or_floor(table[top, x] + alpha) - log_or_floor(n + alpha * width)
        said = said or table[top, x] + alpha > 0.0
    return said


@inner_kernel
def add_tiles(total: float, terms: Floats, c: int, lo: int, hi: int) -> float:
    """Add terms[c, lo:hi] to a total, tile by tile, with the bits of `row_sum`.

    terms : float64[K, m], in
    """
    x = np.uint64(c)
    for t in range(lo, hi, TILE):
        end = min(hi, t + TILE)
        even = end - (end - t) % 4
        a, b, d, e = 0.0, 0.0, 0.0, 0.0
        for j in range(t, even, 4):
            a += terms[x, np.uint64(j)]
            b += terms[x, np.uint64(j + 1)]
            d += terms[x, np.uint64(j + 2)]
            e += terms[x, np.uint64(j + 3)]
        if even < end:
            a += terms[x, np.uint64(even)]
        if even + 1 < end:
            b += terms[x, np.uint64(even + 1)]
        if even + 2 < end:
            d += terms[x, np.uint64(even + 2)]
        total += (a + b) + (d + e)
    return total


@inner_kernel
def add_row(
    out: Floats,
    terms: Floats,
    factors: Floats,
    product: Floats,
    order: NDArray[np.uint64],
    split: int,
    i: int,
) -> None:
    """out[i, c] += sum_j terms[c, j] + log prod_j factors[j, c]: first the columns before `split`, then the others.

    New columns are appended to either part, so that a column that appears later, whose term is 0 here, does not change
    the bits.
    out : float64[n, K], in/out; terms : float64[K, m], in; factors : float64[m, K], in
    product : float64[2, K, 1], scratch, see `no_product`; order : uint64[m], in, 0, 1, ...
    """
    multiply(product, factors, order, order[:1], split)
    for c in range(out.shape[1]):
        total = add_tiles(out[i, c], terms, c, ZERO, split)
        total = add_tiles(total, terms, c, split, len(order))
        out[i, c] = total + (product[1, c, 0] + math.log(product[0, c, 0]))


@inner_kernel
def read_row(
    out: Floats,
    terms: Floats,
    factors: Floats,
    product: Floats,
    singles: Floats,
    present: Floats,
    pairs: Floats,
    triples: Floats,
    layout: Index,
    at: NDArray[np.uint64],
    row: Codes,
    order: NDArray[np.uint64],
    plan: NDArray[np.uint64],
    ends: Index,
    u: Floats,
    width: Index,
    no_missing: Flags,
    full: bool,
    alpha: float,
    split: int,
    i: int,
) -> None:
    """out[i, c] += the collection's log-probability of one row, computed directly from the counts.

    out : float64[n, K], in/out; terms : float64[K, m], scratch; factors : float64[m, K], scratch
    product : float64[2, K, 1], scratch; singles : float64[cells, K], in; present : float64[m, K], in
    pairs : float64[P, K], in; triples : float64[T, K], in; layout : int64[3, m + 1], in; at : uint64[3, m], in
    row : int32[m], in; order : uint64[m], in; plan : uint64[6, t], in; ends : int64[m, 4], in
    u : float64[t], in; width : int64[m], in; no_missing : bool[m], in
    """
    m, k = len(row), out.shape[1]
    sum_terms(
        factors, singles, present, pairs, triples, layout, at, row, plan, ends, u, width, no_missing,
        full, alpha, 2, 0, m,
    )  # fmt: skip
    for j in range(m):
        several, start = ends[j, 3] - ends[j, 0], ends[j, 0]
        said = row[j] < 0 or several == 0
        for c in range(k):
            terms[c, j] = 0.0
            said = said or (several > 1 and factors[j, c] > 0.0)
        if said:
            continue
        for c in range(k):
            factors[j, c] = 1.0
        if several == 1 and ends[j, 1] == start:
            parents = 2 if ends[j, 2] == start else 1
            if row[plan[3, start]] >= 0 and (parents == 1 or row[plan[4, start]] >= 0):
                said = log_given(
                    terms, singles, pairs, triples, layout, at, plan, start, parents, row[j],
                    no_missing[j], alpha, width[j], j,
                )  # fmt: skip
        if not said:
            log_alone(terms, singles, present, at[0, j], alpha, width[j], j)
    add_row(out, terms, factors, product, order, split, i)
