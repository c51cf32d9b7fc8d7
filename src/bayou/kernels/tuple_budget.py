"""Compression of lists of quantile tuples to a budget: which tuples are dropped, and which take over their weight.

See `bayou.kernels.quantile_tuples` for what a tuple is.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.jit import ZERO, inner_kernel, tight_kernel

HEAD = 4  # v, g, D, e stand before the classes
RISE = 1.25  # factor from one limit of u to the next
LEAST_LIMIT = 1e-300  # below this, multiplying by RISE may round to the same number, in an endless loop
NEVER = np.int64(2**63 - 1)  # above the rank of any cost
SPARE = 5  # a list is shortened tuple by tuple once it is this part above its budget


@tight_kernel
def copy_row(target: Floats, source: Floats) -> None:
    """target = source. O(m).

    target : float64[m], out
    source : float64[m], in
    """
    for c in range(len(target)):
        target[c] = source[c]


@tight_kernel
def take_over(kept: Floats, gone: Floats) -> None:
    """Give the weight of a dropped tuple to the next one. O(K).

    kept : float64[4 + K], in/out
    gone : float64[4 + K], in
    """
    kept[1] += gone[1]
    for c in range(HEAD, len(kept)):
        kept[c] += gone[c]


@tight_kernel
def cost_of(gone: Floats, kept: Floats) -> float:
    """Return the u of a tuple after it takes over the weight of the tuple `gone` before it.

    gone : float64[4 + K], in
    kept : float64[4 + K], in
    """
    return float(gone[1] + kept[1] + kept[2] - kept[3])


@tight_kernel
def raised(gone: Floats, kept: Floats) -> float:
    """Return `cost_of`, computed from the present u of the tuple: the two may differ in their last bit.

    gone : float64[4 + K], in
    kept : float64[4 + K], in
    """
    return float(kept[1] + kept[2] - kept[3] + gone[1])


@inner_kernel
def threshold_pass(work: Floats, alive: Index, least: int, limit: float) -> int:
    """From right to left, drop tuples whose weight the next one can take with u <= limit; `least` stay. O(m + K).

    work : float64[.., 4 + K], in/out
    alive : int64[m], in/out; where the tuples of the list stand in `work`: the last ones, how many is returned
    """
    size = len(alive)
    at = size - 1
    spare = size - least
    if size < 3:
        return size
    kept = work[alive[at]]
    for i in range(size - 2, -1, -1):
        here = work[alive[i]]
        if i > 0 and spare > 0 and raised(here, kept) <= limit:
            take_over(kept, here)
            spare -= 1
        else:
            at -= 1
            alive[at] = alive[i]
            kept = here
    return size - at


@inner_kernel
def least_cost(work: Floats, alive: Index) -> float:
    """Return the least u that dropping one tuple would give the next one. O(m).

    work : float64[.., 4 + K], in
    alive : int64[m], in
    """
    least = np.inf
    for i in range(1, len(alive) - 1):
        least = min(least, cost_of(work[alive[i]], work[alive[i + 1]]))
    return least


@tight_kernel
def rank_of(cost: float) -> np.int64:
    """Return an integer that is less for a lower cost: the least of integers is found four at a time."""
    bits = np.float64(cost + 0.0).view(np.int64)  # adding 0 makes -0 equal to 0
    return bits ^ ((bits >> np.int64(63)) & NEVER)


@inner_kernel
def least_of(ranks: Index) -> int:
    """Return the least of integers. O(n).

    ranks : int64[n], in
    """
    least = NEVER
    for i in range(len(ranks)):
        least = min(least, ranks[i])
    return int(least)


@inner_kernel
def place_of(ranks: Index, wanted: int) -> int:
    """Return the first place where an integer stands. O(n).

    ranks : int64[n], in
    """
    place = len(ranks)
    for i in range(len(ranks)):
        place = min(place, i if ranks[i] == wanted else len(ranks))
    return place


@inner_kernel
def drop_cheapest(work: Floats, alive: Index, budget: int) -> None:
    """Drop the tuple with the least g + u of the next, the leftmost on ties, until `budget` are left. O(m^1.5).

    The costs stand in about sqrt m blocks, of which the least are kept.

    work : float64[.., 4 + K], in/out
    alive : int64[m], in/out; where the tuples of the list stand in `work`, -1 for those that are dropped
    """
    size = len(alive)
    if size <= budget:
        return
    width = 16
    while width * width < size:
        width *= 2
    ranks = np.empty(((size - 1) // width + 1, width), np.int64)
    least = np.empty(len(ranks), np.int64)
    after = np.empty(size, np.int64)
    before = np.empty(size, np.int64)
    for block in range(len(ranks)):
        for i in range(width):
            ranks[block, i] = NEVER
    for i in range(size):
        if 0 < i < size - 1:
            ranks[i // width, i % width] = rank_of(cost_of(work[alive[i]], work[alive[i + 1]]))
        after[i] = i + 1
        before[i] = i - 1
    for block in range(len(ranks)):
        least[block] = least_of(ranks[block])
    for _ in range(size - budget):
        block = place_of(least, least_of(least))
        i = block * width + place_of(ranks[block], least[block])
        a, b = before[i], after[i]
        kept = work[alive[b]]
        take_over(kept, work[alive[i]])
        alive[i] = -1
        after[a] = b
        before[b] = a
        ranks[block, i % width] = NEVER
        if a > 0:
            ranks[a // width, a % width] = rank_of(raised(work[alive[a]], kept))
        if b < size - 1:
            ranks[b // width, b % width] = rank_of(cost_of(kept, work[alive[after[b]]]))
        least[block] = least_of(ranks[block])
        if a // width != block:
            least[a // width] = least_of(ranks[a // width])
        if b // width != block:
            least[b // width] = least_of(ranks[b // width])


@inner_kernel
def shrink(work: Floats, alive: Index, size: int, budget: int, limit: float, eps: float) -> int:
    """Compress a list to its budget: passes with rising limits to 1.2 budgets, then tuple by tuple. O(K m + m^1.5).

    With eps > 0 there is one pass at `limit` = eps N, and the list may stay longer than the budget.

    work : float64[m, 4 + K], in/out
    alive : int64[m], in/out; where the `size` tuples of the list stand in `work`, its new length is returned
    """
    if size <= budget:
        return size
    listed = alive[:size]
    if eps > 0.0:
        listed = listed[size - threshold_pass(work, listed, ZERO, limit) :]
    else:
        rising = max(limit / 3.0, LEAST_LIMIT)
        enough = budget + budget // SPARE
        while len(listed) > enough:
            least = least_cost(work, listed)
            while rising < least:
                rising *= RISE
            listed = listed[len(listed) - threshold_pass(work, listed, enough, rising) :]
            rising *= RISE
        drop_cheapest(work, listed, budget)
    left = 0
    for i in range(len(listed)):
        alive[left] = listed[i]
        left += int(listed[i] >= 0)
    return left


@inner_kernel
def shrink_list(work: Floats, size: int, budget: int, limit: float, eps: float) -> int:
    """Compress the list that the first `size` rows are, in place, as `shrink` does; return its new length.

    work : float64[m, 4 + K], in/out
    """
    alive = np.empty(size, np.int64)
    for i in range(size):
        alive[i] = i
    size = shrink(work, alive, size, budget, limit, eps)
    for i in range(size):
        if alive[i] != i:
            copy_row(work[i], work[alive[i]])
    return size


@inner_kernel
def bound_of(total: float, budget: int, eps: float) -> float:
    """Return the u up to which a gap absorbs values: eps N where eps > 0, else 1.5 N / budget."""
    return eps * total if eps > 0.0 else 1.5 * total / budget


@inner_kernel
def is_exact(tuples: Floats, size: int) -> bool:
    """Return whether all weight is known to lie at the values of the tuples. O(m).

    tuples : float64[m, 4 + K], in; the first `size` rows
    """
    for q in range(size):
        if tuples[q, 1] + tuples[q, 2] - tuples[q, 3] > 0.0:
            return False
    return True


@inner_kernel
def may_stay(distinct: int, most: int, total: float) -> bool:
    """Return whether an exact list may exceed its budget: its values recur, and are not too many."""
    return distinct <= most and 8.0 * distinct <= 7.0 * total
