"""Sorting of a few hundred values together with their row numbers."""

from __future__ import annotations

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.jit import inner_kernel, kernel, tight_kernel

RUN = 12  # sorted by insertion before merging begins


@tight_kernel
def is_below(key: float, x: float) -> np.uint64:
    """Return 1 if key < x, else 0; for NaN, either.

    It is the sign of the difference: LLVM turns a comparison inside a binary search into a branch, half of which are
    mispredicted, and the search takes four times as long. Adding 0 makes -0 equal to 0.
    """
    return np.float64((key - x) + 0.0).view(np.uint64) >> np.uint64(63)


@inner_kernel
def _reverse_if_falling(x: Floats, rows: Index) -> None:
    """Reverse a list that is strictly decreasing. O(n).

    x : float64[n], in/out
    rows : int64[n], in/out
    """
    n = len(x)
    for i in range(1, n):
        if not x[i] < x[i - 1]:
            return
    for i in range(n // 2):
        x[i], x[n - 1 - i] = x[n - 1 - i], x[i]
        rows[i], rows[n - 1 - i] = rows[n - 1 - i], rows[i]


@inner_kernel
def _merge_runs(
    x: Floats, rows: Index, spare: Floats, spare_rows: Index, lo: int, middle: int, hi: int
) -> None:
    """Merge the sorted runs lo..middle and middle..hi, the left one first on ties. O(hi - lo).

    x : float64[n], in/out
    rows : int64[n], in/out
    spare : float64[n], out; scratch
    spare_rows : int64[n], out; scratch
    """
    for i in range(lo, middle):
        spare[i - lo] = x[i]
        spare_rows[i - lo] = rows[i]
    left = middle - lo
    a = 0
    b = middle
    at = lo
    while a < left and b < hi:
        if x[b] < spare[a]:
            x[at] = x[b]
            rows[at] = rows[b]
            b += 1
        else:
            x[at] = spare[a]
            rows[at] = spare_rows[a]
            a += 1
        at += 1
    while a < left:
        x[at] = spare[a]
        rows[at] = spare_rows[a]
        a += 1
        at += 1


@inner_kernel
def sort_few(x: Floats, rows: Index) -> None:
    """Sort by insertion and carry `rows` along; equal values keep their order. O(n^2), O(n) if already in order.

    x : float64[n], in/out
    rows : int64[n], in/out
    """
    for i in range(1, len(x)):
        value = x[i]
        row = rows[i]
        at = i
        while at > 0 and value < x[at - 1]:
            x[at] = x[at - 1]
            rows[at] = rows[at - 1]
            at -= 1
        x[at] = value
        rows[at] = row


@inner_kernel
def _sort_by_runs(x: Floats, rows: Index, spare: Floats, spare_rows: Index) -> None:
    """Sort short runs by insertion, then merge those that are out of order. O(n log n), O(n) if already in order.

    x : float64[n], in/out
    rows : int64[n], in/out
    spare : float64[n], out; scratch
    spare_rows : int64[n], out; scratch
    """
    n = len(x)
    _reverse_if_falling(x, rows)
    for lo in range(0, n, RUN):
        sort_few(x[lo : lo + RUN], rows[lo : lo + RUN])
    width = RUN
    while width < n:
        for lo in range(0, n - width, 2 * width):
            middle = lo + width
            if x[middle] < x[middle - 1]:
                _merge_runs(x, rows, spare, spare_rows, lo, middle, min(lo + 2 * width, n))
        width *= 2


@kernel
def sort_pairs(x: Floats, rows: Index) -> None:
    """Sort x and carry `rows` along; equal values keep their order. O(n log n).

    The list is first divided in the middle of its range: streams that come from both ends, rising below and
    falling above, then cost O(n), as do rising and falling ones.

    x : float64[n], in/out; no NaN
    rows : int64[n], in/out
    """
    n = len(x)
    if n == 0:
        return
    low = x[0]
    high = x[0]
    rises = True
    falls = True
    for i in range(1, n):
        rises = rises and x[i] >= x[i - 1]
        falls = falls and x[i] < x[i - 1]
        low = min(low, x[i])
        high = max(high, x[i])
    if rises:
        return
    if falls:
        _reverse_if_falling(x, rows)
        return
    spare = np.empty(n)
    spare_rows = np.empty(n, np.int64)
    middle = low / 2.0 + high / 2.0
    below = 0
    above = 0
    for i in range(n):
        value = x[i]
        row = rows[i]
        if value <= middle:
            x[below] = value
            rows[below] = row
            below += 1
        else:
            spare[above] = value
            spare_rows[above] = row
            above += 1
    for i in range(above):
        x[below + i] = spare[i]
        rows[below + i] = spare_rows[i]
    _sort_by_runs(x[:below], rows[:below], spare, spare_rows)
    _sort_by_runs(x[below:], rows[below:], spare, spare_rows)


@inner_kernel
def sort_runs(x: Floats, rows: Index, ends: Index) -> None:
    """Sort each run of values and carry `rows` along; equal values keep their order. O(n log n).

    x : float64[at least n], in/out; no NaN
    rows : int64[at least n], in/out
    ends : int64[m], in; where each run ends, and the next one starts; n last
    """
    start = 0
    for end in ends:
        if end - start > RUN:
            sort_pairs(x[start:end], rows[start:end])
        elif end - start > 1:
            sort_few(x[start:end], rows[start:end])
        start = end


@inner_kernel
def select(x: Floats, k: int) -> float:
    """Return the k-th smallest value, counted from 0 (Hoare's quickselect); the order of the values changes.

    x : float64[n], in/out
    """
    low, high = 0, len(x) - 1
    while low < high:
        pivot = x[k]
        i, j = low, high
        while i <= j:
            while x[i] < pivot:
                i += 1
            while x[j] > pivot:
                j -= 1
            if i <= j:
                x[i], x[j] = x[j], x[i]
                i += 1
                j -= 1
        if j < k:
            low = i
        if i > k:
            high = j
    return float(x[k])
