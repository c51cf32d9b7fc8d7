"""Ahead-of-time compilation of every kernel, for the types that its docstring declares."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.dispatcher import Dispatcher

import bayou.kernels
from bayou.kernels.compiling import CompileWatch

_ARRAYS = re.compile(r"((?:\w+, )*\w+) : (\w+)\[([^\]]*)\](, in, read-only)?")
_SCALARS = {"int": numba.int64, "float": numba.float64, "bool": numba.boolean}


def all_kernels() -> Iterator[tuple[str, Any]]:
    """Yield every kernel with its name, module by module, without pieces, which are inlined into their callers."""
    for module in pkgutil.iter_modules(bayou.kernels.__path__):
        home = importlib.import_module(f"bayou.kernels.{module.name}")
        for name, value in vars(home).items():
            ours = isinstance(value, Dispatcher) and value.py_func.__module__ == home.__name__
            if ours and not _is_piece(value):
                yield f"{module.name}.{name}", value


def signature_of(kernel: Any) -> tuple[Any, ...] | None:
    """Return argument types from docstring (`name : dtype[shape]`) and annotations; None if one is not declared.

    Memory of other libraries may be read-only, which is a type of its own: `name : dtype[shape], in, read-only`.

    >>> from bayou.kernels.class_counts import add_vector
    >>> [str(t) for t in signature_of(add_vector)]
    ['array(float64, 2d, C)', 'array(float64, 1d, C)']
    """
    arrays = {
        name: (dtype, len(shape.split(",")), bool(read_only))
        for names, dtype, shape, read_only in _ARRAYS.findall(inspect.getdoc(kernel.py_func) or "")
        for name in names.split(", ")
    }
    types: list[Any] = []
    for name, parameter in inspect.signature(kernel.py_func).parameters.items():
        if name in arrays:
            dtype, dimensions, read_only = arrays[name]
            base = numba.boolean if dtype == "bool" else getattr(numba, dtype, None)
            if base is None:
                return None
            types.append(numba.types.Array(base, dimensions, "C", readonly=read_only))
        elif parameter.annotation in _SCALARS:
            types.append(_SCALARS[parameter.annotation])
        else:
            return None
    return tuple(types)


def families(kernels: list[tuple[str, Any]]) -> list[list[tuple[str, Any]]]:
    """Return families of kernels, largest first: one that no other calls, then its callees that are in no family yet.

    A kernel is compiled together with its caller, for the types it is called with.
    """
    named = {id(kernel): (name, kernel) for name, kernel in kernels}
    called = {i for _, kernel in kernels for i in _callees(kernel) if i in named}
    found: list[list[tuple[str, Any]]] = []
    taken: set[int] = set()
    for root in sorted(named, key=lambda i: (i in called, named[i][0])):
        family, pending = [], [root]
        while pending:
            i = pending.pop(0)
            if i in named and i not in taken:
                taken.add(i)
                family.append(named[i])
                pending.extend(_callees(named[i][1]))
        if family:
            found.append(family)
    return sorted(found, key=len, reverse=True)


def _callees(kernel: Any) -> list[int]:
    found: list[int] = []
    for name in kernel.py_func.__code__.co_names:
        callee = kernel.py_func.__globals__.get(name)
        if isinstance(callee, Dispatcher):
            found += _callees(callee) if _is_piece(callee) else [id(callee)]
    return found


def _is_piece(kernel: Any) -> bool:
    return bool(kernel.targetoptions.get("inline") == "always")


def compile_all(
    progress: Callable[[int, int], None] | None = None, jobs: int = 1
) -> tuple[int, int, list[str]]:
    """Compile every kernel, or load it from the cache, in so many processes.

    Returns how many are ready, how many were compiled now, and the names of those whose docstring does not fit.
    """
    parts = families(list(all_kernels()))
    total = sum(map(len, parts))
    ready = new = 0
    skipped: list[str] = []
    with ExitStack() as stack:
        results: Iterator[tuple[int, list[str]]] = map(_compile_family, parts)
        if jobs > 1:
            stack.enter_context(safe_path())
            pool = stack.enter_context(ProcessPoolExecutor(jobs, mp_context=get_context("spawn")))
            results = pool.map(_compile_named, [[name for name, _ in part] for part in parts])
        for part, (compiled, left) in zip(parts, results, strict=True):
            ready += len(part)
            new += compiled
            skipped += left
            if progress is not None:
                progress(ready, total)
    return total - len(skipped), new, sorted(skipped)


@contextmanager
def safe_path() -> Iterator[None]:
    """Keep the current directory off `sys.path` of child processes: files there must not shadow modules."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _compile_named(names: list[str]) -> tuple[int, list[str]]:
    kernels = []
    for name in names:
        module, _, own = name.partition(".")
        kernels.append((name, getattr(importlib.import_module(f"bayou.kernels.{module}"), own)))
    return _compile_family(kernels)


def _compile_family(family: list[tuple[str, Any]]) -> tuple[int, list[str]]:
    """Compile a family; return how many kernels were compiled, and the names of those that could not be.

    If the first one is in the cache, so are those compiled with it: no other file is loaded to find that out.
    """
    if _is_kept(family[0][1]):
        return 0, []
    with event.install_listener("numba:compile", CompileWatch()) as compiler:
        left = [name for name, kernel in family if not kernel.signatures and not _compiled(kernel)]
    return compiler.kernels, left


def _compiled(kernel: Any) -> bool:
    types = signature_of(kernel)
    if types is None:
        return False
    try:
        kernel.compile(types)
    except numba.core.errors.NumbaError:
        return False
    return True


def _is_kept(kernel: Any) -> bool:
    """Return whether the cache has the compiled kernel, for the types that its docstring declares."""
    types = signature_of(kernel)
    kept = None if types is None else kernel._cache.kept()
    if kept is None:
        return False
    name = kept._cache_file._load_index().get(kept._index_key(types, kernel.targetctx.codegen()))
    return name is not None and Path(kept._cache_file._data_path(name)).exists()
