"""Integer labels to class codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.jit import kernel


@kernel
def code_labels(
    codes: NDArray[np.int32], table: NDArray[np.int32], labels: NDArray[np.int64], low: int
) -> bool:
    """codes[i] = table[labels[i] - low]; False as soon as a label lies outside the table or has no code.

    codes : int32[n], out; table : int32[m], in, -1 = no code; labels : int64[n], in
    """
    for i in range(len(labels)):
        at = labels[i] - low
        if at < 0 or at >= len(table) or table[at] < 0:
            return False
        codes[i] = table[at]
    return True
