"""Mutation testing by hand: one operator of a module is changed, the tests that call the changed function must fail.

    python tools/mutants.py run src/bayou/persist --tests tests/persist --into persist.json --sample 4 --seed 1
    python tools/mutants.py run src/bayou/persist --tests tests/persist --into persist.json --outside
    python tools/mutants.py show persist.json
    python tools/mutants.py named tools/named_mutants.json

The tests run once, which tells which of them call which function and how long each takes. Then mutants are drawn per
module; each gets the tests that call its function, the quickest first, up to `--seconds`. A mutant is *killed* where a
test fails or takes too long, and *survives* where all pass. Verdicts are kept as they come: a run goes on where it was
stopped, another seed adds to them, `--again` gives survivors more tests or longer ones. `show` lists the score of each
package, and survivors with their line. `named` judges
changes of the text that a file lists, each by its own tests, which pass without it.

Files are never written: a process forked after everything is imported, and all kernels are loaded, is given the changed
function. What stands outside functions (`--outside`: constants, declared arrays) needs a fresh import, and tests of the
whole module. Compiled kernels cannot be changed that way: with NUMBA_DISABLE_JIT=1 they are plain Python, and those
tests are used that pass like this.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import gc
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

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


def mutants(text: str, chosen: Sequence[int] | None = None) -> Iterator[tuple[int, str, ast.Module]]:
    """Line, what was changed, and the changed module, one change each: all of them, or those of these numbers."""
    for wanted in range(n_mutants(text)) if chosen is None else chosen:
        tree = ast.parse(text)
        parent, field, i = next(islice(places(tree), wanted, None))
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


def n_mutants(text: str) -> int:
    return sum(1 for _ in places(ast.parse(text)))


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


def give_bodies(path: Path, wanted: Mapping[int, CodeType]) -> int:
    """Give functions of a file other bodies, by their first line, wherever they were imported to; how many had it."""
    found = 0
    for one in gc.get_objects():
        if type(one) is FunctionType and one.__code__.co_filename == str(path):
            code = wanted.get(one.__code__.co_firstlineno)
            if code is not None and code.co_name == one.__code__.co_name:
                one.__code__ = code
                found += 1
    return found


def bodies(path: Path, tree: ast.Module) -> dict[int, CodeType]:
    """The compiled functions of a changed module by their first line."""
    return {code.co_firstlineno: code for code in codes(compile(tree, str(path), "exec"))}


CALLED = set[tuple[str, int]]()


def recording(path: Path) -> ast.Module:
    """The module with functions that note in CALLED that they were called."""
    tree = ast.parse(path.read_text())
    module = str(path.relative_to(SOURCE))
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            note = ast.parse(f"__called__.add(({module!r}, {first}))").body[0]
            for part in ast.walk(note):
                ast.copy_location(part, node.body[0])
            told = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
            node.body.insert(int(told), note)
    return ast.fix_missing_locations(tree)


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code objects of functions inside a module or class, outermost first; not those inside functions."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if inner.co_flags & 0x0002:  # CO_NEWLOCALS: a function, where a class body has none
                yield inner
            else:
                yield from codes(inner)


def functions(tree: ast.AST) -> Iterator[tuple[int, int, int]]:
    """First line as a code object has it, first and last line, of outermost functions: methods are outermost ones."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            body = node.body[0]
            yield first, min(body.lineno, node.end_lineno or 0), node.end_lineno or node.lineno
        else:
            yield from functions(node)


def around(text: str, line: int) -> int | None:
    """The first line of the function whose body holds a line; None outside functions, as defaults are."""
    return next((first for first, lo, hi in functions(ast.parse(text)) if lo <= line <= hi), None)


class TooLongError(BaseException):
    """Not an Exception: Hypothesis would look for a simpler example of it."""


def interrupt(number: int, frame: FrameType | None) -> None:
    raise TooLongError


class Session:
    """A pytest plugin that runs the tests for what they call, then again in forks, with mutants."""

    def __init__(self, told: argparse.Namespace) -> None:
        self.told = told
        self.failed = ""
        self.items: dict[str, Any] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed = report.nodeid

    def pytest_runtestloop(self, session: Any) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        if not self.told.outside:
            self.cover()
            judge_all(self.told, self.patched)
        return True

    def play(self, name: str) -> bool:
        """Whether a test passes."""
        self.failed = ""
        item = self.items[name]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.failed

    def cover(self) -> None:
        """Run each test whose calls are not known, and keep them."""
        tests = kept(self.told.into)["tests"]
        setattr(builtins, "__called__", CALLED)  # noqa: B010 # a name that every module can see
        for path in modules(self.told.paths):
            give_bodies(path, bodies(path, recording(path)))
        signal.signal(signal.SIGPROF, interrupt)
        for n, name in enumerate(self.items):
            if name in tests:
                continue
            CALLED.clear()
            start = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, self.told.longest)
            passed = self.play(name)
            signal.setitimer(signal.ITIMER_PROF, 0)
            tests[name] = {"seconds": time.process_time() - start, "passed": passed, "calls": sorted(CALLED)}
            if n % 20 == 0:
                keep(self.told.into, tests=tests)
        keep(self.told.into, tests=tests)
        for path in modules(self.told.paths):
            give_bodies(path, bodies(path, ast.parse(path.read_text())))

    def patched(self, name: str, path: Path, tree: ast.Module, first: int | None, tests: list[str]) -> str:
        """In a child: the test that fails with the changed function, or nothing."""
        from bayou import threads

        threads._pool.cache_clear()  # its threads stayed in the parent
        assert first is not None
        if not give_bodies(path, {first: bodies(path, tree)[first]}):
            return "no such function is alive"
        return next((one for one in tests if one in self.items and not self.play(one)), "")


def imported(name: str, path: Path, tree: ast.Module, first: int | None, tests: list[str]) -> str:
    """In a child that has not imported the package: the test that fails with the changed module, or nothing."""
    import pytest

    class Failure:
        failed = ""

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                self.failed = report.nodeid

    sys.meta_path.insert(0, Replaced(name, path, tree))
    failure = Failure()
    code = int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests], plugins=[failure]))
    return failure.failed or ("an import" if code else "")


def kept(path: Path) -> dict[str, Any]:
    """What was found so far: `tests` by name, `verdicts` by mutant, the number of `mutants` by module."""
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return {"tests": {}, "verdicts": {}, "mutants": {}, **found}


def keep(path: Path, **news: Any) -> None:
    """Write what was found so far, all or nothing."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(kept(path) | news))
    draft.replace(path)


def modules(paths: Sequence[Path]) -> list[Path]:
    return sorted(
        path.resolve() for given in paths for path in (given.rglob("*.py") if given.is_dir() else [given])
    )


def covering(tests: dict[str, Any], path: Path, first: int | None) -> list[str]:
    """The tests that call a function, quickest first; any function of the module if None."""
    module = str(path.relative_to(SOURCE))
    names = [
        name
        for name, test in tests.items()
        if test["passed"] and any(m == module and first in (None, n) for m, n in test["calls"])
    ]
    return sorted(names, key=lambda name: float(tests[name]["seconds"]))


def within(tests: dict[str, Any], names: list[str], seconds: float) -> list[str]:
    """As many of the tests as can be run in so many seconds, and one at least."""
    chosen, spent = names[:1], 0.0
    for name in names[1:]:
        spent += tests[name]["seconds"]
        if spent > seconds:
            break
        chosen.append(name)
    return chosen


Judge = Callable[[str, Path, ast.Module, int | None, list[str]], str]


def verdict(
    judge: Judge, name: str, path: Path, tree: ast.Module, first: int | None, tests: list[str], seconds: float
) -> str:
    """What a child says with so many seconds of processor time: "survives" or "killed" and by what."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1), os.dup2(silent, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
        said = "an error that no test catches"
        try:
            said = judge(name, path, tree, first, tests) or "survives"
        finally:
            os.write(into, said.encode()[:500])
            os._exit(0)
    os.close(into)
    end = time.monotonic() + 30 * seconds  # a child that waits for what does not come
    while time.monotonic() < end and not os.waitpid(child, os.WNOHANG)[0]:
        time.sleep(0.02)
    if time.monotonic() >= end:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    said = os.read(out, 500).decode() or "too long, or the end of the process"
    os.close(out)
    return said if said == "survives" else f"killed: {said}"


def judge_all(told: argparse.Namespace, judge: Judge) -> None:
    """Give mutants, drawn per module, their tests; keep the verdicts."""
    found = kept(told.into)
    tests, verdicts, numbers = found["tests"], found["verdicts"], found["mutants"]
    rng = random.Random(told.seed)
    paths = modules(told.paths)
    for path in rng.sample(paths, len(paths)):  # whatever is stopped is a sample of all
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        text = path.read_text()
        numbers[name] = n_mutants(text)
        chosen_ones = rng.sample(range(numbers[name]), min(told.sample, numbers[name]))
        for line, what, tree in mutants(text, chosen_ones):
            key, first = f"{name}:{line}: {what}", around(text, line)
            known = verdicts.get(key)
            if (first is None) != told.outside or (known and not (told.again and known == "survives")):
                continue
            names = covering(tests, path, first)
            chosen = within(tests, names, told.seconds)
            limit = 15 + 10 * sum(tests[one]["seconds"] for one in chosen)
            verdicts[key] = (
                verdict(judge, name, path, tree, first, chosen, limit) if chosen else "not covered"
            )
            keep(told.into, verdicts=verdicts, mutants=numbers)


