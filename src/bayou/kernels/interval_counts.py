"""Test-then-train with intervals: log-probabilities of a row's intervals before the row, which is then counted.

Rows are processed some hundreds at a time and column by column: the interval of a value is found, used and counted
while the column's counts are in the cache. The bits are those of the kernels of `bayou.kernels.value_counts` for the
same cells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.intervals import BAND, ROWS, any_present, find_cells, transpose
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.sums import TILE
from bayou.kernels.value_counts import cached_log, cell_seen

LARGEST = 2.0**53  # integers up to this one are exact as doubles
MOST = 2**31 - 1  # rows that an int32 can count
SUMS = 1 << 14  # kept at once, for the rows that are processed together


@inner_kernel
def stays_whole(count: float, more: int) -> bool:
    """Return whether a count is an integer and stays exact when `more` rows of weight 1 are added, in any order."""
    return count == np.floor(count) and abs(count) + more <= LARGEST


@inner_kernel
def are_whole(counts: Floats, present: Floats, y: Codes, w: Floats) -> bool:
    """Return whether rows weigh 1 or nothing and counts are integers, so that sums are exact in any order.

    Fewer values than cells are not worth the question: the answer is False.
    counts : float64[cells, K], in; present : float64[p, K], in; y : int32[n], in; w : float64[n], in
    """
    n = len(y)
    if n * len(present) < len(counts) or n > MOST:
        return False
    for i in range(n):
        if y[i] >= 0 and w[i] != 1.0 and w[i] != 0.0:
            return False
    for cell in range(len(counts)):
        for c in range(counts.shape[1]):
            if not stays_whole(counts[cell, c], n):
                return False
    for j in range(len(present)):
        for c in range(present.shape[1]):
            if not stays_whole(present[j, c], n):
                return False
    return True


@inner_kernel
def count_ones(
    tally: Codes, starts: Index, cuts: Floats, offsets: Index, index: Index, numeric: Floats, y: Codes, w: Floats,
    lo: int, hi: int, columns: Floats, cells: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Count the rows in the intervals of columns lo..hi, class by class, as integers. O(n (hi - lo) I).

    tally : int32[2, cells K + 1], in/out; two sums of every cell and class, for rows that follow each other often have
    the same cell, and one addition would wait for the other; the last is for rows that are not counted
    columns : float64[BAND, ROWS], out; cells : uint64[ROWS], out; scratch
    starts, cuts, offsets, index, numeric, y, w : see `count_intervals`
    """
    nowhere = np.uint64(tally.shape[1] - 1)
    k = nowhere // np.uint64(max(1, starts[hi] - starts[lo]))
    one, other = tally[0], tally[1]
    for r in range(0, len(y), ROWS):
        labels, weights = y[r : r + ROWS], w[r : r + ROWS]
        for b in range(lo, hi, BAND):
            d = min(BAND, hi - b)
            transpose(columns, index[b : b + d], numeric[r : r + ROWS])
            for j in range(b, b + d):
                x, here = columns[j - b, : len(labels)], cells[: len(labels)]
                if index[j] < 0 or not any_present(x):
                    continue
                find_cells(cuts[offsets[j] : offsets[j + 1] - 1], x, here)
                first = np.uint64(starts[j] - starts[lo])
                for i in range(len(here)):
                    counts = labels[i] >= 0 and weights[i] != 0.0 and x[i] == x[i]
                    here[i] = (first + here[i]) * k + np.uint64(labels[i]) if counts else nowhere
                for i in range(0, len(here) - 1, 2):
                    one[here[i]] += np.int32(1)
                    other[here[i + 1]] += np.int32(1)
                if len(here) % 2:
                    one[here[len(here) - 1]] += np.int32(1)


