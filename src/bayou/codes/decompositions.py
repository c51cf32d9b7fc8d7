"""The classical decompositions as codes, and codes given by the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bayou.codes.code import Code, Signs
from bayou.errors import SchemaError


@dataclass(frozen=True)
class OneVsAll(Code):
    """Code with one column per class: the class against all others.

    >>> OneVsAll().rows(3).tolist()
    [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    """

    def rows(self, k: int) -> Signs:
        return (2 * np.eye(k) - 1).astype(np.int8)


@dataclass(frozen=True)
class OneVsOne(Code):
    """Code with one column per pair of classes, all others left out. It ranks first what naive Bayes does.

    >>> OneVsOne().rows(3).tolist()
    [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    """

    def rows(self, k: int) -> Signs:
        pairs = list(combinations(range(k), 2))
        matrix = np.zeros((k, len(pairs)), dtype=np.int8)
        for column, (a, b) in enumerate(pairs):
            matrix[a, column], matrix[b, column] = 1, -1
        return matrix


@dataclass(frozen=True)
class GivenCode(Code):
    """Code given as a matrix, a row per class in canonical order. More classes than rows are refused when predicting.

    Parameters
    ----------
    matrix
        Rows of +1, -1 and 0.

    Examples
    --------
    >>> GivenCode([[1, 1], [1, -1], [-1, 0]]).min_distance(3)
    1.0
    """

    matrix: Sequence[Sequence[int]]

    def __post_init__(self) -> None:
        rows = tuple(tuple(int(bit) for bit in row) for row in self.matrix)
        object.__setattr__(self, "matrix", rows)
        if len({len(row) for row in rows}) != 1 or any(bit not in (-1, 0, 1) for row in rows for bit in row):
            raise SchemaError(f"{self}: rows of one length, of +1, -1 and 0")

    def rows(self, k: int) -> Signs:
        if k > len(self.matrix):
            raise SchemaError(
                f"the given code has {len(self.matrix)} rows and {k} classes are known: give a row to each"
            )
        return np.array(self.matrix, dtype=np.int8)[:k]
