"""Compile every kernel beforehand, for the types that its docstring promises."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from typing import Any

import numba
from numba.core.dispatcher import Dispatcher

import bayou.kernels

_ARRAYS = re.compile(r"((?:\w+, )*\w+) : (\w+)\[([^\]]*)\]")
_SCALARS = {"int": numba.int64, "float": numba.float64, "bool": numba.boolean}


def all_kernels() -> Iterator[tuple[str, Any]]:
    """Every kernel under its own name, module by module."""
    for module in pkgutil.iter_modules(bayou.kernels.__path__):
        home = importlib.import_module(f"bayou.kernels.{module.name}")
        for name, value in vars(home).items():
            if isinstance(value, Dispatcher) and value.py_func.__module__ == home.__name__:
                yield f"{module.name}.{name}", value


def signature_of(kernel: Any) -> tuple[Any, ...] | None:
    """Argument types by docstring (`name : dtype[shape]`) and annotation; None if they do not tell.

    >>> from bayou.kernels.class_counts import add_vector
    >>> [str(t) for t in signature_of(add_vector)]
    ['array(float64, 2d, C)', 'array(float64, 1d, C)']
    """
    arrays = {
        name: (dtype, len(shape.split(",")))
        for names, dtype, shape in _ARRAYS.findall(inspect.getdoc(kernel.py_func) or "")
        for name in names.split(", ")
    }
    types: list[Any] = []
    for name, parameter in inspect.signature(kernel.py_func).parameters.items():
        if name in arrays:
            dtype, dimensions = arrays[name]
            base = numba.boolean if dtype == "bool" else getattr(numba, dtype, None)
            if base is None:
                return None
            types.append(numba.types.Array(base, dimensions, "C"))
        elif parameter.annotation in _SCALARS:
            types.append(_SCALARS[parameter.annotation])
        else:
            return None
    return tuple(types)


def compile_all(progress: Callable[[int, int], None] | None = None) -> tuple[int, list[str]]:
    """Compile or load every kernel; how many are ready, and the names of those whose docstring does not fit."""
    kernels = list(all_kernels())
    skipped = []
    for i, (name, kernel) in enumerate(kernels):
        if not kernel.signatures and not _compiled(kernel):
            skipped.append(name)
        if progress is not None:
            progress(i + 1, len(kernels))
    return len(kernels) - len(skipped), skipped


def _compiled(kernel: Any) -> bool:
    types = signature_of(kernel)
    if types is None:
        return False
    try:
        kernel.compile(types)
    except numba.core.errors.NumbaError:
        return False
    return True
