"""The reference of the command line, from the commands' own help: `python tools/commands_page.py` writes the page."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from typer.testing import CliRunner

from bayou.cli.app import SUMMARIES, app

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "commands.md"
HEAD = """# Commands and options

Made from the commands' own help by `python tools/commands_page.py`. What they have in common, exit codes and how a run
that was stopped goes on: [the command line](../command-line.md). What `--model` takes: [classifiers](classifiers.md).
"""


@cache
def help_of(command: str) -> str:
    """What `bayou COMMAND --help` prints on a terminal so wide that every option has one line."""
    return CliRunner().invoke(app, [command, "--help"], terminal_width=1000, max_content_width=1000).output


def text() -> str:
    """The page."""
    return "\n".join([HEAD, *map(section, SUMMARIES)])


def section(command: str) -> str:
    """One command: what it does, its arguments, its options."""
    before, _, listed = help_of(command).partition("\nArguments:\n")
    if not listed:
        before, _, listed = before.partition("\nOptions:\n")
    usage, about = before.strip().split("\n", 1)
    usage = usage.removeprefix("Usage: ").replace("{", "").replace("}", "")
    rows = []
    listed = re.sub(r"\n {10,}(?=\S)", "  ", listed)  # a long option has its meaning on the next line
    for line in listed.split("\n  Exit codes:")[0].splitlines():
        if found := re.match(r"  (\S.*?)  +(.*)", line):
            what, meaning = found.groups()
            meaning, _, default = meaning.partition("  [")
            rows.append(f"| `{cell(what)}` | {cell(meaning)} | {cell(default.rstrip(']'))} |")
    table = ["| option | meaning | |", "|---|---|---|", *rows]
    return "\n".join([f"## bayou {command}\n", f"{' '.join(about.split())}\n", f"    {usage}\n", *table, ""])


def cell(words: str) -> str:
    """Words that fit into a cell of a table."""
    return re.sub(r"\s+", " ", words).strip().replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(text())
