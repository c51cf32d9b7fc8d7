"""Test-then-train on nominal values whose counts are whole numbers: a row needs new logarithms only of what it counts.

They are looked up, or computed beyond the end of the table. These kernels handle rows of weight 1 under Laplace's rule,
the most common case; results have the bits of `value_counts.table_predict_then_update`, which handles all others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel, tight_kernel
from bayou.kernels.lanes import Lanes, four_at, four_of, put_lanes
from bayou.kernels.sums import TILE
from bayou.kernels.value_counts import cell_seen, log_or_floor

LARGEST = 2.0**53  # integers up to this one are exact as doubles


@tight_kernel
def integer_log(x: float, logs: Floats) -> float:
    """Return log x of an integer, or the floor for 0; the table has the bits of what is computed beyond its end.

    logs : float64[m], in
    """
    i = np.uint64(np.int64(x))
    return logs[i] if i < np.uint64(len(logs)) else log_or_floor(x)


@inner_kernel
def are_whole(
    counts: Floats, present: Floats, seen: Index, declared: Index, y: Codes, w: Floats, alpha: float
) -> bool:
    """Return whether all weights, counts and pseudo-counts are integers, small enough for sums of them to be exact.

    counts : float64[cells, K], in; present : float64[q, K], in; seen, declared : int64[q], in; y : int32[n], in
    w : float64[n], in
    """
    for i in range(len(y)):
        if y[i] >= 0 and w[i] != 1.0 and w[i] != 0.0:
            return False
    for cell in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            if counts[cell, c] != np.floor(counts[cell, c]):
                return False
    most = 0.0
    for j in range(present.shape[0]):
        values = alpha * (max(seen[j], declared[j]) + len(counts))
        for c in range(present.shape[1]):
            if present[j, c] != np.floor(present[j, c]):
                return False
            most = max(most, present[j, c] + values)
    return alpha == np.floor(alpha) and most + alpha + len(y) < LARGEST


@inner_kernel
def group_columns(
    groups: NDArray[np.uint64],
    totals: Floats,
    added: Floats,
    below: Floats,
    present: Floats,
    seen: Index,
    declared: Index,
    logs: Floats,
    alpha: float,
    apart: bool,
) -> int:
    """Group the columns with the same totals and numbers of values, or keep all `apart`; return the number of groups.

    groups : uint64[q], out; totals : float64[q, K], out; added : float64[q], out, what smoothing adds to the totals
    below : float64[q + 1, m], out, the logarithms of both; present : float64[q, K], in; seen, declared : int64[q], in
    logs : float64[l], in
    """
    n = 0
    for j in range(len(groups)):
        more = alpha * max(seen[j], declared[j])
        g = n if apart else 0
        while g < n and not (added[g] == more and is_row(totals, g, present, j)):
            g += 1
        if g == n:
            n += 1
            added[g] = more
            for c in range(present.shape[1]):
                totals[g, c] = present[j, c]
                below[g, c] = integer_log(present[j, c] + more, logs)
        groups[j] = g
    return n


@inner_kernel
def is_row(a: Floats, i: int, b: Floats, j: int) -> bool:
    """Return whether row i of one table equals row j of another.

    a, b : float64[q, K], in
    """
    for c in range(a.shape[1]):
        if a[i, c] != b[j, c]:
            return False
    return True


@inner_kernel
def write_totals(present: Floats, totals: Floats, groups: NDArray[np.uint64]) -> None:
    """present[j] = totals of the group of column j.

    present : float64[q, K], out; totals : float64[q, K], in; groups : uint64[q], in
    """
    for j in range(len(groups)):
        for c in range(present.shape[1]):
            present[j, c] = totals[groups[j], c]


@tight_kernel
def term(above: Floats, below: Floats, cell: np.uint64, total: np.uint64) -> Lanes:
    """Return log P(v | c) of a value for four neighbouring classes, in one register.

    above : float64[cells, wide], in; below : float64[m, wide], in; `cell` and `total` count through their rows
    """
    return four_at(above, cell) - four_at(below, total)


@kernel
def whole_predict_then_update(
    counts: Floats,
    present: Floats,
    seen: Index,
    out: Floats,
    declared: Index,
    offsets: Index,
    codes: Codes,
    y: Codes,
    w: Floats,
    logs: Floats,
    alpha: float,
) -> bool:
    """Predict, then learn, row by row: add log P(v | c) of the counts before the row, then count the row.

    Returns False, with nothing changed, unless all weights and counts are integers (`are_whole`).

    While no value is missing or new, columns with as many values have the same totals, which are then stored once for
    all of them. The sums are unrolled, four classes side by side in each of the four sums of `row_sum`.
    counts : float64[cells, K], in/out; present : float64[q, K], in/out; seen : int64[q], in/out
    out : float64[n, K], in/out; declared : int64[q], in; offsets : int64[q + 1], in; codes : int32[n, q], in
    y : int32[n], in, or none where nobody learns; w : float64[n], in; logs : float64[m], in, log of integers
    """
    if not are_whole(counts, present, seen, declared, y, w, alpha):
        return False
    zero, one, two, three, four = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    q, k = np.uint64(codes.shape[1]), np.uint64(out.shape[1])
    wide = (k + three) & ~three
    # The last row of both tables is 0, for missing and unseen values: adding 0 does not change the bits of a sum.
    above, below = np.zeros((len(counts) + 1, wide)), np.zeros((codes.shape[1] + 1, wide))
    totals, added, known = np.empty((q, k)), np.empty(q), np.empty(len(counts), np.bool_)
    cells, total_rows, groups = np.empty(q, np.uint64), np.empty(q, np.uint64), np.empty(q, np.uint64)
    no_cell, sums = np.uint64(len(counts)), np.empty(4)
    for place in range(len(counts)):
        known[place] = cell_seen(counts, place)
        for other in range(out.shape[1]):
            above[place, other] = integer_log(counts[place, other] + alpha, logs)
    many = group_columns(groups, totals, added, below, present, seen, declared, logs, alpha, False)
    for i in range(np.uint64(len(codes))):
        learns = i < np.uint64(len(y)) and y[i] >= 0 and w[i] != 0.0
        label = np.uint64(y[i] if learns else 0)
        unknown = zero
        for j in range(q):
            v = codes[i, j]
            cell = np.uint64(offsets[j] + v)
            is_known = v >= 0 and known[cell]
            cells[j] = cell if is_known else no_cell
            total_rows[j] = groups[j] if is_known else q
            unknown += np.uint64(not is_known)
        begin = zero
        while begin < q:
            end = begin + np.uint64(TILE) if q - begin > np.uint64(TILE) else q
            whole = end - ((end - begin) & three)
            first = zero
            while first < wide:
                a = b = c = d = four_of(0.0)
                at = begin
                while at < whole:
                    a = a + term(above, below, cells[at] * wide + first, total_rows[at] * wide + first)
                    at += one
                    b = b + term(above, below, cells[at] * wide + first, total_rows[at] * wide + first)
                    at += one
                    c = c + term(above, below, cells[at] * wide + first, total_rows[at] * wide + first)
                    at += one
                    d = d + term(above, below, cells[at] * wide + first, total_rows[at] * wide + first)
                    at += one
                if whole < end:
                    a = a + term(above, below, cells[at] * wide + first, total_rows[at] * wide + first)
                    at += one
                if whole + one < end:
                    b = b + term(above, below, cells[at] * wide + first, total_rows[at] * wide + first)
                    at += one
                if whole + two < end:
                    c = c + term(above, below, cells[at] * wide + first, total_rows[at] * wide + first)
                put_lanes(sums, zero, (a + b) + (c + d))
                out[i, first] += sums[zero]
                if first + one < k:
                    out[i, first + one] += sums[one]
                if first + two < k:
                    out[i, first + two] += sums[two]
                if first + three < k:
                    out[i, first + three] += sums[three]
                first += four
            begin = end
        if not learns:
            continue
        if unknown > zero and many < len(groups):
            write_totals(present, totals, groups)
            many = group_columns(groups, totals, added, below, present, seen, declared, logs, alpha, True)
        if unknown == zero:
            for j in range(q):
                n = counts[cells[j], label] + 1.0
                counts[cells[j], label] = n
                above[cells[j], label] = integer_log(n + alpha, logs)
            for j in range(np.uint64(many)):
                n = totals[j, label] + 1.0
                totals[j, label] = n
                below[j, label] = integer_log(n + added[j], logs)
            continue
        for j in range(q):
            cell = cells[j]
            if cell == no_cell:
                v = codes[i, j]
                if v < 0:
                    continue
                cell = np.uint64(offsets[j] + v)
                known[cell] = True
                seen[j] += 1
                added[j] = alpha * max(seen[j], declared[j])
                for other in range(k):
                    below[j, other] = integer_log(totals[j, other] + added[j], logs)
            n = counts[cell, label] + 1.0
            counts[cell, label] = n
            above[cell, label] = integer_log(n + alpha, logs)
            n = totals[j, label] + 1.0
            totals[j, label] = n
            below[j, label] = integer_log(n + added[j], logs)
    write_totals(present, totals, groups)
    return True
