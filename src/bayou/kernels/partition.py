"""Best partition of a list of cells into runs of neighbours, under a cost that adds up over the runs.

The cost of a partition into I intervals is ``prior[I] + sum of interval_cost``, where an interval with
class counts c_1..c_K and total n costs

    ln C(n+K-1, K-1) + ln( n! / (c_1! .. c_K!) )  =  ln (n+K-1)! - ln (K-1)! - sum_c ln c_c!

(Boullé 2006: the choice of the class distribution, then of the labels). Counts may be fractional.
Everything works on running totals `prefix`, float64[q+1, K+1], whose last column is the total weight.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.jit import inner_kernel, kernel

EXACT = 1 << 20  # factorials of smaller integers are those of lgamma
TOLERANCE = 1e-6
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


@kernel
def fill_log_factorials(table: Floats, first: int) -> None:
    """table[v] = ln v!, from v = first on. O(m - first).

    table : float64[m], in/out
    """
    for v in range(first, len(table)):
        table[v] = math.lgamma(v + 1.0)


@kernel
def log_factorial(table: Floats, x: float) -> float:
    """ln x! = ln Gamma(x+1): the table or lgamma for small whole numbers and below 16, else Stirling's series.

    table : float64[m], in; what is not in the table is computed, with the same bits
    """
    floor = np.int64(x)
    is_small = floor < EXACT and floor == x
    if is_small and floor < len(table):
        return float(table[floor])
    if is_small or x < 16.0:
        return math.lgamma(x + 1.0)
    y = 1.0 / x
    z = y * y
    series = y * (1.0 / 12.0 - z * (1.0 / 360.0 - z * (1.0 / 1260.0 - z * (1.0 / 1680.0 - z / 1188.0))))
    return (x + 0.5) * math.log(x) - x + _HALF_LOG_2PI + series


@kernel
def interval_cost(table: Floats, prefix: Floats, k: int, start: int, end: int) -> float:
    """Return the cost of cells start..end-1 as one interval, `k` classes in the model. O(K).

    table : float64[m], in
    prefix : float64[q+1, K+1], in
    """
    low = prefix[start]
    high = prefix[end]
    last = len(low) - 1
    cost = log_factorial(table, high[last] - low[last] + (k - 1.0))
    for c in range(last):
        cost -= log_factorial(table, high[c] - low[c])
    return float(cost - table[k - 1])


@kernel
def merge_greedily(bounds: Index, table: Floats, prefix: Floats, prior: Floats, k: int) -> int:
    """Merge the cheapest neighbours down to one interval; keep the best state seen, the coarser on ties.

    A tournament tree over the boundaries finds the cheapest merge. O(K q + q log q).

    bounds : int64[q+1], out; the first I+1 are the interval bounds as cell numbers, I is returned
    table : float64[m], in
    prefix : float64[q+1, K+1], in
    prior : float64[q+1], in; prior[I] for I = 1..q
    """
    q = len(prefix) - 1
    size = 1
    while size < q:
        size *= 2
    tree = np.empty(2 * size)
    for node in range(size, 2 * size):
        tree[node] = np.inf
    own = np.empty(q)  # cost of the interval that starts here
    joined = np.empty(q)  # cost of the two intervals at this boundary as one
    low = np.empty(q, np.int64)  # where the interval left of this boundary starts
    high = np.empty(q, np.int64)  # where the interval right of this boundary ends
    gone = np.empty(q, np.int64)  # the step in which this boundary was removed
    total = 0.0
    for v in range(q):
        own[v] = interval_cost(table, prefix, k, v, v + 1)
        total += own[v]
    for v in range(1, q):
        low[v] = v - 1
        high[v] = v + 1
        joined[v] = interval_cost(table, prefix, k, v - 1, v + 1)
        tree[size + v] = joined[v] - own[v - 1] - own[v]
    for node in range(size - 1, 0, -1):
        tree[node] = min(tree[2 * node], tree[2 * node + 1])
    best = prior[q] + total
    intervals = q
    # Down to one interval, even while the cost rises: it has several local minima, and the best may come late.
    for step in range(q - 1):
        node = 1
        while node < size:
            node *= 2
            if tree[node + 1] < tree[node]:
                node += 1
        v = node - size
        total += tree[node]
        gone[v] = step
        a = low[v]
        e = high[v]
        own[a] = joined[v]
        _replay(tree, node, np.inf)
        if a > 0:
            high[a] = e
            joined[a] = interval_cost(table, prefix, k, low[a], e)
            _replay(tree, size + a, joined[a] - own[low[a]] - own[a])
        if e < q:
            low[e] = a
            joined[e] = interval_cost(table, prefix, k, a, high[e])
            _replay(tree, size + e, joined[e] - own[a] - own[e])
        cost = prior[q - 1 - step] + total
        # On ties the coarser state is kept; `best` itself never rises, or tolerances would add up.
        if cost < best + TOLERANCE:
            best = min(best, cost)
            intervals = q - 1 - step
    # No state was copied on the way: a boundary belongs to the best state if it was removed later.
    bounds[0] = 0
    i = 1
    for v in range(1, q):
        if gone[v] >= q - intervals:
            bounds[i] = v
            i += 1
    bounds[intervals] = q
    return intervals


@inner_kernel
def _replay(tree: Floats, node: int, value: float) -> None:
    """Set a leaf of the tournament tree, and update the minima above it while they change. O(log q).

    tree : float64[2 * size], in/out
    """
    tree[node] = value
    while node > 1:
        node //= 2
        least = min(tree[2 * node], tree[2 * node + 1])
        if least == tree[node]:  # no change above
            return
        tree[node] = least


@inner_kernel
def _best_split(table: Floats, prefix: Floats, k: int, start: int, end: int) -> tuple[int, float]:
    """Return the cheapest bound inside start..end, and the cost of the two sides. O(K (end - start)).

    table : float64[m], in
    prefix : float64[q+1, K+1], in
    """
    cut = start + 1
    best = np.inf
    for v in range(start + 1, end):
        cost = interval_cost(table, prefix, k, start, v) + interval_cost(table, prefix, k, v, end)
        if cost < best:
            best = cost
            cut = v
    return cut, best


@kernel
def post_optimise(bounds: Index, table: Floats, prefix: Floats, prior: Floats, k: int, intervals: int) -> int:
    """Improve a partition by steepest descent over Split, MergeSplit and MergeMergeSplit; return its size I.

    A span of 1, 2 or 3 intervals is replaced by its best two. Best splits are cached by (span, start,
    end), so that a round re-evaluates only what the last move changed.

    bounds : int64[q+1], in/out
    table : float64[m], in
    prefix : float64[q+1, K+1], in
    prior : float64[q+1], in
    """
    q = len(prefix) - 1
    known_end = np.zeros((4, q), np.int64)  # row 0: the interval as it is; rows 1..3: best split of a span
    known_cut = np.zeros((4, q), np.int64)
    known_cost = np.zeros((4, q))
    while True:
        best = -TOLERANCE
        best_span = 0
        best_at = 0
        for i in range(intervals):
            start = bounds[i]
            end = bounds[i + 1]
            if known_end[0, start] != end:
                known_end[0, start] = end
                known_cost[0, start] = interval_cost(table, prefix, k, start, end)
        for i in range(intervals):
            start = bounds[i]
            now = 0.0
            for span in range(1, min(3, intervals - i) + 1):
                now += known_cost[0, bounds[i + span - 1]]
                end = bounds[i + span]
                if end - start < 2:
                    continue
                if known_end[span, start] != end:
                    known_end[span, start] = end
                    known_cut[span, start], known_cost[span, start] = _best_split(
                        table, prefix, k, start, end
                    )
                change = known_cost[span, start] - now + prior[intervals + 2 - span] - prior[intervals]
                if change < best - 1e-9 or (change < best + 1e-9 and span > best_span > 0):
                    best = change
                    best_span = span
                    best_at = i
        if best_span == 0:
            return intervals
        cut = known_cut[best_span, bounds[best_at]]
        if best_span == 1:
            for i in range(intervals, best_at, -1):
                bounds[i + 1] = bounds[i]
        if best_span == 3:
            for i in range(best_at + 2, intervals):
                bounds[i] = bounds[i + 1]
        bounds[best_at + 1] = cut
        intervals += 2 - best_span
