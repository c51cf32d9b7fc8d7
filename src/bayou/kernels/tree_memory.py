"""Choice of the leaves of a tree that keep statistics (active leaves), where memory does not suffice for all."""

from __future__ import annotations

import numpy as np

from bayou.block import Flags, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.sorting import select
from bayou.kernels.tree import LEAF, OWN, SINCE, SLOT, TEST, read_slot

LOYALTY = 1.25  # an active leaf is replaced only by one with this many times its errors


@inner_kernel
def promise_of(nodes: Index, weight: Floats, leaf: int) -> float:
    """Return the promise of a leaf: its weight outside the majority class, times LOYALTY if it keeps statistics.

    That weight is what the leaf predicts wrong, and what better statistics may get right.

    nodes : int64[m, 8], in; weight : float64[m, K], in
    """
    total, largest = 0.0, 0.0
    for c in range(weight.shape[1]):
        total += weight[leaf, c]
        largest = weight[leaf, c] if weight[leaf, c] > largest else largest
    return LOYALTY * (total - largest) if nodes[leaf, SLOT] > 0 else total - largest


@kernel
def choose_leaves(leaving: Index, coming: Index, nodes: Index, weight: Floats, count: int, most: int) -> None:
    """Choose the `most` leaves that keep statistics: those with the largest promise, the first on ties.

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
def empty_tournament(players: int) -> Floats:
    """Make an empty tournament tree (a heap of minima) for at least so many players: float64[2 m], m a power of two.

    Element m + i is the value of player i, infinite while it does not play; element r < m is the lesser of elements 2 r
    and 2 r + 1.
    """
    m = 1
    while m < players:
        m *= 2
    return np.full(2 * m, np.inf)


@inner_kernel
def enter(tournament: Floats, player: int, value: float) -> None:
    """Set the value of a player and update the minima above it, while they change.

    tournament : float64[2 m], in/out
    """
    at = np.uint64(len(tournament) // 2 + player)
    one = np.uint64(1)
    while at > np.uint64(0) and tournament[at] != value:
        tournament[at] = value
        # at ^ 1 is the sibling of `at`; their parent is at // 2
        value = min(value, tournament[at ^ one])
        at >>= one


@inner_kernel
def least_player(tournament: Floats, last: bool) -> int:
    """Return the player with the least value, the first or the last on ties; -1 if all values are infinite.

    tournament : float64[2 m], in
    """
    m = len(tournament) // 2
    if tournament[1] == np.inf:
        return -1
    at = 1
    while at < m:
        left, right = tournament[2 * at], tournament[2 * at + 1]
        at = 2 * at + (1 if right < left or (last and right == left) else 0)
    return at - m


@inner_kernel
def rank_leaf(active: Floats, dormant: Floats, nodes: Index, weight: Floats, node: int) -> None:
    """Enter the promise of a leaf into `active` if it keeps statistics, else, negated, into `dormant`.

    active, dormant : float64[2 m], in/out, tournaments
    nodes : int64[m, 8], in; weight : float64[m, K], in
    """
    promise = promise_of(nodes, weight, node) if nodes[node, TEST] == LEAF else np.inf
    keeps = nodes[node, SLOT] > 0
    enter(active, node, promise if keeps else np.inf)
    enter(dormant, node, np.inf if keeps or promise == np.inf else -promise)


@inner_kernel
def keep_the_promising(
    track: Floats, moments: Floats, counts: Floats, present: Floats, tables: Floats, bounds: Floats, above: Floats,
    below: Floats, known: Flags, seen: Index, nodes: Index, owner: Index, active: Floats, dormant: Floats,
    declared: Index, offsets: Index, logs: Floats, weight: Floats,
) -> None:  # fmt: skip
    """Give the slots to the leaves with the largest promise, as `choose_leaves` would choose them.

    Few leaves change between two attempts to split, so they are found one by one in the tournaments.
    Arrays as in `rows_predict_then_update`; owner : int64[S], in/out, the leaf of every slot, -1 = none
    active, dormant : float64[2 m], in/out, see `rank_leaf`
    """
    free = 0
    for slot in range(len(owner)):
        free += owner[slot] < 0
    woken, gone = np.empty(len(owner), np.int64), np.empty(len(owner), np.int64)
    n, m = 0, 0
    while n < len(woken):
        # On ties the leaf with the smaller number, which was created first, keeps its slot or gets one.
        leaving, coming = least_player(active, True), least_player(dormant, False)
        if coming < 0:
            break
        if free > 0:
            free -= 1
        else:
            promise = -dormant[1]
            if promise < active[1] or (promise == active[1] and leaving < coming):
                break
            enter(active, leaving, np.inf)
            gone[m] = leaving
            m += 1
            slot = nodes[leaving, SLOT] - 1
            nodes[leaving, SLOT], owner[slot] = 0, -1
            moments[slot], counts[slot], present[slot] = 0.0, 0.0, 0.0
            read_slot(
                tables, bounds, above, below, known, seen, moments, counts, present, declared, offsets, logs, slot
            )  # fmt: skip
        enter(dormant, coming, np.inf)
        # In order of creation, the order in which slots are given out.
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
    """Return the number of leaves without statistics.

    nodes : int64[m, 8], in, `count` of them in use
    """
    found = 0
    for node in range(count):
        found += nodes[node, TEST] == LEAF and nodes[node, SLOT] == 0
    return found


@kernel
def free_slot(nodes: Index, count: int) -> int:
    """Return the first slot that no leaf has.

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
