"""The section on forests: columns ranked by gain and by use, and partial dependence of the first of them."""

from __future__ import annotations

import numpy as np

from bayou.inspection.forests import PartialView, forest_uses, partial_view
from bayou.inspection.importance import forest_gains
from bayou.inspection.model_contents import ModelContents
from bayou.plain_text import percent, shortened
from bayou.report.drawing import bars, beside, colour, figure, legend, stack
from bayou.report.markup import Safe, fold, join, tag
from bayou.report.tables import Cell, table
from bayou.summaries.forest import Forest

_BARS, _VIEWS = 20, 6  # columns drawn, and columns whose values are shown


def forest_of(inside: ModelContents) -> Forest | None:
    """The forest of a model; None where it has none, or one without trees."""
    view = inside.views.get("forest")
    if view is None or not isinstance(view.summary, Forest) or view.summary.trees == 0:
        return None
    return view.summary


def forest_picture(forest: Forest, inside: ModelContents) -> Safe:
    """Size of the forest, importance of the columns, and partial dependence on the most important ones."""
    gains, uses = forest_gains(forest, inside.schema), forest_uses(forest, inside.schema)
    ranked = sorted(gains, key=lambda name: (-gains[name], -uses[name], name))
    leaves = int(np.count_nonzero(forest.attribute < 0))
    depth = sum(uses.values())
    facts = f"{forest.trees:,} trees with {leaves:,} leaves; a row is tested {depth:.1f} times on its way down one"
    by_gain = [(name, gains[name], f"{percent(gains[name])} %") for name in ranked[:_BARS]]
    by_use = [(name, uses[name], f"{uses[name]:.2f}") for name in ranked[:_BARS]]
    lines: list[list[object]] = [
        [name, Cell(f"{percent(gains[name])}", gains[name]), Cell(f"{uses[name]:.3f}", uses[name])]
        for name in ranked
    ]
    views = [
        _values(partial_view(forest, inside.schema, name)) for name in ranked[:_VIEWS] if gains[name] > 0
    ]
    return join(
        (
            tag("p", f"{facts}.", class_="remark"),
            beside(
                figure("Entropy of the class that splits by a column take away", bars("Gain", by_gain, "c0")),
                figure("Tests of a column that a row meets in one tree", bars("Use", by_use, "c3")),
            ),
            fold("As a table", table("Columns", ["Column", "Gain in %", "Tests per row and tree"], lines)),
            *views,
        )
    )


def _values(view: PartialView) -> Safe:
    """The class probabilities for every part of a column, as bars."""
    items = [
        tag("li", tag("span", part, class_="test"), stack(row, _shares(view, row)))
        for part, row in zip(view.parts, view.proba.tolist(), strict=True)
    ]
    entries = [(colour(i), shortened(label, 30)) for i, label in enumerate(view.labels[:8])]
    head = f"{view.column}, whatever the other columns hold"
    return figure(head, legend(entries), tag("ul", *items, class_="tree"))


def _shares(view: PartialView, row: list[float]) -> str:
    return ", ".join(f"{shortened(label, 30)} {p:.1%}" for label, p in zip(view.labels, row, strict=True))
