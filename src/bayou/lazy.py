"""Lazy imports: names of a package at first use, and no imports of libraries that other libraries do not need."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from typing import Any


def offered_names(package: str, offered: Mapping[str, str]) -> tuple[list[str], Callable[[str], Any]]:
    """The `__all__` and the `__getattr__` of a package, from a table of modules and the names each of them has.

    Modules are imported at first use, so that a program does not wait for kernels, readers or reports it never uses.
    """
    modules = {name: module for module, names in offered.items() for name in names.split()}

    def import_name(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return sorted(modules), import_name


class Absent:
    """A finder that makes libraries look as if they were not installed, for a process that does not use them.

    Numba imports SciPy and pyarrow imports pandas if they are installed, which takes half a second each.
    """

    def __init__(self, *libraries: str) -> None:
        self.libraries = libraries

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Raise ModuleNotFoundError for the libraries; leave other modules to the next finder."""
        if name.partition(".")[0] in self.libraries:
            raise ModuleNotFoundError(f"this process does without {name}", name=name)


class Deferred:
    """A finder that runs modules at the first access to an attribute, for those that are imported and rarely used.

    Numba imports `importlib.metadata`, and with it the parser of mail, to look for extensions when it compiles.
    """

    def __init__(self, *modules: str) -> None:
        self.modules = modules

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        """The spec of these modules with a lazy loader; leave other modules to the next finder."""
        spec = PathFinder.find_spec(name, path) if name in self.modules else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec
