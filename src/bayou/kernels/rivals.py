"""What follows from labels alone: the rows that the two baselines (no-change and majority class) predict correctly.

This is the same for all models and is counted once. Every row has a label and weight 1, so that counts are integers,
whose sums are exact in any order.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.lanes import four_at, four_of, put_lanes
from bayou.kernels.outcomes import PORTION, forget_faintest, heaviest
from bayou.kernels.portions import most_of

FEWEST, MANY = 64, 256  # rows that are counted at a time, so few that the majority class often stays the same
# What a row adds to the weight of all rows, and of those that each baseline predicts correctly: no-change, the majority
# class before the row, and after it; which of the three do are the bits of the row number.
_HITS = np.array([[1, i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)], np.float64).reshape(-1)
_IS_FIRST = np.array(
    [1.0, 0.0, 1.0]
)  # whether a class is the first of two; one place further, whether it is the second


@inner_kernel
def end_of_portion(rows: int, lo: int, end: int) -> int:
    """The end of the portion that begins with row `lo`, when `rows` rows were counted before: `end` or earlier.

    The first row of all is a portion of its own.
    """
    return min(lo + (PORTION - rows % PORTION if rows > 0 else 1), end)


@inner_kernel
def count_rivals(no_change: Floats, ends: Index, weight: Floats, majority: Floats, true: Codes) -> None:
    """Count the rows that the two baselines predict correctly, as `count_no_change` and `count_majority` do.

    no_change : float64[3], in/out; ends : int64[2], in/out; weight : float64[K], in/out; majority : float64[3], in/out
    true : int32[n], in
    """
    if len(true) == 0:
        return
    same = int(ends[1] == true[0])
    ahead, following = true[: len(true) - 1], true[1:]
    for i in range(len(following)):
        same += ahead[i] == following[i]
    ends[1] = true[len(true) - 1]
    no_change[0] += len(true)
    no_change[1] += same
    majority[0] += len(true)
    lo = 0
    while lo < len(true):
        ahead_by = lead(weight)
        if ahead_by > FEWEST:
            hi = min(lo + int(min(ahead_by - 1.0, MANY)), len(true))
            count_settled(weight, majority, true[lo:hi])
        else:
            hi = min(lo + FEWEST, len(true))
            count_contested(weight, majority, true[lo:hi])
        lo = hi


@inner_kernel
def lead(weight: Floats) -> float:
    """By how much the majority class is ahead of the second.

    weight : float64[K], in
    """
    most = second = 0.0
    for j in range(len(weight)):
        second = max(second, min(weight[j], most))
        most = max(most, weight[j])
    return most - second


@inner_kernel
def count_settled(weight: Floats, majority: Floats, true: Codes) -> None:
    """Count rows that are too few to change which class is the majority.

    weight : float64[K], in/out; majority : float64[3], in/out, right before and after; true : int32[n], in
    """
    most = heaviest(weight)
    for j in range(len(weight)):
        rows = 0
        for i in range(len(true)):
            rows += true[i] == j
        weight[j] += rows
        if j == most:
            majority[1] += rows
            majority[2] += rows


@inner_kernel
def count_contested(weight: Floats, majority: Floats, true: Codes) -> None:
    """Count rows one by one, as each may change which class is the majority.

    weight : float64[K], in/out; majority : float64[3], in/out, right before and after; true : int32[n], in
    """
    most, before, after = heaviest(weight), 0, 0
    if len(weight) == 2 and most >= 0:
        count_contested_by_two(weight, majority, true)
        return
    for i in range(len(true)):
        c = true[i]
        before += most == c
        weight[c] += 1.0
        if most < 0 or weight[c] > weight[most] or (weight[c] == weight[most] and c < most):
            most = int(c)
        after += most == c
    majority[1] += before
    majority[2] += after


@inner_kernel
def count_contested_by_two(weight: Floats, majority: Floats, true: Codes) -> None:
    """Do as `count_contested` for two classes, without branches, which would be mispredicted.

    weight : float64[2], in/out; majority : float64[3], in/out, right before and after; true : int32[n], in
    """
    ahead, firsts, before, after = int(weight[0] - weight[1]), 0, 0, 0  # by so many is the first class ahead
    for i in range(len(true)):
        first = true[i] == 0
        before += (ahead >= 0) == first
        ahead += 2 * first - 1
        after += (ahead >= 0) == first
        firsts += first
    weight[0] += firsts
    weight[1] += len(true) - firsts
    majority[1] += before
    majority[2] += after


@inner_kernel
def fade_rivals(faded: Floats, sums: Floats, ends: Index, true: Codes, alpha: float, four: Floats) -> None:
    """Update the exponentially faded class weights, and the faded weights of rows the baselines predict correctly.

    faded : float64[K], in/out; sums : float64[8], in/out, all but 4 to 6; ends : int64[3], in/out
    true : int32[n], in, one portion of rows; four : float64[4], out
    """
    if len(faded) == 2:
        fade_two_classes(faded, sums, ends[1], true, alpha, four)
    else:
        fade_classes(faded, sums, ends[1], true, alpha)
    if ends[1] < 0:
        sums[7] = 1.0
    ends[1] = true[len(true) - 1]
    ends[2] += len(true)
    if ends[2] % PORTION == 0:
        forget_faintest(faded)
        forget_faintest(sums[:4])
        forget_faintest(sums[7:])


@inner_kernel
def fade_classes(faded: Floats, sums: Floats, last: int, true: Codes, alpha: float) -> None:
    """Do as `fade_rivals` for any number of classes, after a row with the label `last`.

    faded : float64[K], in/out; sums : float64[8], in/out, all but 4 to 6; true : int32[n], in
    """
    most = heaviest(faded)
    weight, same, before, after, first = sums[0], sums[1], sums[2], sums[3], sums[7]
    for i in range(len(true)):
        c = true[i]
        first *= alpha
        weight = weight * alpha + 1.0
        same = same * alpha + (last == c)
        before = before * alpha + (most == c)
        most, top = -1, 0.0
        for j in range(len(faded)):
            value = faded[j] * alpha + (j == c)
            faded[j] = value
            if value > top:
                top = value
                most = j
        after = after * alpha + (most == c)
        last = int(c)
    sums[0], sums[1], sums[2], sums[3], sums[7] = weight, same, before, after, first


@inner_kernel
def fade_two_classes(faded: Floats, sums: Floats, last: int, true: Codes, alpha: float, four: Floats) -> None:
    """Do as `fade_classes` for two classes, without branches and conversions, which take longer than the sums.

    faded : float64[2], in/out; sums : float64[8], in/out, all but 4 to 6; true : int32[n], in; four : float64[4], out
    """
    for i in range(4):
        four[i] = sums[i]
    hits, decay = four_at(four, np.uint64(0)), four_of(alpha)
    one, two, first = faded[0], faded[1], sums[7]
    most, ahead = np.uint64(heaviest(faded)), np.uint64(last)
    for i in range(len(true)):
        c = np.uint64(true[i])
        first *= alpha
        one = one * alpha + _IS_FIRST[c]
        two = two * alpha + _IS_FIRST[c + np.uint64(1)]
        same, before = np.uint64(ahead == c), np.uint64(most == c)
        most, ahead = np.uint64(two > one), c
        after = np.uint64(most == c)
        at = np.uint64(4) * same + np.uint64(8) * before + np.uint64(16) * after
        hits = hits * decay + four_at(_HITS, at)
    put_lanes(four, np.uint64(0), hits)
    for i in range(4):
        sums[i] = four[i]
    faded[0], faded[1], sums[7] = one, two, first


@inner_kernel
def recent_rivals(
    labels: Codes, end: int, window: int, counts: Codes, most: Codes, top: Codes, out: Floats
) -> None:
    """Compute the part of `read_recent` that depends on labels alone, over the window of rows that ends before `end`.

    labels : int32[m], in, at least two windows of them up to the end, -1 for rows before the first
    counts : int32[K, e], out; most, top : int32[e], out, room for a portion of rows
    out : float64[K + 4], out, weight, right by no-change, by the majority before and after, weight by class
    """
    lo, within = end - window, out[4:]
    while lo < end and labels[lo] < 0:
        lo += 1
    gone = labels[lo - window : lo]
    for j in range(len(within)):
        rows = 0
        for i in range(len(gone)):
            rows += gone[i] == j
        within[j] = rows
    out[0] = end - lo
    known, same, before, after = heaviest(within), 0, 0, 0
    while lo < end:
        hi = min(lo + len(most), end)
        true, ahead, gone = labels[lo:hi], labels[lo - 1 : hi - 1], labels[lo - window : hi - window]
        # Where a row leaves the window for each that enters, the last class has the other rows
        full = len(within) > 1 and gone[0] >= 0
        if full:
            rest, rows = counts[len(within) - 1], 0
            for j in range(len(within)):
                rows += int(within[j])
            for i in range(len(true)):
                rest[i] = rows
        for j in range(len(within) - full):
            rows, column = int(within[j]), counts[j]
            for i in range(len(true)):
                rows += (true[i] == j) - (gone[i] == j)
                column[i] = rows
            within[j] = rows
            for i in range(len(true) if full else 0):
                rest[i] -= column[i]
        if full:
            within[len(within) - 1] = rest[len(true) - 1]
        latest = most[: len(true)]
        most_of(counts, latest, top)
        before += known == true[0]
        for i in range(len(true)):
            same += ahead[i] == true[i]
            after += latest[i] == true[i]
        for i in range(1, len(true)):
            before += latest[i - 1] == true[i]
        known = int(latest[len(true) - 1])
        lo = hi
    out[1], out[2], out[3] = same, before, after


@kernel
def count_labels(
    no_change: Floats,
    ends: Index,
    weight: Floats,
    majority: Floats,
    faded_true: Floats,
    faded_sums: Floats,
    faded_ends: Index,
    labels: Codes,
    window: int,
    alpha: float,
    marks: Index,
    rivals: Floats,
) -> None:
    """Evaluate the baselines on rows and write their running, windowed and faded sums at every point of the curve.

    no_change : float64[3], in/out; ends : int64[2], in/out; weight : float64[K], in/out; majority : float64[3], in/out
    faded_true : float64[K], in/out; faded_sums : float64[8], in/out, all but 4 to 6; faded_ends : int64[3], in/out
    labels : int32[m], in, of two windows of rows before, -1 where there are none, and then of these rows
    marks : int64[p], in, numbers of rows after which there is a point, ascending
    rivals : float64[p, 3, K + 4], out, weight, right by no-change and by the majority before and after, weight by class
    """
    counts, most = np.empty((len(weight), PORTION), np.int32), np.empty(PORTION, np.int32)
    top, four = np.empty(PORTION, np.int32), np.empty(4)
    before = 2 * window
    true = labels[before:]
    lo = 0
    if ends[0] < 0 and len(true) > 0:
        ends[0] = faded_ends[0] = true[0]
        no_change[2] = 1.0
    for p in range(len(marks) + 1):
        end = marks[p] if p < len(marks) else len(true)
        count_rivals(no_change, ends, weight, majority, true[lo:end])
        while lo < end:
            hi = end_of_portion(faded_ends[2], lo, end)
            fade_rivals(faded_true, faded_sums, faded_ends, true[lo:hi], alpha, four)
            lo = hi
        if p < len(marks):
            rivals[p, 0, 1], rivals[p, 0, 2], rivals[p, 0, 3] = no_change[1], majority[1], majority[2]
            recent_rivals(labels, before + end, window, counts, most, top, rivals[p, 1])
            for i in range(4):
                rivals[p, 2, i] = faded_sums[i]
            for j in range(len(weight)):
                rivals[p, 2, 4 + j] = faded_true[j]
