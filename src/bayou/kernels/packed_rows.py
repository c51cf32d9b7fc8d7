"""Rows packed into one array, learned and predicted by naive Bayes of normal densities and tables in one call each.

A call from Python takes longer than the arithmetic of one row: half a microsecond, and more for every array. A packed
row is its p numbers, the q codes of its values and, where it is to be learned, its class and its weight, all float64.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.class_counts import add_prior, count_classes
from bayou.kernels.gaussian import add_gaussian_direct, add_row_sums, fill_peaks
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.moments import add_rows
from bayou.kernels.posterior import posterior
from bayou.kernels.scrub import HUGE
from bayou.kernels.sums import TILE, row_sum
from bayou.kernels.value_counts import cell_seen, count_values, log_or_floor


@kernel
def learn_packed(
    weight: Floats,
    n: Floats,
    mean: Floats,
    m2: Floats,
    counts: Floats,
    present: Floats,
    seen: Index,
    offsets: Index,
    rows: Floats,
    count: int,
) -> int:
    """Learn the first `count` rows; return how many have class and weight. If a number is huge, learn none, return -1.

    weight : float64[K], in/out; n, mean, m2 : float64[K, p], in/out; counts : float64[cells, K], in/out
    present : float64[q, K], in/out; seen : int64[q], in/out; offsets : int64[q + 1], in
    rows : float64[many * (p + q + 2)], in
    """
    p, q = n.shape[1], len(offsets) - 1
    x, codes = np.empty((count, p)), np.empty((count, q), np.int32)
    y, w = np.empty(count, np.int32), np.empty(count)
    learned, at = 0, 0
    for i in range(count):
        for j in range(p):
            if abs(rows[at + j]) > HUGE:
                return -1
            x[i, j] = rows[at + j]
        at += p
        for j in range(q):
            codes[i, j] = np.int32(rows[at + j])
        at += q
        y[i], w[i] = np.int32(rows[at]), rows[at + 1]
        learned += y[i] >= 0 and w[i] > 0.0
        at += 2
    count_classes(weight, y, w, 1.0)
    if p > 0:
        add_rows(n, mean, m2, x, y, w, 0, p, False)
    if q > 0:
        count_values(counts, present, seen, offsets, codes, y, w, 1.0, 0, q)
    return learned


@kernel
def predict_packed(
    weight: Floats,
    n: Floats,
    mean: Floats,
    m2: Floats,
    counts: Floats,
    present: Floats,
    seen: Index,
    offsets: Index,
    rows: Floats,
    count: int,
    declared_classes: Index,
    declared: Index,
    settings: Floats,
    order: Index,
    row: Floats,
) -> int:
    """Learn rows by `learn_packed`, then write the class probabilities of one more row, as kernels for blocks would.

    Returns -1, with nothing changed, if a number is infinite or huge.
    weight : float64[K], in/out; n, mean, m2 : float64[K, p], in/out; counts : float64[cells, K], in/out
    present : float64[q, K], in/out; seen : int64[q], in/out; offsets : int64[q + 1], in
    rows : float64[many * (p + q + 2)], in; declared_classes : int64[1], in; declared : int64[q], in
    settings : float64[5], in, alpha of the prior, ddof and floor of the densities, alpha and m of the tables
    order : int64[K], in; row : float64[p + q + K ..], in/out, the probabilities behind the codes
    """
    k, p, q = len(weight), n.shape[1], len(offsets) - 1
    x, out = np.empty((1, p)), np.zeros((1, k))
    for j in range(p):
        if abs(row[j]) > HUGE:
            return -1
        x[0, j] = row[j]
    learned = 0
    if count > 0:
        learned = learn_packed(weight, n, mean, m2, counts, present, seen, offsets, rows, count)
        if learned < 0:
            return -1
    add_prior(out, weight, declared_classes[0], settings[0])
    if p > 0:
        add_gaussian_direct(out, x, n, mean, m2, settings[1], settings[2])
    if q > 0:
        add_values(out, row[p : p + q], counts, present, seen, declared, offsets, settings[3], settings[4])
    posterior(out, order, 0.0)
    for c in range(k):
        row[p + q + c] = out[0, c]
    return learned


@inner_kernel
def add_values(
    out: Floats,
    codes: Floats,
    counts: Floats,
    present: Floats,
    seen: Index,
    declared: Index,
    offsets: Index,
    alpha: float,
    m: float,
) -> None:
    """out[0, c] += sum_j log P(v_j | c), with the bits of `log_table` and `add_table`, but without making a table.

    out : float64[1, K], in/out; codes : float64[q], in; counts : float64[cells, K], in; present : float64[q, K], in
    seen, declared : int64[q], in; offsets : int64[q + 1], in
    """
    terms = np.zeros((out.shape[1], len(codes)))
    for j in range(len(codes)):
        cell = offsets[j] + int(codes[j])
        if codes[j] < 0.0 or not cell_seen(counts, cell):
            continue
        values = seen[j] if seen[j] > declared[j] else declared[j]
        for c in range(out.shape[1]):
            above = log_or_floor(counts[cell, c] + (alpha + m / values))
            terms[c, j] = above - log_or_floor(present[j, c] + (alpha * values + m))
    for c in range(out.shape[1]):
        out[0, c] = row_sum(out[0, c], terms[c])


@kernel
def keep_readings(
    kept: Floats, order: Index, prior: Floats, centre: Floats, half: Floats, offsets: Index, table: Floats
) -> None:
    """Pack into one array what `predict_kept` needs, with classes in the order of the predicted probabilities.

    It holds K, p, q, positions of classes and offsets, all int64; then the log prior, the peaks, centres and halves of
    the normal densities, and the tables.

    kept : float64[3 + 3 K + q + 2 K p + cells K], out; order : int64[K], in; prior : float64[1, K], in
    centre, half : float64[K, p], in; offsets : int64[q + 1], in; table : float64[cells, K], in
    """
    k, p, q = len(order), centre.shape[1], len(offsets) - 1
    whole, peak, tile = kept.view(np.int64), np.empty(k), np.empty(TILE)
    fill_peaks(peak, tile, half)
    whole[0], whole[1], whole[2] = k, p, q
    at = 3
    for c in range(k):
        whole[at + c] = c
    at += k
    for j in range(q):
        whole[at + j] = offsets[j]
    at += q
    for c in range(k):
        kept[at + c], kept[at + k + c] = prior[0, order[c]], peak[order[c]]
        for j in range(p):
            kept[at + 2 * k + c * p + j] = centre[order[c], j]
            kept[at + 2 * k + (k + c) * p + j] = half[order[c], j]
    at += 2 * k + 2 * k * p
    for cell in range(table.shape[0]):
        for c in range(k):
            kept[at + cell * k + c] = table[cell, order[c]]


@kernel
def predict_kept(kept: Floats, row: Floats) -> int:
    """Predict as `predict_packed` does without rows to learn, from what `keep_readings` packed: 2 arrays, not 15.

    kept : float64[m], in, of `keep_readings`; row : float64[n], in/out, p + q cells, room for K answers, then scratch
    """
    whole = kept.view(np.int64)
    k, p, q = whole[0], whole[1], whole[2]
    for j in range(p):
        if abs(row[j]) > HUGE:
            return -1
    out, scratch = row[p + q : p + q + k].reshape((1, k)), row[p + q + k :]
    order, offsets = whole[3 : 3 + k], whole[3 + k : 3 + k + q]
    at = 3 + k + q
    for c in range(k):
        out[0, c] = kept[at + c]
    at += k
    if p > 0:
        peak, size = kept[at : at + k], k * p
        centre = kept[at + k : at + k + size].reshape((k, p))
        half = kept[at + k + size : at + k + 2 * size].reshape((k, p))
        add_row_sums(out, np.uint64(0), scratch, row[:p].reshape((1, p)), np.uint64(0), centre, half, peak)
    at += k + 2 * k * p
    if q > 0:
        for c in range(k):
            for j in range(q):
                code = int(row[p + j])
                scratch[j] = kept[at + (offsets[j] + code) * k + c] if code >= 0 else 0.0
            out[0, c] = row_sum(out[0, c], scratch[:q])
    posterior(out, order, 0.0)
    return 0
