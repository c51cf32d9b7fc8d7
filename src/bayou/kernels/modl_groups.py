"""Grouping of values without order, under a cost that adds up over the groups.

The cost of I groups is ``prior[I] + sum of group costs``; a group costs what an interval with the same class
counts costs (`bayou.kernels.partition`).
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Flags, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.partition import TOLERANCE, log_factorial


@kernel
def log_groupings(out: Floats) -> None:
    """out[I] = ln B(V, I), the ways to put V = len(out)-1 values into at most I groups. O(V^2).

    B(V, I) sums Stirling's numbers S(V, 1) .. S(V, I); S(n, i) = S(n-1, i-1) + i S(n-1, i), in logarithms.

    out : float64[V+1], out
    """
    values = len(out) - 1
    out[:] = -np.inf
    out[0] = 0.0
    logs = np.zeros(values + 1)
    for i in range(1, values + 1):
        logs[i] = math.log(i)
    for n in range(1, values + 1):
        for i in range(n, 0, -1):
            fresh = out[i - 1]
            old = out[i] + logs[i]
            top = max(fresh, old)
            low = min(fresh, old)
            out[i] = top + math.log1p(math.exp(low - top)) if low > top - 40.0 else top
        out[0] = -np.inf
    for i in range(1, values + 1):
        top = max(out[i - 1], out[i])
        out[i] = top + math.log1p(math.exp(min(out[i - 1], out[i]) - top))


@kernel
def group_cost(table: Floats, a: Floats, b: Floats, sign: float, k: int) -> float:
    """Return the cost of a group with class counts a + sign b. O(K).

    table : float64[t], in
    a : float64[K], in
    b : float64[K], in
    """
    total = k - 1.0
    cost = -table[k - 1]
    for c in range(len(a)):
        count = a[c] + sign * b[c]
        total += count
        cost -= log_factorial(table, count)
    return float(cost + log_factorial(table, total))


@inner_kernel
def _find_partner(
    partner: Index, change: Floats, table: Floats, sums: Floats, own: Floats, alive: Flags, k: int, a: int
) -> None:
    """Find the later group whose merge with group a costs least. O(K q).

    partner : int64[q], in/out
    change : float64[q], in/out
    table : float64[t], in
    sums : float64[q, K], in
    own : float64[q], in
    alive : bool[q], in
    """
    change[a] = np.inf
    for b in range(a + 1, len(own)):
        if alive[b]:
            here = group_cost(table, sums[a], sums[b], 1.0, k) - own[a] - own[b]
            if here < change[a]:
                change[a] = here
                partner[a] = b


@inner_kernel
def merge_groups(into: Index, gone: Index, table: Floats, counts: Floats, prior: Floats, k: int) -> int:
    """Merge the cheapest pair of groups until one is left; return the number of groups of the best state seen.

    For every group its best later partner is stored; about O(K q^2).

    into : int64[q], out; the earlier group that a group was merged into
    gone : int64[q], out; in which step, q if never
    table : float64[t], in
    counts : float64[q, K], in
    prior : float64[q+2], in
    """
    q = len(counts)
    sums = counts.copy()
    zero = np.zeros(counts.shape[1])
    own = np.empty(q)
    alive = np.ones(q, np.bool_)
    partner = np.zeros(q, np.int64)
    change = np.full(q, np.inf)
    into[:] = 0
    gone[:] = q
    total = 0.0
    for a in range(q):
        own[a] = group_cost(table, sums[a], zero, 1.0, k)
        total += own[a]
    for a in range(q):
        _find_partner(partner, change, table, sums, own, alive, k, a)
    best = prior[q] + total
    size = q
    for step in range(q - 1):
        a = int(np.argmin(change))
        b = partner[a]
        total += change[a]
        alive[b] = False
        change[b] = np.inf
        into[b] = a
        gone[b] = step
        own[a] += own[b] + change[a]
        sums[a] += sums[b]
        for other in range(a + 1, q):  # groups after a keep their later partners, unless that was b
            if alive[other] and partner[other] == b:
                _find_partner(partner, change, table, sums, own, alive, k, other)
        for other in range(a):
            if not alive[other]:
                continue
            if partner[other] == a or partner[other] == b:
                _find_partner(partner, change, table, sums, own, alive, k, other)
            else:
                here = group_cost(table, sums[other], sums[a], 1.0, k) - own[other] - own[a]
                if here < change[other]:
                    change[other] = here
                    partner[other] = a
        _find_partner(partner, change, table, sums, own, alive, k, a)
        cost = prior[q - 1 - step] + total
        if cost < best + TOLERANCE:
            best = min(best, cost)
            size = q - 1 - step
    return size


@inner_kernel
def groups_of_size(groups: Index, into: Index, gone: Index, size: int) -> None:
    """Write the group of every value in the state of the merging with `size` groups left. O(q).

    groups : int64[q], out; into : int64[q], in; gone : int64[q], in
    """
    number = 0
    for a in range(len(groups)):  # a group is merged into an earlier one, so heads come first
        if gone[a] >= len(groups) - size:
            groups[a] = number
            number += 1
        else:
            groups[a] = groups[into[a]]


@inner_kernel
def total_cost(groups: Index, table: Floats, counts: Floats, prior: Floats, k: int, size: int) -> float:
    """Return prior[size] plus the cost of every group; groups may have any numbers up to q. O(K q).

    groups : int64[q], in; table : float64[t], in; counts : float64[q, K], in; prior : float64[q+2], in
    """
    sums = np.zeros((len(groups) + 1, counts.shape[1]))
    used = np.zeros(len(groups) + 1, np.bool_)
    zero = np.zeros(counts.shape[1])
    for v in range(len(groups)):
        sums[groups[v]] += counts[v]
        used[groups[v]] = True
    cost = prior[size]
    for g in range(len(used)):
        if used[g]:
            cost += group_cost(table, sums[g], zero, 1.0, k)
    return float(cost)


@inner_kernel
def improve_groups(groups: Index, table: Floats, counts: Floats, prior: Floats, k: int, size: int) -> int:
    """Move values to another or a new group, then merge pairs, while that reduces the cost; return how many are left.

    Moving the only value of a group is a merge; an emptied group keeps its number until the end. O(K q I) a
    round.

    groups : int64[q], in/out
    table : float64[t], in
    counts : float64[q, K], in
    prior : float64[q+2], in
    """
    q = len(counts)
    sums = np.zeros((q + 1, counts.shape[1]))  # one row more than values: some group is always empty
    members = np.zeros(q + 1, np.int64)
    own = np.zeros(q + 1)
    zero = np.zeros(counts.shape[1])
    for v in range(q):
        sums[groups[v]] += counts[v]
        members[groups[v]] += 1
    for g in range(size):
        own[g] = group_cost(table, sums[g], zero, 1.0, k)
    moved = True
    while moved:
        moved = False
        for v in range(q):
            g = groups[v]
            left = group_cost(table, sums[g], counts[v], -1.0, k) if members[g] > 1 else 0.0
            best = -TOLERANCE  # a gain within rounding could be undone in the next round, in an endless loop
            target = g
            empty_tried = members[g] == 1  # one empty group is enough to try, and none for a value alone
            for h in range(q + 1):
                if h == g or (members[h] == 0 and empty_tried):
                    continue
                after = size - (members[g] == 1) + (members[h] == 0)
                change = left + group_cost(table, sums[h], counts[v], 1.0, k) - own[g] - own[h]
                change += prior[after] - prior[size]
                if members[h] == 0:
                    empty_tried = True
                if change < best:
                    best = change
                    target = h
            if target != g:
                size += (members[target] == 0) - (members[g] == 1)
                groups[v] = target
                members[g] -= 1
                members[target] += 1
                sums[target] += counts[v]
                sums[g] -= counts[v]
                if members[g] == 0:
                    sums[g] = (
                        0.0  # subtracting weights leaves rounding errors, which the next value would inherit
                    )
                own[g] = left
                own[target] = group_cost(table, sums[target], zero, 1.0, k)
                moved = True
        for g in range(q + 1):
            for h in range(g + 1, q + 1):
                if members[g] == 0 or members[h] == 0:
                    continue
                joined = group_cost(table, sums[g], sums[h], 1.0, k)
                if joined - own[g] - own[h] + prior[size - 1] - prior[size] < -TOLERANCE:
                    for v in range(q):
                        if groups[v] == h:
                            groups[v] = g
                    sums[g] += sums[h]
                    sums[h] = 0.0
                    members[g] += members[h]
                    members[h] = 0
                    own[g] = joined
                    own[h] = 0.0
                    size -= 1
                    moved = True
    return size


@kernel
def search_groups(groups: Index, table: Floats, counts: Floats, prior: Floats, k: int) -> int:
    """Find groups by merging pairs and moving values; return how many. About O(K q^2).

    Values are moved from the best state of the merging, and from those with one or two groups more or fewer: moves
    alone neither join two groups by halves nor take one apart, so each start ends in an optimum of its own.

    groups : int64[q], out; group number of every value, below q + 1
    table : float64[t], in; counts : float64[q, K], in; prior : float64[q+2], in
    """
    q = len(counts)
    into, gone, here = np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q, np.int64)
    first = merge_groups(into, gone, table, counts, prior, k)
    best = np.inf
    found = first
    for start in (first, first - 1, first + 1, first - 2, first + 2):
        if 1 <= start <= q:
            groups_of_size(here, into, gone, start)
            size = improve_groups(here, table, counts, prior, k, start)
            cost = total_cost(here, table, counts, prior, k, size)
            if cost < best - TOLERANCE:
                best = cost
                found = size
                groups[:] = here
    return found
