"""Tables of a collection's probabilities, in the layout of its counts: one look-up per term and row, for many rows.

The parents of a set come before its child in some order, so a pair or triple of cells has one child, and its
entry is u P for a column with several terms, a difference of logarithms for a column with one: what
`kernels.collection` computes for a row, bit for bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.collection import add_row, log_alone, log_given, place_row, place_value, sum_terms
from bayou.kernels.jit import kernel
from bayou.kernels.products import no_product


@kernel
def fill_tables(
    one: Floats,
    two: Floats,
    three: Floats,
    singles: Floats,
    present: Floats,
    pairs: Floats,
    triples: Floats,
    layout: Index,
    plan: NDArray[np.uint64],
    ends: Index,
    u: Floats,
    width: Index,
    no_missing: Flags,
    alpha: float,
) -> None:
    """Fill the tables: u P(x_i | c, pa) or, for a column with one term, its logarithm.

    one : float64[cells, K], out; two : float64[P, K], out; three : float64[T, K], out
    singles : float64[cells, K], in; present : float64[m, K], in; pairs : float64[P, K], in
    triples : float64[T, K], in; layout : int64[3, m + 1], in; plan : uint64[6, t], in; ends : int64[m, 4], in
    u : float64[t], in; width : int64[m], in; no_missing : bool[m], in
    """
    m, k, o = len(width), singles.shape[1], layout[0]
    at, row = np.zeros((3, m), dtype=np.uint64), np.zeros(m, dtype=np.int32)
    terms, factors, mine = np.empty((k, m)), np.empty((m, k)), np.zeros((m, 4), dtype=np.int64)
    for j in range(m):
        for t in range(ends[j, 0], ends[j, 3]):
            parents = (t >= ends[j, 1]) + (t >= ends[j, 2])
            mine[j, 0], mine[j, 3] = t, t + 1
            mine[j, 1], mine[j, 2] = t + (parents < 1), t + (parents < 2)
            p, q = plan[3, t], plan[4, t]
            for a in range(o[p + 1] - o[p] if parents > 0 else 1):
                if parents > 0:
                    place_value(at, layout, int(p), a)
                for b in range(o[q + 1] - o[q] if parents > 1 else 1):
                    if parents > 1:
                        place_value(at, layout, int(q), b)
                    for v in range(o[j + 1] - o[j]):
                        place_value(at, layout, j, v)
                        row[j] = v
                        if ends[j, 3] - ends[j, 0] > 1:
                            sum_terms(
                                factors, singles, present, pairs, triples, layout, at, row, plan, mine, u,
                                width, no_missing, True, alpha, 1, j, j + 1,
                            )  # fmt: skip
                        else:
                            said = parents > 0 and log_given(
                                terms, singles, pairs, triples, layout, at, plan, t, parents, v,
                                no_missing[j], alpha, width[j], j,
                            )  # fmt: skip
                            if not said:
                                log_alone(terms, singles, present, at[0, j], alpha, width[j], j)
                            for c in range(k):
                                factors[j, c] = terms[c, j]
                        for c in range(k):
                            if parents == 0:
                                one[at[0, j], c] = factors[j, c]
                            elif parents == 1:
                                two[at[1, plan[0, t]] + at[0, plan[2, t]], c] = factors[j, c]
                            else:
                                top = at[2, plan[0, t]] + at[1, plan[1, t]] + at[0, plan[2, t]]
                                three[top, c] = factors[j, c]


@kernel
def add_collection(
    out: Floats,
    one: Floats,
    two: Floats,
    three: Floats,
    singles: Floats,
    present: Floats,
    layout: Index,
    codes: Codes,
    plan: NDArray[np.uint64],
    ends: Index,
    width: Index,
    alpha: float,
    split: int,
) -> None:
    """out[i, c] += the collection's log-probability, by look-up in the tables of `fill_tables`.

    out : float64[n, K], in/out; one : float64[cells, K], in; two : float64[P, K], in; three : float64[T, K], in
    singles : float64[cells, K], in; present : float64[m, K], in; layout : int64[3, m + 1], in
    codes : int32[n, m], in; plan : uint64[6, t], in; ends : int64[m, 4], in; width : int64[m], in
    """
    k, m = out.shape[1], codes.shape[1]
    terms, factors, product = np.zeros((k, m)), np.ones((m, k)), no_product(k)
    at, row = np.empty((3, m), dtype=np.uint64), np.empty(m, dtype=np.int32)
    order = np.arange(m).astype(np.uint64)
    for i in range(out.shape[0]):
        full = place_row(at, row, codes, singles, layout, i)
        for j in range(m):
            start, several, mine = ends[j, 0], ends[j, 3] - ends[j, 0], np.uint64(j)
            observed, said = row[j] >= 0 and several > 0, False
            for c in range(0, k, 2):
                x, y = np.uint64(max(0, min(c, k - 2))), np.uint64(min(c + 1, k - 1))
                terms[x, mine], terms[y, mine] = 0.0, 0.0
                factors[mine, x], factors[mine, y] = 1.0, 1.0
                if not observed:
                    continue
                a, b, d = 0.0, 0.0, 0
                for _ in range(start, ends[j, 1]):
                    a += one[at[0, mine], x]
                    b += one[at[0, mine], y]
                    d += 1
                for s in range(ends[j, 1], ends[j, 2]):
                    t = np.uint64(s)
                    if full or row[plan[3, t]] >= 0:
                        top = at[1, plan[0, t]] + at[0, plan[2, t]]
                        a += two[top, x]
                        b += two[top, y]
                        d += 1
                for s in range(ends[j, 2], ends[j, 3]):
                    t = np.uint64(s)
                    if full or (row[plan[3, t]] >= 0 and row[plan[4, t]] >= 0):
                        top = at[2, plan[0, t]] + at[1, plan[1, t]] + at[0, plan[2, t]]
                        a += three[top, x]
                        b += three[top, y]
                        d += 1
                if several == 1:
                    terms[x, mine], terms[y, mine] = a, b
                    said = d > 0
                else:
                    factors[mine, x], factors[mine, y] = a, b
                    said = said or a > 0.0 or b > 0.0
            if observed and not said:
                for c in range(k):
                    factors[j, c] = 1.0
                log_alone(terms, singles, present, at[0, j], alpha, width[j], j)
        add_row(out, terms, factors, product, order, split, i)
