"""The decorators of all kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile with a disk cache, without the global lock, with NumPy's rules for division by zero."""
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def kernel_piece(function: F) -> F:
    """The same for a piece that one kernel calls in one place: written into it, rather than compiled twice.

    What a kernel calls is compiled on its own and again inside every kernel above it. Writing it in saves a third
    where the piece stands on a deep chain of calls or takes many arrays, and nothing where it is small.
    """
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")(function))
