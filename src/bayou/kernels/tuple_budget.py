"""Compression of lists of quantile tuples to a budget: which tuples are dropped, and which take over their weight.

See `bayou.kernels.quantile_tuples` for what a tuple is.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.jit import ZERO, inner_kernel, kernel

HEAD = 4  # v, g, D, e stand before the classes
RISE = 1.25  # factor from one limit of u to the next
LEAST_LIMIT = 1e-300  # below this, multiplying by RISE may round to the same number, in an endless loop
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
def cost_of(work: Floats, gone: int, kept: int) -> float:
    """Return the u of tuple `kept` after it takes over the weight of tuple `gone` before it.

    work : float64[m, 4 + K], in
    """
    return float(work[gone, 1] + work[kept, 1] + work[kept, 2] - work[kept, 3])


@inner_kernel
def raised(work: Floats, gone: int, kept: int) -> float:
    """Return `cost_of`, computed from the present u of the tuple: the two may differ in their last bit.

    work : float64[m, 4 + K], in
    """
    return float(work[kept, 1] + work[kept, 2] - work[kept, 3] + work[gone, 1])


@inner_kernel
def threshold_pass(work: Floats, alive: Index, size: int, least: int, limit: float) -> int:
    """From right to left, drop tuples whose weight the next one can take with u <= limit; `least` stay. O(m + K).

    work : float64[m, 4 + K], in/out
    alive : int64[m], in/out; where the `size` tuples of the list stand in `work`, its new length is returned
    """
    if size < 3:
        return size
    at = size - 1
    spare = size - least
    for i in range(size - 2, -1, -1):
        if i > 0 and spare > 0 and raised(work, alive[i], alive[at]) <= limit:
            take_over(work[alive[at]], work[alive[i]])
            spare -= 1
        else:
            at -= 1
            alive[at] = alive[i]
    for i in range(at, size):
        alive[i - at] = alive[i]
    return size - at


@inner_kernel
def least_cost(work: Floats, alive: Index, size: int) -> float:
    """Return the least u that dropping one tuple would give the next one. O(m).

    work : float64[m, 4 + K], in; alive : int64[m], in; the first `size`
    """
    least = np.inf
    for i in range(1, size - 1):
        least = min(least, cost_of(work, alive[i], alive[i + 1]))
    return least


@inner_kernel
def replay(tree: Floats, place: int, cost: float) -> None:
    """Set one cost in a tournament tree, and update the minima above it while they change. O(log m).

    tree : float64[2 m], in/out; m a power of two, node i has the least of nodes 2 i and 2 i + 1
    """
    node = len(tree) // 2 + place
    tree[node] = cost
    while node > 1:
        node //= 2
        least = min(tree[2 * node], tree[2 * node + 1])
        if least == tree[node]:  # no change above
            return
        tree[node] = least


@inner_kernel
def drop_cheapest(work: Floats, alive: Index, size: int, budget: int) -> int:
    """Drop the tuple with the least g + u of the next, the leftmost on ties, until `budget` are left. O(m log m).

    work : float64[m, 4 + K], in/out
    alive : int64[m], in/out; where the `size` tuples of the list stand in `work`, its new length is returned
    """
    if size <= budget:
        return size
    leaves = 1
    while leaves < size:
        leaves *= 2
    tree = np.empty(2 * leaves)
    after = np.empty(size, np.int64)
    before = np.empty(size, np.int64)
    for i in range(leaves):
        tree[leaves + i] = cost_of(work, alive[i], alive[i + 1]) if 0 < i < size - 1 else np.inf
    for node in range(leaves - 1, 0, -1):
        tree[node] = min(tree[2 * node], tree[2 * node + 1])
    for i in range(size):
        after[i] = i + 1
        before[i] = i - 1
    left = size
    while left > budget:
        node = 1
        while node < leaves:
            node *= 2
            if tree[node + 1] < tree[node]:
                node += 1
        i = node - leaves
        a, b = before[i], after[i]
        take_over(work[alive[b]], work[alive[i]])
        alive[i] = -1
        after[a] = b
        before[b] = a
        replay(tree, i, np.inf)
        if a > 0:
            replay(tree, a, raised(work, alive[a], alive[b]))
        if b < size - 1:
            replay(tree, b, cost_of(work, alive[b], alive[after[b]]))
        left -= 1
    at = 0
    for i in range(size):
        if alive[i] >= 0:
            alive[at] = alive[i]
            at += 1
    return at


@inner_kernel
def shrink(work: Floats, size: int, budget: int, limit: float, eps: float) -> int:
    """Compress a list to its budget: passes with rising limits to 1.2 budgets, then tuple by tuple. O(K m + m log m).

    With eps > 0 there is one pass at `limit` = eps N, and the list may stay longer than the budget.

    work : float64[m, 4 + K], in/out; the first `size` rows are the list, its new length is returned
    """
    if size <= budget:
        return size
    alive = np.empty(size, np.int64)
    for i in range(size):
        alive[i] = i
    if eps > 0.0:
        size = threshold_pass(work, alive, size, ZERO, limit)
    else:
        rising = max(limit / 3.0, LEAST_LIMIT)
        enough = budget + budget // SPARE
        while size > enough:
            least = least_cost(work, alive, size)
            while rising < least:
                rising *= RISE
            size = threshold_pass(work, alive, size, enough, rising)
            rising *= RISE
        size = drop_cheapest(work, alive, size, budget)
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
