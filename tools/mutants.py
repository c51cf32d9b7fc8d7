"""Mutation testing by hand: one operator of a module is changed, the module's own tests must fail.

    python tools/mutants.py src/bayou/readings/thresholds.py src/bayou/summaries/reservoir.py
    python tools/mutants.py src/bayou/persist --sample 20 --seed 1 --timeout 120

A module's own tests are those that import it, and those of the same name. A mutant is *killed* where they fail or
take too long, and *survives* where they pass; survivors are printed with their line. Files are never written: a child
process, forked with everything else imported already, is given the changed module in place of the one on disk. Kernels
cannot be mutated this way, since what is compiled into other kernels is cached: change the file and run its tests.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {
    "all": "any", "any": "all", "max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum",
    "argmax": "argmin", "argmin": "argmax", "zeros": "ones", "ones": "zeros",
}  # fmt: skip


def changed(node: ast.AST) -> ast.AST | None:
    """The node with its operator, constant or function exchanged; None if it has none that is known."""
    twin = copy.deepcopy(node)
    match twin:
        case ast.Compare(ops=[op, *_]) if type(op) in COMPARISONS:
            twin.ops[0] = COMPARISONS[type(op)]()
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in OPERATORS:
            twin.op = OPERATORS[type(op)]()
        case ast.BoolOp(op=op):
            twin.op = ast.Or() if isinstance(op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            return twin.operand
        case ast.Constant(value=bool(value)):
            twin.value = not value
        case ast.Constant(value=int(value) | float(value)):
            twin.value = value + 1
        case ast.Call(func=ast.Attribute(attr=name)) if name in NAMES:
            twin.func.attr = NAMES[name]  # type: ignore[attr-defined]
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            twin.func.id = NAMES[name]  # type: ignore[attr-defined]
        case _:
            return None
    return twin


def places(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Where a node can be changed: its parent, the field, the position in a list; not annotations and messages."""
    todo: list[ast.AST] = [tree]
    while todo:
        parent = todo.pop()
        for field, value in ast.iter_fields(parent):
            if field in ("annotation", "returns", "decorator_list") or isinstance(
                parent, ast.Raise | ast.JoinedStr
            ):
                continue
            for i, child in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(child, ast.AST):
                    todo.append(child)
                    if changed(child) is not None:
                        yield parent, field, i if isinstance(value, list) else None


def mutants(text: str) -> Iterator[tuple[int, str, ast.Module]]:
    """Line, what was changed, and the changed module, one change each."""
    number = sum(1 for _ in places(ast.parse(text)))
    for wanted in range(number):
        tree = ast.parse(text)
        parent, field, i = next(place for n, place in enumerate(places(tree)) if n == wanted)
        siblings = getattr(parent, field)
        node = siblings if i is None else siblings[i]
        twin = changed(node)
        assert twin is not None
        told = f"{ast.unparse(node)}  ->  {ast.unparse(twin)}"
        if i is None:
            setattr(parent, field, twin)
        else:
            siblings[i] = twin
        yield node.lineno, told, ast.fix_missing_locations(tree)


class Replaced(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module a body of our own."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self.name, self.path, self.tree = name, path, tree

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)


def own_tests(name: str, stem: str) -> list[str]:
    """Test files that import the module, or have its name."""
    package, _, last = name.rpartition(".")
    said = (f"{name} import", f"from {package} import {last}\n", f"import {name}")
    found = [
        path
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if path.stem == f"test_{stem}" or any(line in path.read_text() for line in said)
    ]
    return [str(path) for path in found]


def verdict(name: str, path: Path, tree: ast.Module, tests: list[str], timeout: float) -> str:
    """What the tests say with the changed module: "survives", "killed" or "too long"."""
    child = os.fork()
    if child == 0:
        os.setsid()
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1), os.dup2(silent, 2)
        sys.meta_path.insert(0, Replaced(name, path, tree))
        import pytest

        os._exit(int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests])))
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "survives" if os.waitstatus_to_exitcode(status) == 0 else "killed"
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "too long"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--sample", type=int, default=10, help="mutants per module, at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds per mutant")
    parser.add_argument("--tests", nargs="+", help="these files instead of a module's own")
    told = parser.parse_args()
    sys.path[:0] = [str(SOURCE), str(ROOT)]
    for heavy in ("numba", "pyarrow", "scipy.special", "sklearn.metrics"):  # pytest must see its plugins come
        __import__(heavy)
    tally = Counter[str]()
    for path in sorted(
        p for given in told.paths for p in (given.rglob("*.py") if given.is_dir() else [given])
    ):
        path = path.resolve()
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        tests = told.tests or own_tests(name, path.stem)
        found = list(mutants(path.read_text()))
        if not tests or not found:
            print(f"{name}: {len(found)} mutants, {len(tests)} files of tests: left out", flush=True)
            continue
        start = time.monotonic()
        if verdict(name, path, ast.parse(path.read_text()), tests, 10 * told.timeout) != "survives":
            print(f"{name}: its tests fail as it is: left out", flush=True)
            continue
        limit = max(told.timeout, 5 * (time.monotonic() - start))
        for line, what, tree in random.Random(told.seed).sample(found, min(told.sample, len(found))):
            said = verdict(name, path, tree, tests, limit)
            tally[said] += 1
            if said == "survives":
                print(f"{name}:{line}: survives: {what}", flush=True)
        print(f"{name}: so far {dict(tally)}", flush=True)
    total = sum(tally.values())
    print(f"{total} mutants: {dict(tally)}; {100 * (total - tally['survives']) / max(total, 1):.0f} % found")


if __name__ == "__main__":
    main()
