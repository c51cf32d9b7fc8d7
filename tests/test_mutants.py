"""The script that makes mutants changes one thing at a time, and nothing that is only said."""

from __future__ import annotations

import ast

from tools import mutants

TEXT = '''"""Text."""
def f(x: int = 3, *, deep: "bool" = True) -> "list[int]":
    if not x.all() or x < 2:
        raise ValueError(f"{x + 1} is too small")
    return max(x, -x) + 1
'''


def test_one_change_each():
    made = {ast.unparse(tree) for _, _, tree in mutants.mutants(TEXT)}
    plain = ast.unparse(ast.parse(TEXT))
    told = {what for _, what, _ in mutants.mutants(TEXT)}
    assert plain not in made
    assert len(made) == len(list(mutants.mutants(TEXT)))
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
