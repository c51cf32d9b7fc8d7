"""Quantile summaries with class counts: lists of tuples, and inserting a buffer of values into them.

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

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel, kernel_piece
from bayou.kernels.sorting import sort_runs
from bayou.kernels.tuple_budget import HEAD, bound_of, copy_row, is_exact, may_stay, shrink
from bayou.kernels.tuple_lists import insert
from bayou.kernels.tuple_search import CHANGED, COPIED, collect, common_gap, search
from bayou.kernels.whole_tuples import (
    BUCKETS,
    FEW,
    TILE,
    WHOLE,
    add_counted,
    add_ones,
    begin_counting,
    count_few,
    count_gaps,
    count_looked_up,
    count_present,
    open_gaps,
    transpose_rows,
)


@kernel
def buffer_rows(
    values: Floats,
    labels: Codes,
    weights: Floats,
    fill: Index,
    numeric: Floats,
    y: Codes,
    w: Floats,
    start: int,
) -> int:
    """Copy labelled rows with weight into the buffer until it is full; return the number of the next row. O(n d).

    Rows without any value are skipped, as all rows are while there are no columns.
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
            at += int(any_present(numeric[i]))
        i += 1
    fill[0] = at
    return i


@inner_kernel
def any_present(x: Floats) -> bool:
    """Return whether any value is present. O(1) if the first one is.

    x : float64[p], in; NaN = missing
    """
    for value in x:
        if value == value:
            return True
    return False


@kernel
def find_rows(rows: Index, numeric: Floats, y: Codes, w: Floats, start: int) -> int:
    """Write the numbers of the rows from `start` on that `buffer_rows` would copy; return how many. O(n).

    rows : int64[n - start], out
    numeric : float64[n, p], in
    y : int32[n], in
    w : float64[n], in
    """
    at = 0
    for i in range(start, len(y)):
        if y[i] >= 0 and w[i] > 0.0 and any_present(numeric[i]):
            rows[at] = i
            at += 1
    return at


@inner_kernel
def absorb(tuples: Floats, opened: Flags, sums: Floats, size: int, limit: float, open_all: bool) -> bool:
    """Add weight at values to their tuples, and weight in gaps to the next tuple while u <= limit. O(K m).

    Returns whether any gap has weight beyond the limit, which needs tuples of its own: those are marked in `opened`.

    tuples : float64[m, 4 + K], in/out
    opened : bool[m + 1], out
    sums : float64[2 m + 2, K], in; weight per class in gap q (row 2 q) and at value q (row 2 q + 1)
    """
    found = False
    for q in range(size):
        row, gap, at = tuples[q], sums[2 * q], sums[2 * q + 1]
        between = 0.0
        equal = 0.0
        for c in range(len(gap)):
            between += gap[c]
            equal += at[c]
        row[1] += equal
        row[3] += equal
        full = open_all or q == 0 or row[1] + row[2] - row[3] + between > limit
        opened[q] = between > 0.0 and full
        found = found or opened[q]
        taken = 0.0 if full else 1.0
        row[1] += taken * between
        for c in range(len(gap)):
            row[HEAD + c] = (row[HEAD + c] + at[c]) + taken * gap[c]
    beyond = 0.0
    for c in range(sums.shape[1]):
        beyond += sums[2 * size, c]
    opened[size] = beyond > 0.0
    return found or beyond > 0.0


@inner_kernel
def sum_by_spot(sums: Floats, spots: NDArray[np.uint64], labels: Codes, weights: Floats) -> None:
    """Add up weights per spot and class. O(n).

    sums : float64[2 m + 2, K], in/out
    spots : uint64[n], in
    labels : int32[B], in
    weights : float64[B], in
    """
    for i in range(len(spots)):
        sums[spots[i], labels[i]] += weights[i]


