"""README, CONTRIBUTING and concepts tell the truth: their code runs, and their tables of laws are what is declared."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import bayou.classifiers as classifiers
import bayou.ensembles as ensembles
from bayou import MergeLaw

README = Path(__file__).parents[1] / "README.md"
CONCEPTS = README.parent / "docs" / "concepts.md"
CONTRIBUTING = README.parent / "CONTRIBUTING.md"
BEGIN, END = "<!-- laws -->\n", "<!-- end of laws -->"
PROMISES_BEGIN, PROMISES_END = "<!-- promises -->\n", "<!-- end of promises -->"


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


def promise_table() -> str:
    """The table of promises as the concepts have it, strongest first."""
    rows = [
        f"| {law.value} | {law.promise} | {'any' if law.commutes else 'stream order'} |" for law in MergeLaw
    ]
    rows = [
        row if law.merges else row.replace("stream order", "")
        for row, law in zip(rows, MergeLaw, strict=True)
    ]
    return "\n".join(["| law | promise of `merge` | order of the shards |", "|---|---|---|", *rows, ""])


def between(text: str, begin: str, end: str) -> str:
    """What stands between two marks."""
    return text[text.index(begin) + len(begin) : text.index(end)]


@pytest.mark.parametrize(("page", "examples"), [(README, 15), (CONCEPTS, 18), (CONTRIBUTING, 3)])
def test_code_runs(page, examples):
    failures, tests = doctest.testfile(str(page), module_relative=False)
    assert tests >= examples
    assert failures == 0


def test_tables_of_laws_are_the_declared_ones():
    assert between(README.read_text(), BEGIN, END) == law_table()
    assert between(CONCEPTS.read_text(), PROMISES_BEGIN, PROMISES_END) == promise_table()


def write(page: Path, begin: str, end: str, table: str) -> None:
    """Put a table between two marks."""
    text = page.read_text()
    page.write_text(text[: text.index(begin) + len(begin)] + table + text[text.index(end) :])


if __name__ == "__main__":
    write(README, BEGIN, END, law_table())
    write(CONCEPTS, PROMISES_BEGIN, PROMISES_END, promise_table())
