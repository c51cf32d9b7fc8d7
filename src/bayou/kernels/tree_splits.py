"""Splitting a leaf in two: the new nodes, and the statistics that the children inherit."""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.class_counts import class_total
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.splits import (
    BITS,
    INHERITS,
    LEAST,
    MULTIWAY_VALUE,
    divide,
    read_scales,
    values_on_the_left,
)
from bayou.kernels.tree import (
    AT_MOST,
    COLUMN,
    FIRST,
    HIGH,
    LOW,
    M2,
    MEAN,
    MULTIWAY,
    ONE_VALUE,
    OWN,
    PARENT,
    SLOT,
    TEST,
    USUAL,
    VALUE,
    WIDTH,
    N,
    read_slot,
)

# what is lacking to split a leaf; nothing: it was split
SPLIT, NODES, SLOTS, WAYS, BRANCHES = range(5)


@kernel
def truncated(
    n: float, mean: float, m2: float, low: float, high: float, cut: float, above: bool
) -> tuple[float, float, float, float]:
    """Return mean, m2, low and high of n values of a normal, truncated at a cut: the part above it, or up to it.

    The standard deviation is kept within the range of the values.

    >>> mean, m2, low, high = truncated(100.0, 0.0, 100.0, -3.0, 3.0, 0.0, True)
    >>> round(mean, 3), round(m2 / 100.0, 3), low, high
    (0.798, 0.363, 0.0, 3.0)
    """
    if (low > cut) if above else (high <= cut):
        return mean, m2, low, high
    if above:
        low = min(cut, high)
    else:
        high = max(cut, low)
    side, deviation = 1.0 if above else -1.0, math.sqrt(m2 / n)
    ratio, spread = 0.0, 0.0
    if deviation > 0.0:
        at = side * (cut - mean) / deviation
        beyond = 0.5 * math.erfc(at / math.sqrt(2.0))
        if beyond > 1e-12:
            ratio = math.exp(-0.5 * at * at) / (math.sqrt(2.0 * math.pi) * beyond)
            spread = deviation * math.sqrt(max(0.0, 1.0 + at * ratio - ratio * ratio))
    mean = min(max(mean + side * deviation * ratio, low), high)
    spread = min(spread, min(mean - low, high - mean))
    return mean, n * spread * spread, low, high


@kernel
def inherit_moments(
    moments: Floats, held: Floats, share: Floats, column: int, cut: float, above: bool
) -> None:
    """Initialise the moments of a slot with a share of each class of its parent; one column is truncated at the cut.

    moments : float64[5, K, p], out; held : float64[5, K, p], in; share : float64[K], in; column -1: none is cut
    """
    for c in range(moments.shape[1]):
        for j in range(moments.shape[2]):
            n = held[N, c, j] * share[c]
            if n <= 0.0:
                moments[:, c, j] = 0.0
                continue
            mean, m2, low, high = (
                held[MEAN, c, j],
                held[M2, c, j] * share[c],
                held[LOW, c, j],
                held[HIGH, c, j],
            )
            if j == column:
                mean, m2, low, high = truncated(n, mean, m2, low, high, cut, above)
            moments[N, c, j], moments[MEAN, c, j], moments[M2, c, j] = n, mean, m2
            moments[LOW, c, j], moments[HIGH, c, j] = low, high


@kernel
def inherit_counts(
    counts: Floats, present: Floats, held: Floats, held_present: Floats, share: Floats, offsets: Index,
    column: int, values: Index,
) -> None:  # fmt: skip
    """Initialise the counts of a slot with a share of each class of its parent; one column has only some values.

    counts : float64[cells, K], out; present : float64[q, K], out
    held : float64[cells, K], in; held_present : float64[q, K], in
    share : float64[K], in; offsets : int64[q + 1], in; column -1: all are shared out; values : int64[v], in
    """
    for cell in range(len(counts)):
        for c in range(len(share)):
            counts[cell, c] = held[cell, c] * share[c]
    for j in range(len(present)):
        for c in range(len(share)):
            present[j, c] = held_present[j, c] * share[c]
    if column >= 0:
        counts[offsets[column] : offsets[column + 1]] = 0.0
        present[column] = 0.0
        for v in values:
            for c in range(len(share)):
                counts[offsets[column] + v, c] = held[offsets[column] + v, c]
                present[column, c] += held[offsets[column] + v, c]


@inner_kernel
def free_slots(owner: Index, leaf: int, slots: int) -> tuple[int, int]:
    """Return the two lowest of the first `slots` slots that no other leaf keeps; `slots` where there is none.

    owner : int64[S], in, the leaf of every slot, -1 = none
    """
    one, two = slots, slots
    for slot in range(slots):
        if owner[slot] < 0 or owner[slot] == leaf:
            if one < slots:
                two = slot
                break
            one = slot
    return one, two


@inner_kernel
def values_each_way(
    counts: Floats,
    present: Floats,
    cells: Index,
    offset: int,
    value: int,
    rows: float,
    rules: Floats,
    side: Codes,
) -> int:
    """side[v] = the child (0 or 1) that value v goes to, -1 if it was never seen; returns 1 + the greatest value seen.

    counts : float64[cells, K], in; present : float64[K], in; cells : int64[v], in, of the column, canonical
    rules : float64[8], in; side : int32[v], out
    """
    width = 0
    for r in range(len(cells)):
        v = cells[r] - offset
        side[v] = 1 if class_total(counts[cells[r]]) > 0.0 else -1
        if side[v] == 1:
            width = max(width, v + 1)
    if value >= 0:
        side[value] = 0
        return width
    found = values_on_the_left(counts, present, cells, -2 - value, rows, rules[LEAST], rules[BITS] > 0.0)
    for cell in found:
        side[cell - offset] = 0
    return width


