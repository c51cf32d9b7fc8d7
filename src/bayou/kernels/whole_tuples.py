"""Insertion of rows of weight 1 into lists of quantile tuples whose weights are integers.

Sums of integers have the same bits in any order. So weights need not be added up by value and class before they
join their tuples, and rows of one class can be counted together. Where all values of a buffer have tuples, nothing but
counts changes, and these are added to the tuples after many buffers. See `bayou.kernels.quantile_tuples` for the rest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.tuple_budget import HEAD, is_exact
from bayou.kernels.tuple_search import bucket_of, copy_keys, make_guide

WHOLE = 2.0**53  # integers up to this one are exact as doubles
MOST = 2.0**31 - 1.0  # that an int32 counts
TILE = 8  # columns transposed at a time
FEW = 4  # values that are compared with each row, rather than looked up
BUCKETS = 4096  # of the guide to an exact list, at most, unless it has more values


@kernel
def sort_by_class(by_class: Index, places: Index, ends: Index, rows: Index, y: Codes, buffer: int) -> None:
    """Sort the rows of each buffer by class, keeping their order within a class. O(n).

    by_class : int64[r], out
    places : int64[r], out; where each row stands in its sorted buffer
    ends : int64[buffers, K], out; where each class ends in each sorted buffer
    rows : int64[r], in
    y : int32[n], in
    """
    for number in range(len(ends)):
        start = number * buffer
        some, sorted_rows = rows[start : start + buffer], by_class[start : start + buffer]
        place, end = places[start : start + buffer], ends[number]
        for c in range(len(end)):
            end[c] = 0
        for i in range(len(some)):
            end[y[some[i]]] += 1
        before = 0
        for c in range(len(end)):
            before += end[c]
            end[c] = before - end[c]
        for i in range(len(some)):
            c = y[some[i]]
            place[i] = end[c]
            sorted_rows[end[c]] = some[i]
            end[c] += 1


@inner_kernel
def transpose_rows(tile: Floats, values: Floats, rows: Index, first: int, d: int) -> None:
    """tile[j, i] = column first + j of row rows[i], for d columns. O(n d).

    tile : float64[8, n], out
    values : float64[rows, p], in
    rows : int64[n], in
    """
    if d < TILE:
        for j in range(d):
            column, of_column = values[:, first + j], tile[j, : len(rows)]
            for i in range(len(rows)):
                of_column[i] = column[np.uint64(rows[i])]
        return
    for i in range(len(rows)):
        row = values[rows[i], first : first + TILE]
        tile[0, i], tile[1, i], tile[2, i], tile[3, i] = row[0], row[1], row[2], row[3]
        tile[4, i], tile[5, i], tile[6, i], tile[7, i] = row[4], row[5], row[6], row[7]


@inner_kernel
def count_few(counted: Codes, sums: Floats, tuples: Floats, x: Floats, ends: Index, size: int) -> bool:
    """Count each value at its tuple if each has a tuple, else change nothing; return whether it did. O(n m).

    counted : int32[m + 1, K], in/out
    sums : float64[2 m + 2, K], out; scratch
    tuples : float64[m, 4 + K], in
    x : float64[n], in; NaN = missing; class c ends before row ends[c]
    ends : int64[K], in
    """
    left = 0
    for i in range(len(x)):
        left += int(x[i] == x[i])
    for q in range(size):
        value = tuples[q, 0]
        start = 0
        for c in range(len(ends)):
            some = x[start : ends[c]]
            same = 0
            for i in range(len(some)):
                same += int(some[i] == value)
            sums[q, c] = same
            left -= same
            start = ends[c]
    if left > 0:
        return False
    for q in range(size):
        for c in range(len(ends)):
            counted[q, c] += np.int32(sums[q, c])
    return True


@inner_kernel
def count_looked_up(
    counted: Codes, found: Codes, keys: Floats, guide: Codes, scale: Floats, x: Floats, ends: Index, size: int
) -> bool:
    """Do what `count_few` does with one look-up for each value: no bucket contains two keys. O(n).

    counted : int32[m + 1, K], in/out
    found : int32[at least n], out; scratch
    keys : float64[at least size + 1], in; guide : int32[..], in; scale : float64[2], in; see `make_guide`
    x : float64[n], in; NaN = missing; class c ends before row ends[c]
    ends : int64[K], in
    """
    tuple_of = found[: len(x)]
    low, per_unit, last = keys[0], scale[0], scale[1]
    for i in range(len(x)):  # two loops, of which LLVM vectorises the first
        tuple_of[i] = bucket_of(x[i], low, per_unit, last)
    unknown = 0
    absent = 0
    for i in range(len(x)):
        q = guide[np.uint64(tuple_of[i])]
        tuple_of[i] = q
        unknown += int(keys[np.uint64(q)] != x[i])
        absent += int(x[i] != x[i])
    if unknown > absent:
        return False
    if absent > 0:
        for i in range(len(x)):
            tuple_of[i] = tuple_of[i] if x[i] == x[i] else np.int32(size)
    start = 0
    for c in range(len(ends)):
        some = tuple_of[start : ends[c]]
        for i in range(len(some)):
            counted[np.uint64(some[i]), np.uint64(c)] += np.int32(1)
        start = ends[c]
    return True


@inner_kernel
def begin_counting(
    counted: Codes, keys: Floats, guide: Codes, scale: Floats, half: Index, tuples: Floats, size: int
) -> float:
    """Prepare to count values apart from their tuples; return for how many, -1 if that is not worth it. O(K m).

    It is where values come again, as in exact lists, and are found at once: they are few, or a guide has a bucket for
    each of them.

    counted : int32[m + 1, K], out; zeros
    keys : float64[at least 2 size + 2], in/out; guide : int32[at least 4 size + 5], in/out
    scale : float64[2], in/out; half : int64[1], in/out; see `search`
    tuples : float64[m, 4 + K], in
    """
    if size == 0 or not is_exact(tuples, size):
        return -1.0
    if size > FEW:
        copy_keys(keys, tuples, size)
        half[0] = make_guide(guide, scale, keys, size, len(guide) - 1)
        if half[0] != 1:
            return -1.0
    total = 0.0
    for q in range(size):
        total += tuples[q, 1]
    for q in range(size + 1):
        for c in range(counted.shape[1]):
            counted[q, c] = 0
    return min(WHOLE - total, MOST)


@inner_kernel
def add_counted(tuples: Floats, counted: Codes, size: int) -> None:
    """Add what was counted apart to the tuples. O(K m).

    tuples : float64[m, 4 + K], in/out
    counted : int32[m + 1, K], in
    """
    for q in range(size):
        row, of_tuple = tuples[q], counted[q]
        n = 0
        for c in range(len(of_tuple)):
            n += of_tuple[c]
            row[HEAD + c] += of_tuple[c]
        row[1] += n
        row[3] += n


@inner_kernel
def count_gaps(gaps: Floats, spots: NDArray[np.uint64], size: int) -> int:
    """Count the values in each gap (at even spots); return their total. O(n + m).

    gaps : float64[m + 1], out
    spots : uint64[n], in
    """
    between = 0
    for q in range(size + 1):
        gaps[q] = 0.0
    for i in range(len(spots)):
        inside = ~spots[i] & np.uint64(1)
        gaps[spots[i] >> np.uint64(1)] += float(inside)
        between += int(np.int64(inside))
    return between


@inner_kernel
def count_present(spots: NDArray[np.uint64], trash: int) -> int:
    """Return how many values are not missing. O(n).

    spots : uint64[n], in
    """
    present = 0
    for i in range(len(spots)):
        present += int(spots[i] != np.uint64(trash))
    return present


@inner_kernel
def open_gaps(opened: Flags, tuples: Floats, gaps: Floats, size: int, limit: float, open_all: bool) -> bool:
    """Mark the gaps with more values than the limit allows, as `absorb` does; return whether there are any. O(m).

    opened : bool[m + 1], out
    tuples : float64[m, 4 + K], in
    gaps : float64[m + 1], in; the weight in each
    """
    found = False
    for q in range(size):
        full = open_all or q == 0 or tuples[q, 1] + tuples[q, 2] - tuples[q, 3] + gaps[q] > limit
        opened[q] = gaps[q] > 0.0 and full
        found = found or opened[q]
    opened[size] = gaps[size] > 0.0
    return found or opened[size]


@inner_kernel
def add_ones(tuples: Floats, opened: Flags, spots: NDArray[np.uint64], labels: Codes, size: int) -> None:
    """Add 1 for each value to the tuple at it, or to the next one where its gap is not opened. O(n).

    tuples : float64[m, 4 + K], in/out
    opened : bool[m + 1], in
    spots : uint64[n], in
    labels : int32[n], in
    """
    for i in range(len(spots)):
        q = spots[i] >> np.uint64(1)
        at_value = spots[i] & np.uint64(1)
        if q < np.uint64(size):
            joins = float(
                np.uint64(at_value >= np.uint64(opened[q]))
            )  # no branch, which would be mispredicted too often
            row = tuples[q]
            row[1] += joins
            row[3] += float(at_value)
            row[HEAD + labels[i]] += joins
