"""Insertion of rows of weight 1 into lists of quantile tuples whose weights are integers.

Sums of integers have the same bits in any order. So weights need not be added up by value and class before they
join their tuples, and rows of one class can be counted together. See `bayou.kernels.quantile_tuples` for the rest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.tuple_budget import HEAD

WHOLE = 2.0**53  # integers up to this one are exact as doubles
TILE = 8  # columns transposed at a time
FEW = 4  # values that are compared with each row, rather than looked up


@kernel
def sort_by_class(by_class: Index, rows: Index, y: Codes, buffer: int, classes: int) -> None:
    """Sort the rows of each buffer by class, keeping their order within a class. O(n).

    by_class : int64[r], out
    rows : int64[r], in
    y : int32[n], in
    """
    place = np.empty(classes + 1, np.int64)
    for start in range(0, len(rows), buffer):
        some, sorted_rows = rows[start : start + buffer], by_class[start : start + buffer]
        for c in range(classes + 1):
            place[c] = 0
        for i in range(len(some)):
            place[y[some[i]] + 1] += 1
        for c in range(classes):
            place[c + 1] += place[c]
        for i in range(len(some)):
            c = y[some[i]]
            sorted_rows[place[c]] = some[i]
            place[c] += 1


@inner_kernel
def transpose_rows(tile: Floats, values: Floats, rows: Index, first: int, d: int) -> None:
    """tile[j, i] = column first + j of row rows[i], for d columns. O(n d).

    tile : float64[8, n], out
    values : float64[rows, p], in
    rows : int64[n], in
    """
    if d < TILE:
        for i in range(len(rows)):
            row = values[rows[i], first : first + d]
            for j in range(len(row)):
                tile[j, i] = row[j]
        return
    for i in range(len(rows)):
        row = values[rows[i], first : first + TILE]
        tile[0, i], tile[1, i], tile[2, i], tile[3, i] = row[0], row[1], row[2], row[3]
        tile[4, i], tile[5, i], tile[6, i], tile[7, i] = row[4], row[5], row[6], row[7]


@inner_kernel
def add_to_few(tuples: Floats, sums: Floats, x: Floats, ends: Index, size: int) -> bool:
    """Add 1 to the tuple of each value if each has a tuple, else change nothing; return whether it did. O(n m).

    tuples : float64[m, 4 + K], in/out
    sums : float64[2 m + 2, K], out; scratch
    x : float64[n], in; NaN = missing; class c ends before row ends[c]
    ends : int64[K], in
    """
    total = float(len(x))
    for q in range(size):
        total += tuples[q, 1]
    if total > WHOLE:
        return False
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
        row = tuples[q]
        for c in range(len(ends)):
            row[1] += sums[q, c]
            row[3] += sums[q, c]
            row[HEAD + c] += sums[q, c]
    return True


@inner_kernel
def add_to_columns_of_few(
    tuples: Floats, starts: Index, sizes: Index, taken: Index, number: int, values: Floats, y: Codes, by_class: Index,
    lo: int, hi: int, tile: Floats, ends: Index, sums: Floats,
) -> None:  # fmt: skip
    """Add a buffer to those of columns lo..hi whose few tuples contain all its values. O(n (hi - lo)).

    tuples : float64[m, 4 + K], in/out
    starts : int64[p + 1], in
    sizes : int64[p], in
    taken : int64[p], in/out; one more for each of those columns, if it was `number`
    values : float64[n, p], in
    y : int32[n], in
    by_class : int64[r], in; the rows, class after class
    tile : float64[8, r], out; scratch
    ends : int64[K], out; scratch
    sums : float64[2 m + 2, K], out; scratch
    """
    few = 0
    for j in range(lo, hi):
        few += int(0 < sizes[j] <= FEW and taken[j] == number)
    if few == 0:
        return
    i = 0
    for c in range(len(ends)):
        while i < len(by_class) and y[by_class[i]] == c:
            i += 1
        ends[c] = i
    transpose_rows(tile, values, by_class, lo, hi - lo)
    for j in range(lo, hi):
        if 0 < sizes[j] <= FEW and taken[j] == number:
            column = tuples[starts[j] : starts[j + 1]]
            taken[j] += int(add_to_few(column, sums, tile[j - lo, : len(by_class)], ends, sizes[j]))


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
