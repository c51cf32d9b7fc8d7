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
# A literal 0 is a type of its own: what is called with it, and elsewhere with any integer, would be compiled twice.
ZERO = cast(int, np.int64(0))
_MAKING = Lock()


class KernelDispatcher(CPUDispatcher):
    """Numba's dispatcher, without what takes long and finished kernels have no use for."""

    def _compilation_chain_init_hook(self) -> None:
        """Look for no extensions of Numba: that reads what all installed packages say of themselves."""

    def typeof_pyval(self, val: Any) -> Any:
        """The type of an argument; of an array at once, where Numba would import `numpy.ma` to see that it is none."""
        if type(val) is not np.ndarray or val.dtype.kind not in "biuf":
            return super().typeof_pyval(val)
        layout, read_only = numpy_support.map_layout(val), not val.flags.writeable
        found = types.Array(numpy_support.from_dtype(val.dtype), val.ndim, layout, readonly=read_only)
        own: Any = self  # Numba's own classes have no types
        own._types_active_call.add(found)
        return found


class InnerDispatcher(KernelDispatcher):
    """A kernel without a way in from Python: to call it would end the process, so it says no."""

    def __call__(self, *args: object) -> Any:
        raise TypeError(f"{self.py_func.__qualname__} is an inner kernel: only kernels can call it")


class LazyDispatcher(CPUDispatcher):
    """A kernel that nobody has asked for yet; then it becomes a dispatcher with our own cache.

    A command imports 350 kernels and calls 30 of them; to make the dispatchers of all would take .03 s.
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
            kernel._cache = KernelCache(function)  # no folder is touched before a kernel is missed
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
    """Compile as `kernel` does, without a way in from Python, which would take a third of the time to compile.

    >>> from bayou.kernels.value_counts import log_or_floor
    >>> log_or_floor(1.0)
    Traceback (most recent call last):
    TypeError: log_or_floor is an inner kernel: only kernels can call it
    """
    return _dispatcher(function, INNER, InnerDispatcher)


def tight_kernel(function: F) -> F:
    """An inner kernel of a few instructions inside a loop: LLVM must write it into the loop.

    Where it is called instead, passing its arrays takes ten times as long as what it does.
    """
    return _dispatcher(function, {**INNER, "forceinline": True}, InnerDispatcher)


def kernel_piece(function: F) -> F:
    """Compile a piece that one kernel calls in one place: it is written into the caller, rather than compiled twice.

    What a kernel calls is compiled on its own and again inside every kernel above it. Writing it in saves a third
    where the piece stands on a deep chain of calls or takes many arrays, and nothing where it is small.
    """
    return _dispatcher(function, {**OPTIONS, "inline": "always"})
