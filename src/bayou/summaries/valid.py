"""Invariants of declared arrays: what a file must satisfy before a kernel sees an array.

Each is called with the name of the array, the array, and the summary realigned to the schema, and raises
ModelFileError with a sentence. `bayou.checks` checks arrays that are not declared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou import checks
from bayou.checks import require

Array = NDArray[Any]


def non_negative(name: str, array: Array, summary: Any) -> None:
    """Weights: finite, not beyond 1e150, none below 0."""
    checks.counts(name, array, slack=0.0)


def nearly_non_negative(name: str, array: Array, summary: Any) -> None:
    """Weights from which rows were subtracted: as `non_negative`, but for what rounding leaves."""
    checks.counts(name, array)


def anything(name: str, array: Array, summary: Any) -> None:
    """Every number of the type is valid: bits of a hash, which nothing uses as an index."""


def finite(name: str, array: Array, summary: Any) -> None:
    """No NaN and no infinity; integers not negative."""
    checks.finite(name, array)


def moderate(name: str, array: Array, summary: Any) -> None:
    """Finite and not beyond 1e150, so that no product overflows."""
    checks.finite(name, array)
    require(np.abs(array).max(initial=0.0) <= 1e150, f"{name} holds a number beyond 1e150")


def as_schema(name: str, array: Array, summary: Any) -> None:
    """The array is that of an empty summary over the schema."""
    require(np.array_equal(array, getattr(summary, name)), f"{name} is not what the schema implies")


def not_infinite(name: str, array: Array, summary: Any) -> None:
    """Values of numeric columns: numbers, or NaN where one is missing."""
    require(not np.isinf(array).any(), f"{name} holds infinity")


def not_nan(name: str, array: Array, summary: Any) -> None:
    """Bounds of intervals: numbers, or infinite where there is none."""
    require(not np.isnan(array).any(), f"{name} holds NaN")


def value_codes(name: str, array: Array, summary: Any) -> None:
    """One column per nominal column of the schema; every entry is -1 or one of its values."""
    for j, size in enumerate(summary.lengths.values):
        checks.codes(f"column {j} of {name}", array[:, j], size)


def word_codes(name: str, array: Array, summary: Any) -> None:
    """Every entry of "0.ids" is a word of the first text column, and so on."""
    checks.codes(name, array, summary.lengths.word_ids(int(name.partition(".")[0])))
    require(array.min(initial=0) >= 0, f"{name} holds no word")


def padded_class_codes(name: str, array: Array, summary: Any) -> None:
    """Every entry is -1 or a class of the schema; places without a row hold 0, also while there is no class."""
    checks.codes(name, array, max(1, summary.lengths.classes))


def class_codes(name: str, array: Array, summary: Any) -> None:
    """Every entry is -1 or a class of the schema."""
    checks.codes(name, array, summary.lengths.classes)
