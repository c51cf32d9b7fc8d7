"""The columns of a code that are worth a classifier of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayou.codes.code import Signs


@dataclass(frozen=True)
class Columns:
    """Distinct columns of a code, and how often each occurs.

    signs : int8[m, k]; weight : float64[m]
    """

    signs: Signs
    weight: NDArray[np.float64]

    def ternary(self, possible: NDArray[np.bool_]) -> bool:
        """Whether some column leaves out a possible class."""
        return bool((self.signs[:, possible] == 0).any())

    def spread(self, possible: NDArray[np.bool_]) -> float:
        """Mean distance between the rows of two possible classes."""
        signs = self.signs[:, possible]
        plus, minus = (signs > 0).sum(axis=1), (signs < 0).sum(axis=1)
        k: int = signs.shape[1]
        separated_pairs = plus * minus + (plus + minus) * (k - plus - minus) / 2
        return float(np.dot(self.weight, separated_pairs)) / (0.5 * k * (k - 1))


def useful_columns(matrix: Signs, possible: NDArray[np.bool_]) -> Columns:
    """Columns with a possible class on each side; a column and its complement are one classifier.

    matrix : int8[k, n]; possible : bool[k]. Each column starts with +1; they keep the order of the code.

    >>> code = np.array([[1, -1, 1, 1], [-1, 1, 1, 1], [-1, 1, -1, 1]], dtype=np.int8)
    >>> columns = useful_columns(code, np.array([True, True, True]))
    >>> columns.signs.tolist(), columns.weight.tolist()
    ([[1, -1, -1], [1, 1, -1]], [2.0, 1.0])
    """
    signs = (matrix * possible[:, None]).T.astype(np.int8)
    signs = signs[(signs > 0).any(axis=1) & (signs < 0).any(axis=1)]
    if not len(signs):
        return Columns(np.zeros((0, len(possible)), dtype=np.int8), np.zeros(0))
    leading = signs[np.arange(len(signs)), (signs != 0).argmax(axis=1)]
    signs = signs * leading[:, None]
    _, first, times = np.unique(signs, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    return Columns(np.ascontiguousarray(signs[first[order]]), times[order].astype(np.float64))
