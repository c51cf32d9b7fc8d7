"""The optimal partition, by dynamic programming over the bounds and numbers of intervals that can be part of it.

A partition into I intervals costs ``prior[I] + D``, see `bayou.kernels.partition`. Where every interval pays a penalty
instead of the prior, the least G of ``D + penalty I`` takes one pass over all intervals. So no partition into I costs
less than ``G - penalty I + prior[I]``, and none with a bound at v less than the best partitions before and after v
together. Bounds and numbers of intervals that cannot cost less than a known partition are pruned before the dynamic
program compares partitions for each number of intervals; its result is the same as without pruning.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.jit import ZERO, inner_kernel, kernel
from bayou.kernels.partition import EXACT, interval_cost, log_factorial

KEPT_CELLS = 1024  # up to here the costs of all intervals are kept (4 MB) rather than computed for every pass
SLACK = 1e-6  # and more for huge weights: far above rounding errors, so that nothing optimal is left out
ROUNDS = 4  # passes at most that narrow the numbers of intervals


@inner_kernel
def _are_whole(table: Floats, columns: Floats, k: int) -> bool:
    """Whether there are classes, and every count is a whole number that the table covers. O(K q).

    table : float64[m], in
    columns : float64[K+1, q+1], in
    """
    odd = 0.0
    for c in range(len(columns)):
        for v in range(len(columns[c])):
            odd += columns[c, v] - np.floor(columns[c, v])
    return bool(len(columns) > 2 and odd == 0.0 and columns[-1, -1] + k <= min(EXACT, len(table)))


@inner_kernel
def _whole_costs_to(row: Floats, table: Floats, columns: Index, k: int, start: int) -> None:
    """Compute what `_costs_to` does for whole counts of at least two classes: look-ups only, 2 or 3 at a time. O(K n).

    row : float64[n], out
    table : float64[m], in
    columns : int64[K+1, at least start+n+1], in
    """
    end, last = start + len(row), len(columns) - 1
    for a in range(len(row)):
        row[a] = -table[k - 1]
    if last % 2 == 1:
        first, of_first = columns[0][start:end], columns[0, end]
        for a in range(len(row)):
            row[a] -= table[np.uint64(of_first - first[a])]
    for c in range(last % 2, last - 2, 2):
        first, second = columns[c][start:end], columns[c + 1][start:end]
        of_first, of_second = columns[c, end], columns[c + 1, end]
        for a in range(len(row)):
            less = row[a] - table[np.uint64(of_first - first[a])]
            row[a] = less - table[np.uint64(of_second - second[a])]
    first, second, total = (
        columns[last - 2][start:end],
        columns[last - 1][start:end],
        columns[last][start:end],
    )
    of_first, of_second, of_total = (
        columns[last - 2, end],
        columns[last - 1, end],
        columns[last, end] + (k - 1),
    )
    for a in range(len(row)):
        less = row[a] - table[np.uint64(of_first - first[a])]
        less = less - table[np.uint64(of_second - second[a])]
        row[a] = less + table[np.uint64(of_total - total[a])]


@inner_kernel
def _costs_to(row: Floats, table: Floats, columns: Floats, whole: Index, k: int, start: int) -> None:
    """row[a] = the cost of the cells start+a..e-1 as one interval, where e = start + n. O(K n).

    row : float64[n], out
    table : float64[m], in
    columns : float64[K+1, at least e+1], in; the running totals of each class, and of all
    whole : int64[K+1, at least e+1], in; the same as whole numbers, int64[0, ..] where they are not
    """
    if len(whole) > 0:
        _whole_costs_to(row, table, whole, k, start)
        return
    end, last = start + len(row), len(columns) - 1
    for a in range(len(row)):
        row[a] = -table[k - 1]
    for c in range(last + 1):
        starts = columns[c][start:end]
        sign = 1.0 if c == last else -1.0
        top = columns[c, end] + (k - 1.0 if c == last else 0.0)
        for a in range(len(row)):
            row[a] += sign * log_factorial(table, top - starts[a])


@inner_kernel
def _first_starts(
    starts: Index, table: Floats, prefix: Floats, prior: Floats, bounds: Index, k: int, intervals: int, slack: float
) -> None:  # fmt: skip
    """starts[e] = the first cell from which an interval up to e can be part of the optimum, for whole counts. O(K q I).

    The labels of a..e-1 have at least as many arrangements M as those of a..b-1 and b..e-1 together. So that interval
    costs at least as much as a..b-1 and ln M(b, e), and dividing it is better, if a known partition divides b..e-1 at a
    cost below ln M(b, e), the dearest step of the prior for each interval included.

    starts : int64[q+1], out
    table : float64[m], in
    prefix : float64[q+1, K+1], in
    prior : float64[q+2], in
    bounds : int64[q+1], in; of the known partition
    """
    dearest = 0.0
    for i in range(1, len(prior) - 1):
        step = prior[i + 1] - prior[i]
        dearest = max(dearest, step if step < np.inf else np.inf)
    known = np.empty(intervals)
    for i in range(intervals):
        known[i] = dearest + interval_cost(table, prefix, k, bounds[i], bounds[i + 1])
    total = prefix.shape[1] - 1
    i = 0
    for e in range(1, len(starts)):
        starts[e] = 0
        if bounds[i + 1] < e:
            i += 1
        divided = dearest + interval_cost(table, prefix, k, bounds[i], e)
        for j in range(i - 1, 0, -1):
            b = bounds[j]
            divided += known[j]
            n = prefix[e, total] - prefix[b, total]
            choice = log_factorial(table, n + (k - 1.0)) - table[k - 1] - log_factorial(table, n)
            if interval_cost(table, prefix, k, b, e) - choice >= divided + slack:
                starts[e] = b
                break


@inner_kernel
def _least_to_end(
    least: Floats, costs: Floats, starts: Index, places: Index, table: Floats, columns: Floats, whole: Index, k: int,
    penalty: float,
) -> None:  # fmt: skip
    """least[a] = the least cost of the cells from a on, with a penalty for every interval. O(q^2).

    least : float64[q+1], out
    costs : float64[places[q+1]], in, the rows of `_costs_to`; or float64[q], scratch, for one of them
    starts : int64[q+1], in; places : int64[q+2], in; where the row of each e starts, as a cell and in `costs`
    table : float64[m], in
    columns : float64[K+1, q+1], in; whole : int64[K+1, q+1], in, or int64[0, ..]
    """
    q = len(least) - 1
    for a in range(q):
        least[a] = np.inf
    least[q] = 0.0
    for e in range(q, 0, -1):
        kept = q <= KEPT_CELLS
        row = costs[places[e] : places[e + 1]] if kept else costs[: e - starts[e]]
        if not kept:
            _costs_to(row, table, columns, whole, k, starts[e])
        so_far, base = least[starts[e] : e], least[e] + penalty
        for a in range(len(row)):
            here = base + row[a]
            so_far[a] = here if here < so_far[a] else so_far[a]


@inner_kernel
def _cost_of_least(
    least: Floats, table: Floats, prefix: Floats, prior: Floats, k: int, penalty: float, slack: float
) -> float:
    """The cost, with the prior, of the partition that is optimal under the penalty, up to the slack. O(K q).

    least : float64[q+1], in
    table : float64[m], in
    prefix : float64[q+1, K+1], in
    prior : float64[q+2], in
    """
    intervals, start, cost = 0, 0, 0.0
    for e in range(1, len(least)):
        here = interval_cost(table, prefix, k, start, e)
        if here + penalty + least[e] <= least[start] + slack or e == len(least) - 1:
            intervals, start, cost = intervals + 1, e, cost + here
    return float(cost + prior[intervals])


@inner_kernel
def _useful_bounds(
    useful: Index, least: Floats, costs: Floats, starts: Index, places: Index, table: Floats, columns: Floats,
    whole: Index, k: int, penalty: float, limit: float,
) -> int:  # fmt: skip
    """Find the bounds that partitions below the limit can have, with a penalty for every interval. O(q U).

    useful : int64[q+1], out; the first U+1 of them, where U is returned
    least : float64[q+1], in; see `_least_to_end`, also for the rest
    costs : float64[places[q+1]], in, or float64[q], scratch
    starts : int64[q+1], in; places : int64[q+2], in
    table : float64[m], in
    columns : float64[K+1, q+1], in; whole : int64[K+1, q+1], in, or int64[0, ..]
    """
    q = len(least) - 1
    before = np.empty(q + 1)  # the least cost of the cells before each useful bound
    useful[0], before[0] = 0, 0.0
    n = 1
    for e in range(1, q + 1):
        kept = q <= KEPT_CELLS
        row = costs[places[e] : places[e + 1]] if kept else costs[: e - starts[e]]
        if not kept:
            _costs_to(row, table, columns, whole, k, starts[e])
        cheapest = np.inf
        for i in range(n):
            if useful[i] >= starts[e]:
                cheapest = min(cheapest, before[i] + row[useful[i] - starts[e]])
        if cheapest + penalty + least[e] < limit or e == q:
            useful[n], before[n] = e, cheapest + penalty
            n += 1
    return n - 1


@inner_kernel
def _narrow(
    useful: Index, table: Floats, prefix: Floats, columns: Floats, whole: Index, prior: Floats, bounds: Index, k: int,
    intervals: int, best: float,
) -> tuple[int, int]:  # fmt: skip
    """Find the bounds that a partition cheaper than `best` can have; return their number and the most intervals it has.

    useful : int64[q+1], out; the bounds, 0 first and q last
    table : float64[m], in
    prefix : float64[q+1, K+1], in
    columns : float64[K+1, q+1], in; whole : int64[K+1, q+1], in, or int64[0, ..]
    prior : float64[q+2], in
    bounds : int64[q+1], in; of the partition that costs `best`
    """
    q = len(prefix) - 1
    slack = SLACK + 1e-15 * (q + k) * log_factorial(table, prefix[q, prefix.shape[1] - 1] + k)
    starts, places = np.zeros(q + 1, np.int64), np.zeros(q + 2, np.int64)
    if len(whole) > 0:
        _first_starts(starts, table, prefix, prior, bounds, k, intervals, slack)
    for e in range(1, q + 1):
        places[e + 1] = places[e] + e - starts[e]
    costs = np.empty(places[q + 1] if q <= KEPT_CELLS else q)
    if q <= KEPT_CELLS:
        for e in range(1, q + 1):
            _costs_to(costs[places[e] : places[e + 1]], table, columns, whole, k, starts[e])
    least, floor = np.empty(q + 1), np.empty(q + 1)
    for i in range(q + 1):
        floor[i] = -np.inf
    limit = best + slack
    low, high = 1, q
    middle = (intervals + q) // 2
    penalty = prior[middle + 1] - prior[middle]
    # The increments of the prior decrease. As a penalty, the increment in the middle between `intervals` and q excludes
    # large numbers of intervals; the mean increment over those that are left excludes the smallest and largest of them.
    for _ in range(ROUNDS):
        penalty = penalty if penalty < np.inf else 0.0
        _least_to_end(least, costs, starts, places, table, columns, whole, k, penalty)
        limit = min(limit, _cost_of_least(least, table, prefix, prior, k, penalty, slack) + slack)
        for i in range(low, high + 1):
            floor[i] = max(floor[i], least[0] - penalty * i + prior[i])
        before = high - low
        while low < high and floor[low] >= limit:
            low += 1
        while low < high and floor[high] >= limit:
            high -= 1
        if high - low == before or high == 1:
            break
        if low < high:
            penalty = (prior[high] - prior[low]) / (high - low)
        else:
            penalty = (prior[high + 1] - prior[high - 1]) / 2.0
    spared = np.inf  # the least saving of a partition that pays penalties instead of the prior
    for i in range(low, high + 1):
        spared = min(spared, prior[i] - penalty * i)
    n = _useful_bounds(
        useful, least, costs, starts, places, table, columns, whole, k, penalty, limit - spared
    )
    return n, high


@kernel
def best_partition(
    bounds: Index, table: Floats, prefix: Floats, prior: Floats, k: int, intervals: int
) -> int:
    """The exact optimum by dynamic programming, starting from a good partition; returns I.

    D_I[e] = min_a D_{I-1}[a] + cost(a, e), over the bounds and up to the number of intervals that `_narrow` leaves.
    O(K q^2), and O(I U^2) for U bounds; memory O(q^2) up to 1,024 cells, O(I U) above. The initial partition is kept
    unless another costs less by more than 1e-9.

    bounds : int64[q+1], in/out
    table : float64[m], in
    prefix : float64[q+1, K+1], in
    prior : float64[q+2], in; not decreasing
    """
    q = len(prefix) - 1
    columns = np.empty((prefix.shape[1], q + 1))
    for v in range(q + 1):
        for c in range(prefix.shape[1]):
            columns[c, v] = prefix[v, c]
    whole = np.empty((prefix.shape[1] if _are_whole(table, columns, k) else 0, q + 1), np.int64)
    for c in range(len(whole)):
        for v in range(q + 1):
            whole[c, v] = np.int64(columns[c, v])
    best = prior[intervals]
    for i in range(intervals):
        best += interval_cost(table, prefix, k, bounds[i], bounds[i + 1])
    useful = np.empty(q + 1, np.int64)
    n, most = _narrow(useful, table, prefix, columns, whole, prior, bounds, k, intervals, best)
    most = min(most, n)
    for c in range(len(columns)):
        for v in range(n + 1):
            columns[c, v] = columns[c, useful[v]]
    for c in range(len(whole)):
        for v in range(n + 1):
            whole[c, v] = whole[c, useful[v]]
    row = np.empty(n)
    layers = np.empty(
        (n + 1, most + 1)
    )  # the least cost of the cells before each bound, by number of intervals
    for e in range(n + 1):
        for i in range(most + 1):
            layers[e, i] = np.inf
    layers[0, 0] = 0.0
    for e in range(1, n + 1):
        _costs_to(row[:e], table, columns, whole, k, ZERO)
        for a in range(e):
            before, after = layers[a, :most], layers[e, 1:]
            for i in range(len(after)):
                here = before[i] + row[a]
                after[i] = here if here < after[i] else after[i]
    found = 0
    for i in range(1, most + 1):
        if prior[i] + layers[n, i] < best - 1e-9:
            best = prior[i] + layers[n, i]
            found = i
    if found == 0:
        return intervals
    bounds[found] = q
    e = n
    for i in range(found, 1, -1):
        _costs_to(row[:e], table, columns, whole, k, ZERO)
        at = i - 1
        for a in range(i - 1, e):
            if layers[a, i - 1] + row[a] < layers[at, i - 1] + row[at]:
                at = a
        e = at
        bounds[i - 1] = useful[at]
    bounds[0] = 0
    return found
