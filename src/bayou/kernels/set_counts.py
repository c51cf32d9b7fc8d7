"""Counts of given sets of columns, of any size, and predictions of collections of networks from them.

Sets of one and two columns lie where `kernels.joint_counts` has them; larger ones have a table each, `wide`, row-major
over their columns in ascending order. A term is a child and its parents: `members[starts[t]:starts[t + 1]]` are its
columns, ascending, and `base[t]` is where the table of a set of three or more begins.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.sums import row_sum
from bayou.kernels.value_counts import cell_seen, log_or_floor


@kernel
def count_sets(
    wide: Floats,
    starts: Index,
    members: Index,
    base: Index,
    sizes: Index,
    codes: Codes,
    y: Codes,
    w: Floats,
    sign: float,
) -> None:
    """Add (sign 1) or subtract (sign -1) labelled rows with weight in the table of every set they have all values of.

    wide : float64[cells, K], in/out; starts : int64[t + 1], in; members : int64[*], in; base : int64[t], in
    sizes : int64[m], in; codes : int32[n, m], in; y : int32[n], in; w : float64[n], in
    """
    for i in range(len(y)):
        if y[i] < 0 or w[i] == 0.0:
            continue
        for t in range(len(base)):
            cell, there = np.int64(0), True
            for s in range(starts[t], starts[t + 1]):
                j = members[s]
                there = there and codes[i, j] >= 0
                cell = cell * sizes[j] + codes[i, j]
            if there:
                wide[base[t] + cell, y[i]] += sign * w[i]


@inner_kernel
def add_share(
    factor: Floats,
    table: Floats,
    cell: int,
    step: int,
    v: int,
    size: int,
    u: float,
    alpha: float,
    added: float,
) -> None:
    """factor[c] += u (n + alpha) / (sum over the child's values + added); its cells lie `step` apart.

    factor : float64[K], in/out; table : float64[cells, K], in
    """
    for c in range(len(factor)):
        total = 0.0
        at = cell - v * step
        for _ in range(size):
            total += table[at, c]
            at += step
        if total + added > 0.0:
            factor[c] += u * (table[cell, c] + alpha) / (total + added)


@kernel
def add_sets(
    out: Floats,
    singles: Floats,
    pairs: Floats,
    wide: Floats,
    layout: Index,
    sizes: Index,
    width: Index,
    codes: Codes,
    child: Index,
    starts: Index,
    members: Index,
    base: Index,
    u: Floats,
    alpha: float,
    split: int,
) -> None:
    """out[i, c] += sum_j log sum_pa u P(x_j | c, pa), from the counts; terms are sorted by child.

    A term with a missing or never seen value is dropped; a column none of whose terms remains is read with the class
    alone. Columns before `split` are added up first: both parts grow only at their ends, so that a new column,
    whose term is 0, does not change the bits.
    out : float64[n, K], in/out; singles : float64[cells, K], in; pairs : float64[P, K], in
    wide : float64[W, K], in; layout : int64[3, m + 1], in; sizes, width : int64[m], in; codes : int32[n, m], in
    child : int64[t], in; starts : int64[t + 1], in; members : int64[*], in; base : int64[t], in; u : float64[t], in
    """
    m, k = len(sizes), out.shape[1]
    row = np.empty(m, np.int64)
    factor, alone, terms = np.empty(k), np.empty(k), np.zeros((k, m))
    for i in range(out.shape[0]):
        for j in range(m):
            v = codes[i, j]
            row[j] = v if v >= 0 and cell_seen(singles, layout[0, j] + v) else -1
        t = 0
        for j in range(m):
            factor[:] = 0.0
            added = alpha * width[j]
            while t < len(child) and child[t] == j:
                there = row[j] >= 0
                for s in range(starts[t], starts[t + 1]):
                    there = there and row[members[s]] >= 0
                if there:
                    n = starts[t + 1] - starts[t]
                    if n == 1:
                        add_share(
                            factor, singles, layout[0, j] + row[j], 1, row[j], sizes[j], u[t], alpha, added
                        )
                    elif n == 2:
                        lo, hi = members[starts[t]], members[starts[t] + 1]
                        cell = layout[1, hi] + row[hi] * layout[0, hi] + layout[0, lo] + row[lo]
                        step = layout[0, hi] if j == hi else 1
                        add_share(factor, pairs, cell, step, row[j], sizes[j], u[t], alpha, added)
                    else:
                        cell, step = np.int64(0), np.int64(1)
                        for s in range(starts[t], starts[t + 1]):
                            cell = cell * sizes[members[s]] + row[members[s]]
                            step = np.int64(1) if members[s] == j else step * sizes[members[s]]
                        add_share(
                            factor, wide, base[t] + cell, int(step), row[j], sizes[j], u[t], alpha, added
                        )
                t += 1
            said = False
            for c in range(k):
                said = said or factor[c] > 0.0
            if row[j] >= 0 and not said:
                alone[:] = 0.0
                add_share(alone, singles, layout[0, j] + row[j], 1, row[j], sizes[j], 1.0, alpha, added)
                factor[:] = alone
            for c in range(k):
                terms[c, j] = log_or_floor(factor[c]) if row[j] >= 0 else 0.0
        for c in range(k):
            out[i, c] = row_sum(row_sum(out[i, c], terms[c, :split]), terms[c, split:])
