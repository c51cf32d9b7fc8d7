"""MODL discretisation of many columns in one call: priors, candidate cells, search.

Boullé (2006): ``prior[I] = ln N + ln C(N+I-1, I-1)`` over all cells. Khiops 11: for every granularity G the
cells are first grouped into at most 2^G quantile parts, and the prior codes G, I and the bounds; the best
granularity wins. The interval costs are the same (`bayou.kernels.partition`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import kernel
from bayou.kernels.partition import (
    TOLERANCE,
    best_partition,
    interval_cost,
    log_factorial,
    merge_greedily,
    post_optimise,
)

STAR_TERMS = 65536  # above this, Rissanen's sum is continued by its integral


@kernel
def running_totals(prefix: NDArray[np.float64], counts: NDArray[np.float64]) -> None:
    """Class totals over the first cells, and their sum in the last column. O(K m).

    prefix : float64[m+1, K+1], out
    counts : float64[m, K], in
    """
    k = counts.shape[1]
    prefix[0] = 0.0
    for v in range(len(counts)):
        weight = 0.0
        for c in range(k):
            prefix[v + 1, c] = prefix[v, c] + counts[v, c]
            weight += counts[v, c]
        prefix[v + 1, k] = prefix[v, k] + weight


@kernel
def _pure_class(prefix: NDArray[np.float64], start: int, end: int) -> int:
    """The only class present in cells start..end-1, -1 if several, -2 if none. O(K).

    prefix : float64[m+1, K+1], in
    """
    found = -2
    for c in range(prefix.shape[1] - 1):
        if prefix[end, c] > prefix[start, c]:
            if found >= 0:
                return -1
            found = c
    return found


@kernel
def join_pure_runs(edges: NDArray[np.int64], prefix: NDArray[np.float64], n: int) -> int:
    """Join neighbours that hold one and the same class (or nothing): the optimum never cuts there. O(K n).

    edges : int64[m+1], in/out; the first n+1 are cell numbers, their new number of cells is returned
    prefix : float64[m+1, K+1], in
    """
    kept = 0
    before = -1
    start = edges[0]
    for i in range(n):
        end = edges[i + 1]
        here = _pure_class(prefix, start, end)
        if i > 0 and not (here == -2 or before == -2 or (here >= 0 and here == before)):
            kept += 1
            edges[kept] = start
            before = here
        elif i == 0 or before == -2:
            before = here
        start = end
    edges[kept + 1] = start
    return kept + 1


@kernel
def quantile_edges(edges: NDArray[np.int64], prefix: NDArray[np.float64], parts: float) -> int:
    """Cells grouped into at most `parts` parts of equal weight; every target takes the nearer bound. O(m).

    Targets are N j / parts, nudged outwards by 1e-10 so that the two halves mirror each other; on ties the
    lower bound wins (Khiops).

    edges : int64[m+1], out; the number of parts is returned
    prefix : float64[m+1, K+1], in
    """
    m = len(prefix) - 1
    weight = prefix[:, prefix.shape[1] - 1]
    total = weight[m]
    edges[0] = 0
    kept = 0
    for v in range(1, m):
        low = (weight[v - 1] + weight[v]) / 2.0 if v > 1 else -1.0
        high = (weight[v] + weight[v + 1]) / 2.0
        first = np.floor(max(low, 0.0) * parts / total)
        for step in range(3):
            j = first + step
            target = total * j / parts
            target += 1e-10 if j - 1.0 >= np.floor(parts / 2.0) else -1e-10
            if 1.0 <= j < parts and low < target <= high:
                kept += 1
                edges[kept] = v
                break
    edges[kept + 1] = m
    return kept + 1


@kernel
def _search(
    bounds: NDArray[np.int64],
    table: NDArray[np.float64],
    prefix: NDArray[np.float64],
    edges: NDArray[np.int64],
    prior: NDArray[np.float64],
    k: int,
    n: int,
    exact_cells: int,
) -> int:
    """Best partition of the n cells between `edges`: exact up to `exact_cells` of them, else greedy.

    bounds : int64[m+1], out; in numbers of the cells of `prefix`; returns the number of intervals
    table : float64[t], in
    prefix : float64[m+1, K+1], in
    edges : int64[m+1], in
    prior : float64[m+2], in
    """
    cells = np.empty((n + 1, prefix.shape[1]))
    for v in range(n + 1):
        cells[v] = prefix[edges[v]]
    intervals = merge_greedily(bounds, table, cells, prior, k)
    if n <= exact_cells:
        intervals = best_partition(bounds, table, cells, prior, k, intervals)
    else:
        intervals = post_optimise(bounds, table, cells, prior, k, intervals)
    for i in range(intervals + 1):
        bounds[i] = edges[bounds[i]]
    return intervals


@kernel
def _cost(
    table: NDArray[np.float64], prefix: NDArray[np.float64], bounds: NDArray[np.int64], k: int, intervals: int
) -> float:
    """Sum of the interval costs. O(K I).

    table : float64[t], in
    prefix : float64[m+1, K+1], in
    bounds : int64[m+1], in
    """
    cost = 0.0
    for i in range(intervals):
        cost += interval_cost(table, prefix, k, bounds[i], bounds[i + 1])
    return cost


@kernel
def _level(cost: float, null: float, intervals: int) -> float:
    """1 - cost / null inside [0, 1), and 0 for a single interval."""
    if intervals < 2 or not 0.0 < cost < null:
        return 0.0
    return 1.0 - cost / null


@kernel
def boulle_prior(prior: NDArray[np.float64], table: NDArray[np.float64], total: float) -> None:
    """ln N + ln C(N+I-1, I-1) for I = 1, 2, .. O(m).

    prior : float64[m+2], out
    table : float64[t], in
    """
    first = math.log(max(total, 1.0)) - log_factorial(table, total)
    prior[0] = np.inf
    for i in range(1, len(prior)):
        prior[i] = first + log_factorial(table, total + i - 1.0) - log_factorial(table, i - 1.0)


@kernel
def partition_level(table: NDArray[np.float64], prefix: NDArray[np.float64], k: int) -> float:
    """Level that Boullé's criterion gives to the partition whose intervals are the rows of `prefix`. O(K I).

    table : float64[t], in
    prefix : float64[I+1, K+1], in
    """
    intervals = len(prefix) - 1
    prior = np.empty(intervals + 1)
    boulle_prior(prior, table, prefix[intervals, prefix.shape[1] - 1])
    cost = prior[intervals] + _cost(table, prefix, np.arange(intervals + 1), k, intervals)
    return _level(cost, prior[1] + interval_cost(table, prefix, k, 0, intervals), intervals)


@kernel
def modl_columns(
    bounds: NDArray[np.int64],
    sizes: NDArray[np.int64],
    levels: NDArray[np.float64],
    offsets: NDArray[np.int64],
    counts: NDArray[np.float64],
    table: NDArray[np.float64],
    k: int,
    exact_cells: int,
) -> None:
    """Boullé's MODL partition of every column. Exact: O((K + I) m^2) per column; greedy: O(K m log m).

    bounds : int64[total], out; column j's intervals end before the cells bounds[offsets[j] + 0 .. size-1]
    sizes : int64[d], out; the number of intervals
    levels : float64[d], out
    offsets : int64[d+1], in; column j's cells are offsets[j] .. offsets[j+1]-1
    counts : float64[total, K], in
    table : float64[t], in; ln 0!, ln 1!, ..
    """
    for j in range(len(sizes)):
        column = counts[offsets[j] : offsets[j + 1]]
        m = len(column)
        if m == 0:
            sizes[j] = 0
            levels[j] = 0.0
            continue
        prefix = np.empty((m + 1, counts.shape[1] + 1))
        running_totals(prefix, column)
        edges = np.arange(m + 1)
        found = np.empty(m + 1, np.int64)
        n = join_pure_runs(edges, prefix, m)
        prior = np.empty(n + 2)
        boulle_prior(prior, table, prefix[m, prefix.shape[1] - 1])
        sizes[j] = _search(found, table, prefix, edges, prior, k, n, exact_cells)
        cost = prior[sizes[j]] + _cost(table, prefix, found, k, sizes[j])
        levels[j] = _level(cost, prior[1] + interval_cost(table, prefix, k, 0, m), sizes[j])
        bounds[offsets[j] : offsets[j] + sizes[j]] = found[1 : sizes[j] + 1]


@kernel
def log_star(n: float) -> float:
    """Rissanen's log2 n + log2 log2 n + .., the positive terms."""
    total = 0.0
    term = math.log2(n)
    while term > 0.0:
        total += term
        term = math.log2(term)
    return total


