"""Error bounds of lists of quantile tuples, and cells whose class counts are reliable.

See `bayou.kernels.quantile_tuples` for what a tuple is.
"""

from __future__ import annotations

from bayou.block import Floats, Index
from bayou.kernels.jit import kernel
from bayou.kernels.tuple_budget import HEAD


@kernel
def uncertainty(tuples: Floats, starts: Index, sizes: Index, out: Floats) -> None:
    """out[j] = max u / N: how far the weight of the tuples up to a point can be off, relative to N. O(p m).

    tuples : float64[m, 4 + K], in
    starts : int64[p + 1], in
    sizes : int64[p], in
    out : float64[p], out
    """
    for j in range(len(sizes)):
        total = 0.0
        worst = 0.0
        for q in range(starts[j], starts[j] + sizes[j]):
            row = tuples[q]
            total += row[1]
            worst = max(worst, row[1] + row[2] - row[3])
        out[j] = worst / total if total > 0.0 else 0.0


@kernel
def join_uncertain(
    upper: Floats, counts: Floats, offsets: Index, rows: Floats, starts: Index, sizes: Index, times: float
) -> None:
    """Join tuples into cells, each at least as heavy as the uncertainty at its ends, pure ones `times` that. O(K m).

    At the value of a tuple, D of the weight of later tuples may lie below it: a cell that is not much heavier may be
    pure only because rows of other classes are counted elsewhere. Where every D is 0, each tuple is a cell.

    upper : float64[m], out; counts : float64[m, K], out; offsets : int64[p + 1], out, of the cells
    rows : float64[room, 4 + K], in; starts : int64[p + 1], in; sizes : int64[p], in
    """
    at = 0
    offsets[0] = 0
    for j in range(len(sizes)):
        first = at
        weight, left = 0.0, 0.0
        open_cell = False
        for i in range(starts[j], starts[j] + sizes[j]):
            row = rows[i]
            if not open_cell:
                for c in range(counts.shape[1]):
                    counts[at, c] = 0.0
                weight, open_cell = 0.0, True
            for c in range(counts.shape[1]):
                counts[at, c] += row[HEAD + c]
            weight += row[1]
            upper[at] = row[0]
            classes = 0
            for c in range(counts.shape[1]):
                if counts[at, c] > 0.0:
                    classes += 1
            if weight >= (times if classes < 2 else 1.0) * max(left, row[2]):
                left = row[2]
                at += 1
                open_cell = False
        if open_cell and at > first:  # too little is left for a cell of its own
            for c in range(counts.shape[1]):
                counts[at - 1, c] += counts[at, c]
            upper[at - 1] = upper[at]
        elif open_cell:
            at += 1
        offsets[j + 1] = at
