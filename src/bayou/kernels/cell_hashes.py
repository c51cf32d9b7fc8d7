"""Hashes of the numbers of a column, added up over the cells of each row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Floats, Index
from bayou.kernels.jit import kernel
from bayou.kernels.poisson import mix


@kernel
def add_number_hashes(total: NDArray[np.uint64], values: Floats, bits: Index, name: int) -> None:
    """total[i] += a hash of the column's name and the value of row i; a missing value adds nothing.

    total : uint64[n], in/out; values : float64[n], in, read-only
    bits : int64[n], in, read-only, the same memory taken for integers
    """
    for i in range(len(total)):
        x = values[i]
        if x == x:
            held = np.uint64(0) if x == 0.0 else np.uint64(bits[i])  # -0 is 0
            total[i] += mix((mix(held) | np.uint64(1)) ^ np.uint64(name))