@kernel
def fill_star_sums(stars: NDArray[np.float64]) -> None:
    """stars[n] = sum over t = 1..n of 2^-log_star(t). O(m).

    stars : float64[m+1], out
    """
    stars[0] = 0.0
    for n in range(1, len(stars)):
        stars[n] = stars[n - 1] + 2.0 ** -log_star(n)


@kernel
def universal(stars: NDArray[np.float64], n: float, most: float) -> float:
    """Code length of n in 1..most under Rissanen's prior: ln sum_t 2^-log_star(t) + ln 2 log_star(n).

    Above the table, 2^-log_star(t) = 1/(t lg t lglg t ..) is (ln 2)^5 times the derivative of lg lg lg lg lg t.

    stars : float64[m+1], in
    """
    if n < 1.0 or most < 2.0:
        return 0.0
    last = len(stars) - 1
    total = stars[int(min(most, last))]
    if most > last:
        nest = most
        for _ in range(5):
            nest = math.log2(nest)
        total += math.log(2.0) ** 5 * nest
        total += (2.0 ** -log_star(most) - 2.0 ** -log_star(float(last))) / 2.0
    return math.log(total) + math.log(2.0) * log_star(n)


@kernel
def khiops_prior(
    prior: NDArray[np.float64],
    table: NDArray[np.float64],
    stars: NDArray[np.float64],
    total: float,
    attributes: float,
    granularity: int,
) -> None:
    """ln 2, and for I > 1: + ln attributes + U(G; Gmax) + U(I-1; V-1) + (I-1) ln(V-1) - ln (I-1)!. O(m).

    prior : float64[m+2], out
    table : float64[t], in
    stars : float64[s+1], in
    """
    finest = np.ceil(math.log(total) / math.log(2.0))
    values = min(2.0**granularity, total)
    base = math.log(2.0) + math.log(max(1.0, attributes)) + universal(stars, granularity, finest)
    prior[0] = np.inf
    prior[1] = math.log(2.0)
    for i in range(2, len(prior)):
        prior[i] = np.inf
        if i <= values:
            prior[i] = base + universal(stars, i - 1.0, values - 1.0)
            prior[i] += (i - 1.0) * math.log(values - 1.0) - log_factorial(table, i - 1.0)


