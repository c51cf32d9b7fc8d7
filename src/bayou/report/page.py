"""The report as one self-contained HTML page."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from bayou.inspection.model_contents import contents
from bayou.report import overview
from bayou.report.curves import learning_curves
from bayou.report.data import class_weights, data_summary, rejects
from bayou.report.evaluations import Background, Evaluations, ModelResult, without_baselines
from bayou.report.markup import Safe, fold, join, tag
from bayou.report.model_part import attributes_and_labels, model_parts
from bayou.report.probabilities import probability_parts
from bayou.report.promises import promise_parts

_SHORT = {
    "curves": "Curves",
    "confusion": "Confusion",
    "classes": "Classes",
    "thresholds": "Thresholds",
    "attributes": "Attributes",
    "structure": "Dependences",
    "candidates": "Candidates",
    "calibrated": "Calibration",
    "sets": "Sets",
    "cost": "Speed",
    "repeat": "Repeat",
}


@dataclass(frozen=True)
class Section:
    """A heading and its content; a section without content is left out."""

    key: str
    title: str
    content: Safe

    @property
    def short(self) -> str:
        """The title in the navigation."""
        return _SHORT.get(self.key, self.title)

    def html(self) -> Safe:
        """The section as an HTML element."""
        heading = f"{self.key}-title"
        return tag(
            "section", tag("h2", self.title, id=heading), self.content, id=self.key, aria_labelledby=heading
        )


def report_html(
    found: Evaluations | None = None,
    models: Mapping[str, Any] | None = None,
    background: Background | None = None,
) -> str:
    """A page on an evaluation, on models, or on both.

    Parameters
    ----------
    found
        An evaluation, as `prequential`, `holdout` and others give it.
    models
        The models themselves, by the names the evaluation knows them by: what they have learned is shown.
    background
        Title, data, command, rejects.

    Examples
    --------
    >>> from bayou.classifiers import NaiveBayes
    >>> model = NaiveBayes()
    >>> model.learn_many([{"sky": "blue"}, {"sky": "grey"}] * 9, ["dry", "wet"] * 9)
    >>> page = report_html(models={"nb": model})
    >>> page.startswith("<!doctype html>"), "What each attribute says" in page
    (True, True)
    """
    known, background = dict(models or {}), background or Background()
    return page_html(background, [s for s in _sections(found, known, background) if s.content])


def page_html(background: Background, sections: Sequence[Section]) -> str:
    """A page of sections, with a navigation."""
    links = [tag("li", tag("a", s.short, href=f"#{s.key}")) for s in sections]
    head = join(
        (
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("title", background.title),
            Safe(f"<style>{_resource('page.css')}</style>"),
        )
    )
    body = join(
        (
            tag("a", "Skip to the report", href="#main", class_="skip"),
            tag(
                "header",
                tag("p", "bayou", class_="brand"),
                tag("h1", background.title),
                tag("p", background.about),
            ),
            tag("nav", tag("ul", *links), aria_label="Sections"),
            tag("main", *(s.html() for s in sections), id="main", tabindex="-1"),
            Safe(f"<script>{_resource('page.js')}</script>"),
        )
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def write_report(
    path: str | os.PathLike[str],
    found: Evaluations | None = None,
    models: Mapping[str, Any] | None = None,
    background: Background | None = None,
) -> None:
    """Write the report to a file: one page of HTML that needs nothing else.

    Parameters
    ----------
    path
        The file, which is overwritten.
    found
        An evaluation, as `prequential`, `holdout` and others give it.
    models
        The models themselves, by the names the evaluation knows them by: what they have learned is shown.
    background
        Title, data, command, rejects.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayou.classifiers import NaiveBayes
    >>> model = NaiveBayes()
    >>> model.learn_many([{"sky": "blue"}, {"sky": "grey"}] * 9, ["dry", "wet"] * 9)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.html"
    >>> write_report(path, models={"nb": model})
    >>> "What each attribute says" in path.read_text(encoding="utf-8")
    True
    """
    page = report_html(found, models, background)
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


def _sections(
    evaluations: Evaluations | None, models: Mapping[str, Any], background: Background
) -> Iterator[Section]:
    model_contents = {name: contents(model) for name, model in models.items()}
    if evaluations is not None and evaluations.results:
        results = without_baselines(evaluations)
        yield Section(
            "overview",
            "Overview",
            join((overview.headline_tiles(evaluations), overview.models_table(evaluations))),
        )
        yield Section("curves", "Learning curves", learning_curves(evaluations))
        yield from (Section(key, title, content) for key, title, content in probability_parts(results))
        shown = {
            name: model_contents[name]
            for name in models
            if name not in evaluations.results or not evaluations.results[name].baseline
        }
        shown_models = {name: model for name, model in models.items() if name in shown}
        yield from (
            Section(key, title, content) for key, title, content in promise_parts(shown_models, results)
        )
    else:
        shown = dict(model_contents)
        facts = [_facts(name, model) for name, model in models.items()]
        yield Section("overview", "Overview", join(facts))
        yield from (Section(key, title, content) for key, title, content in promise_parts(models, {}))
    learned = {name: inside for name, inside in shown.items() if inside is not None}
    yield from (Section(key, title, content) for key, title, content in model_parts(learned))
    if evaluations is not None and evaluations.results:
        yield Section("cost", "Speed and memory", overview.cost(evaluations))
    yield Section("data", "Data", _data(evaluations, learned, background))
    if evaluations is not None:
        yield Section("rejects", "Rejects", rejects(background, evaluations.rejected))
    yield Section("repeat", "How to repeat it", overview.repeat(background))


def _data(evaluations: Evaluations | None, models: Mapping[str, Any], background: Background) -> Safe:
    first_model = next(iter(models.values()), None)
    support: dict[Any, float] = {}
    if evaluations is not None and evaluations.results:
        result: ModelResult = next(iter(evaluations.results.values()))
        support = dict(zip(result.labels, result.scores.per_class.support.tolist(), strict=True))
    elif first_model is not None:
        support = class_weights(first_model)
    attributes = attributes_and_labels(first_model)[0] if first_model is not None else []
    return data_summary(first_model, attributes, support, background)


def _facts(name: str, model: Any) -> Safe:
    from bayou.report.numbers import size

    entries: list[tuple[str, str, str]] = [("Model", type(model).__name__, "merges: " + model.law.value)]
    if model.started:
        rows = model.arrays().get("rows", model.arrays().get("learned", [0]))
        entries += [
            ("Rows learned", f"{int(rows[0]):,}", "labelled, with weight"),
            ("Classes", f"{len(model.labels()):,}", ""),
            ("Columns", f"{len(model.schema_.place):,}", ""),
            ("Memory", size(model.memory_bytes), "of learned state"),
        ]
    return join((overview.tiles(entries), fold("The model in full", tag("p", tag("code", repr(model))))))


def _resource(name: str) -> str:
    return (files("bayou.report") / name).read_text(encoding="utf-8")


__all__: Sequence[str] = ["Section", "report_html", "write_report"]
