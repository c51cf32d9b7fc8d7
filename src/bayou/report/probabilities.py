"""Sections on what each model predicted, model after model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from bayou.plain_text import shortened
from bayou.report.chances import reliability, thresholds
from bayou.report.drawing import beside
from bayou.report.evaluations import Finding
from bayou.report.markup import Safe, join, tag
from bayou.report.mistakes import confusion, per_class

Part = tuple[str, str, Safe]


def probability_parts(results: Mapping[str, Finding]) -> Iterator[Part]:
    """Confusion, classes, thresholds and reliability, each with all models below one heading."""
    yield "confusion", "Confusion matrix", _each(results, lambda r, _: confusion(r))
    yield "classes", "Precision, recall and F1", _each(results, lambda r, _: per_class(r))
    yield "thresholds", "ROC, precision–recall and thresholds", _each(results, thresholds, wide=True)
    yield "reliability", "Reliability", _each(results, lambda r, _: reliability(r), narrow=True)


def _each(
    results: Mapping[str, Finding],
    make: Callable[[Finding, str], Safe],
    *,
    wide: bool = False,
    narrow: bool = False,
) -> Safe:
    """What is made of every model; side by side where it is narrow, folded after the first where it is wide."""
    made = {name: make(result, str(i)) for i, (name, result) in enumerate(results.items())}
    made = {name: content for name, content in made.items() if content}
    if len(made) <= 1:
        return join(made.values())
    if wide:
        return by_model(made)
    parts = [tag("div", tag("h3", shortened(name, 60)), content) for name, content in made.items()]
    return beside(*parts, narrow=narrow)


def by_model(made: Mapping[str, Safe]) -> Safe:
    """A fold per model, the first open; one model needs none."""
    if len(made) == 1:
        return next(iter(made.values()))
    return join(
        tag("details", tag("summary", tag("h3", shortened(name, 80))), content, open=i == 0, class_="model")
        for i, (name, content) in enumerate(made.items())
    )
