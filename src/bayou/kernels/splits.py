"""Merit of splitting a leaf by each of its columns: the reduction of impurity.

A merit is impurity before minus impurity after, over the rows where the column is present, times their share of all
rows of the leaf; -inf where no two branches get more than `least` of the weight each. Impurity is entropy in bits
(`bits`) or Gini's 1 - sum p^2. `freedom` is the degrees of freedom of the table of column and class: (branches - 1)
(classes - 1), with all values of a nominal column for branches, since the best of all their groups is chosen.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Flags, Floats, Index
from bayou.kernels.class_counts import class_total
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.poisson import mix
from bayou.kernels.tree import HIGH, LOW, M2, MEAN, N

SQRT2 = 1.4142135623730951
ROUNDING = 1e-12
LN2 = 0.6931471805599453
DELTA, TIE, LEAST, CANDIDATES, BITS, BRANCHES, TESTED, INHERITS = 0, 1, 2, 3, 4, 5, 6, 7  # places in `rules`
EACH_VALUE, ONE_AGAINST_REST, GROUPS = 0, 1, 2  # how the values of a nominal column may be split
# in place of a value: one branch per value; -2 - c: two groups, in order of the share of class c
MULTIWAY_VALUE = -1


@inner_kernel
def impurity(weight: Floats, total: float, bits: bool) -> float:
    """Return weight times impurity of a class distribution: N log2 N - sum n log2 n, or sum n (N - n) / N.

    weight : float64[K], in
    """
    if total <= 0.0:
        return 0.0
    spread = 0.0
    if bits:
        for c in range(len(weight)):
            if weight[c] > 0.0:
                spread += weight[c] * math.log2(weight[c])
        return total * math.log2(total) - spread
    for c in range(len(weight)):
        spread += weight[c] * (total - weight[c])
    return spread / total


@inner_kernel
def merit_of(before: float, after: float, size: float, all_rows: float) -> float:
    """Return the gain of a split per row of the leaf; 0 if it could be a rounding error."""
    return (before - after) / max(all_rows, size) if before - after > ROUNDING * size else 0.0


@inner_kernel
def two_way_merit(
    left: Floats, right: Floats, before: float, all_rows: float, least: float, bits: bool
) -> float:  # fmt: skip
    """Return the merit of sending `left` one way and `right` the other; `before` is weight times impurity of their sum.

    left, right : float64[K], in
    """
    a, b = class_total(left), class_total(right)
    if a <= least * (a + b) or b <= least * (a + b):
        return -np.inf
    return merit_of(before, impurity(left, a, bits) + impurity(right, b, bits), a + b, all_rows)


@kernel
def read_scales(scale: Floats, moments: Floats, j: int) -> None:
    """1 / (sd sqrt 2) of every class in column j; 0 where the values do not vary.

    scale : float64[K], out; moments : float64[5, K, p], in
    """
    for c in range(len(scale)):
        n, m2 = moments[N, c, j], moments[M2, c, j]
        scale[c] = 1.0 / (math.sqrt(m2 / (n - 1.0)) * SQRT2) if n > 1.0 and m2 > 0.0 else 0.0


@kernel
def divide(left: Floats, right: Floats, moments: Floats, scale: Floats, j: int, cut: float) -> None:
    """Estimate the class weights with x_j <= cut, and above, by normal distributions.

    A cut outside the range of a class sends all of it one way.

    left, right : float64[K], out; moments : float64[5, K, p], in; scale : float64[K], in
    """
    for c in range(len(left)):
        n = moments[N, c, j]
        if n <= 0.0 or cut < moments[LOW, c, j]:
            left[c] = 0.0
        elif cut >= moments[HIGH, c, j]:
            left[c] = n
        elif scale[c] > 0.0:
            left[c] = 0.5 * n * math.erfc((moments[MEAN, c, j] - cut) * scale[c])
        else:
            left[c] = n if cut >= moments[MEAN, c, j] else 0.0
        right[c] = max(0.0, n - left[c])


@inner_kernel
def column_range(moments: Floats, j: int) -> tuple[float, float]:
    """Return the least and the greatest value of a numeric column over all classes.

    moments : float64[5, K, p], in
    """
    low, high = np.inf, -np.inf
    for c in range(moments.shape[1]):
        if moments[N, c, j] > 0.0:
            low = min(low, moments[LOW, c, j])
            high = max(high, moments[HIGH, c, j])
    return low, high


@kernel
def draw_columns(
    keys: Index, leaf: int, rows: float, moments: Floats, counts: Floats, present: Floats, offsets: Index, tried: Flags
) -> None:  # fmt: skip
    """Draw the columns that one attempt to split a leaf tries: sqrt(d) + 1 of those whose values vary there.

    The draw is a hash of the columns' keys, the leaf and its weight, so that every attempt tries others. Without keys
    all columns are tried. d counts the columns that have a value at the leaf, not those that may come.
    keys : int64[p + q] or int64[0], in; moments : float64[5, K, p], in; counts : float64[cells, K], in
    present : float64[q, K], in; offsets : int64[q + 1], in; tried : bool[p + q], out
    """
    if len(keys) == 0:
        tried[:] = True
        return
    p = moments.shape[2]
    base = mix(np.uint64(leaf) ^ (np.uint64(int(rows)) << np.uint64(32)))
    lot = np.full(len(tried), np.uint64(0xFFFFFFFFFFFFFFFF))
    met, eligible = 0, 0
    for j in range(len(tried)):
        tried[j] = False
        varies = False
        if j < p:
            low, high = column_range(moments, j)
            varies = low < high
            met += low <= high
        elif class_total(present[j - p]) > 0.0:
            met += 1
            values = 0
            for cell in range(offsets[j - p], offsets[j - p + 1]):
                if class_total(counts[cell]) > 0.0:
                    values += 1
                    if values > 1:
                        break
            varies = values > 1
        if varies:
            eligible += 1
            lot[j] = mix(base ^ np.uint64(keys[j]))
    drawn = min(eligible, int(math.sqrt(met) + 0.5) + 1)
    for _ in range(drawn):
        best = 0
        for j in range(1, len(lot)):
            if lot[j] < lot[best]:
                best = j
        tried[best], lot[best] = True, np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def numeric_merits(
    moments: Floats,
    all_rows: float,
    candidates: int,
    least: float,
    bits: bool,
    tried: Flags,
    merit: Floats,
    cut: Floats,
    freedom: Floats,
) -> None:
    """Find the best of equally spaced cuts between least and greatest value, for every numeric column that is tried.

    moments : float64[5, K, p], in; tried : bool[p], in; merit, cut, freedom : float64[p], out
    """
    k = moments.shape[1]
    left, right, scale = np.empty(k), np.empty(k), np.empty(k)
    for j in range(moments.shape[2]):
        merit[j], cut[j], freedom[j] = -np.inf, 0.0, 0.0
        if not tried[j]:
            continue
        low, high = column_range(moments, j)
        if not low < high:
            continue
        for c in range(k):
            left[c] = moments[N, c, j]
        freedom[j] = class_number(left) - 1.0
        before = impurity(left, class_total(left), bits)
        read_scales(scale, moments, j)
        step = (high - low) / (candidates + 1.0)
        for i in range(candidates):
            at = low + step * (i + 1.0)
            if low < at < high:
                divide(left, right, moments, scale, j, at)
                found = two_way_merit(left, right, before, all_rows, least, bits)
                if found > merit[j]:
                    merit[j], cut[j] = found, at


@kernel
def divide_cells(left: Floats, right: Floats, upper: Floats, counts: Floats, cut: float) -> None:
    """Write the class weights of the cells that end at or below the cut, and of the others.

    left, right : float64[K], out; upper : float64[m], in, the largest value of each cell; counts : float64[m, K], in
    """
    left[:], right[:] = 0.0, 0.0
    for cell in range(len(upper)):
        for c in range(len(left)):
            if upper[cell] <= cut:
                left[c] += counts[cell, c]
            else:
                right[c] += counts[cell, c]


@kernel
def cell_merits(
    offsets: Index,
    upper: Floats,
    counts: Floats,
    all_rows: float,
    least: float,
    bits: bool,
    merit: Floats,
    cut: Floats,
    freedom: Floats,
) -> None:
    """Find the best cut between two cells, for every numeric column that is given as cells.

    offsets : int64[p + 1], in; upper : float64[m], in; counts : float64[m, K], in
    merit, cut, freedom : float64[p], out
    """
    k = counts.shape[1]
    left, right = np.empty(k), np.empty(k)
    for j in range(len(merit)):
        merit[j], cut[j] = -np.inf, 0.0
        begin, end = offsets[j], offsets[j + 1]
        divide_cells(left, right, upper[begin:end], counts[begin:end], -np.inf)
        freedom[j] = class_number(right) - 1.0
        before = impurity(right, class_total(right), bits)
        for cell in range(begin, end - 1):
            for c in range(k):
                left[c] += counts[cell, c]
                right[c] = max(0.0, right[c] - counts[cell, c])
            found = two_way_merit(left, right, before, all_rows, least, bits)
            if found > merit[j]:
                merit[j], cut[j] = found, upper[cell]


@inner_kernel
def class_number(weight: Floats) -> int:
    """Return the number of classes with weight.

    weight : float64[K], in
    """
    found = 0
    for c in range(len(weight)):
        if weight[c] > 0.0:
            found += 1
    return found


@inner_kernel
def best_prefix(
    counts: Floats,
    present: Floats,
    cells: Index,
    c: int,
    before: float,
    all_rows: float,
    least: float,
    bits: bool,
    left: Floats,
    rest: Floats,
    ranked: Index,
) -> tuple[float, int]:
    """Find the best division in two of values ordered by their share of class c; return merit and how many go left.

    With two classes no other division has a greater merit (Breiman et al., 1984).
    counts : float64[cells, K], in; present : float64[K], in; cells : int64[v], in, canonical; left, rest : float64[K],
    scratch; ranked : int64[v], out, the cells with weight by rising share of the class, then -1
    """
    share = np.empty(len(cells))
    for r in range(len(cells)):
        size = class_total(counts[cells[r]])
        share[r] = counts[cells[r], c] / size if size > 0.0 else np.inf
    by_share = np.argsort(share, kind="mergesort")
    met = 0
    for r in range(len(cells)):
        ranked[r] = cells[by_share[r]] if share[by_share[r]] < np.inf else -1
        met += ranked[r] >= 0
    left[:] = 0.0
    merit, length = -np.inf, 0
    for r in range(met - 1):
        for d in range(len(left)):
            left[d] += counts[ranked[r], d]
            rest[d] = max(0.0, present[d] - left[d])
        if share[by_share[r]] < share[by_share[r + 1]]:
            found = two_way_merit(left, rest, before, all_rows, least, bits)
            if found > merit:
                merit, length = found, r + 1
    return merit, length


@kernel
def values_on_the_left(
    counts: Floats, present: Floats, cells: Index, c: int, all_rows: float, least: float, bits: bool
) -> Index:
    """Return the cells that the best division by the share of class c sends left.

    counts : float64[cells, K], in; present : float64[K], in; cells : int64[v], in, canonical
    """
    k = len(present)
    ranked = np.empty(len(cells), np.int64)
    before = impurity(present, class_total(present), bits)
    _, length = best_prefix(
        counts, present, cells, c, before, all_rows, least, bits, np.empty(k), np.empty(k), ranked
    )
    return ranked[:length]


@kernel
def nominal_merits(
    counts: Floats,
    present: Floats,
    offsets: Index,
    order: Index,
    classes: Index,
    all_rows: float,
    least: float,
    bits: bool,
    branches: int,
    tried: Flags,
    merit: Floats,
    value: Index,
    freedom: Floats,
) -> None:
    """Compute the merit of one branch per value (`value` -1), the best value against the rest, or the best two groups.

    One branch per value never has less merit, but its branches may be too small, or unwanted (`branches`). Two groups
    are searched in the order of the share of each class; `value` -2 - c means that class c gave the best.
    counts : float64[cells, K], in; present : float64[q, K], in; offsets : int64[q + 1], in
    order : int64[cells], in, the cells of each column in the order in which equals are preferred; classes : int64[K],
    in, so are classes; tried : bool[q], in; merit, freedom : float64[q], out; value : int64[q], out
    """
    k = counts.shape[1]
    left, rest = np.empty(k), np.empty(k)
    for j in range(len(present)):
        merit[j], value[j], freedom[j] = -np.inf, 0, 0.0
        total = class_total(present[j])
        if total <= 0.0 or not tried[j]:
            continue
        before = impurity(present[j], total, bits)
        after, large, met = 0.0, 0, 0
        for r in range(offsets[j], offsets[j + 1]):
            size = class_total(counts[order[r]])
            after += impurity(counts[order[r]], size, bits)
            if size > least * total:
                large += 1
            if size > 0.0:
                met += 1
        freedom[j] = (class_number(present[j]) - 1.0) * (met - 1.0)
        if branches == GROUPS:
            # Groups never have more merit than the values themselves: if these are no better than chance, skip them.
            if met > 1 and 2.0 * LN2 * (before - after) > freedom[j]:
                cells = order[offsets[j] : offsets[j + 1]]
                ranked = np.empty(len(cells), np.int64)
                for r in range(k):
                    c = classes[r]
                    if present[j, c] > 0.0 and (freedom[j] > met - 1.0 or value[j] == 0):
                        found, _ = best_prefix(
                            counts, present[j], cells, c, before, all_rows, least, bits, left, rest, ranked
                        )
                        if found > merit[j]:
                            merit[j], value[j] = found, -2 - c
            continue
        if large >= 2 and branches == EACH_VALUE:
            merit[j], value[j] = merit_of(before, after, total, all_rows), MULTIWAY_VALUE
            continue
        for r in range(offsets[j], offsets[j + 1]):
            cell = order[r]
            for c in range(k):
                rest[c] = max(0.0, present[j, c] - counts[cell, c])
            found = two_way_merit(counts[cell], rest, before, all_rows, least, bits)
            if found > merit[j]:
                merit[j], value[j] = found, cell - offsets[j]


@kernel
def worth_splitting(
    merit: Floats, freedom: Floats, columns: Index, weight: Floats, rows: float, rules: Floats
) -> int:  # fmt: skip
    """Return the column to split a leaf by, or -1.

    merit, freedom : float64[d], in; columns : int64[d], in, in canonical order; weight : float64[K], in
    rules : float64[8], in
    """
    if rules[TESTED] > 0.0:
        return column_beyond_chance(merit, freedom, columns, rows, rules[DELTA])
    return column_ahead(merit, columns, weight, rules)


@inner_kernel
def column_beyond_chance(merit: Floats, freedom: Floats, columns: Index, rows: float, delta: float) -> int:
    """Return the column with the most information beyond what chance explains, if that is significant; else -1.

    Where column and class are independent, 2 n ln 2 times the gain in bits is chi-squared (Wilks), and exceeds
    f + 2 sqrt(f L) + 2 L with probability exp(-L) at most (Laurent and Massart, 2000); L = ln(columns / delta).
    merit, freedom : float64[d], in; columns : int64[d], in, in canonical order
    """
    place, most, tried = -1, 0.0, 0
    for r in range(len(columns)):
        j = columns[r]
        if freedom[j] > 0.0:
            tried += 1
        beyond = 2.0 * LN2 * rows * merit[j] - freedom[j]
        if beyond > most:
            place, most = j, beyond
    if place < 0:
        return -1
    log_odds = math.log(tried / delta)
    return place if most > 2.0 * math.sqrt(freedom[place] * log_odds) + 2.0 * log_odds else -1


@inner_kernel
def column_ahead(merit: Floats, columns: Index, weight: Floats, rules: Floats) -> int:
    """Return the column that leads by more than Hoeffding's bound, or by any margin once that is below `tie`; else -1.

    Not splitting has merit 0 and precedes all columns without gain; on ties the first in the given order leads.
    merit : float64[d], in; columns : int64[d], in, in canonical order; weight : float64[K], in; rules : float64[8], in
    """
    place = -1
    best, second = 0.0, -np.inf
    for r in range(len(columns)):
        found = merit[columns[r]]
        if found > best:
            place, best, second = columns[r], found, best
        elif found > second:
            second = found
    reach = math.log2(max(2.0, float(class_number(weight)))) if rules[BITS] > 0.0 else 1.0
    bound = reach * math.sqrt(math.log(1.0 / rules[DELTA]) / (2.0 * class_total(weight)))
    return place if best - second > bound or bound < rules[TIE] else -1