@kernel_piece
def flush_column(
    tuples: Floats,
    spare: Floats,
    work: Floats,
    sums: Floats,
    keys: Floats,
    guide: Codes,
    scale: Floats,
    half: Index,
    gaps: Floats,
    opened: Flags,
    ends: Index,
    alive: Index,
    spots: NDArray[np.uint64],
    x: Floats,
    labels: Codes,
    weights: Floats,
    whole: bool,
    size: int,
    budget: int,
    most: int,
    eps: float,
) -> int:
    """Insert a buffer of values into one column; return its number of tuples. O(n log m + K m).

    If the list would need more than the m rows it has, the column is left unchanged and minus that number is returned.

    tuples : float64[m, 4 + K], in/out
    spare : float64[m, 4 + K], out; scratch
    work : float64[m + n, 4 + K], out; scratch
    sums : float64[2 m + 2, K], out; scratch
    keys : float64[2 m + 2], in/out; for `search` in this column, as are `guide`, `scale` and `half`
    guide : int32[4 m + 5], in/out
    scale : float64[2], in/out
    half : int64[1], in/out
    gaps : float64[m + 1], out; scratch
    opened : bool[m + 1], out; scratch
    ends : int64[m + 1], out; scratch
    alive : int64[m + n], out; scratch
    spots : uint64[n], out; scratch
    x : float64[n], in; NaN = missing
    labels : int32[n], in
    weights : float64[n], in
    """
    total = 0.0
    for q in range(size):
        total += tuples[q, 1]
    trash = 2 * size + 1  # the spot of missing values, so that loops over values need no branch
    # Sorted input, the worst case of the list, puts whole buffers into one gap: no search is needed then.
    gap = common_gap(tuples, x, size)
    between = len(x)
    if gap < 0:
        search(spots, keys, guide, scale, half, tuples, x, size)
        between = count_gaps(gaps, spots, size)
    exact = between > 0 and is_exact(tuples, size)
    open_all = size + between <= budget or (exact and size < max(budget, most))
    # The list may outgrow its rows, and must then be unchanged: work on a copy.
    aside = (eps > 0.0 or exact) and size + between > len(tuples)
    into = spare if aside else tuples
    limit = 0.0
    found_any = False
    if whole and gap < 0 and not aside and total + len(x) <= WHOLE:
        total += count_present(spots, trash)
        limit = bound_of(total, budget, eps)
        found_any = open_gaps(opened, tuples, gaps, size, limit, open_all)
        add_ones(tuples, opened, spots, labels, size)
    else:
        for q in range(trash + 1):
            for c in range(sums.shape[1]):
                sums[q, c] = 0.0
        if gap >= 0:
            for i in range(len(x)):
                sums[2 * gap, labels[i]] += weights[i]
        else:
            sum_by_spot(sums, spots, labels, weights)
        for q in range(trash):
            for c in range(sums.shape[1]):
                total += sums[q, c]
        limit = bound_of(total, budget, eps)
        if aside:
            for q in range(size):
                copy_row(spare[q], tuples[q])
        found_any = absorb(into, opened, sums, size, limit, open_all)
        if aside and not found_any:
            for q in range(size):
                copy_row(tuples[q], spare[q])
    if not found_any:
        return size
    found = np.empty(len(x) + 1)
    rows = np.empty(len(x) + 1, np.int64)
    if gap >= 0:
        n = len(x)
        for i in range(n):
            found[i] = x[i]
            rows[i] = i
        for q in range(size + 1):
            ends[q] = n if q >= gap else 0
    else:
        n = collect(found, rows, ends, x, spots, gaps, opened, size)
    sort_runs(found, rows, ends[: size + 1])
    distinct = size + 1
    for i in range(1, n):
        distinct += int(found[i] != found[i - 1])
    # Few distinct values that recur (ages, prices) may exceed the budget: one tuple for each is exact, whereas merged
    # tuples would join values that could not be separated again.
    kept = exact and may_stay(distinct, most, total)
    first = limit / 3.0 if eps == 0.0 and not kept and 2 * distinct > 3 * budget else 0.0
    half[0] = CHANGED
    size = insert(work, alive, into, found, rows, ends, labels, weights, size, budget, first)
    if not kept:
        size = shrink(work, alive, size, budget, limit, eps)
    if size > len(tuples):
        return -size
    for q in range(size):
        copy_row(tuples[q], work[alive[q]])
    return size


