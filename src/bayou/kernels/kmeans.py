"""One-dimensional k-means, exactly: the best cut of ordered points into runs, by dynamic programming."""

from __future__ import annotations

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.jit import inner_kernel, kernel


@inner_kernel
def _spread(sums: Floats, start: int, end: int) -> float:
    """Weighted squared distance of points start..end-1 to their mean. O(1).

    sums : float64[m+1, 3], in; running totals of w, w x, w x^2
    """
    weight = sums[end, 0] - sums[start, 0]
    if weight <= 0.0:
        return 0.0
    first = sums[end, 1] - sums[start, 1]
    return max(0.0, float(sums[end, 2] - sums[start, 2] - first * first / weight))


@inner_kernel
def _push(stack: Index, depth: int, low: int, high: int, first: int, last: int) -> int:
    """Push a range of ends and a range of last cuts onto the stack; return its new depth.

    stack : int64[128, 4], in/out
    """
    stack[depth, 0] = low
    stack[depth, 1] = high
    stack[depth, 2] = first
    stack[depth, 3] = last
    return depth + 1


@kernel
def kmeans_ends(ends: Index, values: Floats, weights: Floats) -> None:
    """Write the ends of the `len(ends)` runs with the least total spread; bins <= m. O(bins m log m).

    The best last cut never moves left when the end moves right, so each layer is filled by halving: the
    middle end first, then both sides with the search range that it leaves.

    ends : int64[bins], out
    values : float64[m], in; increasing
    weights : float64[m], in
    """
    m = len(values)
    bins = len(ends)
    sums = np.zeros((m + 1, 3))
    origin = values[m // 2]
    for v in range(m):
        x = values[v] - origin
        sums[v + 1, 0] = sums[v, 0] + weights[v]
        sums[v + 1, 1] = sums[v, 1] + weights[v] * x
        sums[v + 1, 2] = sums[v, 2] + weights[v] * x * x
    cost = np.empty((bins + 1, m + 1))
    for i in range(bins + 1):
        for e in range(m + 1):
            cost[i, e] = np.inf
    chosen = np.zeros((bins + 1, m + 1), np.int64)
    cost[0, 0] = 0.0
    stack = np.empty((128, 4), np.int64)
    for i in range(1, bins + 1):
        depth = _push(stack, 0, i, m, i - 1, m - 1)
        while depth > 0:
            depth -= 1
            low = stack[depth, 0]
            high = stack[depth, 1]
            first = stack[depth, 2]
            last = stack[depth, 3]
            middle = (low + high) // 2
            best = np.inf
            at = first
            for a in range(first, min(last, middle - 1) + 1):
                here = cost[i - 1, a] + _spread(sums, a, middle)
                if here < best:
                    best = here
                    at = a
            cost[i, middle] = best
            chosen[i, middle] = at
            if low < middle:
                depth = _push(stack, depth, low, middle - 1, first, at)
            if middle < high:
                depth = _push(stack, depth, middle + 1, high, at, last)
    e = m
    for i in range(bins, 0, -1):
        ends[i - 1] = e
        e = chosen[i, e]
