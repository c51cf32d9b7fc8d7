"""Base of output codes: a row per class, a column per binary classifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayou.recipe import Recipe

Signs = NDArray[np.int8]


@dataclass(frozen=True)
class Code(Recipe):
    """A rule that gives k classes their rows: +1, -1, or 0 where a column leaves the class out.

    Row r belongs to the r-th class in canonical order. The rule does not depend on the data, so two models that have
    seen the same classes use the same code.
    """

    def rows(self, k: int) -> Signs:
        """int8[k, n], one row per class; n may exceed the number of bits chosen where k classes need more."""
        raise NotImplementedError

    def min_distance(self, k: int) -> float:
        """The least distance d between two rows; up to (d - 1) / 2 wrong bits can be corrected."""
        pair_distances = distances(self.rows(k))
        return float(pair_distances.min()) if len(pair_distances) else 0.0


def distances(matrix: Signs) -> NDArray[np.float64]:
    """Hamming distances of all pairs of rows, (0, 1), (0, 2), ...; a 0 is half a bit away from +1 and -1.

    >>> distances(np.array([[1, 1, 0], [1, -1, 0], [-1, -1, 1]], dtype=np.int8)).tolist()
    [1.0, 2.5, 1.5]
    """
    rows = matrix.astype(np.float64)
    a, b = np.triu_indices(len(rows), 1)
    return np.array([np.abs(rows[i] - rows[j]).sum() / 2 for i, j in zip(a, b, strict=True)])
