"""Imports only when they are needed: names of a package, and libraries that others would import for nothing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from typing import Any


def offered_names(package: str, offered: Mapping[str, str]) -> tuple[list[str], Callable[[str], Any]]:
    """The `__all__` and the `__getattr__` of a package, from a table of modules and the names each of them has.

    So nobody waits for what they do not use: kernels, readers of files, reports.
    """
    homes = {name: module for module, names in offered.items() for name in names.split()}

    def import_name(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return sorted(homes), import_name


class Absent:
    """A finder of modules that makes libraries look as if they were not installed, for a process that needs none.

    Numba looks for SciPy and pyarrow for pandas, which takes each of them half a second.
    """

    def __init__(self, *libraries: str) -> None:
        self.libraries = libraries

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Refuse the libraries; leave all else to the next finder."""
        if name.partition(".")[0] in self.libraries:
            raise ModuleNotFoundError(f"this process does without {name}", name=name)


class Deferred:
    """A finder of modules that others import and hardly ever use: they are run once an attribute is asked for.

    Numba imports `importlib.metadata`, and with it the parser of mail, to look for extensions when it compiles.
    """

    def __init__(self, *modules: str) -> None:
        self.modules = modules

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        """The modules as they will be; leave all else to the next finder."""
        found = PathFinder.find_spec(name, path) if name in self.modules else None
        if found is not None and found.loader is not None:
            found.loader = LazyLoader(found.loader)
        return found
