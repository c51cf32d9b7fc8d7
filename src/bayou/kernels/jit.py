"""Decorators that compile the kernels with Numba: for callers in Python, for other kernels, and for pieces of one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar, cast

import numpy as np
from numba import types
from numba.core import config
from numba.core.registry import CPUDispatcher
from numba.np import numpy_support

from bayou.kernels.kernel_cache import KernelCache

F = TypeVar("F", bound=Callable[..., object])
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INNER: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True}
# A literal 0 has a type of its own in Numba: a kernel called with it, and elsewhere with an int64, would be compiled
# twice.
ZERO = cast(int, np.int64(0))
_MAKING = Lock()


class KernelDispatcher(CPUDispatcher):
    """Numba's dispatcher, without slow steps that compiled kernels do not need."""

    def _compilation_chain_init_hook(self) -> None:
        """Do not search for extensions of Numba, which would read the metadata of all installed packages."""

    def typeof_pyval(self, val: Any) -> Any:
        """The Numba type of an argument; of plain arrays at once, since Numba would import `numpy.ma` to check."""
        if type(val) is not np.ndarray or val.dtype.kind not in "biuf":
            return super().typeof_pyval(val)
        layout, read_only = numpy_support.map_layout(val), not val.flags.writeable
        found = types.Array(numpy_support.from_dtype(val.dtype), val.ndim, layout, readonly=read_only)
        own: Any = self  # Numba's own classes have no types
        own._types_active_call.add(found)
        return found


class InnerDispatcher(KernelDispatcher):
    """A kernel without a wrapper for Python: calling it would crash the process, so it raises TypeError."""

    def __call__(self, *args: object) -> Any:
        raise TypeError(f"{self.py_func.__qualname__} is an inner kernel: only kernels can call it")


class LazyDispatcher(CPUDispatcher):
    """A kernel that has not been used yet; on first use it becomes a dispatcher with our own cache.

    A command imports 350 kernels and calls 30 of them; creating the dispatchers of all would take .03 s.
    """

    def __init__(
        self, function: Callable[..., object], options: dict[str, Any], kind: type[KernelDispatcher]
    ) -> None:
        functools.update_wrapper(self, function)
        self._asked = function, options, kind

    def __getattr__(self, name: str) -> Any:
        _make(self)
        return getattr(self, name)

    def __call__(self, *args: object) -> Any:
        _make(self)
        return self(*args)


def _make(kernel: Any) -> None:
    with _MAKING:
        waits = type(kernel) is LazyDispatcher
        if waits:  # else another thread was quicker
            function, options, kind = kernel._asked
            chosen = {**options, "nopython": True, "boundscheck": None}
            CPUDispatcher.__init__(kernel, function, targetoptions=chosen)
            kernel._cache = KernelCache(function)  # touches no folder before it is asked for a kernel
            kernel.__class__ = kind


def _dispatcher(function: F, options: dict[str, Any], kind: type[KernelDispatcher] = KernelDispatcher) -> F:
    asked: Any = config  # Numba fills it in at run time
    if asked.DISABLE_JIT:  # kernels run as Python
        return function
    return cast(F, LazyDispatcher(function, options, kind))


def kernel(function: F) -> F:
    """Compile with a disk cache, without the global lock, with NumPy's rules for division by zero."""
    return _dispatcher(function, OPTIONS)


def inner_kernel(function: F) -> F:
    """Compile as `kernel` does, but without the wrapper for calls from Python, which takes a third of the compile time.

    >>> from bayou.kernels.value_counts import log_or_floor
    >>> log_or_floor(1.0)
    Traceback (most recent call last):
    TypeError: log_or_floor is an inner kernel: only kernels can call it
    """
    return _dispatcher(function, INNER, InnerDispatcher)


def tight_kernel(function: F) -> F:
    """Compile an inner kernel of a few instructions that is used inside a loop: LLVM must inline it.

    Where it is called instead, passing its arrays takes ten times as long as its own work.
    """
    return _dispatcher(function, {**INNER, "forceinline": True}, InnerDispatcher)


def kernel_piece(function: F) -> F:
    """Inline a function that one kernel calls in one place, rather than compile it twice.

    A called kernel is compiled on its own and again inside every kernel above it. Inlining by Numba saves a third of
    the compile time where the piece is deep in a chain of calls or takes many arrays, and nothing where it is small.
    """
    return _dispatcher(function, {**OPTIONS, "inline": "always"})
