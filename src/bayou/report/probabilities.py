"""The sections on the predictions of each model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from bayou.plain_text import shortened
from bayou.report.drawing import beside
from bayou.report.evaluations import ModelResult
from bayou.report.markup import Safe, join, tag
from bayou.report.mistakes import confusion, per_class
from bayou.report.probability_charts import reliability, thresholds

Part = tuple[str, str, Safe]


def probability_parts(results: Mapping[str, ModelResult]) -> Iterator[Part]:
    """Confusion, scores by class, thresholds and reliability: a section each, with all models in it."""
    yield "confusion", "Confusion matrix", _each(results, lambda r, _: confusion(r))
    yield "classes", "Precision, recall and F1", _each(results, lambda r, _: per_class(r))
    yield "thresholds", "ROC, precision–recall and thresholds", _each(results, thresholds, wide=True)
    yield "reliability", "Reliability", _each(results, lambda r, _: reliability(r), narrow=True)


def _each(
    results: Mapping[str, ModelResult],
    make: Callable[[ModelResult, str], Safe],
    *,
    wide: bool = False,
    narrow: bool = False,
) -> Safe:
    """One section: the content made for each model, side by side, or with `wide` folded after the first."""
    content_by_model = {name: make(result, str(i)) for i, (name, result) in enumerate(results.items())}
    content_by_model = {name: content for name, content in content_by_model.items() if content}
    if len(content_by_model) <= 1:
        return join(content_by_model.values())
    if wide:
        return by_model(content_by_model)
    parts = [
        tag("div", tag("h3", shortened(name, 60)), content) for name, content in content_by_model.items()
    ]
    return beside(*parts, narrow=narrow)


def by_model(content_by_model: Mapping[str, Safe]) -> Safe:
    """The content of each model in a fold of its own, the first open; no fold around a single model."""
    if len(content_by_model) == 1:
        return next(iter(content_by_model.values()))
    return join(
        tag("details", tag("summary", tag("h3", shortened(name, 80))), content, open=i == 0, class_="model")
        for i, (name, content) in enumerate(content_by_model.items())
    )
