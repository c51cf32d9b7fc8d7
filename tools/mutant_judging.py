"""Mutants drawn from a package and judged one by one, each in a child of its own, by the tests that call it."""

from __future__ import annotations

import argparse
import ast
import os
import random
import resource
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutant_text import around, mutants, n_mutants
from tools.mutant_verdicts import keep, kept

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
NOT_ALIVE, TOO_LONG = "no such function is alive", "too long, or the end of the process"
PATIENCE = 3000  # looks, fifty a second, at a child that uses no processor time


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
    looks, used = 0, [""]
    while not os.waitpid(child, os.WNOHANG)[0]:
        time.sleep(0.02)
        looks, before, used = looks + 1, used, Path(f"/proc/{child}/stat").read_text().split()[13:15]
        looks = looks if used == before else 0
        if looks > PATIENCE:  # it waits for what does not come
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            break
    said = os.read(out, 500).decode() or TOO_LONG
    os.close(out)
    return said if said in ("survives", NOT_ALIVE) else f"killed: {said}"


@dataclass
class Case:
    """The tests of one mutant, the seconds they have, and which tests are known to pass or to fail without a change."""

    chosen: list[str]
    limit: float
    steady: set[str]
    unsteady: set[str]


def confirmed(judge: Judge, name: str, path: Path, tree: ast.Module, first: int | None, case: Case) -> str:
    """The verdict by tests that pass in a child without the change: others kill nothing, and are asked no more."""
    while case.chosen:
        outcome = verdict(judge, name, path, tree, first, case.chosen, case.limit)
        killer = outcome.removeprefix("killed: ")
        if killer == outcome or killer in case.steady:
            return outcome
        tests = [killer] if killer in case.chosen else case.chosen
        plain = verdict(judge, name, path, ast.parse(path.read_text()), first, tests, case.limit)
        if plain == "survives":
            case.steady.update(tests)
            return outcome
        case.unsteady.update(
            tests if len(tests) == 1 or plain.endswith(TOO_LONG) else [plain.removeprefix("killed: ")]
        )
        case.chosen = [one for one in case.chosen if one not in case.unsteady]
    return "not covered"


def drawn(package: Path, sample: int, seed: int) -> tuple[list[tuple[Path, int]], int]:
    """Mutants of a package at random, each by its module and number there, and how many there are."""
    every = [(path, i) for path in modules([package]) for i in range(n_mutants(path.read_text()))]
    order = random.Random(f"{seed} {package.name}").sample(every, len(every))
    return order[:sample], len(every)


def judge_all(options: argparse.Namespace, judge: Judge) -> None:
    """Give mutants, drawn per package, their tests; keep the verdicts."""
    found = kept(options.into)
    tests, verdicts = found["tests"], found["verdicts"]
    steady, unsteady = set[str](), set[str]()
    for package in options.paths:
        chosen_ones, found["mutants"][dotted(package)] = drawn(package, options.sample, options.seed)
        keys = found["drawn"][dotted(package)] = []
        for path, number in chosen_ones:
            name, text = dotted(path), path.read_text()
            line, what, tree = next(mutants(text, [number]))
            key, first = f"{name}:{line}: {what}", around(text, line)
            keys.append(key)
            known = verdicts.get(key)
            if (first is None) != options.outside or (
                known and not (options.again and "killed" not in known)
            ):
                continue
            names = [one for one in covering(tests, path, first) if one not in unsteady]
            if options.again:
                names = [one for one in names if one.startswith(tuple(options.tests))]
            chosen = within(tests, names, options.seconds)
            limit = 5 + 5 * sum(tests[one]["seconds"] for one in chosen)
            if chosen or not options.again:
                case = Case(chosen, limit, steady, unsteady)
                verdicts[key] = confirmed(judge, name, path, tree, first, case)
            keep(options.into, verdicts=verdicts, mutants=found["mutants"], drawn=found["drawn"])


def dotted(path: Path) -> str:
    """The name of a module or package."""
    return ".".join(path.resolve().relative_to(SOURCE).with_suffix("").parts)
