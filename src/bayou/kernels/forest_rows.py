"""Passing rows through the trees of a forest of counts, to predict their class probabilities and to count them.

Every node holds the class weights of the rows that passed it. Down a path, each node's class shares are smoothed
towards those of its parent, as `c` additional rows would do: p_l = (N_l + c p_{l-1}) / (N_l + c); this is computed for
two concentrations c at once. Trees are processed one after the other over all rows, so that the nodes of a tree stay
in the cache, and their predictions are added up in groups of fixed size: the bits depend neither on the blocks of rows
nor on the number of threads.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Bytes, Codes, Floats, Index
from bayou.kernels.class_counts import prior_size
from bayou.kernels.forest_growth import bootstrap_weight
from bayou.kernels.jit import inner_kernel, kernel, tight_kernel
from bayou.kernels.poisson import mix

SHARP, SMOOTH = 0.1, 2.0  # the two concentrations
READINGS = 2
NOTHING = 1e-18  # a summand so small is lost beside 1
GROUP = 4  # trees whose predictions are added up first, before the groups are
MISSING_CELL = 0  # of a numeric column
NO_PLACE = 63  # of a nominal one: no value, or one without a place of its own


@tight_kernel
def beyond(row: Floats, low: np.uint64, step: int, x: float) -> np.uint64:
    """One step of a binary search without branches: `low`, plus `step` where that many more cuts lie below a value.

    row : float64[256], in
    """
    return low + np.uint64(step) * np.uint64(row[low + np.uint64(step - 1)] < x)


@kernel
def place_numeric(cells: Bytes, numeric: Floats, cuts: Floats) -> None:
    """Write the cells of the numeric columns: 0 where missing, else 1 + the number of cuts below the value.

    cells : uint8[n, d], out; numeric : float64[n, p], in; cuts : float64[p, 256], in, rising, infinite behind the last
    """
    for j in range(numeric.shape[1]):
        row = cuts[j]
        for i in range(numeric.shape[0]):
            x = numeric[i, j]
            low = beyond(row, np.uint64(0), 128, x)
            low = beyond(row, low, 64, x)
            low = beyond(row, low, 32, x)
            low = beyond(row, low, 16, x)
            low = beyond(row, low, 8, x)
            low = beyond(row, low, 4, x)
            low = beyond(row, low, 2, x)
            low = beyond(row, low, 1, x)
            cells[i, j] = low + np.uint64(1) if x == x else np.uint64(MISSING_CELL)


@kernel
def place_nominal(cells: Bytes, codes: Codes, places: Bytes, offsets: Index, p: int) -> None:
    """Write the places of the values of the nominal columns, which follow the p numeric ones.

    cells : uint8[n, d], out; codes : int32[n, q], in; places : uint8[values], in; offsets : int64[q + 1], in
    """
    for j in range(codes.shape[1]):
        known = offsets[j + 1] - offsets[j]
        for i in range(codes.shape[0]):
            code = codes[i, j]
            cells[i, p + j] = places[offsets[j] + code] if 0 <= code < known else NO_PLACE


@kernel
def pack(packed: Index, parent: Codes, attribute: Codes, threshold: Index, left: Codes, p: int) -> None:
    """Pack left child, column and last cell that goes left of every node into one integer; write the parent of each.

    The integer of a node that splits a nominal column, one behind the p numeric ones, is negative. A leaf is its own
    left child and sends all cells there, so that a row that has reached it stays.

    packed : int64[nodes], out; parent : int32[nodes], out, -1 of a root
    attribute, left : int32[nodes], in; threshold : int64[nodes], in
    """
    for v in range(len(packed)):
        parent[v] = -1
    for v in range(len(packed)):
        j = np.int64(attribute[v])
        if j < 0:
            packed[v] = (np.int64(v) << 24) | 0xFF
            continue
        packed[v] = (np.int64(left[v]) << 24) | (j << 8) | (threshold[v] & 0xFF)
        if j >= p:
            packed[v] |= np.int64(-1) << 63
        parent[left[v]] = v
        parent[left[v] + 1] = v


@tight_kernel
def step(v: int, i: int, packed: Index, threshold: Index, cells: Bytes) -> int:
    """The child of node v that row i goes to; v itself if it is a leaf.

    packed, threshold : int64[nodes], in; cells : uint8[n, d], in
    """
    word = packed[v]
    cell = np.int64(cells[i, (word >> 8) & 0xFFFF])
    right = np.int64(cell > (word & 0xFF)) if word >= 0 else 1 - ((threshold[v] >> cell) & 1)
    return int(((word >> 24) & 0x7FFFFFFF) + right)


@inner_kernel
def find_leaves(leaves: Index, root: int, packed: Index, threshold: Index, cells: Bytes) -> None:
    """Find the leaf of every row in one tree.

    Six rows descend side by side, since each waits for memory at every step. All six go on until the last has reached a
    leaf: a test for each of them would be a branch that processors often mispredict.

    leaves : int64[n], out; packed, threshold : int64[nodes], in; cells : uint8[n, d], in
    """
    n = len(leaves)
    if cells.shape[1] == 0:
        leaves[:] = root
        return
    for first in range(0, n, 6):
        i, j, k = first, min(first + 1, n - 1), min(first + 2, n - 1)
        m, o, q = min(first + 3, n - 1), min(first + 4, n - 1), min(first + 5, n - 1)
        a = b = c = d = e = f = root
        going = True
        while going:
            was = a + b + c + d + e + f
            a = step(a, i, packed, threshold, cells)
            b = step(b, j, packed, threshold, cells)
            c = step(c, k, packed, threshold, cells)
            d = step(d, m, packed, threshold, cells)
            e = step(e, o, packed, threshold, cells)
            f = step(f, q, packed, threshold, cells)
            going = a + b + c + d + e + f != was
        leaves[i], leaves[j], leaves[k], leaves[m], leaves[o], leaves[q] = a, b, c, d, e, f


@inner_kernel
def read_root(
    node: Floats, off: float, label: int, declared: int, sharp: float, smooth: float, out: Floats
) -> None:
    """Add the smoothed class shares of a root, (N_k + 1 / J) / (N + 1) over the J known classes, times two factors.

    The factors `sharp` and `smooth` are the weights that the nodes below leave to the root, one per concentration.

    node : float64[K], in; out : float64[2, K], in/out
    """
    size, total = prior_size(node, declared), 0.0
    for c in range(len(node)):
        total += node[c]
    scale = 1.0 / (total - off + 1.0)
    for c in range(len(node)):
        if node[c] > 0.0 or declared > 0:
            mine = (node[c] - off if c == label else node[c]) + 1.0 / size
            out[0, c] += sharp * mine * scale
            out[1, c] += smooth * mine * scale


@inner_kernel
def read_up(
    leaf: int, parent: Codes, counts: Floats, off: float, label: int, declared: int, out: Floats
) -> None:
    """Compute the smoothed class shares at a leaf with both concentrations, from the leaf up to the root.

    With f_l = c / (N_l + c), p_L = N_L / (N_L + c) + f_L (N_{L-1} / (N_{L-1} + c) + f_{L-1} ( ... p_0)); where the
    product of the factors has become negligible, the nodes further up are left out. `off` is subtracted from the weight
    of class `label`.

    parent : int32[nodes], in; counts : float64[nodes, K], in; out : float64[2, K], out
    """
    k = counts.shape[1]
    for c in range(k):
        out[0, c] = out[1, c] = 0.0
    sharp, smooth = 1.0, 1.0
    v = leaf
    while parent[v] >= 0:
        node = counts[v]
        total = 0.0
        for c in range(k):
            total += node[c]
        total -= off
        if total > 0.0:
            both = 1.0 / ((total + SHARP) * (total + SMOOTH))
            keen, mild = sharp * both * (total + SMOOTH), smooth * both * (total + SHARP)
            for c in range(k):
                mine = node[c] - off if c == label else node[c]
                out[0, c] += keen * mine
                out[1, c] += mild * mine
            sharp, smooth = keen * SHARP, mild * SMOOTH
            if smooth < NOTHING:
                return
        v = parent[v]
    read_root(counts[v], off, label, declared, sharp, smooth, out)


@inner_kernel
def read_up_two(leaf: int, parent: Codes, counts: Floats, declared: int, out: Floats) -> None:
    """Compute what `read_up` does, for two classes and `off` = 0, on scalars instead of arrays: faster, the same bits.

    parent : int32[nodes], in; counts : float64[nodes, 2], in; out : float64[2, 2], out
    """
    sharp, smooth, s0, s1, m0, m1 = 1.0, 1.0, 0.0, 0.0, 0.0, 0.0
    v, up = np.int64(leaf), np.int64(parent[leaf])
    while up >= 0 and smooth >= NOTHING:
        one, two = counts[v, 0], counts[v, 1]
        total = one + two
        if total > 0.0:
            both = 1.0 / ((total + SHARP) * (total + SMOOTH))
            keen, mild = sharp * both * (total + SMOOTH), smooth * both * (total + SHARP)
            s0 += keen * one
            s1 += keen * two
            m0 += mild * one
            m1 += mild * two
            sharp, smooth = keen * SHARP, mild * SMOOTH
        v, up = up, np.int64(parent[up])
    out[0, 0], out[0, 1], out[1, 0], out[1, 1] = s0, s1, m0, m1
    if smooth >= NOTHING:
        read_root(counts[v], 0.0, -1, declared, sharp, smooth, out)


@inner_kernel
def read_leaf(leaf: int, parent: Codes, counts: Floats, declared: int, out: Floats) -> None:
    """Compute the smoothed class shares at a leaf from all rows that were counted.

    parent : int32[nodes], in; counts : float64[nodes, K], in; out : float64[2, K], out
    """
    if counts.shape[1] == 2:
        read_up_two(leaf, parent, counts, declared, out)
    else:
        read_up(leaf, parent, counts, 0.0, -1, declared, out)


@kernel
def count_rows(
    counts: Floats, packed: Index, parent: Codes, threshold: Index, roots: Index, trees: Index,
    cells: Bytes, y: Codes, w: Floats, sign: float, least: int,
) -> None:  # fmt: skip
    """Count the labelled rows at every node on their paths whose number is `least` or more: all nodes, or new ones.

    counts : float64[nodes, K], in/out; packed, threshold : int64[nodes], in; parent : int32[nodes], in
    roots : int64[T], in; trees : int64[2], in, the first and behind the last; cells : uint8[n, d], in
    y : int32[n], in; w : float64[n], in
    """
    leaves = np.empty(len(y), dtype=np.int64)
    for t in range(trees[0], trees[1]):
        find_leaves(leaves, roots[t], packed, threshold, cells)
        for i in range(len(y)):
            if y[i] >= 0:
                v, label, weight = leaves[i], y[i], sign * w[i]
                while v >= least:
                    counts[v, label] += weight
                    v = np.int64(parent[v])


@kernel
def learn_rows(
    counts: Floats, packed: Index, parent: Codes, threshold: Index, roots: Index, trees: Index,
    cells: Bytes, y: Codes, w: Floats, declared: int, sums: Floats,
) -> None:  # fmt: skip
    """Tree by tree and row by row: add the class shares that the tree predicts for the row, then count the row.

    For two classes the computation of `read_up` is inlined, on scalars instead of arrays: ten times as fast, same bits.
    counts : float64[nodes, K], in/out; packed, threshold : int64[nodes], in; parent : int32[nodes], in
    roots : int64[T], in; trees : int64[2], in, the first and behind the last; cells : uint8[n, d], in
    y : int32[n], in; w : float64[n], in; sums : float64[groups, n, 2, K], in/out
    """
    n, k = len(y), counts.shape[1]
    leaves = np.empty(n, dtype=np.int64)
    said = np.empty((READINGS, k))
    for t in range(trees[0], trees[1]):
        find_leaves(leaves, roots[t], packed, threshold, cells)
        into = sums[t // GROUP]
        for i in range(n):
            v, label = leaves[i], y[i]
            weight = w[i] if label >= 0 else 0.0
            if k == 2:
                up = np.int64(parent[v])
                for_one, for_two = (weight, 0.0) if label == 0 else (0.0, weight)
                sharp, smooth, s0, s1, m0, m1 = 1.0, 1.0, 0.0, 0.0, 0.0, 0.0
                while up >= 0 and smooth >= NOTHING:
                    one, two = counts[v, 0], counts[v, 1]
                    counts[v, 0], counts[v, 1] = one + for_one, two + for_two
                    total = one + two
                    if total > 0.0:
                        both = 1.0 / ((total + SHARP) * (total + SMOOTH))
                        keen, mild = sharp * both * (total + SMOOTH), smooth * both * (total + SHARP)
                        s0 += keen * one
                        s1 += keen * two
                        m0 += mild * one
                        m1 += mild * two
                        sharp, smooth = keen * SHARP, mild * SMOOTH
                    v, up = up, np.int64(parent[up])
                said[0, 0], said[0, 1], said[1, 0], said[1, 1] = s0, s1, m0, m1
                if smooth >= NOTHING:
                    read_root(counts[v], 0.0, -1, declared, sharp, smooth, said)
            else:
                read_up(v, parent, counts, 0.0, -1, declared, said)
            while v >= 0 and weight != 0.0:
                counts[v, label] += weight
                v = np.int64(parent[v])
            for c in range(k):
                into[i, 0, c] += said[0, c]
                into[i, 1, c] += said[1, c]


@kernel
def read_rows(
    counts: Floats, packed: Index, parent: Codes, threshold: Index, roots: Index, trees: Index,
    cells: Bytes, declared: int, table: Floats, sums: Floats,
) -> None:  # fmt: skip
    """Tree by tree and row by row: add the class shares that the tree predicts for the row.

    counts : float64[nodes, K], in; packed, threshold : int64[nodes], in; parent : int32[nodes], in
    roots : int64[T], in; trees : int64[2], in, the first and behind the last; cells : uint8[n, d], in
    table : float64[nodes, 2, K], in, what `read_leaves` found, or without nodes
    sums : float64[groups, n, 2, K], in/out
    """
    n, k = len(cells), counts.shape[1]
    leaves = np.empty(n, dtype=np.int64)
    said = np.empty((READINGS, k))
    known = table.shape[0] > 0
    for t in range(trees[0], trees[1]):
        find_leaves(leaves, roots[t], packed, threshold, cells)
        into = sums[t // GROUP]
        for i in range(n):
            v = leaves[i]
            if known:
                for c in range(k):
                    into[i, 0, c] += table[v, 0, c]
                    into[i, 1, c] += table[v, 1, c]
                continue
            read_leaf(v, parent, counts, declared, said)
            for c in range(k):
                into[i, 0, c] += said[0, c]
                into[i, 1, c] += said[1, c]


@kernel
def read_row(
    counts: Floats, packed: Index, parent: Codes, threshold: Index, roots: Index, cuts: Floats, places: Bytes,
    offsets: Index, numeric: Floats, codes: Codes, declared: int, out: Floats,
) -> None:  # fmt: skip
    """Write the trees' mean prediction for a single row: `read_rows` and `mean_of_trees` in one call, bit for bit.

    The row descends the trees of a group side by side, since each descent waits for memory at every step.

    counts : float64[nodes, K], in; packed, threshold : int64[nodes], in; parent : int32[nodes], in
    roots : int64[T], in; cuts : float64[p, 256], in; places : uint8[values], in; offsets : int64[q + 1], in
    numeric : float64[1, p], in; codes : int32[1, q], in; out : float64[1, 2, K], out
    """
    p, k, last = numeric.shape[1], counts.shape[1], len(roots) - 1
    cells = np.empty((1, p + codes.shape[1]), dtype=np.uint8)
    place_numeric(cells, numeric, cuts)
    place_nominal(cells, codes, places, offsets, p)
    said, group = np.empty((READINGS, k)), np.empty((READINGS, k))
    leaves = np.empty(GROUP, dtype=np.int64)
    out[:] = 0.0
    for first in range(0, len(roots), GROUP):
        a, b = roots[first], roots[min(first + 1, last)]
        c, d = roots[min(first + 2, last)], roots[min(first + 3, last)]
        going = cells.shape[1] > 0
        while going:
            was = a + b + c + d
            a = step(a, 0, packed, threshold, cells)
            b = step(b, 0, packed, threshold, cells)
            c = step(c, 0, packed, threshold, cells)
            d = step(d, 0, packed, threshold, cells)
            going = a + b + c + d != was
        leaves[0], leaves[1], leaves[2], leaves[3] = a, b, c, d
        group[:] = 0.0
        for t in range(first, min(first + GROUP, len(roots))):
            read_leaf(leaves[t - first], parent, counts, declared, said)
            for r in range(READINGS):
                for label in range(k):
                    group[r, label] += said[r, label]
        for r in range(READINGS):
            for label in range(k):
                out[0, r, label] += group[r, label]
    for r in range(READINGS):
        for label in range(k):
            out[0, r, label] /= len(roots)


@kernel
def read_leaves(
    counts: Floats, parent: Codes, attribute: Codes, lo: int, hi: int, declared: int, out: Floats
) -> None:
    """Write the smoothed class shares of every leaf among the nodes lo to hi - 1; other nodes are left as they are.

    counts : float64[nodes, K], in; parent, attribute : int32[nodes], in; out : float64[nodes, 2, K], out
    """
    for v in range(lo, hi):
        if attribute[v] < 0:
            read_leaf(v, parent, counts, declared, out[v])


@kernel
def read_out_of_bag(
    counts: Floats, packed: Index, parent: Codes, threshold: Index, roots: Index,
    cells: Bytes, y: Codes, w: Floats, hashes: Index, seed: int, declared: int, sums: Floats, voters: Index,
) -> None:  # fmt: skip
    """Add up the out-of-bag predictions for every row: of the trees grown without it, with its own counts subtracted.

    counts : float64[nodes, K], in; packed, threshold : int64[nodes], in; parent : int32[nodes], in
    roots : int64[T], in; cells : uint8[n, d], in; y : int32[n], in; w : float64[n], in; hashes : int64[n], in
    sums : float64[n, 2, K], in/out; voters : int64[n], in/out
    """
    n, k = len(y), counts.shape[1]
    leaves = np.empty(n, dtype=np.int64)
    said = np.empty((READINGS, k))
    for t in range(len(roots)):
        base = mix(mix(np.uint64(seed)) ^ np.uint64(t))
        find_leaves(leaves, roots[t], packed, threshold, cells)
        for i in range(n):
            if bootstrap_weight(base, np.uint64(hashes[i]), w[i]) > 0.0:
                continue
            read_up(leaves[i], parent, counts, min(1.0, w[i]), y[i], declared, said)
            voters[i] += 1
            for c in range(k):
                sums[i, 0, c] += said[0, c]
                sums[i, 1, c] += said[1, c]


@kernel
def mean_of_trees(sums: Floats, trees: int, out: Floats) -> None:
    """Write the mean over the trees: out[i, r, c] = sum of the groups' sums, in order, over the number of trees.

    sums : float64[groups, n, 2, K], in; out : float64[n, 2, K], out
    """
    for i in range(out.shape[0]):
        for r in range(out.shape[1]):
            for c in range(out.shape[2]):
                total = 0.0
                for g in range(sums.shape[0]):
                    total += sums[g, i, r, c]
                out[i, r, c] = total / trees