@kernel
def _smallest_granularity(
    bounds: NDArray[np.int64],
    prefix: NDArray[np.float64],
    edges: NDArray[np.int64],
    intervals: int,
    granularity: int,
    explored: int,
) -> int:
    """The coarsest granularity above `explored`, going down, whose quantile parts still hold every bound.

    bounds : int64[m+1], in
    prefix : float64[m+1, K+1], in
    edges : int64[m+1], scratch
    """
    while granularity - 1 > explored:
        n = quantile_edges(edges, prefix, 2.0 ** (granularity - 1))
        v = 0
        for i in range(intervals + 1):
            while v < n and edges[v] < bounds[i]:
                v += 1
            if edges[v] != bounds[i]:
                return granularity
        granularity -= 1
    return granularity


@kernel
def _khiops_column(
    best_bounds: NDArray[np.int64],
    levels: NDArray[np.float64],
    prefix: NDArray[np.float64],
    table: NDArray[np.float64],
    stars: NDArray[np.float64],
    k: int,
    attributes: float,
    exact_cells: int,
) -> int:
    """One column over all granularities; returns the number of intervals.

    best_bounds : int64[m+1], out
    levels : float64[1], out
    prefix : float64[m+1, K+1], in
    table : float64[t], in
    stars : float64[s+1], in
    """
    m = len(prefix) - 1
    total = prefix[m, prefix.shape[1] - 1]
    best_bounds[0] = 0
    best_bounds[1] = m
    levels[0] = 0.0
    if m < 2 or total < 2.0:
        return 1
    edges = np.empty(m + 1, np.int64)
    bounds = np.empty(m + 1, np.int64)
    prior = np.empty(m + 2)
    finest = int(np.ceil(math.log(total) / math.log(2.0)))
    best = np.inf
    intervals = 1
    chosen = 1
    current = -1
    explored = -1
    before = 0
    for granularity in range(1, finest + 1):
        n = m
        for v in range(m + 1):
            edges[v] = v
        if 2.0**granularity < total:
            n = quantile_edges(edges, prefix, 2.0**granularity)
        if n == m or (n >= 1.5 * before and 1.5 * n <= m):
            explored = current
            current = granularity
            khiops_prior(prior, table, stars, total, attributes, granularity)
            size = _search(
                bounds, table, prefix, edges, prior, k, join_pure_runs(edges, prefix, n), exact_cells
            )
            cost = prior[size] + _cost(table, prefix, bounds, k, size)
            if cost < best - TOLERANCE:
                best = cost
                chosen = granularity
                intervals = size
                best_bounds[: size + 1] = bounds[: size + 1]
        before = n
        if n == m:
            break
    if explored != -1 and chosen > explored + 1:
        chosen = _smallest_granularity(best_bounds, prefix, edges, intervals, chosen, explored)
    khiops_prior(prior, table, stars, total, attributes, chosen)
    cost = prior[intervals] + _cost(table, prefix, best_bounds, k, intervals)
    levels[0] = _level(cost, prior[1] + interval_cost(table, prefix, k, 0, m), intervals)
    return intervals


