"""Pages whose code runs: what is in a page, how it is run, and what it must print.

    python -m tests.docs.pages docs/start/python.md ...

runs pages and writes what their code prints into them. In a page

* a block ``python`` is run, all blocks of a page one after the other; what it prints stands in a block
  ``text title="output"`` behind it; with ``>>>`` it is a doctest;
* a block ``console`` holds commands after ``$``, each with what it prints; a line ``...`` stands for any lines;
* a comment ``<!-- long: why -->`` before a block leaves it to `make test-system`, ``<!-- shown: why -->`` to readers;
  ``<!-- before: code -->`` is run before the block and not shown.

Every page begins in an empty folder that holds the files of docs/start which are no pages.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from typer.testing import CliRunner

from bayou.cli.app import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LONG = bool(os.environ.get("BAYOU_LONG"))
FENCE = re.compile(
    r"(?:^<!-- (?P<mark>long|shown|before): (?P<why>[^\n]+) -->\n)?"
    r"^(?P<indent> *)```(?P<language>[\w-]*)(?: (?P<title>[^\n]*))?\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
OUTPUT = 'title="output"'
RATES = re.compile(r"  +[\d.]+( [kMG])?$", re.MULTILINE)
TIMES = re.compile(r"\b[\d.,]+ (ms|s|min|h)\b")
ASIDES = re.compile(r"^(compiling|compiled|\w+  .* left$|\w+  [\d,]+ rows).*\n?", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, and where its text lies in the page."""

    language: str
    title: str
    text: str
    mark: str
    why: str
    line: int
    span: tuple[int, int]

    @property
    def is_left_out(self) -> bool:
        return self.mark == "shown" or (self.mark == "long" and not LONG)


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page."""
    return [
        Block(
            found["language"],
            found["title"] or "",
            re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE),
            found["mark"] or "",
            found["why"] or "",
            text.count("\n", 0, found.start("text")) + 1,
            found.span("text"),
        )
        for found in FENCE.finditer(text)
    ]


def comparable(text: str) -> list[str]:
    """What is printed, without what differs from run to run: times, rates, remarks about progress and compiling."""
    text = ASIDES.sub("", text)
    if "rows/s" in text:
        text = RATES.sub("", text.replace("rows/s", ""))
    lines = [re.sub(r"\s+", " ", line).strip() for line in TIMES.sub("# s", text).splitlines()]
    return [line for line in lines if line]


def is_printed(expected: str, printed: str) -> bool:
    """Whether a text is what a page says is printed; a line `...` of the page stands for any lines."""
    pattern = r"\n".join(
        r"(?:.*\n)*?.*" if line == "..." else re.escape(line) for line in comparable(expected)
    )
    return re.fullmatch(pattern, "\n".join(comparable(printed))) is not None


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the lines behind it."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found and found[-1][0].endswith("\\"):
            found[-1] = (found[-1][0][:-1].rstrip() + " " + line.strip(), "")
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line + "\n")
    return found


def command_output(line: str) -> str:
    """What a command prints: `bayou` alone in this process, which is quick; whatever a shell is needed for in one."""
    words = shlex.split(line, comments=True)
    if words[0] == "bayou" and not {"|", ">", "<", ";", "&&", "&", "||"} & set(words) and "*" not in line:
        return CliRunner(env={"COLUMNS": "120"}).invoke(app, words[1:]).output
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    source = f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        ["bash", "-c", line],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        env=os.environ | {"PATH": path, "PYTHONPATH": source, "COLUMNS": "120"},
    )  # fmt: skip
    return done.stdout


@contextlib.contextmanager
def empty_folder() -> Iterator[Path]:
    """A new folder to work in, with the files that the site offers."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        for file in (DOCS / "start").iterdir():
            if file.suffix in {".csv", ".jsonl", ".json"}:
                shutil.copy(file, name)
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


class PageError(AssertionError):
    """A page says something else than what happens."""


class Run:
    """A page's code, run block by block in an empty folder."""

    def __init__(self, page: Path) -> None:
        self.page = page
        self.names: dict[str, object] = {"__name__": "__main__"}

    def go(self, write: bool = False) -> int:
        """Run all blocks; the number of pieces of code that ran. With `write`, put what they print into the page."""
        text = self.page.read_text()
        found = blocks(text)
        changes: list[tuple[tuple[int, int], str]] = []
        ran = 0
        with empty_folder():
            for block, following in zip_longest(found, found[1:]):
                if block.is_left_out or block.language not in ("python", "console"):
                    continue
                where = f"{self.page.relative_to(ROOT)}:{block.line}"
                if block.mark == "before":
                    exec(block.why, self.names)
                if block.language == "console":
                    new = self.console(block, where, write)
                    changes.append((block.span, new))
                elif block.text.startswith(">>>"):
                    self.doctest(block, where)
                else:
                    printed = self.python(block, where)
                    told = following if following is not None and following.title == OUTPUT else None
                    if told is not None and write:
                        changes.append((told.span, printed))
                    elif told is not None and not is_printed(told.text, printed):
                        raise PageError(f"{where} prints\n{printed}\nwhere the page says\n{told.text}")
                ran += 1
        if write:
            for (begin, end), new in sorted(changes, reverse=True):
                text = text[:begin] + new + text[end:]
            self.page.write_text(text)
        return ran

    def python(self, block: Block, where: str) -> str:
        code = compile("\n" * block.line + block.text, str(self.page), "exec", dont_inherit=True)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, self.names)
        return printed.getvalue()

    def doctest(self, block: Block, where: str) -> None:
        test = doctest.DocTestParser().get_doctest(
            block.text, self.names, where, str(self.page), block.line - 1
        )
        told = io.StringIO()
        failed, _ = doctest.DocTestRunner(verbose=False).run(test, out=told.write, clear_globs=False)
        self.names.update(test.globs)
        if failed:
            raise PageError(told.getvalue())

    def console(self, block: Block, where: str, write: bool) -> str:
        lines = []
        for command, expected in commands(block.text):
            printed = command_output(command)
            right = is_printed(expected, printed)
            if not right and not write:
                raise PageError(f"{where}: $ {command}\nprints\n{printed}\nwhere the page says\n{expected}")
            lines.append(f"$ {command}\n{expected if right else ASIDES.sub('', printed)}")
        return "".join(lines)


def all_pages() -> list[Path]:
    """Every page of the site, and those of the repository that are on it."""
    outside = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [*outside, *sorted(DOCS.rglob("*.md"))]


def main() -> None:
    for name in sys.argv[1:]:
        try:
            print(name, Run(Path(name).resolve()).go(write=True), flush=True)
        except Exception as error:  # go on with the other pages
            print(f"{name}: {type(error).__name__}: {error}", *traceback.format_tb(error.__traceback__)[-2:])


if __name__ == "__main__":
    main()
