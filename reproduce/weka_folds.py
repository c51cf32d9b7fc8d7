"""The folds of Weka's cross-validation, so that its figures can be met to the last row rather than on average.

Weka swaps rows by Java's random numbers, sorts them by class, and deals them out to the folds one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray


class JavaRandom:
    """`java.util.Random`: 48 bits, of which the upper ones are given.

    >>> rng = JavaRandom(42)
    >>> [rng.below(10) for _ in range(8)]
    [0, 3, 8, 4, 0, 5, 5, 8]
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & (1 << 48) - 1

    def _next(self) -> int:
        """31 bits."""
        self._state = (self._state * 0x5DEECE66D + 0xB) & (1 << 48) - 1
        return self._state >> 17

    def below(self, n: int) -> int:
        """`nextInt(n)`."""
        if n & -n == n:
            return n * self._next() >> 31
        while True:
            bits = self._next()
            if bits - bits % n + n - 1 < 1 << 31:
                return bits % n


def weka_folds(
    y: Sequence[int], folds: int = 10, seed: int = 1
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Places of the rows to train on and to test, as `-x folds -s seed` has them."""
    order, rng = list(range(len(y))), JavaRandom(seed)
    for j in range(len(y) - 1, 0, -1):
        i = rng.below(j + 1)
        order[i], order[j] = order[j], order[i]
    index = 1
    while index < len(y):  # rows of the class of the one before are swapped forward; then the next class
        wanted = y[order[index - 1]]
        for j in range(index, len(y)):
            if y[order[j]] == wanted:
                order[index], order[j] = order[j], order[index]
                index += 1
        index += 1
    dealt = [order[j] for start in range(folds) for j in range(start, len(y), folds)]
    for fold in np.array_split(np.array(dealt, dtype=np.int64), folds):
        yield np.setdiff1d(np.arange(len(y)), fold), fold