@inner_kernel
def split_leaf(
    weight: Floats, track: Floats, moments: Floats, counts: Floats, present: Floats, tables: Floats, bounds: Floats,
    above: Floats, below: Floats, known: Flags, seen: Index, nodes: Index, cuts: Floats, branches: Index, used: Index,
    owner: Index, declared: Index, offsets: Index, cells: Index, rules: Floats, logs: Floats,
    leaf: int, place: int, cut: Floats, value: Index, room: int, limited: bool,
) -> int:  # fmt: skip
    """Split a leaf in two by one column; or change nothing, and return what is lacking.

    `NODES` or `SLOTS`: two more; `WAYS`: only Python splits in more than two ways; `BRANCHES` + n: room for n more.
    Where there are no more slots to be had (`limited`), a child that finds none has no statistics.

    Arrays as in `rows_predict_then_update`; owner : int64[S], in/out, the leaf of every slot, -1 = none
    cut : float64[p], in, and value : int64[q], in, as the merits have them.
    """
    k, p = weight.shape[1], moments.shape[3]
    column = place if place < p else place - p
    by_value = place >= p
    first, slot = used[0], nodes[leaf, SLOT] - 1
    if by_value and value[column] == MULTIWAY_VALUE:
        return WAYS
    if first + 2 > len(nodes):
        return NODES
    slots = min(room, len(moments))
    one, two = free_slots(owner, leaf, slots)
    if two >= slots and not limited:
        return SLOTS
    rows = track[leaf, OWN]
    sent = np.zeros((2, k))
    if not by_value:
        scale = np.empty(k)
        read_scales(scale, moments[slot], column)
        divide(sent[0], sent[1], moments[slot], scale, column, cut[column])
        nodes[leaf, TEST], nodes[leaf, VALUE], nodes[leaf, FIRST] = AT_MOST, 0, first
        cuts[leaf] = cut[column]
        side = np.empty(0, dtype=np.int32)
        own = cells[:0]
    else:
        own = cells[offsets[column] : offsets[column + 1]]
        side = np.empty(len(own), dtype=np.int32)
        width = values_each_way(
            counts[slot], present[slot, column], own, offsets[column], value[column], rows, rules, side
        )
        one_value = value[column] >= 0
        if not one_value and used[1] + width > len(branches):
            return int(BRANCHES + width)
        for cell in own:
            way = 1 if side[cell - offsets[column]] != 0 else 0
            for c in range(k):
                sent[way, c] += counts[slot, cell, c]
        if one_value:
            nodes[leaf, TEST], nodes[leaf, VALUE], nodes[leaf, FIRST] = ONE_VALUE, value[column], first
        else:
            nodes[leaf, TEST], nodes[leaf, VALUE], nodes[leaf, FIRST] = MULTIWAY, 0, used[1]
            nodes[leaf, WIDTH] = width
            for v in range(width):
                if side[v] >= 0:
                    branches[used[1] + v] = first + side[v]
            used[1] += width
    nodes[leaf, COLUMN], nodes[leaf, SLOT] = column, 0
    nodes[leaf, USUAL] = first + (1 if class_total(sent[1]) > class_total(sent[0]) else 0)
    used[0] += 2
    held, held_counts, held_present = moments[slot].copy(), counts[slot].copy(), present[slot].copy()
    moments[slot], counts[slot], present[slot], owner[slot] = 0.0, 0.0, 0.0, -1
    # A loop over classes: loading a kernel with an expression of whole arrays takes 50 ms of Numba's imports.
    total, share = np.empty(k), np.empty(k)
    for c in range(k):
        total[c] = sent[0, c] + sent[1, c]
    values = np.empty(len(own), dtype=np.int64)
    for way in range(2):
        child, to = first + way, one if way == 0 else two
        nodes[child, PARENT] = leaf
        weight[child] = sent[way]
        if to >= slots:
            continue
        nodes[child, SLOT], owner[to] = to + 1, child
        if rules[INHERITS] > 0.0:
            for c in range(k):
                share[c] = sent[way, c] / total[c] if total[c] > 0.0 else 0.0
            inherit_moments(moments[to], held, share, -1 if by_value else column, cuts[leaf], way == 1)
            found = 0
            for r in range(len(own)):
                v = own[r] - offsets[column]
                if (side[v] == 0) == (way == 0) and side[v] >= 0:
                    values[found] = v
                    found += 1
            inherit_counts(
                counts[to], present[to], held_counts, held_present, share, offsets,
                column if by_value else -1, values[:found],
            )  # fmt: skip
            track[child, OWN] = rows * class_total(sent[way]) / class_total(total)
    # A child without a slot has the number after the last one; most often one child has the slot of its parent.
    for to in (one, two, len(moments) if slot == one or slot == two else slot):
        if to < len(moments):
            read_slot(
                tables, bounds, above, below, known, seen, moments, counts, present, declared, offsets, logs, to
            )  # fmt: skip
    return SPLIT