@inner_kernel
def add_tally(
    counts: Floats, present: Floats, seen: Index, starts: Index, tally: Codes, lo: int, hi: int
) -> None:
    """Add what was counted as integers to the counts of columns lo..hi. O(cells K).

    counts : float64[cells, K], in/out; present : float64[p, K], in/out; seen : int64[p], in/out
    starts : int64[p + 1], in; tally : int32[2, cells K + 1], in
    """
    k = counts.shape[1]
    place = 0
    for j in range(lo, hi):
        for cell in range(starts[j], starts[j + 1]):
            was_seen = cell_seen(counts, cell)
            for c in range(k):
                n = float(tally[0, place] + tally[1, place])
                counts[cell, c] += n
                present[j, c] += n
                place += 1
            seen[j] += int(not was_seen and cell_seen(counts, cell))


@kernel
def count_intervals(
    counts: Floats, present: Floats, seen: Index, starts: Index, cuts: Floats, offsets: Index, index: Index,
    numeric: Floats, y: Codes, w: Floats, lo: int, hi: int,
) -> None:  # fmt: skip
    """Count the rows in the intervals of columns lo..hi: `interval_codes` and `value_counts.count_values`. O(n p I).

    counts : float64[cells, K], in/out; present : float64[p, K], in/out; seen : int64[p], in/out
    starts : int64[p + 1], in; the first cell of each column; cuts : float64[P], in; offsets : int64[p + 1], in
    index : int64[p], in; j, or -1 for a column that is not counted
    numeric : float64[n, p], in; NaN = missing; y : int32[n], in; w : float64[n], in
    """
    columns = np.empty((BAND, ROWS))
    cells = np.empty(ROWS, np.uint64)
    if are_whole(counts[starts[lo] : starts[hi]], present[lo:hi], y, w):
        tally = np.zeros((2, (starts[hi] - starts[lo]) * counts.shape[1] + 1), np.int32)
        count_ones(tally, starts, cuts, offsets, index, numeric, y, w, lo, hi, columns, cells)
        add_tally(counts, present, seen, starts, tally, lo, hi)
        return
    for r in range(0, len(y), ROWS):
        labels, weights = y[r : r + ROWS], w[r : r + ROWS]
        for b in range(lo, hi, BAND):
            d = min(BAND, hi - b)
            transpose(columns, index[b : b + d], numeric[r : r + ROWS])
            for j in range(b, b + d):
                x = columns[j - b, : len(labels)]
                if index[j] < 0 or not any_present(x):
                    continue
                here = cells[: len(labels)]
                find_cells(cuts[offsets[j] : offsets[j + 1] - 1], x, here)
                first = np.uint64(starts[j])
                for i in range(len(labels)):
                    c, step = labels[i], weights[i]
                    if c < 0 or step == 0.0 or x[i] != x[i]:
                        continue
                    cell = first + here[i]
                    before = counts[cell, c]
                    if before == 0.0 and not cell_seen(counts, int(np.int64(cell))):
                        seen[j] += 1
                    counts[cell, c] = before + step
                    present[j, c] += step


