"""Every code block of the site runs and prints what the page shows; commands that only stand there exist."""

from __future__ import annotations

import importlib.util
import re
import shlex

import pytest
from tools import payments
from tools.commands_page import help_of

from tests.docs.pages import ROOT, PageError, Run, all_pages, blocks, is_printed

COMMAND = re.compile(r"^(?:\$ )?((?:bayou|python -m|make) .*)$", re.MULTILINE)
WITH_CODE = [
    page
    for page in all_pages()
    if any(b.language in ("python", "console") and not b.is_left_out for b in blocks(page.read_text()))
]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
@pytest.mark.filterwarnings("default::bayou.errors.BayouWarning")
def test_code_runs_and_prints_what_the_page_shows(page):
    assert Run(page).go() > 0


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_that_only_stand_there_exist(page):
    for block in blocks(page.read_text()):
        if block.language in ("python", "text") or (block.language == "console" and not block.is_left_out):
            continue
        for command in COMMAND.findall(block.text):
            for part in command.split(" · "):
                check_command(part.split("  #")[0], f"{page.name}:{block.line}")


def check_command(command: str, where: str) -> None:
    """Raise unless a command, its options, its module or its target exist."""
    words = shlex.split(command, comments=True)
    if words[0] == "make":
        assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text(), f"{where}: {command}"
    elif words[:2] == ["python", "-m"]:
        assert words[2] in ("pip", "pytest", "build") or importlib.util.find_spec(words[2]), (
            f"{where}: {command}"
        )
    elif not words[1].startswith("-"):
        known = help_of(words[1])
        assert known.startswith("Usage: bayou "), f"{where}: {command}"
        for word in words[2:]:
            if word in ("|", "&&", ">", ";"):
                break
            if re.match(r"--?[a-z]", word):
                assert re.search(rf"(?<![\w-]){word.split('=')[0]}(?![\w-])", known), (
                    f"{where}: {command}: {word}"
                )


def test_the_payments_are_what_their_tool_makes():
    assert payments.FILE.read_text() == payments.text()


def test_a_page_that_is_wrong_is_noticed(tmp_path):
    page = ROOT / "docs" / "start" / "wrong-for-a-test.md"
    page.write_text('```python\nprint(1 + 1)\n```\n\n```text title="output"\n3\n```\n')
    try:
        with pytest.raises(PageError, match="prints\n2"):
            Run(page).go()
    finally:
        page.unlink()


def test_what_differs_from_run_to_run_is_not_compared():
    assert is_printed("a.csv: 10 rows, 3 s\n", "compiling, once, about 10 s\na.csv: 10 rows, 45 ms\n")
    assert is_printed("rows/s\nnb  97.1  1.2 k\n", "rows/s\nnb  97.1  950\n")
    assert not is_printed("rows/s\nnb  97.1  1.2 k\n", "rows/s\nnb  97.2  1.2 k\n")
    assert is_printed("first\n...\nlast\n", "first\nsecond\nthird\nlast\n")
    assert not is_printed("first\n...\nlast\n", "first\nsecond\n")
