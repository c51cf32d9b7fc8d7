"""The built site in a real browser, opened as files: two widths, nothing from outside, search that finds words."""

from __future__ import annotations

import importlib.util
import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE
from tests.docs.pages import LONG, ROOT

pytestmark = [
    pytest.mark.skipif(not LONG, reason="builds the site and opens a browser: make test-system"),
    pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="NO MKDOCS: pip install '.[docs]'"),
]
SECONDS = 120
WIDTHS = {"wide": 1280, "narrow": 390}
WORDS = (
    "install prequential merge unlearn drift checkpoint quantile MODL AODE HoeffdingTree Bagging ECOC calibration "
    "glossary spam fraud Spark River kappa digest"
).split()
PAGES = (
    "index.html start/command-line.html start/python.html how-to/drift.html understand/models.html accuracy.html "
    "reference/classifiers.html reference/commands.html reference/glossary.html reference/changelog.html"
).split()


def processor_seconds() -> float:
    """Of all processes that were started and have ended: a busy machine does not make a build slower."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    begun = processor_seconds()
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT, check=True, env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert processor_seconds() - begun < SECONDS
    return folder


@pytest.fixture(params=WIDTHS)
def tab(request: pytest.FixtureRequest, browser: Any) -> Iterator[Any]:
    """A tab that notes errors and whatever is asked for outside of the site."""
    opened = browser.new_page(viewport={"width": WIDTHS[request.param], "height": 900})
    opened.set_default_timeout(PATIENCE)
    opened.troubles = []
    opened.on("pageerror", lambda error: opened.troubles.append(str(error)))
    opened.on("request", lambda asked: asked.url.startswith("http") and opened.troubles.append(asked.url))
    yield opened
    opened.close()


def test_pages_open_and_fit_and_fetch_nothing_from_outside(site, tab):
    for page in PAGES:
        tab.goto((site / page).as_uri())
        assert tab.locator("article h1").first.inner_text().strip()
        assert tab.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 1, page
    assert tab.troubles == []


def test_search_finds_twenty_words(site, tab):
    tab.goto((site / "index.html").as_uri())
    tab.wait_for_function("document.querySelector('[data-md-component=search-query]') !== null")
    tab.evaluate("document.getElementById('__search').click()")
    query = tab.locator("[data-md-component=search-query]")
    for word in WORDS:
        query.fill("")
        query.press_sequentially(word)
        tab.wait_for_function(
            """word => [...document.querySelectorAll('.md-search-result__item')].some(
                item => item.textContent.toLowerCase().includes(word))""",
            arg=word.lower(),
        )
    assert len(WORDS) == 20
    assert tab.troubles == []


def test_light_and_dark(site, browser):
    colours = set()
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.set_default_timeout(PATIENCE)
        page.goto((site / "index.html").as_uri())
        colours.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.close()
    assert len(colours) == 2


def test_no_page_names_a_script_font_or_style_from_outside(site):
    for page in site.rglob("*.html"):
        outside = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', page.read_text())
        assert outside == [], page.name
