"""The section on words: those with the surest log-odds for each class."""

from __future__ import annotations

import numpy as np

from bayou.inspection.words import WordTable
from bayou.plain_text import number, shortened
from bayou.report.drawing import bars, figure
from bayou.report.markup import Safe, fold, join, tag
from bayou.report.tables import Cell, table
from bayou.schema import Label

_DRAWN, _LISTED, _CLASSES = 15, 200, 12


def word_pictures(words: WordTable, labels: list[Label], key: str) -> Safe:
    """For every class the words that indicate it most surely, and a searchable table."""
    weight = words.counts.sum(axis=0)
    classes = [c for c in np.argsort(-weight, kind="stable").tolist() if weight[c] > 0][:_CLASSES]
    pictures = []
    for place, c in enumerate(sorted(classes)):
        leading = sorted(words.leading(c, _DRAWN), key=lambda w: -words.log_odds[w, c])
        entries = [_entry(words, w, c) for w in leading]
        if entries:
            name = shortened(labels[c], 40)
            picture = bars(f"Words for {name}", entries, f"c{place % 8}")
            pictures.append(figure(join(("Words that speak for ", tag("b", name))), picture))
    return join(
        (
            tag("p", f"{len(words.words):,} words. Bars are log-odds of a word under the class against all others, "
                f"the longest first, of the {_DRAWN} words that speak most surely.", class_="remark"),
            tag("div", *pictures, class_="beside"),
            fold(f"The {min(_LISTED, len(words.words)):,} words that say most", _listing(words, labels, classes, key)),
        )
    )  # fmt: skip


def _entry(words: WordTable, w: int, c: int) -> tuple[str, float, str]:
    odds = float(words.log_odds[w, c])
    return words.words[w], odds, f"{odds:+.2f}  ({number(float(words.counts[w, c]))}×)"


def _listing(words: WordTable, labels: list[Label], classes: list[int], key: str) -> Safe:
    strongest = np.argsort(-np.abs(words.sure[:, classes]).max(axis=1), kind="stable")[:_LISTED]
    lines: list[list[object]] = []
    for w in strongest.tolist():
        c = classes[int(np.argmax(words.sure[w, classes]))]
        lines.append(
            [
                words.words[w],
                shortened(labels[c], 30),
                Cell(f"{words.log_odds[w, c]:+.3f}", float(words.log_odds[w, c])),
                Cell(number(words.counts[w, c]), float(words.counts[w, c])),
                Cell(number(float(words.counts[w].sum())), float(words.counts[w].sum())),
            ]
        )
    listing = table(
        "Words", ["Word", "Speaks for", "Log-odds", "Times there", "Times in all"], lines, class_="found"
    )
    return tag(
        "div",
        tag("label", "Search ", tag("input", type="search", class_="find-rows", autocomplete="off")),
        listing,
        id=f"words-{key}",
    )
