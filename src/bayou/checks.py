"""Checks of a state that comes from outside: each raises ModelFileError and says what is wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.errors import ModelFileError

SLACK = 1e-6  # relative: what real weights, decay and unlearning may leave behind

MOST_VARIANCE = 1e290  # of values up to 1e140, and what rounding leaves of it where rows were taken out


def require(holds: object, what: str) -> None:
    """
    >>> require(1 + 1 == 2, "sums")
    """
    if not holds:
        raise ModelFileError(f"the state contradicts itself: {what}")


def finite(name: str, array: NDArray[Any]) -> None:
    """No NaN and no infinity; integers not negative."""
    if array.dtype.kind == "f":
        require(np.isfinite(array).all(), f"{name} holds NaN or infinity")
    elif array.dtype.kind == "i":
        require(array.min(initial=0) >= 0, f"{name} holds a negative number")


def counts(name: str, array: NDArray[Any], most: float = 1e150, slack: float = SLACK) -> None:
    """Finite, not so large that a product overflows, and not negative beyond rounding, of which integers have none."""
    low, high = float(array.min(initial=0.0)), float(array.max(initial=0.0))  # NaN if there is one
    require(math.isfinite(low) and math.isfinite(high), f"{name} holds NaN or infinity")
    require(high <= most, f"{name} holds a count beyond {most}")
    floor = -slack * max(1.0, high) if array.dtype.kind == "f" else 0.0
    require(low >= floor, f"{name} holds negative counts")


def variances(n: NDArray[Any], mean: NDArray[Any], m2: NDArray[Any]) -> None:
    """No class varies more than its values can, so that variances, also those of classes together, are numbers."""
    with np.errstate(over="ignore"):
        require((m2 <= MOST_VARIANCE * np.maximum(n, 0.0)).all(), "m2 is too large for its weight n")
        require(np.isfinite(n * mean * mean).all(), "n is too large for values as large as their mean")


def codes(name: str, array: NDArray[Any], size: int) -> None:
    """Every entry is -1 or an index below `size`: safe to use in a kernel that skips negative codes."""
    require(array.dtype.kind in "iu", f"{name} must hold integers")
    require(
        array.min(initial=0) >= -1 and array.max(initial=-1) < size, f"{name} must lie in -1 .. {size - 1}"
    )


def parts(name: str, sizes: NDArray[Any], total: int) -> None:
    """Lengths of parts, none negative, that add up to what there is."""
    require(sizes.min(initial=0) >= 0 and sizes.max(initial=0) <= total, f"{name} holds impossible lengths")
    require(sum(sizes.ravel().tolist()) == total, f"{name} must add up to {total}")


def rising(name: str, array: NDArray[Any]) -> None:
    """Sorted along the last axis, without NaN: cuts of intervals."""
    require(not np.isnan(array).any(), f"{name} holds NaN")
    require((array[..., 1:] >= array[..., :-1]).all(), f"{name} must not fall")
