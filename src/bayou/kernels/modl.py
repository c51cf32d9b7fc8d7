"""MODL discretisation of many columns in one call, with Boullé's prior of 2006.

``prior[I] = ln N + ln C(N+I-1, I-1)``: the number of intervals, then their bounds. Interval costs and the
search are in `bayou.kernels.partition`.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.exact_partition import best_partition
from bayou.kernels.jit import ZERO, inner_kernel, kernel
from bayou.kernels.partition import (
    interval_cost,
    log_factorial,
    merge_greedily,
    post_optimise,
)


@kernel
def running_totals(prefix: Floats, counts: Floats) -> None:
    """Write cumulative class counts over the cells, and their sum in the last column. O(K m).

    prefix : float64[m+1, K+1], out
    counts : float64[m, K], in
    """
    k = counts.shape[1]
    for c in range(k + 1):
        prefix[0, c] = 0.0
    for v in range(len(counts)):
        weight = 0.0
        for c in range(k):
            prefix[v + 1, c] = prefix[v, c] + counts[v, c]
            weight += counts[v, c]
        prefix[v + 1, k] = prefix[v, k] + weight


@inner_kernel
def _pure_class(prefix: Floats, start: int, end: int) -> int:
    """Return the only class present in cells start..end-1, -1 if there are several, -2 if none. O(K).

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
def join_pure_runs(edges: Index, prefix: Floats, n: int) -> int:
    """Join neighbouring cells that contain only one and the same class, or none: the optimum has no cut there. O(K n).

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
def search_cells(
    bounds: Index,
    table: Floats,
    prefix: Floats,
    edges: Index,
    prior: Floats,
    k: int,
    n: int,
    exact_cells: int,
) -> int:
    """Find the best partition of the n cells between `edges`: exact for up to `exact_cells` cells, else greedy.

    bounds : int64[m+1], out; in numbers of the cells of `prefix`; returns the number of intervals
    table : float64[t], in
    prefix : float64[m+1, K+1], in
    edges : int64[m+1], in
    prior : float64[m+2], in
    """
    cells = np.empty((n + 1, prefix.shape[1]))
    for v in range(n + 1):
        for c in range(prefix.shape[1]):
            cells[v, c] = prefix[edges[v], c]
    intervals = merge_greedily(bounds, table, cells, prior, k)
    if n <= exact_cells:
        intervals = best_partition(bounds, table, cells, prior, k, intervals)
    else:
        intervals = post_optimise(bounds, table, cells, prior, k, intervals)
    for i in range(intervals + 1):
        bounds[i] = edges[bounds[i]]
    return intervals


@kernel
def partition_cost(table: Floats, prefix: Floats, bounds: Index, k: int, intervals: int) -> float:
    """Return the sum of the interval costs of a partition. O(K I).

    table : float64[t], in
    prefix : float64[m+1, K+1], in
    bounds : int64[m+1], in
    """
    cost = 0.0
    for i in range(intervals):
        cost += interval_cost(table, prefix, k, bounds[i], bounds[i + 1])
    return cost


@kernel
def gain(cost: float, null: float, intervals: int) -> float:
    """Return the level 1 - cost / null, within [0, 1), and 0 for a single interval."""
    if intervals < 2 or not 0.0 < cost < null:
        return 0.0
    return 1.0 - cost / null


@kernel
def boulle_prior(prior: Floats, table: Floats, total: float) -> None:
    """prior[I] = ln N + ln C(N+I-1, I-1) for I = 1, 2, .. O(m).

    prior : float64[m+2], out
    table : float64[t], in
    """
    first = math.log(max(total, 1.0)) - log_factorial(table, total)
    prior[0] = np.inf
    for i in range(1, len(prior)):
        prior[i] = first + log_factorial(table, total + i - 1.0) - log_factorial(table, i - 1.0)


@kernel
def partition_level(table: Floats, prefix: Floats, k: int) -> float:
    """Return the level of Boullé's criterion for the partition whose intervals are the rows of `prefix`. O(K I).

    table : float64[t], in
    prefix : float64[I+1, K+1], in
    """
    intervals = len(prefix) - 1
    prior = np.empty(intervals + 1)
    boulle_prior(prior, table, prefix[intervals, prefix.shape[1] - 1])
    cost = prior[intervals]
    for i in range(intervals):
        cost += interval_cost(table, prefix, k, i, i + 1)
    return gain(cost, prior[1] + interval_cost(table, prefix, k, ZERO, intervals), intervals)


@kernel
def modl_columns(
    bounds: Index,
    sizes: Index,
    levels: Floats,
    offsets: Index,
    counts: Floats,
    table: Floats,
    k: int,
    exact_cells: int,
) -> None:
    """Find Boullé's MODL partition of every column. Exact: O((K + I) m^2) per column; greedy: O(K m log m).

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
        edges = np.empty(m + 1, np.int64)
        for v in range(m + 1):
            edges[v] = v
        found = np.empty(m + 1, np.int64)
        n = join_pure_runs(edges, prefix, m)
        prior = np.empty(n + 2)
        boulle_prior(prior, table, prefix[m, prefix.shape[1] - 1])
        sizes[j] = search_cells(found, table, prefix, edges, prior, k, n, exact_cells)
        cost = prior[sizes[j]] + partition_cost(table, prefix, found, k, sizes[j])
        levels[j] = gain(cost, prior[1] + interval_cost(table, prefix, k, ZERO, m), sizes[j])
        for i in range(sizes[j]):
            bounds[offsets[j] + i] = found[i + 1]


@kernel
def gather_parts(
    cuts: Floats,
    part_counts: Floats,
    part_offsets: Index,
    bounds: Index,
    sizes: Index,
    offsets: Index,
    upper: Floats,
    counts: Floats,
    midpoints: bool,
) -> None:
    """Write cut values and class counts of the intervals found; the last cut of a column is infinite. O(K total).

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
                for c in range(counts.shape[1]):
                    part_counts[part, c] += counts[cell, c]
                cell += 1
            if i < sizes[j] - 1:
                cuts[part] = upper[end - 1]
                if midpoints:
                    cuts[part] = upper[end - 1] + (upper[end] - upper[end - 1]) / 2.0
