"""Counting pairs and triples of values per class, row by row, and moving the cells when columns grow.

Value v of column j is cell o_j + v. The pairs of column j with all columns before it lie together, one row of
o_j cells per value of j; the triples whose last column is l lie together, one row of R_l cells per value of l:

    pair (j, i), i < j          R_j + v_j o_j + o_i + v_i
    triple (l, j, i), i < j < l Q_l + v_l R_l + pair (j, i)

with o, R, Q the running totals of s_j, s_j o_j and s_j R_j. They are the three rows of `layout`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import kernel, tight_kernel
from bayou.kernels.value_counts import cell_seen


@kernel
def fill_layout(layout: Index, sizes: Index) -> None:
    """Write the running totals of cells, pair cells and triple cells.

    layout : int64[3, m + 1], out; sizes : int64[m], in
    """
    layout[:, 0] = 0
    for j in range(len(sizes)):
        layout[0, j + 1] = layout[0, j] + sizes[j]
        layout[1, j + 1] = layout[1, j] + sizes[j] * layout[0, j]
        layout[2, j + 1] = layout[2, j] + sizes[j] * layout[1, j]


@tight_kernel
def count_row(
    classes: Floats,
    singles: Floats,
    present: Floats,
    seen: Index,
    pairs: Floats,
    triples: Floats,
    held: NDArray[np.uint64],
    layout: Index,
    row: Codes,
    c: int,
    step: float,
) -> None:
    """Count one row of class c with weight `step`; a negative step removes it.

    classes : float64[K], in/out; singles : float64[cells, K], in/out; present : float64[m, K], in/out
    seen : int64[m], in/out, values with weight; pairs : float64[P K], in/out; triples : float64[T K], in/out
    held : uint64[2, m], scratch, cells and first pairs of the values so far, times K; layout : int64[3, m + 1], in
    row : int32[m], in
    """
    classes[c] += step
    mine, k, one = (
        np.uint64(c),
        np.uint64(len(classes)),
        np.uint64(1),
    )  # unsigned, since signed indices are tested for their sign
    d = np.uint64(0)
    for j in range(len(row)):
        if row[j] < 0:
            continue
        cell = layout[0, j] + row[j]
        if singles[cell, c] == 0.0 and not cell_seen(singles, cell):
            seen[j] += 1
        singles[cell, c] += step
        present[j, c] += step
        if step < 0.0 and not cell_seen(singles, cell):
            seen[j] -= 1
        base = np.uint64(layout[1, j] + row[j] * layout[0, j]) * k
        for i in range(d):
            pairs[base + mine + held[0, i]] += step
        if len(triples) > 0:
            far = np.uint64(layout[2, j] + row[j] * layout[1, j]) * k + mine
            for b in range(d):
                near = far + held[1, b]
                for a in range(b):
                    triples[near + held[0, a]] += step
        held[0, d] = np.uint64(cell) * k
        held[1, d] = base
        d += one


@kernel
def count_rows(
    classes: Floats,
    singles: Floats,
    present: Floats,
    seen: Index,
    pairs: Floats,
    triples: Floats,
    layout: Index,
    codes: Codes,
    y: Codes,
    w: Floats,
    sign: float,
) -> None:
    """Add (sign 1) or subtract (sign -1) the labelled rows with weight. O(n m^2), or O(n m^3) with triples.

    classes : float64[K], in/out; singles : float64[cells, K], in/out; present : float64[m, K], in/out
    seen : int64[m], in/out; pairs : float64[P, K], in/out; triples : float64[T, K], in/out, empty for none
    layout : int64[3, m + 1], in; codes : int32[n, m], in; y : int32[n], in; w : float64[n], in
    """
    held = np.empty((2, codes.shape[1]), dtype=np.uint64)
    two, three = pairs.reshape(-1), triples.reshape(-1)
    for i in range(len(y)):
        if y[i] >= 0 and w[i] > 0.0:
            count_row(classes, singles, present, seen, two, three, held, layout, codes[i], y[i], sign * w[i])


@kernel
def pair_cell(layout: Index, j: int, a: int, i: int, b: int) -> int:
    """Place of the pair of cell a of column j and cell b of column i, whichever comes first.

    layout : int64[3, m + 1], in
    """
    if j > i:
        return int(layout[1, j] + (a - layout[0, j]) * layout[0, j] + b)
    return int(layout[1, i] + (b - layout[0, i]) * layout[0, i] + a)


@kernel
def triple_cell(layout: Index, k: int, a: int, j: int, b: int, i: int, c: int) -> int:
    """Place of the triple of cell a of column k, b of j and c of i, in any order of columns.

    layout : int64[3, m + 1], in
    """
    if k > j and k > i:
        return int(layout[2, k] + (a - layout[0, k]) * layout[1, k] + pair_cell(layout, j, b, i, c))
    if j > i:
        return int(layout[2, j] + (b - layout[0, j]) * layout[1, j] + pair_cell(layout, k, a, i, c))
    return int(layout[2, i] + (c - layout[0, i]) * layout[1, i] + pair_cell(layout, k, a, j, b))


@kernel
def move_pairs(
    new: Floats, old: Floats, new_layout: Index, old_layout: Index, columns: Index, cells: Index
) -> None:
    """Add the pairs to another layout: column j becomes columns[j], cell a becomes cells[a]; equal ones are summed.

    new : float64[P', K], in/out; old : float64[P, K], in; new_layout : int64[3, m' + 1], in
    old_layout : int64[3, m + 1], in; columns : int64[m], in; cells : int64[old cells], in
    """
    for j in range(len(columns)):
        for a in range(old_layout[0, j], old_layout[0, j + 1]):
            base = old_layout[1, j] + (a - old_layout[0, j]) * old_layout[0, j]
            for i in range(j):
                for b in range(old_layout[0, i], old_layout[0, i + 1]):
                    to = pair_cell(new_layout, columns[j], cells[a], columns[i], cells[b])
                    for c in range(old.shape[1]):
                        new[to, c] += old[base + b, c]


@kernel
def move_triples(
    new: Floats, old: Floats, new_layout: Index, old_layout: Index, columns: Index, cells: Index
) -> None:
    """Add the triples to another layout: column j becomes columns[j], cell a becomes cells[a]; equal ones are summed.

    new : float64[T', K], in/out; old : float64[T, K], in; new_layout : int64[3, m' + 1], in
    old_layout : int64[3, m + 1], in; columns : int64[m], in; cells : int64[old cells], in
    """
    o = old_layout[0]
    for k in range(len(columns)):
        for a in range(o[k], o[k + 1]):
            far = old_layout[2, k] + (a - o[k]) * old_layout[1, k]
            for j in range(k):
                for b in range(o[j], o[j + 1]):
                    near = far + old_layout[1, j] + (b - o[j]) * o[j]
                    for i in range(j):
                        for e in range(o[i], o[i + 1]):
                            to = triple_cell(
                                new_layout, columns[k], cells[a], columns[j], cells[b], columns[i], cells[e]
                            )
                            for c in range(old.shape[1]):
                                new[to, c] += old[near + e, c]


@kernel
def place_on_grid(codes: Codes, numeric: Floats, cuts: Floats, frozen: Index, first: int) -> None:
    """Write the cell numbers of numeric values: the number of cuts below; -1 where missing, or where there are no cuts.

    codes : int32[n, m], out, columns from `first` on; numeric : float64[n, p], in
    cuts : float64[p, B - 1], in, increasing; frozen : int64[p], in, 0 where there are no cuts yet
    """
    for i in range(numeric.shape[0]):
        for j in range(numeric.shape[1]):
            x = numeric[i, j]
            cell = -1
            if frozen[j] > 0 and not np.isnan(x):
                cell = 0
                for t in range(cuts.shape[1]):
                    if x > cuts[j, t]:
                        cell += 1
            codes[i, first + j] = cell
