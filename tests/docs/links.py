"""Links of the pages: where they lead, and which anchors a page has, without building the site."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from tools.site_pages import PAGES

from tests.docs.pages import ROOT

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^( *)```.*?^\1```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def links(text: str) -> list[str]:
    """Targets of all links and pictures of a page, outside of code."""
    return LINK.findall(CODE.sub("", text))


def anchors(text: str) -> set[str]:
    """Every place of a page that a link may name: headings as MkDocs spells them, ids, and names of the reference."""
    found: set[str] = set()
    fenced = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#{1,6} (.+)$", fenced, re.MULTILINE):
        found.add(unique(slug(heading), found))
    found |= set(re.findall(r'id="([^"]+)"', text))
    return found | set(re.findall(r"^::: (\S+)$", text, re.MULTILINE))


def slug(heading: str) -> str:
    """A heading's anchor, as Python-Markdown makes it.

    >>> slug("Text, 10-fold"), slug("`fit` and what it **does**")
    ('text-10-fold', 'fit-and-what-it-does')
    """
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    ascii_only = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_only).strip().lower())


def unique(name: str, taken: set[str]) -> str:
    """The name, numbered if another heading has it."""
    n = 0
    while (numbered := f"{name}_{n}" if n else name) in taken:
        n += 1
    return numbered


def broken(page: Path) -> list[str]:
    """Links of a page that lead nowhere, or out of what is published."""
    bad = []
    for link in links(page.read_text()):
        if re.match(r"https?://|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.is_file():
            bad.append(f"{link}: there is no such file")
        elif anchor and anchor not in anchors(there.read_text()):
            bad.append(f"{link}: {there.name} has no such heading")
        elif ROOT / "docs" in page.parents and not is_on_site(there):
            bad.append(f"{link}: the site has no such page")
    return bad


def is_on_site(path: Path) -> bool:
    """Whether a file of the repository is on the site."""
    return ROOT / "docs" in path.parents or str(path.relative_to(ROOT)) in {*PAGES, "README.md"}
