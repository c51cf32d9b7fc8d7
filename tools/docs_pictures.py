"""The screenshots of the site, made anew in a real browser: `make docs-pictures`.

They are those of the start pages and of the live page, and come from docs/start/payments.csv.
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


def live(browser: Any) -> None:
    """The live page while a model learns the payments several times over, fraud moving to other hours on the way."""
    from bayou.client import Client
    from bayou.serve import LivingModel, RunningServer

    with open_stream(DOCS / "start" / "payments.csv", target="fraud") as stream:
        found = stream.read(4000)
    assert found is not None
    names, labels = list(found.columns), found.labels.to_pylist()
    cells = zip(*(column.to_pylist() for column in found.columns.values()), strict=True)
    rows = [dict(zip(names, line, strict=True)) for line in cells]
    moved = [{**row, "hour": (row["hour"] + 12) % 24, "amount": 2000 / (1 + row["amount"])} for row in rows]
    living = LivingModel("payments", NaiveBayes(), shadows={"tree": HoeffdingTree()}, learns=True)
    with RunningServer({"payments": living}, port=0) as server, Client(server.url) as client:
        for turn in range(10):
            for start in range(0, 4000, 400):
                part = slice(start, start + 400)
                client.learn_many((moved if turn > 5 else rows)[part], labels[part])
        for name, width, scheme in (("live.png", WIDTH, "light"), ("live-phone.png", 390, "dark")):
            tab = browser.new_page(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
            tab.goto(server.url)
            tab.wait_for_selector("#columns svg")
            for i in range(400):
                client.predict_one(moved[i])
                if i % 20 == 0:
                    client.learn_many(moved[i : i + 20], labels[i : i + 20])
            tab.wait_for_timeout(2500)
            tab.screenshot(path=str(DOCS / "how-to" / name))
            tab.close()
            print(f"docs/how-to/{name}")


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
        live(browser)
        browser.close()


if __name__ == "__main__":
    main()
