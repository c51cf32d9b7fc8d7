"""No link, anchor or picture of a page leads nowhere, and every page is in one of the five parts."""

from __future__ import annotations

import re

import pytest
from tools.site_pages import PAGES

from tests.docs.links import broken
from tests.docs.pages import DOCS, ROOT, all_pages


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert broken(page) == []


def test_a_broken_link_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One\n[a](#one) [b](#two) [c](gone.md) `[d](code.md)`\n")
    assert [link.split(":")[0] for link in broken(page)] == ["#two", "gone.md"]


def test_every_page_is_in_a_part_of_the_site():
    """A page that is not in `nav` of mkdocs.yml is found by nobody."""
    nav = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1]
    listed = re.findall(r": (\S+\.md)$", nav, re.MULTILINE)
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} | set(PAGES.values())
    assert set(listed) == pages
    assert len(listed) == len(set(listed))
    assert re.findall(r"^  - (\w[\w ]*):$", nav, re.MULTILINE) == [
        "Start", "How to", "Understand", "Reference", "Evidence",
    ]  # fmt: skip


def test_paths_that_sources_name_exist():
    for folder in ("src", "tests", "benchmarks", "reproduce", "tools"):
        for file in (ROOT / folder).rglob("*.py"):
            for path in re.findall(r"\bdocs/[\w/-]+\.md\b", file.read_text()):
                assert (ROOT / path).is_file(), f"{file.relative_to(ROOT)} names {path}"
