"""The live page in a real browser, with names that would be markup if anybody let them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.conftest import PATIENCE
from tests.serve.conftest import Asking

from bayou import HoeffdingTree, NaiveBayes
from bayou.client import Client
from bayou.serve import LivingModel, RunningServer
from bayou.serve.roles import Access
from bayou.serve.settings import Settings

EVIL = '<img src=x onerror="window.hacked=1">'
COLUMN = '"><script>window.hacked=1</script>&amp;'
TOKEN = "predict-0123456789"


def rows(n: int, start: int = 0) -> tuple[list[dict[str, Any]], list[str]]:
    found = [
        {COLUMN: EVIL if i % 3 else "plain", "x": float(i % 5), "z" * 60: i % 2}
        for i in range(start, start + n)
    ]
    return found, [EVIL if i % 3 == (i % 50 == 0) else "fine" for i in range(start, start + n)]


@pytest.fixture(scope="module")
def watched() -> Iterator[Asking]:
    living = LivingModel("evil", NaiveBayes(), shadows={"tree": HoeffdingTree()}, learns=True)
    with RunningServer(
        {"evil": living, "second": LivingModel("second", NaiveBayes(), learns=True)}, port=0
    ) as server:
        with Client(server.url) as client:
            for i in range(5):
                client.learn_many(*rows(600, 600 * i))
            client.learn_many(*rows(1), visible=True)
            for record in rows(20)[0]:
                client.predict_one(record)
        yield Asking(server)


class Opened:
    def __init__(self, browser: Any, url: str, width: int, scheme: str) -> None:
        size = {"width": width, "height": 900}
        self.context = browser.new_context(viewport=size, color_scheme=scheme)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(url)

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_page_shows_a_living_model_and_runs_nothing_of_it(
    browser: Any, watched: Asking, width: int, scheme: str
) -> None:
    before = watched("/model").json["rows"]
    with Opened(browser, watched.server.url, width, scheme) as opened:
        page = opened.page
        page.wait_for_selector("#curves svg polyline")
        page.wait_for_selector("#columns svg")
        for part in ("tiles", "curves", "columns", "variants", "mistakes"):
            assert page.locator(f"#{part}-section").is_visible(), part
        assert EVIL in page.locator("#mistakes").inner_text()
        page.locator("#mistakes button").first.click()
        page.wait_for_selector("#explanation svg")
        assert COLUMN[:20] in page.locator("#explanation").text_content()
        page.fill("#record", '{"x": "no number"}')
        page.click("#explain button")
        page.wait_for_selector("#explanation .wrong")
        assert "not a number" in page.locator("#explanation").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert page.evaluate("window.hacked") is None
        assert page.locator("main img, main script").count() == 0
        with Client(watched.server.url) as client:
            client.learn_many(*rows(7), visible=True)
        page.locator("#tiles", has_text=f"{before + 7:,}").wait_for()
        assert {url for url in opened.requests if not url.startswith((watched.server.url, "data:"))} == set()
        assert [
            text for text in opened.complaints if "422" not in text
        ] == []  # the browser tells of the bad record
    assert watched("/model").json["rows"] == before + 7


def test_another_model_can_be_chosen(browser: Any, watched: Asking) -> None:
    with Opened(browser, watched.server.url, 1280, "light") as opened:
        opened.page.wait_for_selector("#curves svg")
        opened.page.select_option("#model", "second")
        opened.page.locator("#tiles", has_text="Rows learned0").wait_for()
        assert not opened.page.locator("#curves-section").is_visible()


def test_a_guarded_server_asks_for_a_token(browser: Any) -> None:
    living = LivingModel("guarded", NaiveBayes(), learns=True)
    settings = Settings(access=Access.of_lines(f"predict {TOKEN}"))
    with RunningServer({"guarded": living}, port=0, settings=settings) as server:
        ask = Asking(server)
        assert ask("/events").status == 401
        assert TOKEN not in ask("/").body.decode()
        with Opened(browser, server.url, 1280, "light") as opened:
            opened.page.wait_for_selector("#token")
            opened.page.fill("#token", TOKEN)
            opened.page.click("#asking button")
            opened.page.wait_for_selector("#tiles .tile")
            assert not opened.page.locator("#asking").is_visible()
