"""Mutation testing by hand: one operator of a module is changed, the tests that call the changed function must fail.

    python tools/mutants.py run src/bayou/persist --tests tests/persist --into found.json --sample 80 --seed 1
    python tools/mutants.py run src/bayou/persist --tests tests/persist --into found.json --sample 80 --seed 1 --outside
    python tools/mutants.py show found.json --equivalent tools/equivalent_mutants.json
    python tools/mutants.py named tools/named_mutants.json

The tests run once, which tells which of them call which function and how long each takes. Then mutants are drawn
from all of a package; each gets the tests that call its function, the quickest first, up to `--seconds`. A mutant is
*killed* where a test fails or takes too long, and *survives* where all pass. Verdicts are kept as they come: a run goes
on where it was stopped, a larger sample with the same seed adds to them, and `--again` gives survivors the tests that
are named now. `show` lists the score of each package with its interval, and survivors with their line; a file may name
those that change nothing a caller could see, and why. `named` judges changes of the text that a file lists, each by its
own tests, which pass without it.

Files are never written: a process forked after everything is imported, and all kernels are loaded, is given the changed
function. What stands outside functions (`--outside`: constants, declared arrays) needs a fresh import, and tests of the
whole module. Compiled kernels cannot be changed that way: with NUMBA_DISABLE_JIT=1 they are plain Python, by the rules
of compiled code for logarithms of 0 and overflow, and those tests are used that pass like this.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import gc
import importlib.abc
import importlib.util
import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from tools.mutant_judging import NOT_ALIVE, SOURCE, judge_all, modules, verdict  # noqa: E402 # found only now
from tools.mutant_text import bodies  # noqa: E402
from tools.mutant_verdicts import keep, kept, show  # noqa: E402


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
    gc.unfreeze()  # frozen objects are not listed
    for one in gc.get_objects():
        if type(one) is FunctionType and one.__code__.co_filename == str(path):
            code = wanted.get(one.__code__.co_firstlineno)
            if code is not None and code.co_name == one.__code__.co_name:
                one.__code__ = code
                found += 1
    return found


OPTIONS = ["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
if os.environ.get("NUMBA_DISABLE_JIT"):
    OPTIONS += ["-W", "ignore::RuntimeWarning"]  # compiled code does not warn
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
            has_docstring = isinstance(node.body[0], ast.Expr) and isinstance(
                node.body[0].value, ast.Constant
            )
            node.body.insert(int(has_docstring), note)
    return ast.fix_missing_locations(tree)


class CompiledMath:
    """The module math by the rules of compiled code: infinity and NaN where Python raises."""

    def __getattr__(self, name: str) -> Any:
        function = getattr(math, name)
        if not callable(function):
            return function

        def lenient(*args: Any) -> Any:
            try:
                return function(*args)
            except (ValueError, OverflowError):
                import numpy as np

                return float(getattr(np, name)(*args)) if hasattr(np, name) else math.inf

        return lenient


def compute_as_compiled() -> None:
    """Give kernels that run as plain Python the rules of compiled ones, as far as that can be."""
    import numpy as np

    np.seterr(all="ignore")
    for name, module in list(sys.modules.items()):
        if name.startswith("bayou.kernels.") and hasattr(module, "math"):
            module.math = CompiledMath()  # type: ignore[attr-defined]


class TooLongError(BaseException):
    """Not an Exception: Hypothesis would look for a simpler example of it."""


def interrupt(number: int, frame: FrameType | None) -> None:
    raise TooLongError


class Session:
    """A pytest plugin that runs the tests for what they call, then again in forks, with mutants."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.failed = ""
        self.items: dict[str, Any] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed = report.nodeid

    def pytest_runtestloop(self, session: Any) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        if os.environ.get("NUMBA_DISABLE_JIT"):
            compute_as_compiled()
        if not self.options.outside:
            if not self.options.known:
                self.cover()
            judge_all(self.options, self.patched)
        return True

    def play(self, name: str) -> bool:
        """Whether a test passes."""
        self.failed = ""
        item = self.items[name]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.failed

    def cover(self) -> None:
        """Run each test whose calls are not known, and keep them."""
        tests = kept(self.options.into)["tests"]
        setattr(builtins, "__called__", CALLED)  # noqa: B010 # a name that every module can see
        for path in modules(self.options.paths):
            give_bodies(path, bodies(path, recording(path)))
        signal.signal(signal.SIGPROF, interrupt)
        for n, name in enumerate(self.items):
            if name in tests:
                continue
            CALLED.clear()
            start = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, self.options.longest)
            passed = self.play(name)
            signal.setitimer(signal.ITIMER_PROF, 0)
            tests[name] = {"seconds": time.process_time() - start, "passed": passed, "calls": sorted(CALLED)}
            if n % 20 == 0:
                keep(self.options.into, tests=tests)
        keep(self.options.into, tests=tests)
        for path in modules(self.options.paths):
            give_bodies(path, bodies(path, ast.parse(path.read_text())))

    def patched(self, name: str, path: Path, tree: ast.Module, first: int | None, tests: list[str]) -> str:
        """In a child: the test that fails with the changed function, or nothing."""
        forget_threads()
        assert first is not None
        if not give_bodies(path, {first: bodies(path, tree)[first]}):
            return NOT_ALIVE
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
    code = int(pytest.main([*OPTIONS, "-x", *tests], plugins=[failure]))
    return failure.failed or ("an import" if code else "")


def forget_threads() -> None:
    """Let pools start threads anew, in a child: those they had stayed in the parent."""
    for one in gc.get_objects():
        if isinstance(one, ThreadPoolExecutor):
            one._threads.clear()
            one._idle_semaphore = threading.Semaphore(0)  # type: ignore[attr-defined]


def forget_shrinking() -> None:
    """A failing example of Hypothesis is enough: nobody reads it."""
    import hypothesis

    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    hypothesis.settings.register_profile("mutants", phases=phases, database=None)
    hypothesis.settings.load_profile("mutants")


def run(options: argparse.Namespace) -> None:
    """Give mutants, drawn per module, their tests; keep the verdicts."""
    if options.outside:
        for heavy in ("numba", "pyarrow", "scipy.special", "sklearn.metrics"):  # not by each child
            __import__(heavy)
        judge_all(options, imported)
        return
    import pytest

    forget_shrinking()
    pytest.main([*OPTIONS, *options.tests], plugins=[Session(options)])


class Named:
    """A pytest plugin that judges changes that are written down, each by its own tests."""

    def __init__(self, changes: Sequence[Mapping[str, str]]) -> None:
        self.changes = changes
        self.session = Session(argparse.Namespace())

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.session.pytest_runtest_logreport(report)

    def pytest_runtestloop(self, session: Any) -> bool:
        if os.environ.get("NUMBA_DISABLE_JIT"):
            compute_as_compiled()
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
        if not give_bodies(path, bodies(path, tree)):
            return NOT_ALIVE
        return next((one for one in tests if not self.session.play(one)), "")


def named(options: argparse.Namespace) -> None:
    """Judge changes that a file lists; those of kernels where NUMBA_DISABLE_JIT is set, and the others where not."""
    import pytest

    plain = bool(os.environ.get("NUMBA_DISABLE_JIT"))
    changes = [one for one in json.loads(options.file.read_text()) if ("/kernels/" in one["path"]) == plain]
    tests = sorted({one["test"].split("[")[0] for one in changes})
    forget_shrinking()
    pytest.main([*OPTIONS, *tests], plugins=[Named(changes)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("show", help=show.__doc__)
    verb.set_defaults(action=show)
    verb.add_argument("into", type=Path)
    verb.add_argument("--equivalent", type=Path, help="a file of mutants that change nothing, and why")
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
    verb.add_argument("--sample", type=int, default=80, help="mutants per package, at random")
    verb.add_argument("--seed", type=int, default=0)
    verb.add_argument("--seconds", type=float, default=10.0, help="of tests, per mutant")
    verb.add_argument("--known", action="store_true", help="judge by the tests whose calls are known already")
    verb.add_argument("--outside", action="store_true", help="what stands outside functions")
    verb.add_argument("--again", action="store_true", help="survivors once more, by the tests named")
    options = parser.parse_args()
    options.action(options)


if __name__ == "__main__":
    main()
