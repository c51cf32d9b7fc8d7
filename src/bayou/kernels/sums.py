"""Sums over columns in one fixed order, on every path and thread count.

A row's terms are added in tiles of 64 columns; inside a tile, four lanes (column modulo 4) run side by
side and are combined as (0 + 1) + (2 + 3). Appending a column whose term is 0 does not change the bits.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Floats
from bayou.kernels.jit import inner_kernel

TILE = 64


@inner_kernel
def row_sum(total: float, terms: Floats) -> float:
    """Return `total` plus the sums of all tiles of a row, added one after the other.

    Indices are unsigned: signed ones cost a test for negative indices at every access.
    terms : float64[m], in
    """
    m = np.uint64(len(terms))
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    begin = np.uint64(0)
    while begin < m:
        end = begin + np.uint64(TILE) if begin + np.uint64(TILE) < m else m
        whole = end - ((end - begin) & three)
        a = 0.0
        b = 0.0
        c = 0.0
        d = 0.0
        j = begin
        while j < whole:
            a += terms[j]
            b += terms[j + one]
            c += terms[j + two]
            d += terms[j + three]
            j += four
        if whole < end:
            a += terms[whole]
        if whole + one < end:
            b += terms[whole + one]
        if whole + two < end:
            c += terms[whole + two]
        total += (a + b) + (c + d)
        begin = end
    return total
