"""The places of a buffer's values in a list of quantile tuples.

A binary search among m tuples takes log m steps. Where values are not too unevenly spread, equally wide buckets of
their range contain few tuples each, and one look-up leaves only those to be searched: a *guide* gives for each bucket
the number of tuples before it. It is made once for all buffers until the list changes.

See `bayou.kernels.quantile_tuples` for what a tuple is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.jit import ZERO, inner_kernel, kernel, tight_kernel
from bayou.kernels.sorting import is_below

LEAST = 16  # tuples that are worth a guide
CROWD = 16  # tuples in one bucket, from here on a guide is not worth it
CHANGED = -2  # what a search knows of a list: nothing,
COPIED = -1  # or its values, and no guide


@inner_kernel
def halve(spots: NDArray[np.uint64], keys: Floats, x: Floats, half: int) -> None:
    """Add the number of keys below x_i to spots[i]: there are less than 2 `half` after it. O(n log half).

    spots : uint64[n], in/out
    keys : float64[m], in; increasing, then infinite, with as many beyond any spot as the search may look at
    x : float64[n], in
    """
    one = np.uint64(1)
    step = np.uint64(half)
    while step > np.uint64(0):
        for i in range(len(spots)):
            spot = spots[i]
            spots[i] = spot + step * is_below(keys[spot + step - one], x[i])
        step >>= one


@inner_kernel
def mark_equal(spots: NDArray[np.uint64], keys: Floats, x: Floats, trash: int) -> None:
    """spots[i] = 2 q + [keys[q] == x_i] for what was spot q; `trash` for NaN. O(n).

    spots : uint64[n], in/out
    keys : float64[m], in
    x : float64[n], in
    """
    nothing = np.uint64(trash)
    for i in range(len(spots)):
        spot = spots[i]
        here = spot + spot + np.uint64(keys[spot] == x[i])
        spots[i] = here if x[i] == x[i] else nothing


@kernel
def locate(keys: Floats, x: Floats, trash: int, spots: NDArray[np.uint64]) -> None:
    """spots[i] = 2 q + [keys[q] == x_i] for the first key q that is not below x_i; `trash` for NaN. O(n log m).

    keys : float64[m], in; increasing, then infinite; m a power of two, at least one infinite
    x : float64[n], in
    spots : uint64[n], out
    """
    for i in range(len(spots)):
        spots[i] = np.uint64(0)
    halve(spots, keys, x, len(keys) // 2)
    mark_equal(spots, keys, x, trash)


@tight_kernel
def bucket_of(x: float, low: float, scale: float, last: float) -> np.int32:
    """Return the bucket of x, which never falls as x rises; 0 for NaN."""
    place = (x - low) * scale
    place = place if place > 0.0 else 0.0
    return np.int32(place if place < last else last)


@inner_kernel
def fill_guide(guide: Codes, keys: Floats, scale: float) -> int:
    """guide[b] = the number of keys in buckets before b; return how many the fullest bucket has. O(m + buckets).

    guide : int32[buckets + 1], out
    keys : float64[m], in; increasing
    """
    last = float(len(guide) - 2)
    for b in range(len(guide)):
        guide[b] = 0
    for q in range(len(keys)):
        guide[np.uint64(bucket_of(keys[q], keys[0], scale, last)) + np.uint64(1)] += 1
    most = np.int32(0)
    before = np.int32(0)
    for b in range(len(guide)):
        most = max(most, guide[b])
        before += guide[b]
        guide[b] = before
    return int(most)


@inner_kernel
def copy_keys(keys: Floats, tuples: Floats, size: int) -> None:
    """Copy the values of a list for searches. O(m).

    keys : float64[at least 2 size + 2], out; the values, then infinite
    tuples : float64[m, 4 + K], in
    """
    for q in range(size):
        keys[q] = tuples[q, 0]
    for q in range(size, 2 * size + 2):
        keys[q] = np.inf


@inner_kernel
def make_guide(guide: Codes, scale: Floats, keys: Floats, size: int, most_buckets: int) -> int:
    """Make the guide to a list; return half of what is to be searched after a look-up, 0 if it is not worth it. O(m).

    It is 1 where no bucket contains two keys, for which the guide may have up to `most_buckets`.

    guide : int32[at least 4 size + 5, and most_buckets + 1], out
    scale : float64[2], out; buckets per unit, and the last bucket
    keys : float64[at least size], in
    """
    buckets = 2 * padded(size)
    most = size
    while most > 1:
        scale[0], scale[1] = buckets / (keys[size - 1] - keys[0]), buckets - 1.0
        if not 0.0 < scale[0] < np.inf:
            return 0
        most = fill_guide(guide[: buckets + 1], keys[:size], scale[0])
        buckets *= 2
        if buckets > most_buckets:
            break
    half = 1
    while 2 * half <= most:
        half *= 2
    return half if half < CROWD else 0


@inner_kernel
def padded(size: int) -> int:
    """Return the least power of two above `size`."""
    m = 1
    while m <= size:
        m *= 2
    return m


@inner_kernel
def search(
    spots: NDArray[np.uint64], keys: Floats, guide: Codes, scale: Floats, half: Index, tuples: Floats, x: Floats,
    size: int,
) -> None:  # fmt: skip
    """Write what `locate` does for the values of a list, NaN at spot 2 size + 1. O(n log m).

    spots : uint64[n], out
    keys : float64[at least 2 size + 2], in/out
    guide : int32[at least 4 size + 5], in/out
    scale : float64[2], in/out
    half : int64[1], in/out; what `make_guide` returned; CHANGED where the list is another one than in the last search
    tuples : float64[m, 4 + K], in
    x : float64[n], in
    """
    if half[0] == CHANGED:
        copy_keys(keys, tuples, size)
        half[0] = COPIED
    elif half[0] == COPIED:  # a list that changes with every buffer is searched without a guide
        half[0] = make_guide(guide, scale, keys, size, ZERO) if size >= LEAST else 0
    if half[0] <= 0:
        locate(keys[: padded(size)], x, 2 * size + 1, spots)
        return
    for i in range(len(spots)):
        spots[i] = np.uint64(guide[np.uint64(bucket_of(x[i], keys[0], scale[0], scale[1]))])
    halve(spots, keys, x, half[0])
    mark_equal(spots, keys, x, 2 * size + 1)


@kernel
def common_gap(tuples: Floats, x: Floats, size: int) -> int:
    """Return the gap that contains all of x, -1 if there is none. O(log m), O(n) if there is one.

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


@inner_kernel
def collect(
    found: Floats, rows: Index, ends: Index, x: Floats, spots: NDArray[np.uint64], gaps: Floats, opened: Flags,
    size: int,
) -> int:  # fmt: skip
    """Write the values that lie in opened gaps, gap after gap, and their rows; return how many. O(n + m).

    found : float64[n + 1], out
    rows : int64[n + 1], out
    ends : int64[m + 1], out; where the values of each gap end
    x : float64[n], in
    spots : uint64[n], in
    gaps : float64[m + 1], in; the number of values in each gap
    opened : bool[m + 1], in
    """
    inside = np.empty(len(x) + 1, np.int64)
    n = 0
    for i in range(len(x)):
        spot = spots[i]
        inside[n] = i  # without a branch, which would be mispredicted too often
        n += int((spot & np.uint64(1)) < np.uint64(opened[spot >> np.uint64(1)]))
    end = 0
    for q in range(size + 1):
        ends[q] = end
        end += int(gaps[q]) * int(opened[q])
    for i in inside[:n]:
        q = spots[i] >> np.uint64(1)
        at = np.uint64(ends[q])
        found[at] = x[i]
        rows[at] = i
        ends[q] += 1
    return n
