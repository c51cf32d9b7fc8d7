"""Decorators that compile the kernels with Numba: for callers in Python, for other kernels, and for pieces of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.registry import CPUDispatcher

F = TypeVar("F", bound=Callable[..., object])
OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INNER: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True}
# A literal 0 is a type of its own: what is called with it, and elsewhere with any integer, would be compiled twice.
ZERO = cast(int, np.int64(0))


class InnerDispatcher(CPUDispatcher):
    """A kernel without a way in from Python: to call it would end the process, so it says no."""

    def __call__(self, *args: object) -> Any:
        raise TypeError(f"{self.py_func.__qualname__} is an inner kernel: only kernels can call it")


def kernel(function: F) -> F:
    """Compile with a disk cache, without the global lock, with NumPy's rules for division by zero."""
    return cast(F, numba.njit(**OPTIONS)(function))


def inner_kernel(function: F) -> F:
    """Compile as `kernel` does, without a way in from Python, which would take a third of the time to compile.

    >>> from bayou.kernels.value_counts import log_or_floor
    >>> log_or_floor(1.0)
    Traceback (most recent call last):
    TypeError: log_or_floor is an inner kernel: only kernels can call it
    """
    dispatcher = numba.njit(**INNER)(function)
    dispatcher.__class__ = InnerDispatcher
    return cast(F, dispatcher)


def kernel_piece(function: F) -> F:
    """Compile a piece that one kernel calls in one place: it is written into the caller, rather than compiled twice.

    What a kernel calls is compiled on its own and again inside every kernel above it. Writing it in saves a third
    where the piece stands on a deep chain of calls or takes many arrays, and nothing where it is small.
    """
    return cast(F, numba.njit(inline="always", **OPTIONS)(function))
