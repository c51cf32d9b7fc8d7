"""The definition of a missing value, for learning and predicting, for single rows and batches."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

_NOT_A_VALUE = frozenset({"NAType", "NaTType"})


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN, or a missing marker of pandas."""
    if value is None:
        return True
    if isinstance(value, float):
        return value != value
    return type(value).__name__ in _NOT_A_VALUE


def unmasked(values: Any) -> Any:
    """The values, with NaN or None in the place of the cells that a masked array of NumPy hides.

    >>> unmasked(np.ma.masked_array([1, 2, 999], mask=[False, False, True]))
    array([1, 2, None], dtype=object)
    """
    # There is no masked array unless its module was imported, which takes 20 ms
    if "numpy.ma" not in sys.modules or not isinstance(values, np.ma.MaskedArray):
        return values
    out = values.data.copy() if values.dtype.kind == "f" else values.data.astype(object)
    out[np.ma.getmaskarray(values)] = np.nan if values.dtype.kind == "f" else None
    return out
