"""Rows through the trees of a forest of counts: what a row meets on its ways down, and what that says of its class.

Every node holds class weights of the rows that passed it. Down a path, each node's shares are drawn towards those of
the node above, by as much as `c` rows would: p_l = (N_l + c p_{l-1}) / (N_l + c); two concentrations are read at once.
Trees are taken one after the other over all rows, so that the nodes of one stay in the cache, and what they say is
added up in groups of fixed size: the bits depend neither on the cut of the rows nor on the number of threads.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Bytes, Codes, Floats, Index
from bayou.kernels.class_counts import prior_size
from bayou.kernels.forest_growth import bootstrap_weight, goes_left
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.poisson import mix

SHARP, SMOOTH = 0.1, 2.0  # the two concentrations
READINGS = 2
GROUP = 4  # trees whose readings are added up before they meet those of others
MISSING_CELL = 0  # of a numeric column
NO_PLACE = 63  # of a nominal one: no value, or one without a place of its own


@kernel
def place_numeric(cells: Bytes, numeric: Floats, cuts: Floats, used: Index) -> None:
    """Cells of the numeric columns: 0 where missing, else 1 + the number of cuts below the value.

    cells : uint8[n, d], out; numeric : float64[n, p], in; cuts : float64[p, m], in, rising; used : int64[p], in
    """
    for j in range(numeric.shape[1]):
        top = used[j]
        for i in range(numeric.shape[0]):
            x = numeric[i, j]
            if x != x:
                cells[i, j] = MISSING_CELL
                continue
            low, high = 0, top
            while low < high:
                middle = (low + high) >> 1
                if cuts[j, middle] < x:
                    low = middle + 1
                else:
                    high = middle
            cells[i, j] = low + 1


@kernel
def place_nominal(cells: Bytes, codes: Codes, places: Bytes, offsets: Index, p: int) -> None:
    """Places of the values of the nominal columns, which stand behind the p numeric ones.

    cells : uint8[n, d], out; codes : int32[n, q], in; places : uint8[values], in; offsets : int64[q + 1], in
    """
    for j in range(codes.shape[1]):
        known = offsets[j + 1] - offsets[j]
        for i in range(codes.shape[0]):
            code = codes[i, j]
            cells[i, p + j] = places[offsets[j] + code] if 0 <= code < known else NO_PLACE


@inner_kernel
def begin(root: Floats, off: float, label: int, declared: int, sharp: Floats, smooth: Floats) -> None:
    """Class shares at a root, (N_k + 1 / J) / (N + 1) over the J classes that are known; the others have none.

    root : float64[K], in; `off` of the weight of `label` is left out; sharp, smooth : float64[K], out
    """
    size, total = prior_size(root, declared), 0.0
    for c in range(len(root)):
        total += root[c]
    total -= off
    for c in range(len(root)):
        mine = root[c] - off if c == label else root[c]
        known = root[c] > 0.0 or declared > 0
        sharp[c] = (mine + 1.0 / size) / (total + 1.0) if known else 0.0
        smooth[c] = sharp[c]


@inner_kernel
def go_on(node: Floats, off: float, label: int, sharp: Floats, smooth: Floats) -> bool:
    """Class shares one node further down; False where no row has passed it.

    node : float64[K], in; sharp, smooth : float64[K], in/out
    """
    total = 0.0
    for c in range(len(node)):
        total += node[c]
    total -= off
    if total <= 0.0:
        return False
    keen, mild = 1.0 / (total + SHARP), 1.0 / (total + SMOOTH)
    for c in range(len(node)):
        mine = node[c] - off if c == label else node[c]
        sharp[c] = (mine + SHARP * sharp[c]) * keen
        smooth[c] = (mine + SMOOTH * smooth[c]) * mild
    return True


@kernel
def read_and_count(
    counts: Floats, attribute: Codes, threshold: Index, left: Codes, roots: Index, trees: Index,
    cells: Bytes, p: int, y: Codes, w: Floats, declared: int, sign: float, sums: Floats,
) -> None:  # fmt: skip
    """Tree by tree and row by row: add what the tree says of the row, then count the row on its way.

    counts : float64[nodes, K], in/out; attribute, left : int32[nodes], in; threshold : int64[nodes], in
    roots : int64[T], in; trees : int64[2], in, the first and behind the last; cells : uint8[n, d], in
    y : int32[n], in; w : float64[n], in; sign : 0 to read only; sums : float64[groups, n, 2, K], in/out, or without
    rows to count only
    """
    k = counts.shape[1]
    sharp, smooth = np.empty(k), np.empty(k)
    reads = sums.shape[1] > 0
    for t in range(trees[0], trees[1]):
        g = t // GROUP
        for i in range(len(y)):
            adds = sign * w[i] if y[i] >= 0 else 0.0
            v = roots[t]
            if reads:
                begin(counts[v], 0.0, -1, declared, sharp, smooth)
            going = reads
            while True:
                if adds != 0.0:
                    counts[v, y[i]] += adds
                j = attribute[v]
                if j < 0:
                    break
                v = left[v] if goes_left(cells[i, j], j, p, threshold[v]) else left[v] + 1
                if going:
                    going = go_on(counts[v], 0.0, -1, sharp, smooth)
                elif adds == 0.0:
                    break
            if reads:
                for c in range(k):
                    sums[g, i, 0, c] += sharp[c]
                    sums[g, i, 1, c] += smooth[c]


@kernel
def read_out_of_bag(
    counts: Floats, attribute: Codes, threshold: Index, left: Codes, roots: Index,
    cells: Bytes, p: int, y: Codes, w: Floats, hashes: Index, seed: int, declared: int, sums: Floats, voters: Index,
) -> None:  # fmt: skip
    """What the trees that were grown without a row say of it, with the row itself taken off the counts on its way.

    cells : uint8[n, d], in; hashes : int64[n], in; sums : float64[n, 2, K], in/out; voters : int64[n], out
    """
    k = counts.shape[1]
    sharp, smooth = np.empty(k), np.empty(k)
    for t in range(len(roots)):
        base = mix(mix(np.uint64(seed)) ^ np.uint64(t))
        for i in range(len(y)):
            if bootstrap_weight(base, np.uint64(hashes[i]), w[i]) > 0.0:
                continue
            off = min(1.0, w[i])
            v = roots[t]
            begin(counts[v], off, y[i], declared, sharp, smooth)
            while attribute[v] >= 0:
                j = attribute[v]
                v = left[v] if goes_left(cells[i, j], j, p, threshold[v]) else left[v] + 1
                if not go_on(counts[v], off, y[i], sharp, smooth):
                    break
            voters[i] += 1
            for c in range(k):
                sums[i, 0, c] += sharp[c]
                sums[i, 1, c] += smooth[c]


@kernel
def mean_of_trees(sums: Floats, trees: int, out: Floats) -> None:
    """out[i, r, c] = the groups' sums added up in order, over the number of trees.

    sums : float64[groups, n, 2, K], in; out : float64[n, 2, K], out
    """
    for i in range(out.shape[0]):
        for r in range(out.shape[1]):
            for c in range(out.shape[2]):
                total = 0.0
                for g in range(sums.shape[0]):
                    total += sums[g, i, r, c]
                out[i, r, c] = total / trees
