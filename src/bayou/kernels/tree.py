"""Routing of rows through a decision tree, and naive Bayes at its leaves.

A node is a row of integers: the kind of its test (`TEST`), the column, the value of a one-value test, where its
children begin (`FIRST`: a node, or for a multiway test a place in `branches`), the number of values of a multiway
test (`WIDTH`), the child for rows whose value is missing or unknown (`USUAL`), its parent, and the slot of
its statistics plus 1 (`SLOT`, 0 = none). The root is node 0, so 0 as a child means none.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.class_counts import class_total
from bayou.kernels.gaussian import term
from bayou.kernels.jit import inner_kernel
from bayou.kernels.normal import (
    CEILING,
    LOG_PI,
    ORIGIN,
    REACH,
    TINY,
    VARIES,
    ceiling_and_reach,
    is_beyond,
    read_columns,
)
from bayou.kernels.sums import row_sum
from bayou.kernels.tree_values import read_slot_nominal

LEAF, AT_MOST, ONE_VALUE, MULTIWAY = 0, 1, 2, 3
TEST, COLUMN, VALUE, FIRST, WIDTH, USUAL, PARENT, SLOT = 0, 1, 2, 3, 4, 5, 6, 7
N, MEAN, M2, LOW, HIGH = 0, 1, 2, 3, 4
SINCE, OWN, MAJORITY, BAYES = 0, 1, 2, 3  # columns of `track`, one row per leaf
# rows of `whole`: statistics of a column over all classes
TOTAL, MIDDLE, SPREAD, LENT_PEAK, LENT_HALF, NARROWEST = 0, 1, 2, 3, 4, 5
FLOOR = 1e-9  # a class with less than this share of the pooled variance counts as constant
# share of the pooled variance that a constant class gets: few rows of a leaf are often equal by chance
CONSTANT_SHARE = 1.0


@inner_kernel
def route(nodes: Index, cuts: Floats, branches: Index, x: Floats, codes: Codes) -> int:
    """Return the leaf of a row: x_j <= cut goes left; a missing or unknown value goes where most rows went.

    nodes : int64[m, 8], in; cuts : float64[m], in; branches : int64[b], in; x : float64[p], in; codes : int32[q], in
    """
    at = 0
    while nodes[at, TEST] != LEAF:
        j = nodes[at, COLUMN]
        child = 0
        if nodes[at, TEST] == AT_MOST:
            if x[j] <= cuts[at]:
                child = nodes[at, FIRST]
            elif x[j] > cuts[at]:
                child = nodes[at, FIRST] + 1
        elif nodes[at, TEST] == ONE_VALUE:
            if codes[j] >= 0:
                child = nodes[at, FIRST] + (0 if codes[j] == nodes[at, VALUE] else 1)
        elif 0 <= codes[j] < nodes[at, WIDTH]:
            child = branches[nodes[at, FIRST] + codes[j]]
        at = child if child > 0 else nodes[at, USUAL]
    return at


@inner_kernel
def leaf_prior(score: Floats, nodes: Index, weight: Floats, leaf: int) -> float:
    """score[c] = log(N_c / N) at the leaf, or at the nearest ancestor that has weight; returns N, 0 if none has.

    score : float64[K], out; nodes : int64[m, 8], in; weight : float64[m, K], in
    """
    total = class_total(weight[leaf])
    while total <= 0.0 and leaf > 0:
        leaf = nodes[leaf, PARENT]
        total = class_total(weight[leaf])
    log_total = math.log(total) if total > 0.0 else 0.0
    for c in range(len(score)):
        score[c] = math.log(weight[leaf, c]) - log_total if weight[leaf, c] > 0.0 else -np.inf
    return total


@inner_kernel
def add_numeric_terms(score: Floats, terms: Floats, tables: Floats, s: int, x: Floats) -> None:
    """score[c] += sum_j log p(x_j | c) by the normal densities of slot s, for classes that are possible.

    score : float64[K], in/out; terms : float64[p], scratch; x : float64[p], in
    tables : float64[S, 3, K, p], in, peak, centre and 1 / (2 var)
    """
    if len(x) == 0:
        return
    for c in range(len(score)):
        if score[c] > -np.inf:
            for j in range(len(x)):
                there = term(x[j], tables[s, 0, c, j], tables[s, 1, c, j], tables[s, 2, c, j])
                terms[j] = there if x[j] == x[j] else 0.0
            score[c] = row_sum(score[c], terms)


@inner_kernel
def learn_numeric(
    moments: Floats,
    tables: Floats,
    bounds: Floats,
    whole: Floats,
    s: int,
    x: Floats,
    c: int,
    w: float,
    weight: Floats,
    is_first: bool,
) -> None:
    """Add a row to the moments and ranges of class c at slot s, and update the tables of normal densities.

    A class without weight at the leaf is impossible there: its densities are not used, and not updated before its
    first row (`is_first`).
    moments : float64[S, 5, K, p], in/out, n, mean, m2, low, high; tables : float64[S, 3, K, p], in/out
    whole : float64[6, p], scratch; bounds : float64[S, 3, p], in/out, see `read_column`; x : float64[p], in
    weight : float64[K], in, of the classes at the leaf, with this row
    """
    slot, label = np.uint64(s), np.uint64(c)
    narrow = is_first
    for j in range(np.uint64(len(x))):
        value = x[j]
        if value != value:
            continue
        # as in `moments.add_row`
        before = moments[slot, N, label, j]
        size = before + w
        share, d = w / size, value - moments[slot, MEAN, label, j]
        mean = moments[slot, MEAN, label, j] + d * share
        m2 = moments[slot, M2, label, j] + d * (d * (w * (1.0 - share)))
        moments[slot, N, label, j], moments[slot, MEAN, label, j], moments[slot, M2, label, j] = (
            size,
            mean,
            m2,
        )
        if before == 0.0:
            moments[slot, LOW, label, j] = moments[slot, HIGH, label, j] = value
        elif value < moments[slot, LOW, label, j]:
            moments[slot, LOW, label, j] = value
        elif value > moments[slot, HIGH, label, j]:
            moments[slot, HIGH, label, j] = value
        # As in `normal.read_row`: only the tables of the row's class change, unless a class uses the pooled variance.
        half = 0.5 * size / m2 if size > 1.0 else np.inf
        ceiling, reach = bounds[slot, CEILING, j], bounds[slot, REACH, j]
        if is_beyond(half, value, ceiling, reach, bounds[slot, ORIGIN, j]):
            narrow = True
        else:
            tables[slot, 0, label, j] = 0.5 * (math.log(half) - LOG_PI)
            tables[slot, 1, label, j], tables[slot, 2, label, j] = mean, half
    if narrow:
        read_with_pooled(tables, bounds, moments, whole, s, c, weight)


@inner_kernel
def read_with_pooled(
    tables: Floats, bounds: Floats, moments: Floats, whole: Floats, s: int, c: int, weight: Floats
) -> None:
    """Recompute the tables of slot s after a row of class c, as `normal.read_columns` would for the possible classes.

    The tables were up to date before the row. Classes that use the pooled variance of a column share its logarithm; the
    others keep theirs. Arrays are passed whole and indices are unsigned: a slice costs as much as a column.
    tables : float64[S, 3, K, p], in/out; bounds : float64[S, 3, p], in/out; moments : float64[S, 5, K, p], in
    whole : float64[6, p], scratch; weight : float64[K], in, 0 = impossible
    """
    slot, label = np.uint64(s), np.uint64(c)
    k, p = np.uint64(moments.shape[2]), np.uint64(moments.shape[3])
    for j in range(p):
        whole[TOTAL, j] = whole[MIDDLE, j] = whole[SPREAD, j] = 0.0
    for r in range(k):
        if weight[r] == 0.0:
            continue
        for j in range(p):
            size = moments[slot, N, r, j]
            if size > 0.0:
                d = moments[slot, MEAN, r, j] - whole[MIDDLE, j]
                joint = whole[TOTAL, j] + size
                share = size / joint
                whole[SPREAD, j] += moments[slot, M2, r, j] + d * d * whole[TOTAL, j] * share
                whole[MIDDLE, j] += d * share
                whole[TOTAL, j] = joint
    for j in range(p):
        spread = whole[SPREAD, j] / whole[TOTAL, j] if whole[TOTAL, j] > 0.0 else 0.0
        varies = spread > 0.0
        least = FLOOR * spread + TINY
        lent = spread if spread > least else least
        whole[SPREAD, j] = spread
        whole[LENT_HALF, j] = 0.5 / lent if varies else 0.0
        whole[LENT_PEAK, j] = 0.5 * (math.log(0.5 / lent) - LOG_PI) if varies else 0.0
        whole[NARROWEST, j] = np.inf if varies else 0.0
    for r in range(k):
        if weight[r] == 0.0:
            continue
        for j in range(p):
            size, spread = moments[slot, N, r, j], whole[SPREAD, j]
            var = moments[slot, M2, r, j] / size if size > 0.0 else 0.0
            is_pooled = (size <= 1.0 and var <= VARIES * spread) or var <= FLOOR * spread + TINY
            own = 0.0 if size <= 1.0 or is_pooled else var
            if own < whole[NARROWEST, j]:
                whole[NARROWEST, j] = own
            at = moments[slot, MEAN, r, j] if size > 0.0 else whole[MIDDLE, j]
            tables[slot, 1, r, j] = at if spread > 0.0 else 0.0
            if is_pooled:
                tables[slot, 0, r, j], tables[slot, 2, r, j] = whole[LENT_PEAK, j], whole[LENT_HALF, j]
            # A class that used the pooled variance before, and no longer does, still has it in its table.
            elif r == label or not 0.25 < tables[slot, 2, r, j] * var < 1.0:
                tables[slot, 2, r, j] = 0.5 * size / moments[slot, M2, r, j]
                tables[slot, 0, r, j] = 0.5 * (math.log(tables[slot, 2, r, j]) - LOG_PI)
    for j in range(p):
        bounds[slot, CEILING, j], bounds[slot, REACH, j] = ceiling_and_reach(
            whole[NARROWEST, j], whole[SPREAD, j], FLOOR
        )
        bounds[slot, ORIGIN, j] = whole[MIDDLE, j]


@inner_kernel
def read_slot(
    tables: Floats, bounds: Floats, above: Floats, below: Floats, known: Flags, seen: Index,
    moments: Floats, counts: Floats, present: Floats, declared: Index, offsets: Index, logs: Floats, s: int,
) -> None:  # fmt: skip
    """Recompute everything that is derived from the statistics of slot s: tables, bounds and logarithms.

    Arrays as in `rows_predict_then_update`.
    """
    read_columns(
        tables[s, 0], tables[s, 1], tables[s, 2], bounds[s], moments[s, N], moments[s, MEAN], moments[s, M2],
        0.0, FLOOR, CONSTANT_SHARE,
    )  # fmt: skip
    read_slot_nominal(
        above[s], below[s], known[s], seen[s], counts[s], present[s], declared, offsets, logs
    )  # fmt: skip
