"""Words by log-odds: which of them speak for a class."""

from __future__ import annotations

import numpy as np

from bayou.inspection.words import WordTable
from bayou.plain_text import number, shortened
from bayou.report.drawing import bars, figure
from bayou.report.markup import Safe, fold, join, tag
from bayou.report.tables import Cell, table
from bayou.schema import Label

_DRAWN, _LISTED, _CLASSES = 15, 200, 12


def word_pictures(found: WordTable, labels: list[Label], key: str) -> Safe:
    """For every class the words that speak for it most surely, and a searchable table."""
    weight = found.counts.sum(axis=0)
    classes = [c for c in np.argsort(-weight, kind="stable").tolist() if weight[c] > 0][:_CLASSES]
    pictures = []
    for place, c in enumerate(sorted(classes)):
        leading = sorted(found.leading(c, _DRAWN), key=lambda w: -found.log_odds[w, c])
        entries = [_entry(found, w, c) for w in leading]
        if entries:
            name = shortened(labels[c], 40)
            picture = bars(f"Words for {name}", entries, f"c{place % 8}")
            pictures.append(figure(join(("Words that speak for ", tag("b", name))), picture))
    return join(
        (
            tag("p", f"{len(found.words):,} words. Bars are log-odds of a word under the class against all others, "
                f"the longest first, of the {_DRAWN} words that speak most surely.", class_="remark"),
            tag("div", *pictures, class_="beside"),
            fold(f"The {min(_LISTED, len(found.words)):,} words that say most", _listing(found, labels, classes, key)),
        )
    )  # fmt: skip


def _entry(found: WordTable, w: int, c: int) -> tuple[str, float, str]:
    odds = float(found.log_odds[w, c])
    return found.words[w], odds, f"{odds:+.2f}  ({number(float(found.counts[w, c]))}×)"


def _listing(found: WordTable, labels: list[Label], classes: list[int], key: str) -> Safe:
    strongest = np.argsort(-np.abs(found.sure[:, classes]).max(axis=1), kind="stable")[:_LISTED]
    lines: list[list[object]] = []
    for w in strongest.tolist():
        c = classes[int(np.argmax(found.sure[w, classes]))]
        lines.append(
            [
                found.words[w],
                shortened(labels[c], 30),
                Cell(f"{found.log_odds[w, c]:+.3f}", float(found.log_odds[w, c])),
                Cell(number(found.counts[w, c]), float(found.counts[w, c])),
                Cell(number(float(found.counts[w].sum())), float(found.counts[w].sum())),
            ]
        )
    made = table(
        "Words", ["Word", "Speaks for", "Log-odds", "Times there", "Times in all"], lines, class_="found"
    )
    return tag(
        "div",
        tag("label", "Search ", tag("input", type="search", class_="find-rows", autocomplete="off")),
        made,
        id=f"words-{key}",
    )
