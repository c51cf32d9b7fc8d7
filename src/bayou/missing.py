"""What counts as a missing value, the same for learning and predicting, for rows and batches."""

from __future__ import annotations

_NOT_A_VALUE = frozenset({"NAType", "NaTType"})


def is_missing(value: object) -> bool:
    """None, NaN, and the missing markers of pandas."""
    if value is None:
        return True
    if isinstance(value, float):
        return value != value
    return type(value).__name__ in _NOT_A_VALUE
