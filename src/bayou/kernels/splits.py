"""How much a split of a leaf would tell about the class, column by column.

A merit is impurity before minus impurity after, over the rows where the column is present, times their share of all
rows of the leaf; -inf where no two branches get more than `least` of the weight each. Impurity is entropy in bits
(`bits`) or Gini's 1 - sum p^2.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.class_counts import class_total
from bayou.kernels.jit import kernel
from bayou.kernels.tree import HIGH, LOW, M2, MEAN, N

SQRT2 = 1.4142135623730951


@kernel
def impurity(weight: NDArray[np.float64], total: float, bits: bool) -> float:
    """Weight times impurity of a class distribution.

    weight : float64[K], in
    """
    if total <= 0.0:
        return 0.0
    spread = 0.0
    for c in range(len(weight)):
        if weight[c] > 0.0:
            share = weight[c] / total
            spread += share * (-math.log2(share) if bits else 1.0 - share)
    return total * spread


@kernel
def two_way_merit(
    left: NDArray[np.float64], right: NDArray[np.float64], before: float, all_rows: float, least: float, bits: bool
) -> float:  # fmt: skip
    """Merit of sending `left` one way and `right` the other; `before` is weight times impurity of their sum.

    left, right : float64[K], in
    """
    a, b = class_total(left), class_total(right)
    if a <= least * (a + b) or b <= least * (a + b):
        return -np.inf
    after = impurity(left, a, bits) + impurity(right, b, bits)
    return (before - after) / max(all_rows, a + b)


@kernel
def mass_below(moments: NDArray[np.float64], c: int, j: int, cut: float) -> float:
    """Weight of class c with x_j <= cut: all or none outside its range, else by the normal distribution.

    moments : float64[5, K, p], in
    """
    n = moments[N, c, j]
    if n <= 0.0 or cut < moments[LOW, c, j]:
        return 0.0
    if cut >= moments[HIGH, c, j]:
        return float(n)
    var = moments[M2, c, j] / (n - 1.0) if n > 1.0 else 0.0
    d = cut - moments[MEAN, c, j]
    if var <= 0.0:
        return float(n) if d >= 0.0 else 0.0
    return float(0.5 * n * math.erfc(-d / (math.sqrt(var) * SQRT2)))


@kernel
def divide(
    left: NDArray[np.float64], right: NDArray[np.float64], moments: NDArray[np.float64], j: int, cut: float
) -> None:
    """The class weights on both sides of a cut.

    left, right : float64[K], out; moments : float64[5, K, p], in
    """
    for c in range(len(left)):
        left[c] = mass_below(moments, c, j, cut)
        right[c] = max(0.0, moments[N, c, j] - left[c])


@kernel
def numeric_merits(
    moments: NDArray[np.float64],
    all_rows: float,
    candidates: int,
    least: float,
    bits: bool,
    merit: NDArray[np.float64],
    cut: NDArray[np.float64],
) -> None:
    """Best of equally spaced cuts between the least and the greatest value, for every numeric column.

    moments : float64[5, K, p], in; merit, cut : float64[p], out
    """
    k = moments.shape[1]
    left, right = np.empty(k), np.empty(k)
    for j in range(len(merit)):
        merit[j], cut[j] = -np.inf, 0.0
        low, high = np.inf, -np.inf
        for c in range(k):
            if moments[N, c, j] > 0.0:
                low = min(low, moments[LOW, c, j])
                high = max(high, moments[HIGH, c, j])
        if not low < high:
            continue
        for c in range(k):
            left[c] = moments[N, c, j]
        before = impurity(left, class_total(left), bits)
        step = (high - low) / (candidates + 1.0)
        for i in range(candidates):
            at = low + step * (i + 1.0)
            if low < at < high:
                divide(left, right, moments, j, at)
                found = two_way_merit(left, right, before, all_rows, least, bits)
                if found > merit[j]:
                    merit[j], cut[j] = found, at


@kernel
def nominal_merits(
    counts: NDArray[np.float64],
    present: NDArray[np.float64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    all_rows: float,
    least: float,
    bits: bool,
    multiway: NDArray[np.float64],
    single: NDArray[np.float64],
    value: NDArray[np.int64],
) -> None:
    """Merit of one branch per value, and of the best single value against the rest, for every nominal column.

    counts : float64[cells, K], in; present : float64[q, K], in; offsets : int64[q + 1], in
    order : int64[cells], in, the cells of each column in the order in which equals are preferred
    multiway, single : float64[q], out; value : int64[q], out
    """
    k = counts.shape[1]
    rest = np.empty(k)
    for j in range(len(multiway)):
        multiway[j], single[j], value[j] = -np.inf, -np.inf, 0
        total = class_total(present[j])
        if total <= 0.0:
            continue
        before = impurity(present[j], total, bits)
        after, large = 0.0, 0
        for r in range(offsets[j], offsets[j + 1]):
            cell = order[r]
            size = class_total(counts[cell])
            if size <= 0.0:
                continue
            after += impurity(counts[cell], size, bits)
            if size > least * total:
                large += 1
            for c in range(k):
                rest[c] = max(0.0, present[j, c] - counts[cell, c])
            found = two_way_merit(counts[cell], rest, before, all_rows, least, bits)
            if found > single[j]:
                single[j], value[j] = found, cell - offsets[j]
        if large >= 2:
            multiway[j] = (before - after) / max(all_rows, total)


@kernel
def best_two(merit: NDArray[np.float64], order: NDArray[np.int64], two: NDArray[np.float64]) -> int:
    """The place of the greatest merit above 0, the first of equals in the given order, or -1; and the two greatest.

    merit : float64[d], in; order : int64[d], in; two : float64[2], out
    """
    place = -1
    two[0], two[1] = 0.0, -np.inf
    for r in range(len(order)):
        found = merit[order[r]]
        if found > two[0]:
            place = order[r]
            two[1] = two[0]
            two[0] = found
        elif found > two[1]:
            two[1] = found
    return place
