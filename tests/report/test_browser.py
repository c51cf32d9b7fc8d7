"""Pages opened in a real browser, as a person would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PATIENCE

from bayou.classifiers import NaiveBayes
from bayou.evaluate import prequential
from bayou.report import Background, write_report
from bayou.streams.generators import MixedGaussian

PAGES = ("electricity", "adult", "sms", "many")
ALWAYS = "overview curves confusion classes thresholds reliability cost data rejects repeat".split()
ALSO = {
    "electricity": ["attributes", "trees", "weights"],
    "adult": ["attributes", "structure"],
    "sms": ["words"],
    "many": ["attributes"],
}


class Opened:
    """A page, with all it complained about or asked the network for."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()
        if error[0] is None:
            assert self.complaints == []
            assert [url for url in self.requests if not url.startswith("file:")] == []
            assert len(self.requests) == 1


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_section_is_there_and_nobody_is_kept_out(
    browser: Any, axe: str, made: Any, name: str, scheme: str
) -> None:
    _, _, path = made(name)
    with Opened(browser, path, color_scheme=scheme) as opened:
        page = opened.page
        keys = page.eval_on_selector_all("main > section", "all => all.map(s => s.id)")
        assert set(keys) == {*ALWAYS, *ALSO[name]}
        for key in keys:
            box = page.locator(f"#{key}").bounding_box()
            assert box["height"] > 60, key
            assert len(page.locator(f"#{key}").inner_text()) > 20, key
        assert page.locator("svg").count() > 8
        for svg in page.locator("#curves svg, #thresholds svg, #attributes svg").all()[:30]:
            assert svg.locator("> title").count() == 1
        page.evaluate(
            "document.querySelectorAll('.card:nth-of-type(n + 7)').forEach(c => c.remove())"
        )  # all made alike
        page.evaluate(axe)
        # dark changes colours and nothing else; what passes is not reported node by node
        rules = ", runOnly: ['color-contrast']" if scheme == "dark" else ""
        found = page.evaluate(f"axe.run(document, {{resultTypes: ['violations']{rules}}})")["violations"]
        serious = [
            (v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")
        ]
        assert serious == []


@pytest.mark.parametrize("name", PAGES)
def test_a_telephone_and_paper_show_it_too(browser: Any, made: Any, name: str) -> None:
    _, _, path = made(name)
    with Opened(browser, path) as opened:
        opened.page.set_viewport_size({"width": 390, "height": 800})
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
        opened.page.emulate_media(media="print")
        opened.page.set_viewport_size({"width": 700, "height": 1000})
        opened.page.evaluate("document.querySelectorAll('details.model').forEach(d => d.open = true)")
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 700
        assert not opened.page.locator("nav").is_visible()
        assert len(opened.page.pdf()) > 20_000


def test_attributes_can_be_searched_ordered_and_all_shown(browser: Any, made: Any) -> None:
    _, _, path = made("many")
    with Opened(browser, path) as opened:
        page = opened.page
        part = page.locator("#attributes details.model").first
        assert part.locator(".card:visible").count() == 50
        assert part.locator(".count").inner_text() == "50 of 120 attributes"
        first = part.locator(".card:visible h4").first.inner_text()
        part.locator(".find").fill("x119")
        assert part.locator(".card:visible").count() == 1
        part.locator(".find").fill("")
        part.locator(".order").select_option("name")
        assert part.locator(".card:visible h4").first.inner_text().startswith("x0")
        part.locator(".order").select_option("information")
        assert part.locator(".card:visible h4").first.inner_text() == first
        part.locator("button.all").click()
        assert part.locator(".card:visible").count() == 120
        assert not part.locator("button.all").is_visible()


def test_tables_sort_by_keyboard(browser: Any, made: Any) -> None:
    found, _, path = made("many")
    with Opened(browser, path) as opened:
        table = opened.page.locator("#overview table")
        button = table.locator("thead button").nth(1)
        button.focus()
        opened.page.keyboard.press("Enter")
        shown = table.locator("tbody tr td:nth-of-type(1)").evaluate_all(
            "all => all.map(cell => Number(cell.dataset.value))"
        )
        assert shown == sorted((r.accuracy for r in found.results.values()), reverse=True)
        assert table.locator("thead th").nth(1).get_attribute("aria-sort") == "descending"
        opened.page.keyboard.press("Enter")
        assert table.locator("thead th").nth(1).get_attribute("aria-sort") == "ascending"


def test_the_threshold_moves(browser: Any, made: Any) -> None:
    found, _, path = made("many")
    with Opened(browser, path) as opened:
        part = opened.page.locator("#thresholds details.model").first
        slider, told = part.locator("input[type=range]"), part.locator("output")
        result = found["nb"]
        support = dict(zip(result.labels, result.scores.per_class.support, strict=True))
        table = result.thresholds(min(support, key=lambda c: support[c]))
        lines = table.lines()
        dot = part.locator(".on-roc circle")
        before = dot.get_attribute("cx")
        slider.focus()
        opened.page.keyboard.press("Home")
        line = lines[0]
        assert told.inner_text() == (
            f"0.000: precision {100 * line['precision']:.1f} %, recall 100.0 %, F1 {100 * line['f1']:.1f} %; "
            f"{int(table.positives):,} found, 0 missed, {int(table.negatives):,} false alarms"
        )
        assert dot.get_attribute("cx") != before


def test_names_that_are_markup_stay_text(browser: Any, tmp_path: Path) -> None:
    evil = '<script>window.hit=1</script>"\'><img src=x onerror="window.hit=1">'
    rows = [{evil: "a" + evil if i % 2 else "b", f"n{evil}": float(i % 7)} for i in range(60)]
    model = NaiveBayes()
    model.learn_many(rows, [evil if i % 2 else "</style><svg onload=alert(1)>" for i in range(60)])
    path = tmp_path / "evil.html"
    write_report(path, None, {evil: model}, Background(evil, evil, evil))
    with Opened(browser, path) as opened:
        assert opened.page.evaluate("window.hit") is None
        assert opened.page.locator("img").count() == 0
        assert opened.page.locator("h1").inner_text() == evil
        assert opened.page.locator("script").count() == 1
        assert opened.page.locator(".card h4").first.inner_text().startswith("<script>")


def test_the_scores_of_models_with_long_names_are_not_cut_off(browser: Any, tmp_path: Path) -> None:
    models = {"nb(numeric='gaussian', smoothing=0.5)": NaiveBayes(numeric="gaussian", smoothing=0.5)}
    found = prequential(models, MixedGaussian(seed=1), rows=1500)
    write_report(tmp_path / "page.html", found, models, Background("long", "", "", "class", {}))
    with Opened(browser, tmp_path / "page.html") as opened:
        wide, room = opened.page.locator("#overview .scroll").first.evaluate(
            "e => [e.scrollWidth, e.clientWidth]"
        )
        assert wide <= room
