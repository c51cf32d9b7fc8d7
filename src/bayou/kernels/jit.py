"""The one decorator of all kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile with a disk cache, without the global lock, with NumPy's rules for division by zero."""
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))
