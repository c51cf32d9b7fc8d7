"""Plain text that is safe to print, and tables of it: names come from data, which may hold terminal escapes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
SENTENCES = 20  # values that decide whether a column holds sentences
WORDS_OF_MANY, WORDS_OF_FEW = 3, 5  # average words of sentences, among `SENTENCES` values and among fewer
# Control characters of terminals, marks that change the direction of text, halves of surrogate pairs
CONTROLS = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def clean(text: object) -> str:
    r"""The text on one line, without escapes, control characters and marks that change its direction.

    >>> clean("\x1b[31mred\x1b[0m\nrow")
    'red row'
    """
    return CONTROLS.sub("", _ESCAPES.sub("", str(text)).replace("\n", " ").replace("\t", " "))


def shortened(text: object, width: int) -> str:
    """The cleaned text, cut with an ellipsis if it is longer than `width`."""
    cleaned = clean(text)
    return cleaned if len(cleaned) <= width else cleaned[: width - 1] + "…"


def are_sentences(values: Sequence[object]) -> bool:
    """Whether the first distinct values of a column have so many words that they are sentences rather than names.

    >>> are_sentences(["call me back at ten", "see you there at eight"]), are_sentences(["New York", "Rio de Janeiro"])
    (True, False)
    """
    sample = values[:SENTENCES]
    words = sum(len(value.split()) for value in sample if isinstance(value, str | bytes))
    least = WORDS_OF_MANY if len(sample) == SENTENCES else WORDS_OF_FEW
    return len(sample) > 1 and words >= least * len(sample)


def table_text(
    headers: Sequence[str], lines: Sequence[Sequence[str]], left: int = 1, trailing: int = 0
) -> str:
    """A table whose first `left` and last `trailing` columns are aligned to the left, the others to the right.

    >>> print(table_text(["model", "accuracy"], [["nb", "73.4"]]))
    model  accuracy
    nb         73.4
    """
    cells = [[clean(cell) for cell in line] for line in (headers, *lines)]
    widths = [max(len(line[j]) for line in cells) for j in range(len(headers))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if left <= j < len(headers) - trailing else cell.ljust(width)
            for j, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def percent(share: float, digits: int = 2) -> str:
    """A share in percent, without the percent sign.

    >>> percent(0.73364)
    '73.36'
    """
    return f"{100 * share:.{digits}f}"


def short_number(value: float) -> str:
    """A rate with three significant digits and a unit (k, M, G).

    >>> short_number(1234567.0), short_number(45312.0), short_number(950.0)
    ('1.23 M', '45.3 k', '950')
    """
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.0f}"


def number(value: float) -> str:
    """A number with four significant digits and separators of thousands.

    >>> number(1234567.0), number(0.123456), number(12.0), number(1.5e-7)
    ('1,234,567', '0.1235', '12', '1.5e-07')
    """
    if value == int(value) if math.isfinite(value) else False:
        return f"{int(value):,}" if abs(value) < 1e15 else f"{value:.4g}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4g}"
