"""Growing the trees of a forest of counts further: hashes of rows, and splits of leaves by a sample of the rows."""

from __future__ import annotations

import numpy as np

from bayou.block import Bytes, Codes, Floats, Index
from bayou.kernels.forest_growth import LEAF, bootstrap_weight, split_nodes
from bayou.kernels.forest_rows import MISSING_CELL, NO_PLACE, find_leaves
from bayou.kernels.jit import kernel
from bayou.kernels.poisson import mix


@kernel
def hash_cells(hashes: Index, cells: Bytes, y: Codes, columns: Index, classes: Index, p: int) -> None:
    """Write a hash of every labelled row, which depends only on its cells, the keys of their columns, and its class.

    Missing values add nothing to the hash, so that a column that appears later leaves the hashes of earlier rows as
    they were.
    hashes : int64[n], out; cells : uint8[n, d], in, the first p columns numeric; y : int32[n], in
    columns : int64[d], in; classes : int64[K], in
    """
    for i in range(len(y)):
        if y[i] < 0:
            hashes[i] = 0
            continue
        z = np.uint64(classes[y[i]])
        for j in range(cells.shape[1]):
            cell = cells[i, j]
            if cell != (MISSING_CELL if j < p else NO_PLACE):
                z += mix(np.uint64(columns[j]) + np.uint64(cell))
        hashes[i] = np.int64(mix(z))


@kernel
def extend_tree(
    attribute: Codes, threshold: Index, left: Codes, ids: Index, packed: Index, masks: Index, roots: Index, tree: int,
    all_cells: Bytes, cells: Bytes, p: int, y: Codes, w: Floats, hashes: Index, k: int, seed: int, free: int,
) -> int:  # fmt: skip
    """Split the leaves of one tree by the rows of its bootstrap sample that reach them; return how many were tried.

    At most `free` nodes are added. Entries 0 to L - 1 of the output are the L leaves that were tried, later entries are
    new nodes; `left` holds indices into the output.
    attribute, left : int32[room], out, attribute filled with -2, which stays behind the last node
    threshold : int64[room], out; ids : int64[n], out, the nodes of the L leaves
    packed, masks : int64[nodes], in, the trees so far; roots : int64[T], in; all_cells : uint8[n, D], in, as these test
    cells : uint8[n, d], in, columns that may be split by, the first p numeric; y : int32[n], in; w : float64[n], in
    hashes : int64[n], in
    """
    n, room = len(y), np.int64(len(attribute))
    base = mix(mix(np.uint64(seed)) ^ np.uint64(tree))
    leaves, drawn = np.empty(n, dtype=np.int64), np.empty(n)
    find_leaves(leaves, roots[tree], packed, masks, all_cells)
    behind = np.zeros(len(packed) + 1, dtype=np.int64)  # end of each node's rows, once in place
    for i in range(n):
        drawn[i] = bootstrap_weight(base, np.uint64(hashes[i]), w[i])
        if drawn[i] > 0.0:
            behind[leaves[i] + 1] += 1
    for v in range(len(packed)):
        behind[v + 1] += behind[v]
    rows = np.empty(n, dtype=np.int64)
    for i in range(n):
        if drawn[i] > 0.0:
            rows[behind[leaves[i]]] = i
            behind[leaves[i]] += 1
    first, last = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    tried, begin = np.int64(0), np.int64(0)
    for v in range(len(packed)):
        if behind[v] - begin >= 2 and tried < room:
            ids[tried], attribute[tried], first[tried], last[tried] = v, LEAF, begin, behind[v]
            tried += 1
        begin = behind[v]
    gains = np.zeros(cells.shape[1])
    salt = mix(base ^ np.uint64(len(packed)))
    split_nodes(
        attribute,
        threshold,
        left,
        first,
        last,
        int(tried),
        int(min(room, tried + free)),
        rows,
        gains,
        cells,
        p,
        y,
        drawn,
        k,
        salt,
    )
    return int(tried)
