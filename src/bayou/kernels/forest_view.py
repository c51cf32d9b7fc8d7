"""Class probabilities by a forest of counts for a row in which only one cell is known."""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.forest_rows import READINGS, SHARP, SMOOTH, read_root
from bayou.kernels.jit import kernel


@kernel
def column_view(
    counts: Floats, attribute: Codes, threshold: Index, left: Codes, roots: Index, column: int, p: int, cell: int,
    declared: int, out: Floats,
) -> None:  # fmt: skip
    """out[c] = the mean over trees and concentrations of P(c), where splits by other columns send the row both ways.

    The row is divided between both children in proportion to the rows counted in each. Nodes have higher numbers than
    their parents, so that one pass over all nodes visits every parent before its children.
    counts : float64[nodes, K], in; attribute, left : int32[nodes], in; threshold : int64[nodes], in
    roots : int64[T], in; column : numeric ones, of which there are p, count first; out : float64[K], out
    """
    nodes, k = counts.shape
    share = np.zeros(nodes)
    said = np.zeros((nodes, READINGS, k))
    out[:] = 0.0
    for root in roots:
        share[root] = 1.0 / len(roots)
        read_root(counts[root], 0.0, -1, declared, 1.0, 1.0, said[root])
    for v in range(nodes):
        if share[v] == 0.0:
            continue
        if attribute[v] < 0:
            for c in range(k):
                out[c] += share[v] * (said[v, 0, c] + said[v, 1, c]) / READINGS
            continue
        below, totals = np.int64(left[v]), np.zeros(2)
        for way in range(2):
            for c in range(k):
                totals[way] += counts[below + way, c]
        both = totals[0] + totals[1]
        for way in range(2):
            child = below + way
            if attribute[v] == column:
                if column < p:
                    goes = (1 if cell > threshold[v] else 0) == way
                else:
                    goes = (1 if (threshold[v] >> cell) & 1 == 0 else 0) == way
                share[child] = share[v] if goes else 0.0
            else:
                share[child] = share[v] * (totals[way] / both if both > 0.0 else 0.5)
            for reading in range(READINGS):
                strength = SHARP if reading == 0 else SMOOTH
                for c in range(k):
                    said[child, reading, c] = (
                        (counts[child, c] + strength * said[v, reading, c]) / (totals[way] + strength)
                        if totals[way] > 0.0
                        else said[v, reading, c]
                    )
