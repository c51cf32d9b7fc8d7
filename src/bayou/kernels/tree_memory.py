"""Which leaves of a tree keep statistics, where not all of them can."""

from __future__ import annotations

import numpy as np

from bayou.block import Floats, Index
from bayou.kernels.jit import kernel
from bayou.kernels.sorting import select
from bayou.kernels.tree import LEAF, SLOT, TEST

LOYALTY = 1.25  # an active leaf gives way only to one that promises this much more


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
            total, largest = 0.0, 0.0
            for c in range(weight.shape[1]):
                total += weight[node, c]
                largest = weight[node, c] if weight[node, c] > largest else largest
            gain = total - largest
            leaves[n] = node
            promise[n] = LOYALTY * gain if nodes[node, SLOT] > 0 else gain
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
