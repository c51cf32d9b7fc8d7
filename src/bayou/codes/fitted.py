"""Codes fitted to a problem: columns for the pairs of classes that are confused most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.codes.code import Signs


def confused_pairs(confusion: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Pairs of classes that are taken for each other, the most frequent confusion first; ties by the classes' order.

    confusion : float64[k, k], the share of the rows of a class (row) that are taken for another (column).

    >>> confused_pairs(np.array([[0.9, 0.0, 0.1], [0.0, 0.8, 0.2], [0.0, 0.1, 0.9]]))
    [(1, 2), (0, 2)]
    """
    mutual = confusion + confusion.T
    a, b = np.triu_indices(len(confusion), 1)
    order = np.lexsort((b, a, -mutual[a, b]))
    return [(int(a[i]), int(b[i])) for i in order if mutual[a[i], b[i]] > 0.0]


def fitted_columns(confusion: NDArray[np.float64], columns: int) -> Signs:
    """int8[k, m], a column for each of the `columns` most confused pairs: one class +1, the other -1, the rest 0.

    Such a column separates two classes that the code confuses, and nothing else (Pujol, Radeva and Vitrià embed
    columns for confused classes in the same way, ECOC-ONE).
    """
    pairs = confused_pairs(confusion)[:columns]
    signs = np.zeros((len(confusion), len(pairs)), dtype=np.int8)
    for column, (a, b) in enumerate(pairs):
        signs[a, column], signs[b, column] = 1, -1
    return signs