@kernel
def khiops_columns(
    bounds: NDArray[np.int64],
    sizes: NDArray[np.int64],
    levels: NDArray[np.float64],
    offsets: NDArray[np.int64],
    counts: NDArray[np.float64],
    table: NDArray[np.float64],
    stars: NDArray[np.float64],
    k: int,
    attributes: float,
    exact_cells: int,
) -> None:
    """Khiops' MODL partition of every column; the arrays are those of `modl_columns`. O(log N) searches each.

    bounds : int64[total], out
    sizes : int64[d], out
    levels : float64[d], out
    offsets : int64[d+1], in
    counts : float64[total, K], in
    table : float64[t], in
    stars : float64[s+1], in; see `fill_star_sums`
    """
    for j in range(len(sizes)):
        column = counts[offsets[j] : offsets[j + 1]]
        if len(column) == 0:
            sizes[j] = 0
            levels[j] = 0.0
            continue
        prefix = np.empty((len(column) + 1, counts.shape[1] + 1))
        running_totals(prefix, column)
        found = np.empty(len(column) + 1, np.int64)
        sizes[j] = _khiops_column(found, levels[j : j + 1], prefix, table, stars, k, attributes, exact_cells)
        bounds[offsets[j] : offsets[j] + sizes[j]] = found[1 : sizes[j] + 1]


@kernel
def gather_parts(
    cuts: NDArray[np.float64],
    part_counts: NDArray[np.float64],
    part_offsets: NDArray[np.int64],
    bounds: NDArray[np.int64],
    sizes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    upper: NDArray[np.float64],
    counts: NDArray[np.float64],
    midpoints: bool,
) -> None:
    """Cut values and class counts of the intervals found; the last cut of a column is infinite. O(K total).

    cuts : float64[P], out
    part_counts : float64[P, K], in/out; zeros before
    part_offsets : int64[d+1], in
    bounds : int64[total], in
    sizes : int64[d], in
    offsets : int64[d+1], in
    upper : float64[total], in
    counts : float64[total, K], in
    """
    for j in range(len(sizes)):
        cell = offsets[j]
        cuts[part_offsets[j + 1] - 1] = np.inf
        for i in range(sizes[j]):
            part = part_offsets[j] + i
            end = offsets[j] + bounds[offsets[j] + i]
            while cell < end:
                part_counts[part] += counts[cell]
                cell += 1
            if i < sizes[j] - 1:
                cuts[part] = upper[end - 1]
                if midpoints:
                    cuts[part] = upper[end - 1] + (upper[end] - upper[end - 1]) / 2.0
