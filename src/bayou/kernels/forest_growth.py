"""Growing the trees of a forest of counts: bootstrap by hash, splits by Gini's gain, one random level below.

Rows come as one byte per cell: numeric columns first (0 = missing, then cells in order), then nominal ones
(places 0 to 63). Every draw is a hash of seed, tree, and row or node, so that the same rows give the same trees.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Bytes, Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.poisson import UNIT, mix

FEW = 24  # up to so many rows sorting is faster than a histogram of all cells
MASK_BITS = 64
CELLS = 256
LEAF = -1
SHARE = 0.9  # of the random splits, chosen in proportion to the columns' gains; the rest are uniform


@inner_kernel
def uniform(z: np.uint64) -> float:
    """A number in [0, 1) from 64 bits of a hash."""
    return float(z >> np.uint64(11)) * UNIT


@inner_kernel
def bootstrap_weight(base: np.uint64, row: np.uint64, weight: float) -> float:
    """The bootstrap weight of a row: a Poisson draw with mean 1, or with its weight as the mean where that is larger.

    A row of weight 3 is thus drawn as three rows would be; for a row of weight below 1 the draw is multiplied by the
    weight.
    """
    mean = max(1.0, weight)
    u = uniform(mix(base ^ row))
    if mean > 500.0:
        return weight  # the standard deviation would be less than a twentieth of it
    p = math.exp(-mean)
    total, k = p, 0
    while u >= total and k < 2000:
        k += 1
        p *= mean / k
        total += p
    return weight * k / mean


@kernel
def hash_rows(hashes: Index, numeric: Floats, codes: Codes, y: Codes) -> None:
    """Write a hash of every row, which depends only on its values and its label; -0.0 and 0.0 count as equal.

    hashes : int64[n], out; numeric : float64[n, p], in; codes : int32[n, q], in; y : int32[n], in
    """
    bits = np.empty(1)
    view = bits.view(np.uint64)
    for i in range(len(y)):
        z = mix(np.uint64(y[i]))
        for j in range(numeric.shape[1]):
            x = numeric[i, j]
            bits[0] = x + 0.0
            z = mix(z ^ (view[0] if x == x else np.uint64(1)))
        for j in range(codes.shape[1]):
            z = mix(z ^ np.uint64(codes[i, j] + 1))
        hashes[i] = np.int64(z)


@kernel
def grow_tree(
    attribute: Codes,
    threshold: Index,
    left: Codes,
    cells: Bytes,
    p: int,
    y: Codes,
    w: Floats,
    hashes: Index,
    k: int,
    seed: int,
    tree: int,
    extra: int,
) -> int:
    """Grow one tree on a bootstrap sample, with `extra` levels of hashed splits below; return the number of nodes.

    attribute : int32[room], out, the column tested, -1 at a leaf; threshold : int64[room], out, the last cell that
    goes left, or the places that do as bits; left : int32[room], out, the left child, the right one is next to it
    cells : uint8[n, d], in, the first p columns numeric; y : int32[n], in; w : float64[n], in; hashes : int64[n], in
    """
    n, d = cells.shape
    base = mix(mix(np.uint64(seed)) ^ np.uint64(tree))
    room = len(attribute) >> extra  # leaves room for the random levels below
    rows, drawn = np.empty(n, dtype=np.int64), np.empty(n)
    m = 0
    for i in range(n):
        drawn[i] = bootstrap_weight(base, np.uint64(hashes[i]), w[i])
        if drawn[i] > 0.0:
            rows[m] = i
            m += 1
    first, last = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    gains = np.zeros(d)
    attribute[0], first[0], last[0] = LEAF, 0, m
    count = split_nodes(
        attribute,
        threshold,
        left,
        first,
        last,
        int(np.int64(1)),
        room,
        rows,
        gains,
        cells,
        p,
        y,
        drawn,
        k,
        base,
    )
    for level in range(extra):
        count = hashed_level(attribute, threshold, left, count, cells, p, gains, base ^ np.uint64(level + 7))
    return count


@inner_kernel
def split_nodes(
    attribute: Codes, threshold: Index, left: Codes, first: Index, last: Index, count: int, room: int,
    rows: Index, gains: Floats, cells: Bytes, p: int, y: Codes, drawn: Floats, k: int, base: np.uint64,
) -> int:  # fmt: skip
    """Split the nodes, and then their children, until the leaves are pure; return the number of nodes.

    attribute, left : int32[room], in/out; threshold : int64[room], in/out
    first, last : int64[room], in/out, where in `rows` each node's begin and end; rows : int64[n], in/out
    gains : float64[d], in/out, what each column has gained; cells : uint8[n, d], in; y : int32[n], in
    drawn : float64[n], in, the weights of the rows
    """
    d = cells.shape[1]
    order = np.arange(d)
    histogram = np.zeros((CELLS, k))
    whole, here, there = np.empty(k), np.empty(k), np.empty(k)
    found = np.empty(2)
    columns = math.ceil(math.sqrt(d))
    at = 0
    while at < count:
        a, b = first[at], last[at]
        if b - a >= 2 and count + 2 <= room and impure(y, rows, a, b):
            node = mix(base + np.uint64(at + 1))
            weigh(whole, y, drawn, rows, a, b)
            best, best_gain, best_threshold, tried = -1, -1.0, np.int64(0), 0
            for draw in range(d):
                if tried >= columns:
                    break
                z = mix(node ^ np.uint64(draw))
                pick = draw + int(z % np.uint64(d - draw))
                order[draw], order[pick] = order[pick], order[draw]
                j = order[draw]
                if not varies(cells, rows, a, b, j):
                    continue
                tried += 1
                if j < p:
                    cut = best_cut(cells, y, drawn, rows, a, b, j, whole, here, there, histogram, found)
                else:
                    cut = best_group(cells, y, drawn, rows, a, b, j, whole, here, there, histogram, z, found)
                if found[0] > best_gain:
                    best, best_gain, best_threshold = j, found[0], cut
            if best >= 0:
                middle = divide(cells, rows, a, b, best, p, best_threshold)
                if a < middle < b:
                    gains[best] += max(0.0, best_gain)
                    attribute[at], threshold[at], left[at] = best, best_threshold, count
                    attribute[count], first[count], last[count] = LEAF, a, middle
                    attribute[count + 1], first[count + 1], last[count + 1] = LEAF, middle, b
                    count += 2
        at += 1
    return count


@inner_kernel
def impure(y: Codes, rows: Index, a: int, b: int) -> bool:
    """Whether the rows have more than one class.

    y : int32[n], in; rows : int64[n], in
    """
    for r in range(a + 1, b):
        if y[rows[r]] != y[rows[a]]:
            return True
    return False


@inner_kernel
def varies(cells: Bytes, rows: Index, a: int, b: int, j: int) -> bool:
    """Whether the rows have more than one cell in a column.

    cells : uint8[n, d], in; rows : int64[n], in
    """
    for r in range(a + 1, b):
        if cells[rows[r], j] != cells[rows[a], j]:
            return True
    return False


@inner_kernel
def weigh(whole: Floats, y: Codes, drawn: Floats, rows: Index, a: int, b: int) -> None:
    """Add up the weights of the rows of each class.

    whole : float64[K], out; y : int32[n], in; drawn : float64[n], in; rows : int64[n], in
    """
    whole[:] = 0.0
    for r in range(a, b):
        whole[y[rows[r]]] += drawn[rows[r]]


@inner_kernel
def purity(weights: Floats) -> float:
    """Sum of the squared class weights over their sum, which Gini's gain adds up over the two sides of a split.

    weights : float64[K], in
    """
    total, squares = 0.0, 0.0
    for c in range(len(weights)):
        total += weights[c]
        squares += weights[c] * weights[c]
    return squares / total if total > 0.0 else 0.0


@inner_kernel
def best_cut(
    cells: Bytes, y: Codes, drawn: Floats, rows: Index, a: int, b: int, j: int,
    whole: Floats, here: Floats, there: Floats, histogram: Floats, found: Floats,
) -> np.int64:  # fmt: skip
    """The cut of a numeric column with the largest gain, half-way between two occupied cells; found[0] is the gain.

    cells : uint8[n, d], in; y : int32[n], in; drawn : float64[n], in; rows : int64[n], in/out
    whole : float64[K], in; here, there : float64[K], scratch; histogram : float64[256, K], scratch
    found : float64[2], out
    """
    k = len(whole)
    before = purity(whole)
    here[:] = 0.0
    there[:] = whole
    best, cut = -1.0, np.int64(-1)
    if b - a <= FEW:
        for r in range(a + 1, b):  # insertion sort: the rows of a node may be in any order
            row = rows[r]
            s = r
            while s > a and cells[rows[s - 1], j] > cells[row, j]:
                rows[s] = rows[s - 1]
                s -= 1
            rows[s] = row
        for r in range(a, b - 1):
            c = y[rows[r]]
            here[c] += drawn[rows[r]]
            there[c] -= drawn[rows[r]]
            now, after = cells[rows[r], j], cells[rows[r + 1], j]
            if after != now:
                gain = purity(here) + purity(there) - before
                if gain > best:
                    best, cut = gain, (np.int64(now) + np.int64(after)) // 2
        found[0] = best
        return cut
    low, high = CELLS, 0
    for r in range(a, b):
        cell = cells[rows[r], j]
        low, high = min(low, cell), max(high, cell)
    for cell in range(low, high + 1):
        for c in range(k):
            histogram[cell, c] = 0.0
    for r in range(a, b):
        histogram[cells[rows[r], j], y[rows[r]]] += drawn[rows[r]]
    now = -1
    for cell in range(low, high + 1):
        total = 0.0
        for c in range(k):
            total += histogram[cell, c]
        if total == 0.0:
            continue
        if now >= 0:
            gain = purity(here) + purity(there) - before
            if gain > best:
                best, cut = gain, np.int64((now + cell) // 2)
        for c in range(k):
            here[c] += histogram[cell, c]
            there[c] -= histogram[cell, c]
        now = cell
    found[0] = best
    return cut


@inner_kernel
def best_group(
    cells: Bytes, y: Codes, drawn: Floats, rows: Index, a: int, b: int, j: int,
    whole: Floats, here: Floats, there: Floats, histogram: Floats, z: np.uint64, found: Floats,
) -> np.int64:  # fmt: skip
    """The places (values) of a nominal column that go left, as bits, with the largest gain, which goes to found[0].

    Places are sorted by their share of one class, which is drawn by a hash, and cut in two. Places that no row has go
    left or right by a bit of a hash.

    cells : uint8[n, d], in; y : int32[n], in; drawn : float64[n], in; rows : int64[n], in/out
    whole : float64[K], in; here, there : float64[K], scratch; histogram : float64[256, K], scratch
    found : float64[2], out
    """
    k = len(whole)
    before = purity(whole)
    chosen = y[rows[a + int(mix(z) % np.uint64(b - a))]]
    for place in range(MASK_BITS):
        for c in range(k):
            histogram[place, c] = 0.0
    for r in range(a, b):
        histogram[cells[rows[r], j], y[rows[r]]] += drawn[rows[r]]
    order, share = np.empty(MASK_BITS, dtype=np.int64), np.empty(MASK_BITS)
    taken, occupied = 0, np.uint64(0)
    for place in range(MASK_BITS):
        total = 0.0
        for c in range(k):
            total += histogram[place, c]
        if total == 0.0:
            continue
        occupied |= np.uint64(1) << np.uint64(place)
        mine = histogram[place, chosen] / total
        s = taken
        while s > 0 and share[s - 1] > mine:
            share[s], order[s] = share[s - 1], order[s - 1]
            s -= 1
        share[s], order[s] = mine, place
        taken += 1
    here[:] = 0.0
    there[:] = whole
    best, mask, going = -1.0, np.uint64(0), np.uint64(0)
    for s in range(taken - 1):
        going |= np.uint64(1) << np.uint64(order[s])
        for c in range(k):
            here[c] += histogram[order[s], c]
            there[c] -= histogram[order[s], c]
        gain = purity(here) + purity(there) - before
        if gain > best:
            best, mask = gain, going
    found[0] = best
    return np.int64(mask | (mix(mix(z) + np.uint64(1)) & ~occupied))


@inner_kernel
def goes_left(cell: int, j: int, p: int, threshold: np.int64) -> bool:
    """Whether a cell of column j takes the left branch."""
    if j < p:
        return bool(cell <= threshold)
    return bool((np.uint64(threshold) >> np.uint64(cell)) & np.uint64(1) != np.uint64(0))


@inner_kernel
def divide(cells: Bytes, rows: Index, a: int, b: int, j: int, p: int, threshold: np.int64) -> int:
    """Move the rows that go left to the front; return where the others begin.

    cells : uint8[n, d], in; rows : int64[n], in/out
    """
    i, e = a, b - 1
    while i <= e:
        if goes_left(cells[rows[i], j], j, p, threshold):
            i += 1
        else:
            rows[i], rows[e] = rows[e], rows[i]
            e -= 1
    return i


@inner_kernel
def hashed_level(
    attribute: Codes, threshold: Index, left: Codes, count: int,
    cells: Bytes, p: int, gains: Floats, base: np.uint64,
) -> int:  # fmt: skip
    """Split every leaf by a hash: draw the column by its share of the gain, the cut uniformly within the leaf.

    Each value of a nominal column goes left or right by a bit of the hash. Returns the number of nodes.

    attribute, left : int32[room], in/out; threshold : int64[room], in/out; cells : uint8[n, d], in
    gains : float64[d], in
    """
    d = cells.shape[1]
    total = 0.0
    for j in range(d):
        total += gains[j]
    parent = np.full(count, -1, dtype=np.int64)
    for v in range(count):
        if attribute[v] >= 0:
            parent[left[v]] = v
            parent[left[v] + 1] = v
    top = np.zeros(d, dtype=np.int64)
    for i in range(cells.shape[0]):
        for j in range(p):
            top[j] = max(top[j], cells[i, j])
    leaves = count
    for v in range(leaves):
        if attribute[v] >= 0 or count + 2 > len(attribute):
            continue
        node = mix(base + np.uint64(v))
        j = 0
        u = uniform(node)
        for j in range(d):
            u -= SHARE * gains[j] / total + (1.0 - SHARE) / d if total > 0.0 else 1.0 / d
            if u < 0.0:
                break
        z = mix(node)
        if j < p:
            low, high = np.int64(0), top[j]  # cells of the column that lead here
            child = v
            while parent[child] >= 0:
                above = parent[child]
                if attribute[above] == j:
                    if child == left[above]:
                        high = min(high, threshold[above])
                    else:
                        low = max(low, threshold[above] + 1)
                child = above
            if high <= low:
                continue
            threshold[v] = low + np.int64(z % np.uint64(high - low))
        else:
            threshold[v] = np.int64(z)
        attribute[v], left[v] = j, count
        attribute[count] = attribute[count + 1] = LEAF
        count += 2
    return count
