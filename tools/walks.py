"""How many functions and packages a reader meets on five common walks through the code.

python tools/walks.py [WALK]        one line per walk; with a name, the functions of that walk as they are first called

A walk is run once to warm up, then watched: every Python function of bayou that is entered counts once, whatever it is
called with, comprehensions with the function they stand in, and every compiled kernel that Python calls.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import bayou

HOME = Path(bayou.__file__).parent


def entered(work: Callable[[], object]) -> list[tuple[str, str]]:
    """Module and name of every function that is entered while `work` runs, each once, in order."""
    found: dict[CodeType, None] = {}

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(HOME)):
            found.setdefault(frame.f_code)

    work()
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    inner = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")
    return [
        (str(Path(code.co_filename).relative_to(HOME)), code.co_qualname)
        for code in found
        if code.co_name not in inner
    ]


def packages(functions: list[tuple[str, str]]) -> set[str]:
    """Packages of bayou that the functions stand in; modules that stand alone are one together."""
    return {module.split("/")[0] if "/" in module else "" for module, _ in functions}


def walks() -> dict[str, Callable[[], object]]:
    """The five walks, over a small table of numbers and names."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300).astype(str)
    table: dict[str, Any] = {"x": rng.normal(size=300), "z": rng.normal(size=300)}
    table["day"] = rng.choice(["mon", "tue", "wed"], 300)
    record = {"x": 0.5, "z": 1.5, "day": "tue"}
    begun, weighted = bayou.NaiveBayes(numeric="gaussian"), bayou.WeightedNB(numeric="gaussian")
    for model in (begun, weighted):
        model.learn_many(table, y)
    path = Path(tempfile.mkdtemp()) / "walk.bayou"
    begun.save(path)

    def one() -> None:
        begun.learn_one(record, "0")
        begun.predict_proba_one(record)

    return {
        "fit": lambda: bayou.NaiveBayes(numeric="gaussian").fit(table, y),
        "learn_one": one,
        "evaluate": lambda: bayou.prequential(bayou.NaiveBayes(numeric="gaussian"), (table, y)),
        "weighted": lambda: weighted.learn_many(table, y),
        "load_merge": lambda: bayou.load(path).merge(bayou.load(path)),
    }


if __name__ == "__main__":
    for title, work in walks().items():
        functions = entered(work)
        if sys.argv[1:] in ([], [title]):
            print(f"{title:12} {len(functions):4} functions {len(packages(functions)):3} packages")
        if sys.argv[1:] == [title]:
            print("\n".join(f"  {module}: {name}" for module, name in functions))
