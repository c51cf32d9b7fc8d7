"""Checks of arrays from model files: each raises ModelFileError with the array and what is wrong with it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.errors import ModelFileError

SLACK = 1e-6  # relative rounding error of sums of real weights, after decay and unlearning

MOST_VARIANCE = 1e290  # of values up to 1e140, with room for rounding where rows were unlearned


def require(holds: object, what: str) -> None:
    """Raise ModelFileError with the message `what` unless the condition holds.

    >>> require(1 + 1 == 2, "sums")
    """
    if not holds:
        raise ModelFileError(f"the state contradicts itself: {what}")


def finite(name: str, array: NDArray[Any]) -> None:
    """Check that there is no NaN or infinity, and no negative integer."""
    if array.dtype.kind == "f":
        require(np.isfinite(array).all(), f"{name} holds NaN or infinity")
    elif array.dtype.kind == "i":
        require(array.min(initial=0) >= 0, f"{name} holds a negative number")


def counts(name: str, array: NDArray[Any], most: float = 1e150, slack: float = SLACK) -> None:
    """Check that counts are finite, at most `most`, and not negative beyond rounding, which integers do not have."""
    low, high = float(array.min(initial=0.0)), float(array.max(initial=0.0))  # NaN if there is one
    require(math.isfinite(low) and math.isfinite(high), f"{name} holds NaN or infinity")
    require(high <= most, f"{name} holds a count beyond {most}")
    floor = -slack * max(1.0, high) if array.dtype.kind == "f" else 0.0
    require(low >= floor, f"{name} holds negative counts")


def variances(n: NDArray[Any], mean: NDArray[Any], m2: NDArray[Any]) -> None:
    """Check that sums of squares fit their weights, so that the variances of classes and of their union are finite."""
    with np.errstate(over="ignore"):
        require((m2 <= MOST_VARIANCE * np.maximum(n, 0.0)).all(), "m2 is too large for its weight n")
        require(np.isfinite(n * mean * mean).all(), "n is too large for values as large as their mean")


def codes(name: str, array: NDArray[Any], size: int) -> None:
    """Check that every entry is -1 or an index below `size`, and so safe in kernels, which skip negative codes."""
    require(array.dtype.kind in "iu", f"{name} must hold integers")
    require(
        array.min(initial=0) >= -1 and array.max(initial=-1) < size, f"{name} must lie in -1 .. {size - 1}"
    )


def parts(name: str, sizes: NDArray[Any], total: int) -> None:
    """Check that lengths of parts are not negative and add up to `total`."""
    require(sizes.min(initial=0) >= 0 and sizes.max(initial=0) <= total, f"{name} holds impossible lengths")
    require(sum(sizes.ravel().tolist()) == total, f"{name} must add up to {total}")


def rising(name: str, array: NDArray[Any]) -> None:
    """Check that cuts of intervals are sorted along the last axis, without NaN."""
    require(not np.isnan(array).any(), f"{name} holds NaN")
    require((array[..., 1:] >= array[..., :-1]).all(), f"{name} must not fall")
