"""The tables of laws in the documentation are what is declared; `python -m tests.test_readme` writes them."""

from __future__ import annotations

from pathlib import Path

import bayou.classifiers as classifiers
import bayou.ensembles as ensembles
from bayou import MergeLaw

DOCS = Path(__file__).parents[1] / "docs"
LAWS, CONCEPTS = DOCS / "understand" / "merge-laws.md", DOCS / "concepts.md"
BEGIN, END = "<!-- laws -->\n", "<!-- end of laws -->"
PROMISES_BEGIN, PROMISES_END = "<!-- promises -->\n", "<!-- end of promises -->"


def law_table() -> str:
    """The classifiers by their laws, made from what is declared."""
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


def test_tables_of_laws_are_the_declared_ones():
    assert between(LAWS.read_text(), BEGIN, END) == law_table()
    assert between(CONCEPTS.read_text(), PROMISES_BEGIN, PROMISES_END) == promise_table()


def write(page: Path, begin: str, end: str, table: str) -> None:
    """Put a table between two marks."""
    text = page.read_text()
    page.write_text(text[: text.index(begin) + len(begin)] + table + text[text.index(end) :])


if __name__ == "__main__":
    write(LAWS, BEGIN, END, law_table())
    write(CONCEPTS, PROMISES_BEGIN, PROMISES_END, promise_table())
