"""Checks for infinite and huge numbers, whose sums of squares overflow, and their replacement by NaN (missing)."""

from __future__ import annotations

import numpy as np

from bayou.block import Floats
from bayou.kernels.jit import kernel

HUGE = 1e140


@kernel
def all_usable(x: Floats) -> bool:
    """Whether no value is missing, infinite, or beyond 1e140 in size.

    x : float64[n, p], in
    """
    usable = 0
    for i in range(x.shape[0]):
        row = x[i]
        for j in range(len(row)):
            usable += abs(row[j]) <= HUGE
    return usable == x.size


@kernel
def all_counts(x: Floats) -> bool:
    """Whether every value is a number from 0 to 1e140.

    x : float64[n], in
    """
    usable = 0
    for i in range(len(x)):
        usable += (x[i] >= 0.0) & (x[i] <= HUGE)
    return usable == len(x)


@kernel
def count_unusable(x: Floats) -> int:
    """Return how many values are infinite or beyond 1e140 in size (NaN is missing already).

    x : float64[n, p], in
    """
    found = 0
    for i in range(x.shape[0]):
        row = x[i]
        for j in range(len(row)):
            found += abs(row[j]) > HUGE
    return found


@kernel
def scrub(x: Floats) -> None:
    """Replace infinite and huge values by NaN.

    x : float64[n, p], in/out
    """
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if abs(x[i, j]) > HUGE:
                x[i, j] = np.nan
