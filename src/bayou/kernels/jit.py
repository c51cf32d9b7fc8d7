"""Decorators that compile the kernels with Numba: for callers in Python, for other kernels, and for pieces of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.registry import CPUDispatcher

from bayou.kernels.kernel_cache import KernelCache

F = TypeVar("F", bound=Callable[..., object])
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INNER: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True}
# A literal 0 is a type of its own: what is called with it, and elsewhere with any integer, would be compiled twice.
ZERO = cast(int, np.int64(0))


def _dispatcher(function: Callable[..., object], options: dict[str, Any]) -> Any:
    """Numba's dispatcher, with our own cache: no folder is touched before a kernel is missed."""
    dispatcher: Any = numba.njit(**options)(function)
    if not isinstance(dispatcher, CPUDispatcher):  # NUMBA_DISABLE_JIT: kernels run as Python
        return dispatcher
    setattr(dispatcher, "_cache", KernelCache(function))  # noqa: B010 # Numba's own place for it
    return dispatcher


class InnerDispatcher(CPUDispatcher):
    """A kernel without a way in from Python: to call it would end the process, so it says no."""

    def __call__(self, *args: object) -> Any:
        raise TypeError(f"{self.py_func.__qualname__} is an inner kernel: only kernels can call it")


def kernel(function: F) -> F:
    """Compile with a disk cache, without the global lock, with NumPy's rules for division by zero."""
    return cast(F, _dispatcher(function, OPTIONS))


def inner_kernel(function: F) -> F:
    """Compile as `kernel` does, without a way in from Python, which would take a third of the time to compile.

    >>> from bayou.kernels.value_counts import log_or_floor
    >>> log_or_floor(1.0)
    Traceback (most recent call last):
    TypeError: log_or_floor is an inner kernel: only kernels can call it
    """
    return cast(F, _without_a_way_in(_dispatcher(function, INNER)))


def tight_kernel(function: F) -> F:
    """An inner kernel of a few instructions inside a loop: LLVM must write it into the loop.

    Where it is called instead, passing its arrays takes ten times as long as what it does.
    """
    return cast(F, _without_a_way_in(_dispatcher(function, {**INNER, "forceinline": True})))


def _without_a_way_in(dispatcher: Any) -> Any:
    if isinstance(dispatcher, CPUDispatcher):
        dispatcher.__class__ = InnerDispatcher
    return dispatcher


def kernel_piece(function: F) -> F:
    """Compile a piece that one kernel calls in one place: it is written into the caller, rather than compiled twice.

    What a kernel calls is compiled on its own and again inside every kernel above it. Writing it in saves a third
    where the piece stands on a deep chain of calls or takes many arrays, and nothing where it is small.
    """
    return cast(F, _dispatcher(function, {**OPTIONS, "inline": "always"}))
