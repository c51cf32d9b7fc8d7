"""Test-then-train on nominal values whose counts are whole numbers: every logarithm is looked up, none is computed.

Rows of weight 1 under Laplace's rule, which is nearly all there is. The bits are those of
`value_counts.table_predict_then_update`, which does what this kernel leaves undone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel, tight_kernel
from bayou.kernels.sums import TILE
from bayou.kernels.value_counts import cell_seen


@inner_kernel
def are_whole(
    counts: Floats, present: Floats, seen: Index, declared: Index, y: Codes, w: Floats, logs: Floats, alpha: float
) -> bool:  # fmt: skip
    """Whether all logarithms that these rows and counts ask for are in the table.

    counts : float64[cells, K], in; present : float64[q, K], in; seen, declared : int64[q], in; y : int32[n], in
    w : float64[n], in; logs : float64[m], in
    """
    for i in range(len(y)):
        if y[i] >= 0 and w[i] != 1.0 and w[i] != 0.0:
            return False
    for cell in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            if counts[cell, c] != np.floor(counts[cell, c]):
                return False
    most = 0.0
    for j in range(present.shape[0]):
        values = alpha * (max(seen[j], declared[j]) + len(counts))
        for c in range(present.shape[1]):
            if present[j, c] != np.floor(present[j, c]):
                return False
            most = max(most, present[j, c] + values)
    return alpha == np.floor(alpha) and most + alpha + len(y) < len(logs)


@tight_kernel
def sum_two_classes(
    sums: Floats,
    above: Floats,
    cells: NDArray[np.uint64],
    below: Floats,
    columns: NDArray[np.uint64],
    first: np.uint64,
    n: np.uint64,
) -> None:
    """sums[e] = sum_j above[cells[j], e] - below[columns[j], e] of two classes from `first` on, as `row_sum` adds.

    sums : float64[m], out; above : float64[cells, m], in; below : float64[q, m], in; cells, columns : uint64[n], in
    """
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    a = b = c = d = 0.0  # four lanes of the first class
    e = f = g = h = 0.0  # and of the second
    second = first + one
    j = np.uint64(0)
    while j < n:
        cell, column = cells[j], columns[j]
        a += above[cell, first] - below[column, first]
        e += above[cell, second] - below[column, second]
        cell, column = cells[j + one], columns[j + one]
        b += above[cell, first] - below[column, first]
        f += above[cell, second] - below[column, second]
        cell, column = cells[j + two], columns[j + two]
        c += above[cell, first] - below[column, first]
        g += above[cell, second] - below[column, second]
        cell, column = cells[j + three], columns[j + three]
        d += above[cell, first] - below[column, first]
        h += above[cell, second] - below[column, second]
        j += four
    sums[first], sums[second] = (a + b) + (c + d), (e + f) + (g + h)


@inner_kernel
def read_totals(
    below: Floats, added: Floats, present: Floats, values: int, logs: Floats, alpha: float, j: int
) -> None:
    """What smoothing adds to the total of a column with so many values, and the logarithms of its totals.

    below : float64[q + 1, m], out; added : float64[q], out; present : float64[q, K], in; logs : float64[l], in
    """
    added[j] = alpha * values
    for c in range(present.shape[1]):
        below[j, c] = logs[int(present[j, c] + added[j])]


@kernel
def whole_predict_then_update(
    counts: Floats,
    present: Floats,
    seen: Index,
    out: Floats,
    declared: Index,
    offsets: Index,
    codes: Codes,
    y: Codes,
    w: Floats,
    logs: Floats,
    alpha: float,
) -> bool:
    """Row by row: add log P(v | c) as it stood before the row, then count the row; False, and nothing, if not whole.

    counts : float64[cells, K], in/out; present : float64[q, K], in/out; seen : int64[q], in/out
    out : float64[n, K], in/out; declared : int64[q], in; offsets : int64[q + 1], in; codes : int32[n, q], in
    y : int32[n], in, or none where nobody learns; w : float64[n], in; logs : float64[m], in, log of integers
    """
    if not are_whole(counts, present, seen, declared, y, w, logs, alpha):
        return False
    q, k = codes.shape[1], out.shape[1]
    wide = k + k % 2
    # The last row of both tables is 0, for cells that say nothing: 0 more leaves the bits of a sum alone.
    above, below = np.zeros((len(counts) + 1, wide)), np.zeros((q + 1, wide))
    known, added, sums = np.empty(len(counts), np.bool_), np.empty(q), np.empty(wide)
    cells, columns = np.empty(TILE, np.uint64), np.empty(TILE, np.uint64)
    silent, nowhere = np.uint64(len(counts)), np.uint64(q)
    for cell in range(len(counts)):
        known[cell] = cell_seen(counts, cell)
        for c in range(k):
            above[cell, c] = logs[int(counts[cell, c] + alpha)]
    for j in range(q):
        read_totals(below, added, present, max(seen[j], declared[j]), logs, alpha, j)
    for i in range(len(codes)):
        learns = i < len(y) and y[i] >= 0 and w[i] != 0.0
        label = np.uint64(y[i] if learns else 0)
        for t in range(0, q, TILE):
            size = np.uint64(TILE if q - t > TILE else q - t)
            for at in range(size):
                column = np.uint64(t) + at
                v = codes[i, column]
                place = np.uint64(offsets[column] + v)
                speaks = v >= 0 and known[place]
                cells[at] = place if speaks else silent
                columns[at] = column if speaks else nowhere
            whole = size
            while whole & np.uint64(3):
                cells[whole], columns[whole] = silent, nowhere
                whole += np.uint64(1)
            e = np.uint64(0)
            while e < np.uint64(wide):
                sum_two_classes(sums, above, cells, below, columns, e, whole)
                e += np.uint64(2)
            for c in range(k):
                out[i, c] += sums[c]
            if not learns:
                continue
            for at in range(size):
                column, place = np.uint64(t) + at, cells[at]
                if place == silent:
                    v = codes[i, column]
                    if v < 0:
                        continue
                    place = np.uint64(offsets[column] + v)
                    known[place] = True
                    seen[column] += 1
                    values = max(seen[column], declared[column])
                    read_totals(below, added, present, values, logs, alpha, column)  # type: ignore[arg-type]
                n, total = counts[place, label] + 1.0, present[column, label] + 1.0
                counts[place, label], present[column, label] = n, total
                above[place, label] = logs[np.uint64(np.int64(n + alpha))]
                below[column, label] = logs[np.uint64(np.int64(total + added[column]))]
    return True