@kernel
def flush_columns(
    tuples: Floats,
    sizes: Index,
    wanted: Index,
    taken: Index,
    starts: Index,
    values: Floats,
    y: Codes,
    w: Floats,
    rows: Index,
    places: Index,
    class_ends: Index,
    whole: bool,
    buffer: int,
    budget: int,
    most: int,
    eps: float,
    lo: int,
    hi: int,
) -> None:
    """Insert rows into columns lo..hi, buffer by buffer. O(n log m) per column.

    tuples : float64[m, 4 + K], in/out; column j has room from starts[j] to starts[j + 1]
    sizes : int64[p], in/out
    wanted : int64[p], out; 0 if the column has taken all rows in, else the room it needs to go on
    taken : int64[p], in/out; buffers that the column has taken in
    starts : int64[p + 1], in
    values : float64[n, p], in
    y : int32[n], in
    w : float64[n], in
    rows : int64[r], in; the rows that are taken in, in any order within each buffer
    places : int64[r], in; where the rows of each buffer stand in `rows`, in their own order
    class_ends : int64[buffers, K], in; where `whole`, `rows` has class after class in each buffer
    """
    k = tuples.shape[1] - HEAD
    room = 0
    for j in range(lo, hi):
        room = max(room, starts[j + 1] - starts[j])
        wanted[j] = 0
    n = min(buffer, len(rows))
    tile = np.empty((TILE, n))
    x = np.empty(n)
    labels = np.empty(n, np.int32)
    weights = np.empty(n)
    spare = np.empty((room, tuples.shape[1]))
    work = np.empty((room + n, tuples.shape[1]))
    sums = np.empty((2 * room + 2, k))
    side_by_side = min(TILE, hi - lo)
    keys = np.empty((side_by_side, 2 * room + 2))
    guides = np.empty((side_by_side, max(4 * room + 5, BUCKETS + 1)), np.int32)
    scales = np.empty((side_by_side, 2))
    halves = np.empty(side_by_side, np.int64)
    counted = np.empty((side_by_side, room + 1, k), np.int32)
    countable = np.empty(side_by_side)  # values that may yet be counted apart from tuples, negative if none
    gaps = np.empty(room + 1)
    opened = np.empty(room + 1, np.bool_)
    gap_ends = np.empty(room + 1, np.int64)
    alive = np.empty(room + n, np.int64)
    spots = np.empty(n, np.uint64)
    found = np.empty(n, np.int32)
    for t in range(lo, hi, TILE):
        d = min(TILE, hi - t)
        for at in range(d):
            halves[at] = CHANGED
            countable[at] = -1.0
            if whole:
                column = tuples[starts[t + at] : starts[t + at + 1]]
                countable[at] = begin_counting(
                    counted[at], keys[at], guides[at], scales[at], halves[at : at + 1], column, sizes[t + at]
                )
        for number in range((len(rows) + n - 1) // n):
            waiting = 0
            for j in range(t, t + d):
                waiting += int(taken[j] == number and wanted[j] == 0)
            if waiting == 0:
                continue
            some, place = rows[number * n : number * n + n], places[number * n : number * n + n]
            transpose_rows(tile, values, some, t, d)
            for j in range(t, t + d):
                if taken[j] != number or wanted[j] > 0:
                    continue
                at = j - t
                column, by_class = tuples[starts[j] : starts[j + 1]], tile[at, : len(some)]
                half, scale = halves[at : at + 1], scales[at]
                if whole and half[0] == COPIED and countable[at] < 0.0:
                    countable[at] = begin_counting(
                        counted[at], keys[at], guides[at], scale, half, column, sizes[j]
                    )
                if countable[at] >= 0.0:
                    countable[at] -= len(some)
                    done = False
                    if countable[at] >= 0.0 and sizes[j] <= FEW:
                        done = count_few(counted[at], sums, column, by_class, class_ends[number], sizes[j])
                    elif countable[at] >= 0.0:
                        ends = class_ends[number]
                        done = count_looked_up(
                            counted[at], found, keys[at], guides[at], scale, by_class, ends, sizes[j]
                        )
                    if done:
                        taken[j] += 1
                        continue
                    add_counted(column, counted[at], sizes[j])
                    countable[at] = -1.0
                    half[0] = CHANGED
                for i in range(len(some)):
                    x[i] = by_class[place[i]]
                    labels[i] = y[some[place[i]]]
                    weights[i] = w[some[place[i]]]
                size = flush_column(
                    column, spare, work, sums, keys[at], guides[at], scale, half, gaps, opened, gap_ends, alive,
                    spots[: len(some)], x[: len(some)], labels[: len(some)], weights[: len(some)], whole, sizes[j],
                    budget, most, eps,
                )  # fmt: skip
                wanted[j] = max(0, -size)
                if size >= 0:
                    sizes[j] = size
                    taken[j] += 1
        for at in range(d):
            if countable[at] >= 0.0:
                add_counted(tuples[starts[t + at] : starts[t + at + 1]], counted[at], sizes[t + at])
