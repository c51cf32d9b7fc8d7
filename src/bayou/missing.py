"""The definition of a missing value, for learning and predicting, for single rows and batches."""

from __future__ import annotations

_NOT_A_VALUE = frozenset({"NAType", "NaTType"})


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN, or a missing marker of pandas."""
    if value is None:
        return True
    if isinstance(value, float):
        return value != value
    return type(value).__name__ in _NOT_A_VALUE
