"""Test-then-train on joint counts, for several models (readings) of the same counts at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Floats, Index
from bayou.kernels.aode import add_naive, average_parents, find_parents
from bayou.kernels.collection import find_no_missing, place_row, read_row
from bayou.kernels.jit import kernel
from bayou.kernels.joint_counts import count_row
from bayou.kernels.parent_products import room_for, rows_of
from bayou.kernels.products import no_product


@kernel
def joint_predict_then_update(
    classes: Floats,
    singles: Floats,
    present: Floats,
    seen: Index,
    pairs: Floats,
    triples: Floats,
    out: Floats,
    layout: Index,
    codes: Codes,
    y: Codes,
    w: Floats,
    read: Index,
    plan: NDArray[np.uint64],
    ends: Index,
    u: Floats,
    declared: Index,
    declared_classes: int,
    alpha: float,
    min_count: float,
    split: int,
    learn: bool,
) -> None:
    """Row by row: add the log-probabilities of the first read[i] readings before row i, then count the row.

    A reading whose first `ends` is negative averages one-dependence estimators (`kernels.aode`), any other is a
    collection of networks (`kernels.collection`). Without `learn` nothing is counted.
    classes : float64[K], in/out; singles : float64[cells, K], in/out; present : float64[m, K], in/out
    seen : int64[m], in/out; pairs : float64[P, K], in/out; triples : float64[T, K], in/out
    out : float64[r, n, K], in/out; layout : int64[3, m + 1], in; codes : int32[n, m], in; y : int32[n], in
    w : float64[n], in; read : int64[n], in; plan : uint64[6, t], in; ends : int64[r, m, 4], in
    u : float64[t], in; declared : int64[m], in
    """
    k, m = out.shape[2], codes.shape[1]
    terms, factors, product = np.zeros((k, m)), np.ones((m, k)), no_product(k)
    order = np.arange(m).astype(np.uint64)
    at, row = np.empty((3, m), dtype=np.uint64), np.empty(m, dtype=np.int32)
    no_missing, width = np.empty(m, dtype=np.bool_), np.empty(m, dtype=np.int64)
    held, room, stride = np.empty((2, m), dtype=np.uint64), room_for(m, k), rows_of(m, k)
    two, three, one, there = pairs.reshape(-1), triples.reshape(-1), singles.reshape(-1), present.reshape(-1)
    said = out.reshape(-1)
    places = np.empty((3, m), dtype=np.uint64)
    for i in range(len(y)):
        if read[i] > 0:
            full = place_row(at, row, codes, singles, layout, i)
            find_no_missing(no_missing, classes, present)
            for j in range(m):
                width[j] = max(seen[j], declared[j])
            for r in range(read[i]):
                if ends[r, 0, 0] < 0:
                    start = np.uint64((r * len(y) + i) * k)
                    parents = find_parents(places, one, np.uint64(k), at, row, min_count)
                    if parents > 0:
                        average_parents(
                            said, room, stride, classes, one, there, two, layout, at, row, places, parents,
                            width, no_missing, declared_classes, alpha, split, start,
                        )  # fmt: skip
                    else:
                        add_naive(
                            said, terms, classes, singles, present, at, row, width, declared_classes, alpha, split,
                            start,
                        )  # fmt: skip
                else:
                    read_row(
                        out[r], terms, factors, product, singles, present, pairs, triples, layout, at, row,
                        order, plan, ends[r], u, width, no_missing, full, alpha, split, i,
                    )  # fmt: skip
        if learn and y[i] >= 0 and w[i] > 0.0:
            count_row(classes, singles, present, seen, two, three, held, layout, codes[i], y[i], w[i])
