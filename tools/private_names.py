"""Checks that no package of bayou reads another package's underscore names, by attribute, by import or by getattr.

A name that begins with an underscore belongs to the package that defines it (a module beside the packages is one of its
own). Run by `make check`: `python tools/private_names.py src/bayou`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

REACHING = {"getattr", "hasattr", "setattr", "delattr"}


def is_private(name: str) -> bool:
    """Whether a name is private: one underscore in front, unless Python or IPython asks for it by that name."""
    return name.startswith("_") and not name.endswith("_")


def defined(tree: ast.Module) -> Iterator[str]:
    """Names that a module defines: functions, classes, variables, fields, and attributes of self."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(node.value):
            yield node.attr


def read(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Private names that a module takes from something other than itself, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not _is_self(node.value):
            yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bayou"):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in REACHING:
            name = node.args[1] if len(node.args) > 1 else None
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield node.lineno, name.value


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def findings(root: Path) -> list[str]:
    """One line for every private name of another package that is read below `root`."""
    trees = {path: ast.parse(path.read_text()) for path in sorted(root.rglob("*.py"))}
    own: dict[str, set[str]] = {}
    for path, tree in trees.items():
        own.setdefault(path.relative_to(root).parts[0], set()).update(filter(is_private, defined(tree)))
    everyone = set().union(*own.values())  # names of other libraries are theirs to look after
    return [
        f"{path}:{line}: {name} belongs to another package"
        for path, tree in trees.items()
        for line, name in read(tree)
        if name in everyone and name not in own[path.relative_to(root).parts[0]]
    ]


if __name__ == "__main__":
    found = findings(Path(sys.argv[1]))
    print("\n".join(found) or "No package reads another's underscore names.")
    sys.exit(bool(found))
