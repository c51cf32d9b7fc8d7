"""The screenshots of the site, made anew in a real browser: `make docs-pictures`.

They are those of the start pages, and come from docs/start/payments.csv.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bayou.classifiers import HoeffdingTree, NaiveBayes, WeightedNB
from bayou.evaluate import prequential
from bayou.report import Background, write_report
from bayou.streams import open_stream

DOCS = Path(__file__).parents[1] / "docs"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
WIDTH, HEIGHT = 1100, 1250


def report(folder: Path) -> Path:
    """The report of the ten minutes on the command line."""
    models = {"nb": NaiveBayes(), "wnb": WeightedNB(), "tree": HoeffdingTree()}
    with open_stream(DOCS / "start" / "payments.csv", target="fraud") as stream:
        found = prequential(models, stream)
    path = folder / "report.html"
    command = "bayou evaluate payments.csv --target fraud --model nb,wnb,tree --report report.html"
    write_report(path, found, models, Background("payments.csv", "4,000 rows", command, "fraud", {}))
    return path


# by the file of the picture: what writes the page, and how far down it is taken (an id of the page, or the top)
PICTURES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "start/report.png": (report, ""),
    "start/attributes.png": (report, "attributes"),
}


def take(browser: Any, page: Path, place: str, picture: Path) -> None:
    """One screenshot of a page, from one of its sections on."""
    tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
    tab.goto(page.as_uri() + (f"#{place}" if place else ""))
    tab.wait_for_timeout(300)
    tab.screenshot(path=str(picture))
    tab.close()


def main() -> None:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("no chromium: the pictures stay as they are (Debian: apt-get install chromium)")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for name, (write, place) in PICTURES.items():
            take(browser, write(Path(folder)), place, DOCS / name)
            print(f"docs/{name}")
        browser.close()


if __name__ == "__main__":
    main()
