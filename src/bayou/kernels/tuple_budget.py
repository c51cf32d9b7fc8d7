"""Keeping lists of quantile tuples short: which tuples go, and who takes their weight.

See `bayou.kernels.quantile_tuples` for what a tuple is.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Floats
from bayou.kernels.jit import ZERO, inner_kernel, kernel

HEAD = 4  # v, g, D, e stand before the classes
RISE = 1.25  # from one limit to the next
LEAST_LIMIT = 1e-300  # below, a product with RISE may round back to what it was, for ever
SPARE = 5  # a list is shortened tuple by tuple once it is this part above its budget


@kernel
def clear(row: Floats) -> None:
    """row = 0. O(K).

    row : float64[4 + K], out
    """
    for c in range(len(row)):
        row[c] = 0.0


@inner_kernel
def copy_row(target: Floats, source: Floats) -> None:
    """target = source. O(m).

    target : float64[m], out
    source : float64[m], in
    """
    for c in range(len(target)):
        target[c] = source[c]


@inner_kernel
def take_over(kept: Floats, gone: Floats) -> None:
    """Give the weight of a dropped tuple to the next one. O(K).

    kept : float64[4 + K], in/out
    gone : float64[4 + K], in
    """
    kept[1] += gone[1]
    for c in range(HEAD, len(kept)):
        kept[c] += gone[c]


@inner_kernel
def threshold_pass(work: Floats, size: int, least: int, limit: float) -> int:
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


@inner_kernel
def least_cost(work: Floats, size: int) -> float:
    """The least u that dropping one tuple would give the next. O(m).

    work : float64[m, 4 + K], in; the first `size` rows
    """
    least = np.inf
    for i in range(1, size - 1):
        row = work[i + 1]
        least = min(least, work[i, 1] + row[1] + row[2] - row[3])
    return least


@kernel
def first_least(cost: Floats) -> int:
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


@inner_kernel
def drop_cheapest(work: Floats, size: int, budget: int) -> int:
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


@inner_kernel
def shrink(work: Floats, size: int, budget: int, limit: float, eps: float) -> int:
    """Back to the budget: passes with rising limits to 1.5 budgets, then tuple by tuple. O(K m + m^2).

    With eps > 0 there is one pass at `limit` = eps N, and the list may stay longer than the budget.

    work : float64[m, 4 + K], in/out; the first `size` rows are the list, its new length is returned
    """
    if size <= budget:
        return size
    if eps > 0.0:
        return threshold_pass(work, size, ZERO, limit)
    rising = max(limit / 3.0, LEAST_LIMIT)
    enough = budget + budget // SPARE
    while size > enough:
        least = least_cost(work, size)
        while rising < least:
            rising *= RISE
        size = threshold_pass(work, size, enough, rising)
        rising *= RISE
    return drop_cheapest(work, size, budget)


@inner_kernel
def bound_of(total: float, budget: int, eps: float) -> float:
    """The u up to which a gap takes values in: eps N where eps > 0, else 1.5 N / budget."""
    return eps * total if eps > 0.0 else 1.5 * total / budget


@inner_kernel
def is_exact(tuples: Floats, size: int) -> bool:
    """Whether all weight is known to lie at the values of the tuples. O(m).

    tuples : float64[m, 4 + K], in; the first `size` rows
    """
    for q in range(size):
        if tuples[q, 1] + tuples[q, 2] - tuples[q, 3] > 0.0:
            return False
    return True


@inner_kernel
def may_stay(distinct: int, most: int, total: float) -> bool:
    """Whether a list without any uncertainty may outgrow its budget: values come again, and are not too many."""
    return distinct <= most and 8.0 * distinct <= 7.0 * total
