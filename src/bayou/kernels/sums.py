"""Sums over columns in one fixed order, on every path and thread count.

A row's terms are added in tiles of 64 columns; inside a tile, four lanes (column modulo 4) run side by
side and are combined as (0 + 1) + (2 + 3). Appending a column whose term is 0 leaves the bits alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import kernel

TILE = 64


@kernel
def tile_sum(terms: NDArray[np.float64]) -> float:
    """Sum of one tile, at most 64 terms.

    terms : float64[m], in
    """
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    m = len(terms)
    whole = m - m % 4
    for j in range(0, whole, 4):
        a += terms[j]
        b += terms[j + 1]
        c += terms[j + 2]
        d += terms[j + 3]
    if whole < m:
        a += terms[whole]
    if whole + 1 < m:
        b += terms[whole + 1]
    if whole + 2 < m:
        c += terms[whole + 2]
    return (a + b) + (c + d)