@inner_kernel
def _predict_then_count_column(
    counts: Floats, present: Floats, sums: Floats, above: Floats, current: Flags, below: Floats,
    cells: NDArray[np.uint64], x: Floats, y: Codes, w: Floats, seen: int, declared: int, logs: Floats, alpha: float,
    m: float,
) -> int:  # fmt: skip
    """Row by row: add the term of one column as it stood before the row, then count; returns the new `seen`. O(n K).

    counts : float64[I, K], in/out; present : float64[K], in/out; both of this column
    sums : float64[K, at least n], in/out
    above : float64[I, K], in/out; the logarithms of the cells that are `current` : bool[I], in/out
    below : float64[K], out; the logarithms of the totals
    cells : uint64[n], in; x : float64[n], in, NaN = missing; y : int32[n], in; w : float64[n], in
    logs : float64[m], in, log of integers
    """
    k = len(present)
    values = max(seen, declared)
    to_cell, to_total = alpha + m / values, alpha * values + m
    for c in range(k):
        below[c] = cached_log(present[c] + to_total, logs)
    for i in range(len(x)):
        if x[i] != x[i]:
            continue
        cell = cells[i]
        known = current[cell]
        if not known and cell_seen(counts, cell):
            known = current[cell] = True
            for c in range(k):
                above[cell, c] = cached_log(counts[cell, c] + to_cell, logs)
        if known and k == 2:  # written out: starting a loop takes longer than two iterations
            sums[0, i] += above[cell, 0] - below[0]
            sums[1, i] += above[cell, 1] - below[1]
        elif known:
            for c in range(k):
                sums[c, i] += above[cell, c] - below[c]
        if y[i] < 0 or w[i] == 0.0:
            continue
        label = np.uint64(y[i])
        counts[cell, label] += w[i]
        present[label] += w[i]
        if known:
            above[cell, label] = cached_log(counts[cell, label] + to_cell, logs)
            below[label] = cached_log(present[label] + to_total, logs)
            continue
        seen += 1  # smoothing may have one more value to divide by
        values = max(seen, declared)
        to_cell, to_total = alpha + m / values, alpha * values + m
        for c in range(k):
            below[c] = cached_log(present[c] + to_total, logs)
        for other in range(len(current)):
            current[other] = False
    return seen


@kernel
def predict_then_count(
    counts: Floats, present: Floats, seen: Index, out: Floats, declared: Index, starts: Index, cuts: Floats,
    offsets: Index, index: Index, numeric: Floats, y: Codes, w: Floats, logs: Floats, alpha: float, m: float,
) -> None:  # fmt: skip
    """Row by row: add the log-probabilities of all columns as they stood before the row, then count it. O(n p (I + K)).

    Does the work of `interval_codes` and `value_counts.table_predict_then_update`, with the same bits.

    counts : float64[cells, K], in/out; present : float64[p, K], in/out; seen : int64[p], in/out
    out : float64[n, K], in/out; declared : int64[p], in
    starts : int64[p + 1], in; the first cell of each column; cuts : float64[P], in; offsets : int64[p + 1], in
    index : int64[p], in; j, or -1 for a column that says nothing and is not counted
    numeric : float64[n, p], in; NaN = missing; y : int32[n], in; w : float64[n], in; logs : float64[m], in, of integers
    """
    n, k = out.shape
    p = len(index)
    size = min(max(1, SUMS // (4 * k)), ROWS)
    columns, cells = np.empty((BAND, size)), np.empty(size, np.uint64)
    sums = np.empty((4, k, size))  # the four sums of `row_sum`, of every class and row
    above, below = np.empty((len(counts), k)), np.empty(k)
    current = np.empty(len(counts), np.bool_)
    for cell in range(len(counts)):
        current[cell] = False
    for r in range(0, n, size):
        labels, weights, scores = y[r : r + size], w[r : r + size], out[r : r + size]
        for t in range(0, p, TILE):
            for lane in range(4):
                for c in range(k):
                    for i in range(len(labels)):
                        sums[lane, c, i] = 0.0
            for b in range(t, min(t + TILE, p), BAND):
                d = min(BAND, p - b)
                transpose(columns, index[b : b + d], numeric[r : r + size])
                for j in range(b, b + d):
                    x = columns[j - b, : len(labels)]
                    if index[j] < 0 or not any_present(x):
                        continue
                    here = cells[: len(labels)]
                    find_cells(cuts[offsets[j] : offsets[j + 1] - 1], x, here)
                    first, last = starts[j], starts[j] + offsets[j + 1] - offsets[j]
                    seen[j] = _predict_then_count_column(
                        counts[first:last], present[j], sums[j % 4], above[first:last], current[first:last], below,
                        here, x, labels, weights, seen[j], declared[j], logs, alpha, m,
                    )  # fmt: skip
            for i in range(len(labels)):
                for c in range(k):
                    scores[i, c] += (sums[0, c, i] + sums[1, c, i]) + (sums[2, c, i] + sums[3, c, i])
