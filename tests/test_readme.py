"""The README tells the truth: its code runs, and its table of laws is the one the classifiers declare."""

from __future__ import annotations

import doctest
from pathlib import Path

import bayou.classifiers as classifiers
import bayou.ensembles as ensembles

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- laws -->\n", "<!-- end of laws -->"


def law_table() -> str:
    """The table of laws as the README has it, made from what is declared."""
    by_law: dict[str, list[str]] = {}
    promises = {}
    for home in (classifiers, ensembles):
        for name in home.__all__:
            law = getattr(home, name)().law
            by_law.setdefault(law.value, []).append(f"`{name}`")
            promises[law.value] = law.promise
    rows = [
        f"| {law} | {promises[law]} | {', '.join(sorted(names))} |" for law, names in sorted(by_law.items())
    ]
    return "\n".join(
        ["| law | promise of `merge` | classifiers, with their defaults |", "|---|---|---|", *rows, ""]
    )


def test_code_runs():
    failures, tests = doctest.testfile(str(README), module_relative=False)
    assert tests > 5
    assert failures == 0


def test_table_of_laws_is_the_declared_one():
    text = README.read_text()
    assert text[text.index(BEGIN) + len(BEGIN) : text.index(END)] == law_table()


if __name__ == "__main__":
    text = README.read_text()
    README.write_text(text[: text.index(BEGIN) + len(BEGIN)] + law_table() + text[text.index(END) :])
