"""Plots of the learned state of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayou.errors import UnsupportedError
from bayou.inspection.attributes import Attribute, attributes_of, class_labels
from bayou.inspection.model_contents import ModelContents, contents
from bayou.inspection.words import word_tables
from bayou.plots.canvas import REST, axes, colour, legend_beside, plain, tidy
from bayou.report.structure import parents_of
from bayou.report.weights import weights_of
from bayou.schema import Label


def information(model: Any, most: int = 20, ax: Any = None) -> Any:
    """The most informative attributes: mutual information with the class, as a share of the class's entropy.

    >>> from bayou import NaiveBayes
    >>> model = NaiveBayes()
    >>> model.learn_many([{"sky": "blue", "x": 1.0}, {"sky": "grey", "x": 1.1}] * 9, ["dry", "wet"] * 9)
    >>> ax = information(model)
    >>> len(ax.patches)
    2
    """
    attributes = attributes_of(_inside(model))[:most]
    ax = axes(ax, 6.4, 1.0 + 0.28 * len(attributes))
    names = ["≥ " * a.at_least + plain(a.name) for a in attributes]
    shades = [REST if a.at_least else colour(0) for a in attributes]
    ax.barh(names, [a.information for a in attributes], color=shades)
    ax.invert_yaxis()
    note = "; ≥ and grey: at the least, by the means" if any(a.at_least for a in attributes) else ""
    return tidy(ax, "what each attribute tells", f"share of the class's entropy{note}")


def attribute(model: Any, name: str, ax: Any = None) -> Any:
    """A mosaic plot of one attribute's parts by class, or its mean and standard deviation in each class."""
    inside = _inside(model)
    attributes = {a.name: a for a in attributes_of(inside)}
    if name not in attributes:
        raise KeyError(f"the model has no table of {name!r}; it has them of {sorted(attributes)}")
    ax, labels = axes(ax, 6.4, 3.2), class_labels(inside)
    chosen = attributes[name]
    if chosen.counts is None:
        _deviations(ax, chosen, labels)
    else:
        _mosaic(ax, chosen, labels)
    legend_beside(ax)
    level = "" if chosen.level is None else f", level {chosen.level:.4f}"
    qualifier = "at least " if chosen.at_least else ""
    return tidy(ax, f"{plain(name)}: information {qualifier}{100 * chosen.information:.1f} %{level}")


def _mosaic(ax: Any, attribute: Attribute, labels: list[Label]) -> None:
    assert attribute.counts is not None
    weight = attribute.counts.sum(axis=1)
    total = float(weight.sum()) or 1.0
    left = np.concatenate(([0.0], np.cumsum(weight)[:-1])) / total
    share = attribute.counts / np.maximum(weight, 1e-300)[:, np.newaxis]
    below = np.zeros(len(weight))
    for c, label in enumerate(labels):
        ax.bar(left, share[:, c], weight / total, below, align="edge", color=colour(c), edgecolor="white",
               linewidth=0.6, label=plain(label))  # fmt: skip
        below += share[:, c]
    wide = [i for i in range(len(weight)) if weight[i] / total > 0.05]
    ax.set_xticks(
        [left[i] + weight[i] / total / 2 for i in wide],
        [plain(attribute.parts[i], 14) for i in wide],
        fontsize="small",
    )
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)


def _deviations(ax: Any, attribute: Attribute, labels: list[Label]) -> None:
    """Mean and one standard deviation: a density curve would run where no value was seen, and no range is kept."""
    assert attribute.centre is not None
    assert attribute.spread is not None
    for c, label in enumerate(labels):
        if attribute.weight[c] > 0:
            ax.errorbar(
                attribute.centre[c],
                -c,
                xerr=attribute.spread[c],
                fmt="o",
                capsize=4,
                color=colour(c),
                label=plain(label),
            )
    ax.set_yticks([])
    ax.set_xlabel("mean, and one standard deviation on either side")


def words(model: Any, label: Label, most: int = 20, column: str | None = None, ax: Any = None) -> Any:
    """The words that indicate a class most surely, ordered by their log-odds against all other classes."""
    inside = _inside(model)
    tables = {t.column: t for t in word_tables(inside)}
    if not tables:
        raise UnsupportedError("the model has no words to show")
    table = tables[column] if column is not None else next(iter(tables.values()))
    c = class_labels(inside).index(label)
    leading = sorted(table.leading(c, most), key=lambda w: -table.log_odds[w, c])
    ax = axes(ax, 6.4, 1.0 + 0.28 * len(leading))
    ax.barh(
        [plain(table.words[w]) for w in leading], [table.log_odds[w, c] for w in leading], color=colour(c)
    )
    ax.invert_yaxis()
    return tidy(ax, f"words that speak for {plain(label)}", "log-odds")


def weights(model: Any, ax: Any = None) -> Any:
    """The mean weight of every attribute of a weighted naive Bayes."""
    columns = weights_of(_inside(model))
    if columns is None:
        raise UnsupportedError(f"{type(model).__name__} gives its attributes no weights")
    names, values = columns
    mean = values.mean(axis=1)
    order = np.argsort(-mean, kind="stable")
    ax = axes(ax, 6.4, 1.0 + 0.28 * len(names))
    ax.barh([plain(names[j]) for j in order], mean[order], color=colour(3))
    ax.axvline(1.0, color="black", linewidth=0.8, linestyle="--")
    ax.invert_yaxis()
    return tidy(ax, "mean weight over the classes")


def structure(model: Any, ax: Any = None) -> Any:
    """The graph of dependences between attributes, from left to right."""
    parents = parents_of(_inside(model))
    if parents is None:
        raise UnsupportedError(f"{type(model).__name__} has no parents of attributes to draw")
    ax = axes(ax, 8.0, 1.0 + 0.3 * len(parents))
    place: dict[str, tuple[int, int]] = {}
    todo = [(name, 0) for name in sorted((n for n, p in parents.items() if p is None), reverse=True)]
    while todo:
        name, depth = todo.pop()
        place[name] = (depth, -len(place))
        todo += [
            (child, depth + 1) for child in sorted((n for n, p in parents.items() if p == name), reverse=True)
        ]
    for name, (x, y) in place.items():
        parent = parents[name]
        if parent is not None:
            ax.annotate("", (x - 0.05, y), place[parent], arrowprops={"arrowstyle": "->", "color": "#566073"})
        ax.plot(x, y, "o", color=colour(0))
        ax.text(x + 0.08, y, plain(name), va="center")
    ax.set_xlim(-0.2, max(x for x, _ in place.values()) + 1.5)
    ax.set_axis_off()
    return ax


def _inside(model: Any) -> ModelContents:
    if not hasattr(model, "started"):
        raise UnsupportedError(f"this is a picture of a model, not of {type(model).__name__}")
    learned = contents(model)
    if learned is None:
        raise UnsupportedError(f"{type(model).__name__} has learned nothing that could be shown")
    return learned
