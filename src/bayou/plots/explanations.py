"""The plot of an explanation: a bar for every attribute."""

from __future__ import annotations

from typing import Any

from bayou.classifiers.explanation import Explanation
from bayou.plots.canvas import axes, plain, tidy


def explanation(explained: Explanation, most: int = 20, ax: Any = None) -> Any:
    """What each attribute of a row adds to the log-odds; the strongest first, the others summed up.

    >>> from bayou import NaiveBayes
    >>> model = NaiveBayes()
    >>> model.learn_many([{"sky": "blue", "x": 1.0}, {"sky": "grey", "x": 2.0}] * 9, ["dry", "wet"] * 9)
    >>> ax = explanation(model.explain({"sky": "blue", "x": 1.2}))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['base', 'x = 1.2', 'sky = blue', 'together']
    """
    ranked = sorted(explained.terms.items(), key=lambda item: -abs(item[1]))
    entries = [("base", explained.base)]
    entries += [(f"{name} = {explained.values[name]}", term) for name, term in ranked[:most]]
    if ranked[most:]:
        entries.append((f"{len(ranked) - most} others", sum(term for _, term in ranked[most:])))
    entries.append(("together", explained.together))
    ax = axes(ax, 6.4, 1.0 + 0.3 * len(entries))
    values = [value for _, value in entries]
    ax.barh(range(len(entries)), values, color=["#2a78b8" if value >= 0 else "#c8553d" for value in values])
    ax.set_yticks(range(len(entries)), [plain(name, 40) for name, _ in entries])
    ax.invert_yaxis()
    ax.axvline(0.0, color="black", linewidth=0.8)
    title = (
        f"{plain(explained.label)} rather than {plain(explained.against)}: P = {explained.probability:.3f}"
    )
    return tidy(ax, title, f"log-odds, {explained.log_odds:+.3f} in all")
