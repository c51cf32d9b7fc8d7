"""Nominal values at the leaves of a tree: the logarithms that naive Bayes adds up, updated row by row.

P(v | c) = (n + 1) / (N + V) at a leaf, with V the number of values seen there, or declared if that is larger: `above`
has log(n + 1), `below` log(N + V). A value never seen at the leaf adds no term. Arrays are passed whole and indices are
unsigned: a slice costs as much as a column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel, tight_kernel
from bayou.kernels.sums import TILE, row_sum
from bayou.kernels.value_counts import cached_log, cell_seen


@tight_kernel
def find_cells(cells: NDArray[np.uint64], known: Flags, s: int, offsets: Index, codes: Codes) -> bool:
    """Find the cell of every value of a row; return whether none is missing or new to slot s.

    cells : uint64[q], out, anything where a value is missing; known : bool[S, cells], in; offsets : int64[q + 1], in
    codes : int32[q], in
    """
    slot, all_known = np.uint64(s), True
    for j in range(np.uint64(len(codes))):
        cells[j] = np.uint64(offsets[j] + codes[j])
        if codes[j] < 0 or not known[slot, cells[j]]:
            all_known = False
    return all_known


@inner_kernel
def add_nominal_terms(
    score: Floats, terms: Floats, above: Floats, below: Floats, known: Flags, s: int, cells: NDArray[np.uint64],
    codes: Codes,
) -> None:  # fmt: skip
    """score[c] += sum_j log P(v_j | c) by the counts of slot s, for classes that are possible.

    score : float64[K], in/out; terms : float64[q], scratch; above : float64[S, K, cells], in
    below : float64[S, K, q], in; known : bool[S, cells], in; cells : uint64[q], in; codes : int32[q], in
    """
    slot = np.uint64(s)
    for c in range(np.uint64(len(score))):
        if score[c] == -np.inf:
            continue
        for j in range(np.uint64(len(codes))):
            terms[j] = 0.0
            if codes[j] >= 0 and known[slot, cells[j]]:
                terms[j] = above[slot, c, cells[j]] - below[slot, c, j]
        score[c] = row_sum(score[c], terms)


@inner_kernel
def add_known_terms(score: Floats, above: Floats, below: Floats, s: int, cells: NDArray[np.uint64]) -> None:
    """As `add_nominal_terms`, bit for bit, for a row of which all values are known: the sums of `row_sum`, written out.

    score : float64[K], in/out; above : float64[S, K, cells], in; below : float64[S, K, q], in; cells : uint64[q], in
    """
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    slot, q = np.uint64(s), np.uint64(len(cells))
    for e in range(np.uint64(len(score))):
        if score[e] == -np.inf:
            continue
        j = np.uint64(0)
        while j < q:
            end = j + np.uint64(TILE) if j + np.uint64(TILE) < q else q
            whole = end - ((end - j) & three)
            a = b = c = d = 0.0
            while j < whole:
                a += above[slot, e, cells[j]] - below[slot, e, j]
                b += above[slot, e, cells[j + one]] - below[slot, e, j + one]
                c += above[slot, e, cells[j + two]] - below[slot, e, j + two]
                d += above[slot, e, cells[j + three]] - below[slot, e, j + three]
                j += four
            if j < end:
                a += above[slot, e, cells[j]] - below[slot, e, j]
            if j + one < end:
                b += above[slot, e, cells[j + one]] - below[slot, e, j + one]
            if j + two < end:
                c += above[slot, e, cells[j + two]] - below[slot, e, j + two]
            score[e] += (a + b) + (c + d)
            j = end


@inner_kernel
def learn_nominal(
    counts: Floats, present: Floats, above: Floats, below: Floats, known: Flags, seen: Index, s: int, all_known: bool,
    declared: Index, logs: Floats, cells: NDArray[np.uint64], codes: Codes, c: int, w: float,
) -> None:  # fmt: skip
    """Add a row to the value counts of class c at slot s, and update the logarithms of these counts.

    counts : float64[S, cells, K], in/out; present : float64[S, q, K], in/out; above : float64[S, K, cells], in/out
    below : float64[S, K, q], in/out; known : bool[S, cells], in/out; seen : int64[S, q], in/out
    declared : int64[q], in; logs : float64[l], in, log of integers; cells : uint64[q], in; codes : int32[q], in
    """
    slot, label, q = np.uint64(s), np.uint64(c), np.uint64(len(codes))
    if not all_known:
        for j in range(q):
            if codes[j] >= 0 and not known[slot, cells[j]]:
                known[slot, cells[j]] = True
                seen[slot, j] += 1
                values = max(seen[slot, j], declared[j])
                for r in range(np.uint64(below.shape[1])):
                    below[slot, r, j] = cached_log(present[slot, j, r] + values, logs)
    # Inherited counts are no integers, so that the table lacks their logarithms. But most columns of a leaf have one
    # value, which has all of the weight: the next column often needs one of the last two logarithms again.
    last = other = 1.0
    log_last = log_other = 0.0
    for j in range(q):
        if codes[j] < 0:
            continue
        count = counts[slot, cells[j], label] + w
        counts[slot, cells[j], label] = count
        if count + 1.0 != last:
            last, other, log_last, log_other = other, last, log_other, log_last
            if count + 1.0 != last:
                last, log_last = count + 1.0, cached_log(count + 1.0, logs)
        above[slot, label, cells[j]] = log_last
    last, log_last = 1.0, 0.0
    for j in range(q):
        if codes[j] < 0:
            continue
        size = present[slot, j, label] + w
        present[slot, j, label] = size
        asked = size + max(seen[slot, j], declared[j])
        if asked != last:
            last, log_last = asked, cached_log(asked, logs)
        below[slot, label, j] = log_last


@kernel
def read_slot_nominal(
    above: Floats,
    below: Floats,
    known: Flags,
    seen: Index,
    counts: Floats,
    present: Floats,
    declared: Index,
    offsets: Index,
    logs: Floats,
) -> None:
    """Compute the logarithms of one slot from its counts.

    above : float64[K, cells], out; below : float64[K, q], out; known : bool[cells], out; seen : int64[q], out
    counts : float64[cells, K], in; present : float64[q, K], in; declared : int64[q], in; offsets : int64[q + 1], in
    logs : float64[l], in
    """
    for j in range(len(declared)):
        seen[j] = 0
        for cell in range(offsets[j], offsets[j + 1]):
            known[cell] = cell_seen(counts, cell)
            if known[cell]:
                seen[j] += 1
            for c in range(counts.shape[1]):
                above[c, cell] = cached_log(counts[cell, c] + 1.0, logs)
        for c in range(counts.shape[1]):
            below[c, j] = cached_log(present[j, c] + max(seen[j], declared[j]), logs)
