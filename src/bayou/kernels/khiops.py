"""MODL discretisation as Khiops 11 computes it: universal priors and granularities.

For every granularity G the cells are first grouped into at most 2^G quantile parts; the prior codes G, the
number of intervals and their bounds; the best granularity wins. Interval costs are those of Boullé (2006).
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.jit import ZERO, inner_kernel, kernel, kernel_piece
from bayou.kernels.modl import gain, join_pure_runs, partition_cost, running_totals, search_cells
from bayou.kernels.partition import TOLERANCE, interval_cost, log_factorial

STAR_TERMS = 65536  # above this, Rissanen's sum is continued by its integral


@kernel
def quantile_edges(edges: Index, prefix: Floats, parts: float) -> int:
    """Group the cells into at most `parts` parts of equal weight; every target takes the nearer bound. O(m).

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


@inner_kernel
def log_star(n: float) -> float:
    """Rissanen's log2 n + log2 log2 n + .., the positive terms."""
    total = 0.0
    term = math.log2(n)
    while term > 0.0:
        total += term
        term = math.log2(term)
    return total


@kernel
def fill_star_sums(stars: Floats) -> None:
    """stars[n] = sum over t = 1..n of 2^-log_star(t). O(m).

    stars : float64[m+1], out
    """
    stars[0] = 0.0
    for n in range(1, len(stars)):
        stars[n] = stars[n - 1] + 2.0 ** -log_star(n)


@kernel
def universal(stars: Floats, n: float, most: float) -> float:
    """Code length of n in 1..most under Rissanen's prior: ln sum_t 2^-log_star(t) + ln 2 log_star(n).

    Above the table, 2^-log_star(t) = 1/(t lg t lglg t ..) is (ln 2)^5 times the derivative of the fivefold
    logarithm of t.

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


@inner_kernel
def khiops_prior(
    prior: Floats, table: Floats, stars: Floats, total: float, attributes: float, granularity: int
) -> None:
    """prior[I] = ln 2, and for I > 1: + ln attributes + U(G; Gmax) + U(I-1; V-1) + (I-1) ln(V-1) - ln (I-1)!. O(m).

    U(n; most) is the code length `universal`.

    prior : float64[m+2], out
    table : float64[t], in
    stars : float64[s+1], in
    """
    finest = np.ceil(math.log(total) / math.log(2.0))
    values = min(2.0**granularity, total)
    base = math.log(2.0) + math.log(max(1.0, attributes)) + universal(stars, float(granularity), finest)
    prior[0] = np.inf
    prior[1] = math.log(2.0)
    for i in range(2, len(prior)):
        prior[i] = np.inf
        if i <= values:
            prior[i] = base + universal(stars, i - 1.0, values - 1.0)
            prior[i] += (i - 1.0) * math.log(values - 1.0) - log_factorial(table, i - 1.0)


@kernel_piece
def _smallest_granularity(
    bounds: Index, prefix: Floats, edges: Index, intervals: int, granularity: int, explored: int
) -> int:
    """Lower the granularity, staying above `explored`, while its quantile parts still have every bound; return it.

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


@kernel_piece
def _khiops_column(
    best_bounds: Index,
    levels: Floats,
    prefix: Floats,
    table: Floats,
    stars: Floats,
    k: int,
    attributes: float,
    exact_cells: int,
) -> int:
    """Find the best partition of one column over all granularities; return the number of intervals.

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
            size = search_cells(
                bounds, table, prefix, edges, prior, k, join_pure_runs(edges, prefix, n), exact_cells
            )
            cost = prior[size] + partition_cost(table, prefix, bounds, k, size)
            if cost < best - TOLERANCE:
                best = cost
                chosen = granularity
                intervals = size
                for i in range(size + 1):
                    best_bounds[i] = bounds[i]
        before = n
        if n == m:
            break
    if explored != -1 and chosen > explored + 1:
        chosen = _smallest_granularity(best_bounds, prefix, edges, intervals, chosen, explored)
    khiops_prior(prior, table, stars, total, attributes, chosen)
    cost = prior[intervals] + partition_cost(table, prefix, best_bounds, k, intervals)
    levels[0] = gain(cost, prior[1] + interval_cost(table, prefix, k, ZERO, m), intervals)
    return intervals


@kernel
def khiops_columns(
    bounds: Index,
    sizes: Index,
    levels: Floats,
    offsets: Index,
    counts: Floats,
    table: Floats,
    stars: Floats,
    k: int,
    attributes: float,
    exact_cells: int,
) -> None:
    """Compute Khiops' MODL partition of every column into arrays as in `modl_columns`. O(log N) searches each.

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
        for i in range(sizes[j]):
            bounds[offsets[j] + i] = found[i + 1]
