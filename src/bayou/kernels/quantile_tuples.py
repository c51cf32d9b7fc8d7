"""Quantile tuples with class counts: taking in a buffer of values, merging two lists, keeping a budget.

A column is a list of tuples with increasing values, one row ``[v, g, D, e, n_1 .. n_K]`` each:

* all of the tuple's weight g = n_1 + .. + n_K lies at or below v;
* at most D of the weight of later tuples lies at or below v;
* at least e of g lies exactly at v.

So the weight below any point of the gap in front of a tuple is known up to ``u = g + D - e``. A value equal to
v joins g and e and costs nothing; a value inside the gap joins g alone (u grows), or becomes a tuple of its own
with D = u. Dropping a tuple gives its weight to the next one, whose u grows by it. The first tuple is the
minimum and the last the maximum; neither is ever dropped (Greenwald and Khanna 2001, with e as an addition).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import kernel
from bayou.kernels.sorting import sort_pairs

HEAD = 4  # v, g, D, e stand before the classes
RISE = 1.25  # from one limit to the next
SPARE = 5  # a list is shortened tuple by tuple once it is this part above its budget
TILE = 8  # columns transposed at a time


@kernel
def clear(row: NDArray[np.float64]) -> None:
    """row = 0. O(K).

    row : float64[4 + K], out
    """
    for c in range(len(row)):
        row[c] = 0.0


@kernel
def copy_row(target: NDArray[np.float64], source: NDArray[np.float64]) -> None:
    """target = source. O(m).

    target : float64[m], out
    source : float64[m], in
    """
    for c in range(len(target)):
        target[c] = source[c]


@kernel
def take_over(kept: NDArray[np.float64], gone: NDArray[np.float64]) -> None:
    """Give the weight of a dropped tuple to the next one. O(K).

    kept : float64[4 + K], in/out
    gone : float64[4 + K], in
    """
    kept[1] += gone[1]
    for c in range(HEAD, len(kept)):
        kept[c] += gone[c]


@kernel
def buffer_rows(
    values: NDArray[np.float64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    fill: NDArray[np.int64],
    numeric: NDArray[np.float64],
    y: NDArray[np.int32],
    w: NDArray[np.float64],
    start: int,
) -> int:
    """Copy labelled rows with weight into the buffer until it is full; returns the next row to look at. O(n d).

    values : float64[B, p], in/out
    labels : int32[B], in/out
    weights : float64[B], in/out
    fill : int64[1], in/out; rows in the buffer
    numeric : float64[n, p], in
    y : int32[n], in
    w : float64[n], in
    """
    at = fill[0]
    i = start
    while i < len(y) and at < len(labels):
        if y[i] >= 0 and w[i] > 0.0:
            copy_row(values[at], numeric[i])
            labels[at] = y[i]
            weights[at] = w[i]
            at += 1
        i += 1
    fill[0] = at
    return i


@kernel
def locate(keys: NDArray[np.float64], x: NDArray[np.float64], trash: int, spots: NDArray[np.uint64]) -> None:
    """spots[i] = 2 q + [keys[q] == x_i] for the first key q that is not below x_i; `trash` for NaN. O(n log m).

    keys : float64[m], in; increasing, then infinite; m a power of two, at least one infinite
    x : float64[n], in
    spots : uint64[n], out
    """
    one = np.uint64(1)
    for i in range(len(spots)):
        spots[i] = np.uint64(0)
    half = np.uint64(len(keys) // 2)
    while half > np.uint64(0):
        for i in range(len(spots)):
            spot = spots[i]
            spots[i] = spot + half * np.uint64(keys[spot + half - one] < x[i])
        half >>= one
    nothing = np.uint64(trash)
    for i in range(len(spots)):
        spot = spots[i]
        here = spot + spot + np.uint64(keys[spot] == x[i])
        spots[i] = here if x[i] == x[i] else nothing


@kernel
def absorb(
    tuples: NDArray[np.float64],
    opened: NDArray[np.bool_],
    sums: NDArray[np.float64],
    size: int,
    limit: float,
    open_all: bool,
) -> bool:
    """Add the weight at values to their tuples, and in gaps to the next tuple while u <= limit. O(K m).

    Returns whether any gap holds weight it must not take in: those are marked in `opened`.

    tuples : float64[m, 4 + K], in/out
    opened : bool[m + 1], out
    sums : float64[2 m + 2, K], in; weight per class in gap q (row 2 q) and at value q (row 2 q + 1)
    """
    found = False
    for q in range(size):
        row = tuples[q]
        gap = sums[2 * q]
        at = sums[2 * q + 1]
        between = 0.0
        equal = 0.0
        for c in range(len(gap)):
            between += gap[c]
            equal += at[c]
        if equal > 0.0:
            row[1] += equal
            row[3] += equal
            for c in range(len(at)):
                row[HEAD + c] += at[c]
        opened[q] = False
        if between > 0.0:
            if open_all or q == 0 or row[1] + row[2] - row[3] + between > limit:
                opened[q] = True
                found = True
            else:
                row[1] += between
                for c in range(len(gap)):
                    row[HEAD + c] += gap[c]
    beyond = 0.0
    for c in range(sums.shape[1]):
        beyond += sums[2 * size, c]
    opened[size] = beyond > 0.0
    return found or beyond > 0.0


@kernel
def widest_step(x: NDArray[np.float64]) -> int:
    """The place after the largest difference between neighbours, the first on ties. O(n).

    x : float64[n], in; increasing
    """
    place = 0
    widest = 0.0
    for i in range(1, len(x)):
        if x[i] - x[i - 1] > widest:
            widest = x[i] - x[i - 1]
            place = i
    return place


@kernel
def insert_run(
    work: NDArray[np.float64],
    x: NDArray[np.float64],
    rows: NDArray[np.int64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    u: float,
    limit: float,
    lowest: bool,
) -> int:
    """Tuples for the values that fall into one gap; returns how many. O(K n).

    A tuple moves on to the next value while its u stays within `limit`. The value after the widest step is
    a tuple of its own, because the next values often fall in front of it; so is a minimum (`lowest`).

    work : float64[n, 4 + K], out
    x : float64[n], in; increasing, n > 0
    rows : int64[n], in; where each x has its class and weight
    labels : int32[B], in
    weights : float64[B], in
    """
    at = 0
    alone = widest_step(x) if limit > 0.0 else 0
    closed = False
    g = 0.0
    e = 0.0
    clear(work[0])
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
                clear(work[at])
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


@kernel
def insert(
    work: NDArray[np.float64],
    tuples: NDArray[np.float64],
    x: NDArray[np.float64],
    rows: NDArray[np.int64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    size: int,
    budget: int,
    first: float,
) -> int:
    """The list with the values of x put in, D = u of the gap they stand in; returns its length. O(K m).

    work : float64[size + n, 4 + K], out
    tuples : float64[m, 4 + K], in
    x : float64[n], in; increasing, none equal to a tuple's value
    rows : int64[n], in; where each x has its class and weight
    labels : int32[B], in
    weights : float64[B], in
    """
    at = 0
    i = 0
    for q in range(size + 1):
        u = 0.0
        end = i
        while end < len(x) and (q == size or x[end] < tuples[q, 0]):
            end += 1
        if end > i:
            if q < size:
                u = max(0.0, tuples[q, 1] + tuples[q, 2] - tuples[q, 3])
            limit = 0.0
            if 4 * (end - i) > budget and first > 0.0:
                weight = 0.0
                for r in range(i, end):
                    weight += weights[rows[r]]
                limit = first
                while limit < u + min(2.0 * first, 4.0 * weight / budget):
                    limit *= RISE
            at += insert_run(work[at:], x[i:end], rows[i:end], labels, weights, u, limit, q == 0)
            i = end
        if q < size:
            copy_row(work[at], tuples[q])
            at += 1
    return at


@kernel
def threshold_pass(work: NDArray[np.float64], size: int, least: int, limit: float) -> int:
    """From right to left, drop tuples whose weight the next one can take with u <= limit; `least` stay. O(K m).

    work : float64[m, 4 + K], in/out; the first `size` rows are the list, its new length is returned
    """
    if size < 3:
        return size
    at = size - 1
    spare = size - least
    for i in range(size - 2, -1, -1):
        kept = work[at]
        row = work[i]
        if i > 0 and spare > 0 and kept[1] + kept[2] - kept[3] + row[1] <= limit:
            take_over(kept, row)
            spare -= 1
        else:
            at -= 1
            copy_row(work[at], row)
    for i in range(at, size):
        copy_row(work[i - at], work[i])
    return size - at


@kernel
def least_cost(work: NDArray[np.float64], size: int) -> float:
    """The least u that dropping one tuple would give the next. O(m).

    work : float64[m, 4 + K], in; the first `size` rows
    """
    least = np.inf
    for i in range(1, size - 1):
        row = work[i + 1]
        least = min(least, work[i, 1] + row[1] + row[2] - row[3])
    return least


@kernel
def first_least(cost: NDArray[np.float64]) -> int:
    """The first place of the least entry. O(m), in four lanes that do not wait for each other.

    cost : float64[m], in; m a multiple of 4, no NaN
    """
    a = np.inf
    b = np.inf
    c = np.inf
    d = np.inf
    for q in range(0, len(cost), 4):
        a = cost[q] if cost[q] < a else a
        b = cost[q + 1] if cost[q + 1] < b else b
        c = cost[q + 2] if cost[q + 2] < c else c
        d = cost[q + 3] if cost[q + 3] < d else d
    least = min(min(a, b), min(c, d))
    for q in range(len(cost)):
        if cost[q] == least:
            return q
    return 0


@kernel
def drop_cheapest(work: NDArray[np.float64], size: int, budget: int) -> int:
    """Drop the tuple with the least g + u of the next, the leftmost on ties, until `budget` are left. O(m^2).

    work : float64[m, 4 + K], in/out; the first `size` rows are the list, its new length is returned
    """
    cost = np.empty(size + 3 - (size + 3) % 4)
    after = np.empty(size, np.int64)
    before = np.empty(size, np.int64)
    for i in range(len(cost)):
        cost[i] = np.inf
    for i in range(size):
        after[i] = i + 1
        before[i] = i - 1
    for i in range(1, size - 1):
        cost[i] = work[i, 1] + work[i + 1, 1] + work[i + 1, 2] - work[i + 1, 3]
    left = size
    while left > budget:
        i = first_least(cost)
        a = before[i]
        b = after[i]
        row = work[i]
        kept = work[b]
        take_over(kept, row)
        row[1] = -1.0
        cost[i] = np.inf
        after[a] = b
        before[b] = a
        u = kept[1] + kept[2] - kept[3]
        if a > 0:
            cost[a] = work[a, 1] + u
        if b < size - 1:
            d = after[b]
            cost[b] = kept[1] + work[d, 1] + work[d, 2] - work[d, 3]
        left -= 1
    at = 0
    for i in range(size):
        row = work[i]
        if row[1] >= 0.0:
            copy_row(work[at], row)
            at += 1
    return at


@kernel
def shrink(work: NDArray[np.float64], size: int, budget: int, limit: float, eps: float) -> int:
    """Back to the budget: passes with rising limits to 1.5 budgets, then tuple by tuple. O(K m + m^2).

    With eps > 0 there is one pass at `limit` = 2 eps N, and the list may stay longer than the budget.

    work : float64[m, 4 + K], in/out; the first `size` rows are the list, its new length is returned
    """
    if size <= budget:
        return size
    if eps > 0.0:
        return threshold_pass(work, size, 0, limit)
    rising = limit / 3.0
    enough = budget + budget // SPARE
    while size > enough:
        least = least_cost(work, size)
        while rising < least:
            rising *= RISE
        size = threshold_pass(work, size, enough, rising)
        rising *= RISE
    return drop_cheapest(work, size, budget)


@kernel
def bound_of(total: float, budget: int, eps: float) -> float:
    """The u up to which a gap takes values in: 2 eps N where eps > 0, else 1.5 N / budget."""
    return 2.0 * eps * total if eps > 0.0 else 1.5 * total / budget


@kernel
def common_gap(tuples: NDArray[np.float64], x: NDArray[np.float64], size: int) -> int:
    """The gap in which all of x lies, -1 if there is none. O(log m), O(n) where there is one.

    tuples : float64[m, 4 + K], in
    x : float64[n], in; NaN = missing
    """
    if len(x) == 0:
        return -1
    q = 0
    end = size
    while q < end:
        middle = (q + end) // 2
        if tuples[middle, 0] < x[0]:
            q = middle + 1
        else:
            end = middle
    low = tuples[q - 1, 0] if q > 0 else -np.inf
    high = tuples[q, 0] if q < size else np.inf
    for i in range(len(x)):
        if not low < x[i] < high:
            return -1
    return q


@kernel
def sum_by_spot(
    sums: NDArray[np.float64],
    spots: NDArray[np.uint64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
) -> int:
    """Weight per spot and class; returns how many values stand in gaps, at even spots. O(n).

    sums : float64[2 m + 2, K], in/out
    spots : uint64[n], in
    labels : int32[B], in
    weights : float64[B], in
    """
    between = 0
    for i in range(len(spots)):
        spot = spots[i]
        sums[spot, labels[i]] += weights[i]
        between += int(np.int64(~spot & np.uint64(1)))
    return between


@kernel
def collect(
    found: NDArray[np.float64],
    rows: NDArray[np.int64],
    x: NDArray[np.float64],
    spots: NDArray[np.uint64],
    opened: NDArray[np.bool_],
) -> int:
    """The values that stand in opened gaps, and where they come from; returns how many. O(n).

    found : float64[n + 1], out
    rows : int64[n + 1], out
    x : float64[n], in
    spots : uint64[n], in
    opened : bool[m + 1], in
    """
    n = 0
    for i in range(len(x)):
        spot = spots[i]
        found[n] = x[i]  # no branch: it would be guessed wrong too often
        rows[n] = i
        n += int((spot & np.uint64(1)) < np.uint64(opened[spot >> np.uint64(1)]))
    return n


@kernel
def flush_column(
    tuples: NDArray[np.float64],
    work: NDArray[np.float64],
    sums: NDArray[np.float64],
    keys: NDArray[np.float64],
    opened: NDArray[np.bool_],
    spots: NDArray[np.uint64],
    x: NDArray[np.float64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    size: int,
    budget: int,
    eps: float,
) -> int:
    """Take a buffer of values into one column; returns its number of tuples. O(n log m + K m).

    tuples : float64[m, 4 + K], in/out
    work : float64[m + n, 4 + K], out; scratch
    sums : float64[2 m + 2, K], out; scratch
    keys : float64[at least m + 1, a power of two], out; scratch
    opened : bool[m + 1], out; scratch
    spots : uint64[n], out; scratch
    x : float64[n], in; NaN = missing
    labels : int32[B], in
    weights : float64[B], in
    """
    total = 0.0
    exact = True
    for q in range(size):
        keys[q] = tuples[q, 0]
        total += tuples[q, 1]
        exact = exact and tuples[q, 1] + tuples[q, 2] - tuples[q, 3] <= 0.0
    m = 1
    while m <= size:
        m *= 2
    for q in range(size, m):
        keys[q] = np.inf
    trash = 2 * size + 1
    for q in range(trash + 1):
        for c in range(sums.shape[1]):
            sums[q, c] = 0.0
    gap = common_gap(tuples, x, size)
    between = len(x)
    if gap >= 0:
        for i in range(len(x)):
            sums[2 * gap, labels[i]] += weights[i]
    else:
        locate(keys[:m], x, trash, spots)
        between = sum_by_spot(sums, spots, labels, weights)
    for q in range(trash):
        for c in range(sums.shape[1]):
            total += sums[q, c]
    limit = bound_of(total, budget, eps)
    open_all = size + between <= budget or (exact and size < budget)
    if not absorb(tuples, opened, sums, size, limit, open_all):
        return size
    found = np.empty(len(x) + 1)
    rows = np.empty(len(x) + 1, np.int64)
    if gap >= 0:
        n = len(x)
        for i in range(n):
            found[i] = x[i]
            rows[i] = i
    else:
        n = collect(found, rows, x, spots, opened)
    sort_pairs(found[:n], rows[:n])
    distinct = 1
    for i in range(1, n):
        distinct += int(found[i] != found[i - 1])
    first = limit / 3.0 if eps == 0.0 and 2 * (size + distinct) > 3 * budget else 0.0
    size = insert(work, tuples, found[:n], rows[:n], labels, weights, size, budget, first)
    size = shrink(work, size, budget, limit, eps)
    for q in range(size):
        copy_row(tuples[q], work[q])
    return size


@kernel
def flush_columns(
    tuples: NDArray[np.float64],
    sizes: NDArray[np.int64],
    values: NDArray[np.float64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64],
    budget: int,
    eps: float,
    lo: int,
    hi: int,
) -> None:
    """Take the buffered rows into columns lo..hi. O(B log m) per column, see `flush_column`.

    tuples : float64[p, m, 4 + K], in/out; with eps > 0, m must leave room for B more
    sizes : int64[p], in/out
    values : float64[B, p], in
    labels : int32[B], in
    weights : float64[B], in
    """
    n = len(labels)
    room = tuples.shape[1]
    tile = np.empty((TILE, n))
    work = np.empty((room + n, tuples.shape[2]))
    sums = np.empty((2 * room + 2, tuples.shape[2] - HEAD))
    keys = np.empty(2 * room + 2)
    opened = np.empty(room + 1, np.bool_)
    spots = np.empty(n, np.uint64)
    for t in range(lo, hi, TILE):
        d = min(TILE, hi - t)
        for i in range(n):
            row = values[i, t : t + d]
            for j in range(len(row)):
                tile[j, i] = row[j]
        for j in range(d):
            sizes[t + j] = flush_column(
                tuples[t + j], work, sums, keys, opened, spots, tile[j], labels, weights, sizes[t + j], budget, eps
            )  # fmt: skip


@kernel
def union_column(
    work: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64], m: int, n: int
) -> int:
    """The tuples of two columns as one list, u no larger than the two largest together. O(K (m + n)).

    A tuple alone at its value gains, as D, the u of the gap of the other list it stands in.

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
    merged: NDArray[np.float64],
    merged_sizes: NDArray[np.int64],
    tuples: NDArray[np.float64],
    sizes: NDArray[np.int64],
    others: NDArray[np.float64],
    other_sizes: NDArray[np.int64],
    budget: int,
    eps: float,
    lo: int,
    hi: int,
) -> None:
    """Merge columns lo..hi of two summaries, then shrink to the budget. O(K m + m^2) per column.

    merged : float64[p, m, 4 + K], out; with eps > 0, m must hold both lists
    merged_sizes : int64[p], out
    tuples : float64[p, a, 4 + K], in
    sizes : int64[p], in
    others : float64[p, b, 4 + K], in
    other_sizes : int64[p], in
    """
    work = np.empty((tuples.shape[1] + others.shape[1], tuples.shape[2]))
    for j in range(lo, hi):
        size = union_column(work, tuples[j], others[j], sizes[j], other_sizes[j])
        if sizes[j] > 0 and other_sizes[j] > 0:
            total = 0.0
            for q in range(size):
                total += work[q, 1]
            size = shrink(work, size, budget, bound_of(total, budget, eps), eps)
        for q in range(size):
            copy_row(merged[j, q], work[q])
        merged_sizes[j] = size


@kernel
def uncertainty(tuples: NDArray[np.float64], sizes: NDArray[np.int64], out: NDArray[np.float64]) -> None:
    """out[j] = max u / (2 N): how far a rank read half-way up a gap can be off, relative to N. O(p m).

    tuples : float64[p, m, 4 + K], in
    sizes : int64[p], in
    out : float64[p], out
    """
    for j in range(len(sizes)):
        total = 0.0
        worst = 0.0
        for q in range(sizes[j]):
            row = tuples[j, q]
            total += row[1]
            worst = max(worst, row[1] + row[2] - row[3])
        out[j] = worst / (2.0 * total) if total > 0.0 else 0.0
