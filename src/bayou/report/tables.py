"""Tables with headers that screen readers can follow, sortable by any column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayou.report.markup import Safe, tag


@dataclass(frozen=True)
class Cell:
    """A table cell: its content, the number it is sorted by, and how it is marked.

    Parameters
    ----------
    shown
        Text or markup.
    value
        The exact number behind it.
    bar
        Length of a bar behind the text, 0 to 1.
    best
        Whether it is marked as the best of its column.
    heat
        Depth of its colour, 0 to 1; `good` chooses between two colours.
    """

    shown: object
    value: float | None = None
    bar: float | None = None
    best: bool = False
    heat: float | None = None
    good: bool = True


def _cell(content: object) -> Safe:
    if not isinstance(content, Cell):
        return tag("td", content)
    style = None
    classes = ["num"] if content.value is not None else []
    if content.bar is not None:
        classes.append("bar")
        style = f"--bar:{100 * content.bar:.1f}%"
    if content.heat is not None:
        classes.append("heat good" if content.good else "heat bad")
        style = f"--heat:{min(60.0, 60 * content.heat):.1f}%"
    if content.best:
        classes.append("best")
    value = None if content.value is None else repr(float(content.value))
    return tag("td", content.shown, class_=" ".join(classes) or None, style=style, data_value=value)


def table(
    caption: str,
    headers: Sequence[object],
    lines: Sequence[Sequence[object]],
    *,
    sortable: bool = True,
    hints: Sequence[str] = (),
    class_: str = "",
) -> Safe:
    """A table; the first cell of a line is its header, `hints` explain the columns."""
    notes = [*hints, *[""] * (len(headers) - len(hints))]
    head = tag(
        "tr", *(tag("th", header, scope="col", title=hint or None) for header, hint in zip(headers, notes, strict=True))
    )  # fmt: skip
    body = [tag("tr", tag("th", line[0], scope="row"), *(_cell(cell) for cell in line[1:])) for line in lines]
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", head),
            tag("tbody", *body),
            class_=f"{class_}{' sortable' if sortable and len(lines) > 1 else ''}".strip() or None,
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )
