"""Which leaves of a tree keep statistics, where not all of them can."""

from __future__ import annotations

import numpy as np

from bayou.block import Flags, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.sorting import select
from bayou.kernels.tree import LEAF, OWN, SINCE, SLOT, TEST, read_slot

LOYALTY = 1.25  # an active leaf gives way only to one that promises this much more


@inner_kernel
def promise_of(nodes: Index, weight: Floats, leaf: int) -> float:
    """The weight outside the majority class of a leaf, which better statistics may get right.

    nodes : int64[m, 8], in; weight : float64[m, K], in
    """
    total, largest = 0.0, 0.0
    for c in range(weight.shape[1]):
        total += weight[leaf, c]
        largest = weight[leaf, c] if weight[leaf, c] > largest else largest
    return LOYALTY * (total - largest) if nodes[leaf, SLOT] > 0 else total - largest


@kernel
def choose_leaves(leaving: Index, coming: Index, nodes: Index, weight: Floats, count: int, most: int) -> None:
    """The `most` leaves with the most weight outside their majority class keep statistics; of equal ones, the first.

    leaving, coming : int64[m + 1], out, how many, then active leaves that are not among them, and others that are
    nodes : int64[m, 8], in, `count` of them in use; weight : float64[m, K], in
    """
    leaves, promise = np.empty(count, np.int64), np.empty(count)
    n = 0
    for node in range(count):
        if nodes[node, TEST] == LEAF:
            leaves[n] = node
            promise[n] = promise_of(nodes, weight, node)
            n += 1
    least, ties = -np.inf, n
    if most < n:
        least = select(promise[:n].copy(), n - most)
        ties = most
        for i in range(n):
            ties -= promise[i] > least
    leaving[0] = coming[0] = 0
    for i in range(n):
        keep = promise[i] > least
        if promise[i] == least and ties > 0:
            keep = True
            ties -= 1
        active = nodes[leaves[i], SLOT] > 0
        if active and not keep:
            leaving[0] += 1
            leaving[leaving[0]] = leaves[i]
        elif keep and not active:
            coming[0] += 1
            coming[coming[0]] = leaves[i]


@inner_kernel
def rank_leaf(active: Floats, dormant: Floats, nodes: Index, weight: Floats, node: int) -> None:
    """Note what a node promises, if it is a leaf: with statistics in `active`, else in `dormant`.

    active : float64[m], in/out, infinite for all others; dormant : float64[m], in/out, minus infinite for all others
    nodes : int64[m, 8], in; weight : float64[m, K], in
    """
    active[node], dormant[node] = np.inf, -np.inf
    if nodes[node, TEST] == LEAF:
        if nodes[node, SLOT] > 0:
            active[node] = promise_of(nodes, weight, node)
        else:
            dormant[node] = promise_of(nodes, weight, node)


@inner_kernel
def next_exchange(active: Floats, dormant: Floats) -> tuple[int, int]:
    """The active leaf that promises least, of equal ones the last, and the dormant one that promises most, the first.

    active, dormant : float64[m], in; -1 where there is none
    """
    least, most = np.inf, -np.inf
    leaving, coming = -1, -1
    for node in range(len(active)):
        if active[node] <= least and active[node] < np.inf:
            least, leaving = active[node], node
        if dormant[node] > most:
            most, coming = dormant[node], node
    return leaving, coming


@inner_kernel
def keep_the_promising(
    track: Floats, moments: Floats, counts: Floats, present: Floats, tables: Floats, bounds: Floats, above: Floats,
    below: Floats, known: Flags, seen: Index, nodes: Index, owner: Index, active: Floats, dormant: Floats,
    declared: Index, offsets: Index, logs: Floats, weight: Floats, count: int,
) -> None:  # fmt: skip
    """Let the leaves that promise most have the slots, as many as there are: the choice of `choose_leaves`.

    Few leaves change places between two looks, so that these are sought one by one.
    Arrays as in `rows_predict_then_update`; owner : int64[S], in/out, the leaf of every slot, -1 = none
    active, dormant : float64[m], in/out, see `rank_leaf`
    """
    free = 0
    for slot in range(len(owner)):
        free += owner[slot] < 0
    woken, gone = np.empty(len(owner), np.int64), np.empty(len(owner), np.int64)
    n, m = 0, 0
    while n < len(woken):
        leaving, coming = next_exchange(active[:count], dormant[:count])
        if coming < 0:
            break
        if free > 0:
            free -= 1
        else:
            first = coming < leaving
            if dormant[coming] < active[leaving] or (dormant[coming] == active[leaving] and not first):
                break
            active[leaving] = np.inf
            gone[m] = leaving
            m += 1
            slot = nodes[leaving, SLOT] - 1
            nodes[leaving, SLOT], owner[slot] = 0, -1
            moments[slot], counts[slot], present[slot] = 0.0, 0.0, 0.0
            read_slot(
                tables, bounds, above, below, known, seen, moments, counts, present, declared, offsets, logs, slot
            )  # fmt: skip
        dormant[coming] = -np.inf
        # In order of birth: slots are given out in that order
        at = n
        while at > 0 and woken[at - 1] > coming:
            woken[at] = woken[at - 1]
            at -= 1
        woken[at] = coming
        n += 1
    slot = 0
    for r in range(n):
        leaf = woken[r]
        while owner[slot] >= 0:
            slot += 1
        nodes[leaf, SLOT], owner[slot] = slot + 1, leaf
        track[leaf, SINCE] = track[leaf, OWN] = 0.0
        rank_leaf(active, dormant, nodes, weight, leaf)
    for r in range(m):
        rank_leaf(active, dormant, nodes, weight, gone[r])


@kernel
def dormant_leaves(nodes: Index, count: int) -> int:
    """How many leaves keep no statistics.

    nodes : int64[m, 8], in, `count` of them in use
    """
    found = 0
    for node in range(count):
        found += nodes[node, TEST] == LEAF and nodes[node, SLOT] == 0
    return found


@kernel
def free_slot(nodes: Index, count: int) -> int:
    """The first slot that no leaf has.

    nodes : int64[m, 8], in, `count` of them in use
    """
    taken = np.zeros(count + 1, np.bool_)
    for node in range(count):
        if 0 < nodes[node, SLOT] <= count:
            taken[nodes[node, SLOT] - 1] = True
    slot = 0
    while taken[slot]:
        slot += 1
    return slot