def run(told: argparse.Namespace) -> None:
    """Give mutants, drawn per module, their tests; keep the verdicts."""
    if told.outside:
        for heavy in ("numba", "pyarrow", "scipy.special", "sklearn.metrics"):  # not by each child
            __import__(heavy)
        judge_all(told, imported)
        return
    import pytest

    pytest.main(["-q", "-p", "no:cacheprovider", *told.tests], plugins=[Session(told)])


class Named:
    """A pytest plugin that judges changes that are written down, each by its own tests."""

    def __init__(self, changes: Sequence[Mapping[str, str]]) -> None:
        self.changes = changes
        self.session = Session(argparse.Namespace())

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.session.pytest_runtest_logreport(report)

    def pytest_runtestloop(self, session: Any) -> bool:
        for change in self.changes:
            path = ROOT / change["path"]
            text = path.read_text()
            assert change["old"] in text, change
            tests = [item.nodeid for item in session.items if item.nodeid.startswith(change["test"])]
            self.session.items = {item.nodeid: item for item in session.items if item.nodeid in tests}
            for now in (change["old"], change["new"]):
                tree = ast.parse(text.replace(change["old"], now))
                said = verdict(self.changed, "", path, tree, None, tests, 300) if tests else "not covered"
                print(f"\n{change['path']}: {now or '(nothing)'}: {said}", file=sys.__stderr__, flush=True)
        return True

    def changed(self, name: str, path: Path, tree: ast.Module, first: int | None, tests: list[str]) -> str:
        """In a child: the test that fails with the changed functions, or nothing."""
        give_bodies(path, bodies(path, tree))
        return next((one for one in tests if not self.session.play(one)), "")


def named(told: argparse.Namespace) -> None:
    """Judge changes that a file lists; those of kernels where NUMBA_DISABLE_JIT is set, and the others where not."""
    import pytest

    plain = bool(os.environ.get("NUMBA_DISABLE_JIT"))
    changes = [one for one in json.loads(told.file.read_text()) if ("/kernels/" in one["path"]) == plain]
    tests = sorted({one["test"].split("[")[0] for one in changes})
    pytest.main(["-q", "-p", "no:cacheprovider", *tests], plugins=[Named(changes)])


def show(told: argparse.Namespace) -> None:
    """The score of each package, then survivors and what no test calls."""
    found = kept(told.into)
    packages = defaultdict[str, Counter[str]](Counter)
    totals = Counter[str]()
    for name, number in found["mutants"].items():
        totals[name.rpartition(".")[0]] += number
    for key, said in found["verdicts"].items():
        packages[key.split(":")[0].rpartition(".")[0]][said.split(":")[0]] += 1
    for package, tally in packages.items():
        number = sum(tally.values())
        share = 100 * tally["killed"] / number
        print(f"{package}: {number} of {totals[package]} mutants, {dict(tally)}, {share:.1f} % killed")
    for key, said in sorted(found["verdicts"].items()):
        if not said.startswith("killed"):
            print(f"{said}: {key}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("show", help=show.__doc__)
    verb.set_defaults(action=show)
    verb.add_argument("into", type=Path)
    verb = verbs.add_parser("named", help=named.__doc__)
    verb.set_defaults(action=named)
    verb.add_argument("file", type=Path)
    verb = verbs.add_parser("run", help=run.__doc__)
    verb.set_defaults(action=run)
    verb.add_argument("paths", nargs="+", type=Path)
    verb.add_argument("--into", type=Path, required=True, help="where tests and verdicts are kept")
    verb.add_argument("--tests", nargs="+", default=["tests"], help="files, folders or names of tests")
    verb.add_argument(
        "--longest", type=float, default=10.0, help="seconds; tests that take longer are left out"
    )
    verb.add_argument("--sample", type=int, default=10, help="mutants per module, at random")
    verb.add_argument("--seed", type=int, default=0)
    verb.add_argument("--seconds", type=float, default=10.0, help="of tests, per mutant")
    verb.add_argument("--outside", action="store_true", help="what stands outside functions")
    verb.add_argument("--again", action="store_true", help="survivors once more")
    told = parser.parse_args()
    sys.path[:0] = [str(SOURCE), str(ROOT)]
    told.action(told)


if __name__ == "__main__":
    main()
