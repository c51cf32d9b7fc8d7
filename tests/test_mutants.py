"""The script that makes mutants changes one thing at a time, and nothing that is only said."""

from __future__ import annotations

import ast
import builtins
import gc
from pathlib import Path

import pytest
from tools import mutant_text, mutants

TEXT = '''"""Text."""
def f(x: int = 3, *, deep: "bool" = True) -> "list[int]":
    if not x.all() or x < 2:
        raise ValueError(f"{x + 1} is too small")
    return max(x, -x) + 1
'''


def test_one_change_each():
    made = {ast.unparse(tree) for _, _, tree in mutant_text.mutants(TEXT)}
    plain = ast.unparse(ast.parse(TEXT))
    told = {what for _, what, _ in mutant_text.mutants(TEXT)}
    assert plain not in made
    assert len(made) == len(list(mutant_text.mutants(TEXT)))
    assert told == {
        "3  ->  4",
        "True  ->  False",
        "not x.all() or x < 2  ->  not x.all() and x < 2",
        "not x.all()  ->  x.all()",
        "x.all()  ->  x.any()",
        "x < 2  ->  x <= 2",
        "2  ->  3",
        "max(x, -x) + 1  ->  max(x, -x) - 1",
        "max(x, -x)  ->  min(x, -x)",
        "-x  ->  x",
        "1  ->  2",
    }


MODULE = """
LIMIT = 3

class Thing:
    size = 1

    @staticmethod
    def first(x, most=2):
        \"\"\"Said.\"\"\"
        return x + most


def second(x):
    def inner():
        return x * 2
    return inner()
"""


def test_lines_belong_to_the_function_whose_body_they_stand_in():
    at = {line: mutant_text.around(MODULE, line) for line in range(1, 17)}
    assert {line for line, first in at.items() if first is None} == {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13}
    assert at[9] == at[10] == 7  # that of the decorator, as a code object has it
    assert at[14] == at[15] == at[16] == 13


def test_changed_bodies_are_those_of_the_living_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "module.py"
    path.write_text(MODULE)
    monkeypatch.setattr(mutants, "SOURCE", tmp_path)
    monkeypatch.setattr(builtins, "__called__", mutants.CALLED, raising=False)
    names: dict[str, object] = {}
    exec(compile(MODULE, str(path), "exec"), names)
    taken = names["second"]  # as another module imports it
    gc.freeze()  # as conftest does; what is frozen is found all the same
    assert mutants.give_bodies(path, mutant_text.bodies(path, mutants.recording(path))) == 2
    mutants.CALLED.clear()
    assert taken(4) == 8
    assert mutants.CALLED == {("module.py", 13), ("module.py", 14)}
    changed = next(tree for _, told, tree in mutant_text.mutants(MODULE) if told == "x * 2  ->  x / 2")
    assert mutants.give_bodies(path, {13: mutant_text.bodies(path, changed)[13]}) == 1
    assert taken(4) == 2.0
    assert names["Thing"].first(1) == 3
    gc.freeze()
