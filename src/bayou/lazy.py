"""Names that a package offers and imports only when they are first asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
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
