"""HTML and SVG built from parts: text that is not marked as `Safe` is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from bayou.plain_text import clean

_EMPTY = frozenset(("line", "rect", "circle", "path", "polyline", "polygon", "input", "meta", "col"))


class Safe(str):
    """A string of markup, which is not escaped again."""

    __slots__ = ()


def safe(content: object) -> Safe:
    """The content as markup: escaped, and on one line, unless it is markup already.

    >>> safe("<b>")
    '&lt;b&gt;'
    """
    return content if isinstance(content, Safe) else Safe(escape(clean(content)))


def join(parts: Iterable[object], between: str = "") -> Safe:
    """Concatenate parts as markup."""
    return Safe(between.join(safe(part) for part in parts))


def tag(name: str, /, *content: object, **attributes: object) -> Safe:
    """An element; `class_` is class, other underscores are hyphens, None and False leave an attribute out.

    >>> tag("td", "a < b", class_="num", data_value=0.5)
    '<td class="num" data-value="0.5">a &lt; b</td>'
    """
    written_attributes = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        html_name = key.rstrip("_").replace("_", "-")
        written_attributes.append(
            f" {html_name}" if value is True else f' {html_name}="{escape(clean(value))}"'
        )
    start = f"<{name}{''.join(written_attributes)}"
    if name in _EMPTY:
        return Safe(f"{start}/>")
    return Safe(f"{start}>{join(content)}</{name}>")


def fold(summary: object, *content: object, open_: bool = False, class_: str | None = None) -> Safe:
    """A `details` element: content folded behind its summary."""
    return tag("details", tag("summary", summary), *content, open=open_, class_=class_)
