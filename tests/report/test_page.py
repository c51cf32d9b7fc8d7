"""The page as text: what it says agrees with the numbers, whatever the model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from bayou import classifiers, ensembles
from bayou.classifiers import MajorityClass, MultinomialNB, NaiveBayes
from bayou.classifiers.fan import FAN
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.classifiers.super_parent import SuperParent
from bayou.classifiers.tan import TAN
from bayou.classifiers.weighted import WeightedNB
from bayou.evaluate import holdout, prequential
from bayou.evaluate.evaluation import Evaluation
from bayou.readings.modl_groups import MODLGroups
from bayou.report import Background, attributes_of, contents, report_html
from bayou.report.drawing import bars
from bayou.streams.generators import BagOfWords, ManyGaussians, MixedGaussian

OTHERS = (FAN, HoeffdingTree, SuperParent, TAN, WeightedNB)
ALL = sorted(
    {*(getattr(m, n) for m in (classifiers, ensembles) for n in m.__all__), *OTHERS}, key=lambda c: c.__name__
)


class Balanced(HTMLParser):
    """Fails where elements do not close in order; remembers exact numbers of tables."""

    VOID = frozenset(("meta", "input"))

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.values: list[float] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        known = dict(attrs)
        if tag == "td" and "data-value" in known:
            self.values.append(float(known["data-value"]))
        if known.get("id"):
            self.ids.append(known["id"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(page: str) -> Balanced:
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert len(set(parser.ids)) == len(parser.ids)
    assert "http://" not in page
    assert "https://" not in page
    return parser


@pytest.mark.parametrize("kind", ALL)
def test_every_classifier_has_a_page(kind: Any) -> None:
    model = kind()
    stream = BagOfWords(seed=5) if kind.numbers_are_words is True else MixedGaussian(seed=5)
    found = prequential({"it": model}, stream, rows=400, window=100)
    parser = parsed(report_html(found, {"it": model}, Background("t", command="bayou evaluate")))
    assert {"overview", "curves", "confusion", "repeat"} <= set(parser.ids)
    parsed(report_html(models={"it": model}))
    parsed(report_html(models={"it": kind()}))


def test_figures_are_those_of_the_json() -> None:
    models = {"nb": NaiveBayes(), "gk": NaiveBayes(numeric="gk")}
    found = prequential(models, MixedGaussian(seed=2), rows=3000)
    values = parsed(report_html(found, models)).values
    for told in found.to_dict()["models"]:
        wanted = [told[name] for name in ("accuracy", "kappa", "kappa_temporal", "kappa_m", "macro_f1")]
        wanted += [told["log_loss"], told["brier"], told["calibration_error"], told["windowed"]["accuracy"]]
        place = next(i for i in range(len(values)) if values[i : i + len(wanted)] == wanted)
        assert place < 60
        if told["baseline"]:
            continue
        for row in told["confusion"]:
            assert any(values[i : i + len(row)] == row for i in range(len(values)))
        for c in range(len(told["labels"])):
            line = [told["per_class"][name][c] for name in ("precision", "recall", "f1", "support")]
            assert any(values[i : i + 4] == line for i in range(len(values)))


def test_a_hundred_attributes_stay_small_and_two_thousand_usable() -> None:
    models = {"gk": NaiveBayes(numeric="gk"), "nb": NaiveBayes()}
    found = prequential(models, ManyGaussians(attributes=100), rows=2000)
    assert len(report_html(found, models).encode()) < 3_000_000
    wide = NaiveBayes()
    rng = np.random.default_rng(0)
    wide.fit(rng.normal(size=(50, 2000)), rng.integers(0, 2, 50))
    page = report_html(models={"wide": wide})
    assert page.count('<article class="card"') == 2000
    assert page.count('<article class="card" hidden') == 1950
    assert len(page.encode()) < 3_000_000


def test_one_row_one_class_no_row() -> None:
    for rows in ([], [("a", {"x": 1.0, "y": "p"})], [("a", {"x": 1.0, "y": "p"})] * 20):
        model = NaiveBayes(numeric="gk")
        found = prequential({"nb": model}, ([r for _, r in rows], [c for c, _ in rows]))
        parsed(report_html(found, {"nb": model}))


def test_markup_in_names_is_escaped_everywhere() -> None:
    evil = "<i>&\"'"
    rows = [{evil: f"{evil}{i % 3}", "t" + evil: float(i % 5)} for i in range(300)]
    labels = [f"{evil}{i % 4}" for i in range(300)]
    models: dict[str, Any] = {
        f"{evil}{i}": m for i, m in enumerate((NaiveBayes(), TAN(), HoeffdingTree(), WeightedNB()))
    }
    models |= {f"{evil}w": MultinomialNB()}
    found = prequential(models, (rows, labels))
    page = report_html(found, models, Background(evil, evil, evil, evil, {evil: 3}))
    parsed(page)
    assert "<i>" not in page


def test_words_are_ranked_by_what_they_say() -> None:
    model = MultinomialNB()
    model.learn_many(
        [{"text": "cheap pills now"}, {"text": "see you now"}] * 30, ["spam", "ham"] * 30
    )  # fmt: skip
    model.learn_one({"text": "<b>bold</b>"}, "spam")
    page = report_html(models={"m": model})
    parsed(page)
    assert "<b>bold" not in page
    spam = page[page.index("Words for spam") :]
    assert spam.index("cheap") < spam.index("now")


def test_attributes_say_how_much_they_tell() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 4000)
    noise = rng.normal(size=(4000, 3))
    rows = [
        {"strong": 4.0 * c + a, "weak": c + 2.0 * a, "none": b, "nominal": str(c if d > -1.2 else 1 - c)}
        for c, (a, b, d) in zip(y.tolist(), noise.tolist(), strict=True)
    ]
    found = {}
    for numeric in ("gaussian", "gk"):
        model = NaiveBayes(numeric=numeric)
        model.learn_many(rows, y.tolist())
        digest = model.digest()
        inside = contents(model)
        assert inside is not None
        found[numeric] = {a.name: a for a in attributes_of(inside)}
        assert model.digest() == digest
    for name in ("strong", "weak", "none"):
        gap = found["gk"][name].information - found["gaussian"][name].information
        assert -0.01 < gap < 0.25, name
    assert list(found["gk"]) == ["strong", "nominal", "weak", "none"]
    part = found["gk"]["strong"]
    assert part.level is not None
    assert part.level > 0.4
    assert part.counts is not None
    assert part.counts.sum() == 4000
    assert part.parts[0].startswith("≤ ")
    assert found["gk"]["none"].parts == ("all values",)


def test_groups_of_values_are_shown_with_their_level() -> None:
    from bayou.readings.groups import Groups
    from bayou.summaries.value_counts import ValueCounts
    from bayou.views.view import Searched

    class Grouped(NaiveBayes):
        def views(self) -> Any:
            return {**super().views(), "nominal": Searched(ValueCounts(), Groups(MODLGroups()))}

    model = Grouped()
    values = ["a", "b", "c", "d"]
    rows = [{"v": values[i % 4]} for i in range(4000)]
    model.learn_many(rows, [("x" if i % 4 < 2 else "y") if i % 9 else "x" for i in range(4000)])
    inside = contents(model)
    assert inside is not None
    (found,) = attributes_of(inside)
    assert found.shape == "groups"
    assert len(found.parts) == 2
    assert {frozenset(part.replace(", all others", "").split(", ")) for part in found.parts} == {
        frozenset("ab"), frozenset("cd"),
    }  # fmt: skip
    parsed(report_html(models={"g": model}))


def test_a_holdout_and_baselines_alone_have_pages() -> None:
    models = {"nb": NaiveBayes()}
    data = ([{"a": float(i % 5)} for i in range(200)], [str(i % 2) for i in range(200)])
    found = holdout(models, data, data)
    page = report_html(found, None)
    parsed(page)
    assert 'id="curves"' not in page
    alone = prequential({"m": MajorityClass()}, MixedGaussian(), rows=200)
    parsed(report_html(alone))


def with_drifts(found: Evaluation, rows: Iterable[int]) -> Evaluation:
    """The evaluation as if its model had noticed drifts."""
    results = {**found.results, "nb": replace(found["nb"], drift_rows=tuple(rows))}
    return replace(found, results=results)


def test_drifts_and_rejects_are_told() -> None:
    model = NaiveBayes()
    found = prequential({"nb": model}, MixedGaussian(seed=1), rows=3000)
    found = with_drifts(found, [1500])
    page = report_html(found, {"nb": model}, Background(rejects={"not a number": 7}))
    assert "nb noticed a drift at row 1,500" in page
    assert re.search(r"not a number</th><td[^>]*>7<", page)


def test_an_evaluation_writes_its_own_report(tmp_path):
    from bayou import NaiveBayes, prequential

    rows = [{"x": float(i % 7), "c": "ab"[i % 2]} for i in range(300)]
    found = prequential({"mine": NaiveBayes()}, (rows, ["ab"[i % 3 == 0] for i in range(300)]))
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "mine" in page
    assert "<svg" in page


def test_information_that_was_not_counted_says_so() -> None:
    """A heavy tail: fitted normals would tell half of the class, the counts tell a seventh, the means less."""
    rng = np.random.default_rng(3)
    y = rng.random(20_000) < 0.25
    gain = np.where(rng.random(20_000) < np.where(y, 0.2, 0.03), np.where(y, 15_000.0, 3_000.0), 0.0)
    rows = [{"gain": g, "sex": s} for g, s in zip(gain.tolist(), np.where(y, "m", "f").tolist(), strict=True)]
    found = {}
    for numeric in ("gaussian", "gk"):
        model = NaiveBayes(numeric=numeric)
        model.learn_many(rows, y.tolist())
        inside = contents(model)
        assert inside is not None
        found[numeric] = {a.name: a for a in attributes_of(inside)}
        page = report_html(models={"m": model})
        told = numeric == "gaussian"
        assert ("the means of the classes tell at the least" in page) is told
        assert ("information at least " in page) is told
        assert ("Mean and one standard deviation on either side" in page) is told
    assert found["gaussian"]["gain"].at_least
    assert not found["gaussian"]["sex"].at_least
    assert not found["gk"]["gain"].at_least
    assert 0.01 < found["gaussian"]["gain"].information < found["gk"]["gain"].information


def test_what_is_written_beside_a_bar_fits_into_the_picture() -> None:
    made = str(bars("Rows by class", [("<=50K", 24_720.0, "24,720 (75.9 %)"), ("a" * 40, 1.0, "1 (0.0 %)")]))
    widths = [
        float(x) + 7 * len(text) for x, text in re.findall(r'<text x="([\d.]+)" y="\d+">([^<]*)<', made)
    ]
    assert len(widths) == 2
    assert max(widths) <= 540


def test_bars_of_words_are_ordered_by_their_length() -> None:
    rng = np.random.default_rng(5)
    names = [f"w{i}" for i in range(40)]
    rows = [{"text": " ".join(rng.choice(names, 6, p=np.arange(1, 41) / 820))} for _ in range(400)]
    model = MultinomialNB()
    model.learn_many(rows, ["even" if "w39" in row["text"] or "w2" in row["text"] else "odd" for row in rows])
    page = report_html(models={"m": model})
    for label in ("even", "odd"):
        picture = page[page.index(f"Words for {label}") :].split("</svg>")[0]
        lengths = [float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', picture)]
        assert len(lengths) > 3
        assert lengths == sorted(lengths, reverse=True)


def test_drifts_are_pins_on_the_axis_rather_than_a_grid() -> None:
    model = NaiveBayes()
    found = prequential({"nb": model}, MixedGaussian(seed=1), rows=3000)
    page = report_html(with_drifts(found, range(100, 3000, 100)), {"nb": model})
    pins = re.findall(r'<g class="fill drift c0"><title>[^<]*</title><polygon points="([^"]*)"', page)
    assert len(pins) >= 2 * 29
    for points in pins:
        heights = [float(point.split(",")[1]) for point in points.split()]
        assert max(heights) - min(heights) < 10


def test_long_names_stay_whole_in_their_tile() -> None:
    page = report_html(models={"m": MultinomialNB()})
    assert '<b class="long">MultinomialNB</b>' in page
    assert "<b>" not in page.split("MultinomialNB")[0].rsplit("<dt>", 1)[-1]
