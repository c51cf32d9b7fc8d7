"""Insertion of sorted values into a list of quantile tuples, and merging of two lists.

See `bayou.kernels.quantile_tuples` for what a tuple is.
"""

from __future__ import annotations

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.tuple_budget import (
    HEAD,
    LEAST_LIMIT,
    RISE,
    bound_of,
    copy_row,
    is_exact,
    may_stay,
    shrink_list,
)


@inner_kernel
def widest_step(x: Floats) -> int:
    """Return the index after the largest difference between neighbours, the first on ties. O(n).

    x : float64[n], in; increasing
    """
    place = 0
    widest = 0.0
    for i in range(1, len(x)):
        if x[i] - x[i - 1] > widest:
            widest = x[i] - x[i - 1]
            place = i
    return place


@inner_kernel
def insert_each(
    work: Floats,
    x: Floats,
    rows: Index,
    labels: Codes,
    weights: Floats,
    u: float,
    at: int,
    start: int,
    end: int,
) -> int:
    """Write a tuple for each distinct value of start..end, which lie in one gap; return where the list ends. O(K n).

    work : float64[m + n, 4 + K], in/out; from `at` on; zeros before
    x : float64[n], in; increasing
    rows : int64[n], in; where each x has its class and weight
    labels : int32[B], in
    weights : float64[B], in
    """
    for i in range(start, end):
        if i == start or x[i] != x[i - 1]:
            work[at, 2] = u
            at += 1
        w = weights[rows[i]]
        row = work[at - 1]
        row[0] = x[i]  # the last of equal values: 0 may have either sign
        row[1] += w
        row[3] += w
        row[HEAD + labels[rows[i]]] += w
    return at


@inner_kernel
def insert_run(
    work: Floats, x: Floats, rows: Index, labels: Codes, weights: Floats, u: float, limit: float, lowest: bool
) -> int:
    """Write tuples for the values that lie in one gap; return how many. O(K n).

    A tuple moves on to the next value while its u stays within `limit`, which is above 0. The value after the widest
    step is a tuple of its own, because the next values often fall in front of it; so is a minimum (`lowest`).

    work : float64[n, 4 + K], in/out; zeros before
    x : float64[n], in; increasing, n > 0
    rows : int64[n], in; where each x has its class and weight
    labels : int32[B], in
    weights : float64[B], in
    """
    at = 0
    alone = widest_step(x)
    closed = False
    g = 0.0
    e = 0.0
    for i in range(len(x)):
        if i > 0 and x[i] != x[i - 1]:
            special = i == alone
            if closed or special or u + g > limit or (lowest and at == 0):
                row = work[at]
                row[0] = x[i - 1]
                row[1] = g
                row[2] = u
                row[3] = e
                at += 1
                g = 0.0
                closed = special
            e = 0.0
        w = weights[rows[i]]
        g += w
        e += w
        work[at, HEAD + labels[rows[i]]] += w
    row = work[at]
    row[0] = x[len(x) - 1]
    row[1] = g
    row[2] = u
    row[3] = e
    return at + 1


@inner_kernel
def insert(
    work: Floats,
    alive: Index,
    tuples: Floats,
    x: Floats,
    rows: Index,
    ends: Index,
    labels: Codes,
    weights: Floats,
    size: int,
    budget: int,
    first: float,
) -> int:
    """Write the list, the values of x with D = u of their gap, and the order of all; return its length. O(K m).

    work : float64[size + n, 4 + K], out; the tuples of the list, then the new ones
    alive : int64[size + n], out; where the tuples of the new list stand in `work`
    tuples : float64[m, 4 + K], in
    x : float64[n], in; increasing, none equal to a tuple's value
    rows : int64[n], in; where each x has its class and weight
    ends : int64[m + 1], in; where the values of each gap end
    labels : int32[B], in
    weights : float64[B], in
    """
    for q in range(size):
        copy_row(work[q], tuples[q])
    for new in range(size, size + ends[size]):
        for c in range(work.shape[1]):
            work[new, c] = 0.0
    length = 0
    made = size
    i = 0
    for q in range(size + 1):
        end = ends[q]
        if end > i:
            u = 0.0
            if q < size:
                u = max(0.0, tuples[q, 1] + tuples[q, 2] - tuples[q, 3])
            limit = 0.0
            if 4 * (end - i) > budget and first > 0.0:
                weight = 0.0
                for r in range(i, end):
                    weight += weights[rows[r]]
                limit = max(first, LEAST_LIMIT)
                while limit < u + min(2.0 * first, 4.0 * weight / budget):
                    limit *= RISE
            before = made
            if limit > 0.0:
                made += insert_run(work[made:], x[i:end], rows[i:end], labels, weights, u, limit, q == 0)
            else:
                made = insert_each(work, x, rows, labels, weights, u, made, i, end)
            for new in range(before, made):
                alive[length] = new
                length += 1
            i = end
        if q < size:
            alive[length] = q
            length += 1
    return length


@kernel
def union_column(work: Floats, a: Floats, b: Floats, m: int, n: int) -> int:
    """Write the tuples of two columns as one list, u no larger than the two largest together. O(K (m + n)).

    To the D of a tuple whose value is not in the other list, the u of the gap it lies in there is added.

    work : float64[m + n, 4 + K], out
    a : float64[.., 4 + K], in; the first m rows
    b : float64[.., 4 + K], in; the first n rows
    """
    i = 0
    j = 0
    at = 0
    while i < m or j < n:
        row = work[at]
        first = j >= n or (i < m and a[i, 0] <= b[j, 0])
        both = i < m and j < n and a[i, 0] == b[j, 0]
        copy_row(row, a[i] if first else b[j])
        if both:
            for c in range(1, len(row)):
                row[c] += b[j, c]
        elif first and j < n:
            row[2] += max(0.0, b[j, 1] + b[j, 2] - b[j, 3])
        elif not first and i < m:
            row[2] += max(0.0, a[i, 1] + a[i, 2] - a[i, 3])
        if first or both:
            i += 1
        if not first or both:
            j += 1
        at += 1
    return at


@kernel
def merge_columns(
    merged: Floats,
    merged_sizes: Index,
    merged_starts: Index,
    tuples: Floats,
    starts: Index,
    sizes: Index,
    others: Floats,
    other_starts: Index,
    other_sizes: Index,
    budget: int,
    most: int,
    eps: float,
    lo: int,
    hi: int,
) -> None:
    """Merge columns lo..hi of two summaries, then shrink to the budget, or to u <= eps N. O(K m + m^2) per column.

    merged : float64[m, 4 + K], out; from merged_starts[j] on, room for both lists of column j
    merged_sizes : int64[p], out
    merged_starts : int64[p + 1], in
    tuples : float64[a, 4 + K], in
    starts : int64[p + 1], in
    sizes : int64[p], in
    others : float64[b, 4 + K], in
    other_starts : int64[p + 1], in
    other_sizes : int64[p], in
    """
    for j in range(lo, hi):
        work = merged[merged_starts[j] : merged_starts[j + 1]]
        size = union_column(work, tuples[starts[j] :], others[other_starts[j] :], sizes[j], other_sizes[j])
        if sizes[j] > 0 and other_sizes[j] > 0:
            total = 0.0
            for q in range(size):
                total += work[q, 1]
            if not (is_exact(work, size) and may_stay(size, most, total)):
                size = shrink_list(work, size, budget, bound_of(total, budget, eps), eps)
        merged_sizes[j] = size
