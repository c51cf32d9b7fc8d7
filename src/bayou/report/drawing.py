"""Charts as inline SVG: axes, lines and bars whose colours come from the page's stylesheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bayou.report.markup import Safe, join, tag
from bayou.report.numbers import compact, ticks

COLOURS = 8


def colour(place: int) -> str:
    """The style class of the n-th class or model; beyond the palette all are grey.

    >>> colour(0), colour(12)
    ('c0', 'c-rest')
    """
    return f"c{place}" if place < COLOURS else "c-rest"


@dataclass
class Chart:
    """A chart with two axes, to which lines, areas, dots and pins are added.

    Parameters
    ----------
    title, description
        Text alternatives for screen readers.
    x, y
        Ranges of the axes.
    x_label, y_label
        Labels of the axes.
    bare
        Whether to draw only the horizontal axis, for small pictures.
    """

    title: str
    description: str
    x: tuple[float, float]
    y: tuple[float, float]
    x_label: str = ""
    y_label: str = ""
    width: int = 540
    height: int = 300
    x_text: Callable[[float], str] = compact
    y_text: Callable[[float], str] = compact
    bare: bool = False
    _parts: list[Safe] = field(default_factory=list)

    left, right, top, bottom = 54, 24, 12, 42

    def __post_init__(self) -> None:
        if self.y_label:
            self.left = 68

    def px(self, x: float) -> float:
        """The position of a value on the horizontal axis, in pixels."""
        low, high = self.x
        return self.left + (self.width - self.left - self.right) * (x - low) / ((high - low) or 1.0)

    def py(self, y: float) -> float:
        """The position of a value on the vertical axis, in pixels."""
        low, high = self.y
        return self.top + (self.height - self.top - self.bottom) * (high - y) / ((high - low) or 1.0)

    def line(self, xs: Sequence[float], ys: Sequence[float], style: str, name: str = "") -> None:
        """Add a line through points; its name is shown as a tooltip."""
        points = " ".join(f"{self.px(x):.1f},{self.py(y):.1f}" for x, y in zip(xs, ys, strict=True))
        label = [tag("title", name)] if name else []
        self._parts.append(
            tag("g", *label, tag("polyline", points=points, class_="stroke"), class_=f"line {style}")
        )

    def area(self, xs: Sequence[float], ys: Sequence[float], style: str) -> None:
        """Add a line with the area below it filled."""
        points = [f"{self.px(x):.1f},{self.py(y):.1f}" for x, y in zip(xs, ys, strict=True)]
        ends = [
            f"{self.px(xs[-1]):.1f},{self.py(self.y[0]):.1f}",
            f"{self.px(xs[0]):.1f},{self.py(self.y[0]):.1f}",
        ]
        self._parts.append(
            tag(
                "g",
                tag("polygon", points=" ".join(points + ends), class_="area"),
                tag("polyline", points=" ".join(points), class_="stroke"),
                class_=f"line {style}",
            )
        )

    def dot(self, x: float, y: float, radius: float, style: str, name: str = "", id_: str = "") -> None:
        """Add a dot; its name is shown as a tooltip."""
        label = [tag("title", name)] if name else []
        shape = tag(
            "circle", cx=f"{self.px(x):.1f}", cy=f"{self.py(y):.1f}", r=f"{radius:.1f}", id=id_ or None
        )
        self._parts.append(tag("g", *label, shape, class_=f"fill {style}"))

    def pin(self, x: float, style: str, name: str, line: int = 0) -> None:
        """Add a small triangle above the horizontal axis that points at a value, in one of several lines."""
        at, foot = self.px(x), self.height - self.bottom - 1 - 9 * line
        points = f"{at:.1f},{foot} {at - 3.5:.1f},{foot - 7} {at + 3.5:.1f},{foot - 7}"
        self._parts.append(
            tag("g", tag("title", name), tag("polygon", points=points), class_=f"fill {style}")
        )

    def _axes(self) -> list[Safe]:
        out = []
        floor, end = self.height - self.bottom, self.width - self.right
        for value in [] if self.bare else ticks(*self.y, 5):
            at = self.py(value)
            out.append(tag("line", x1=self.left, x2=end, y1=f"{at:.1f}", y2=f"{at:.1f}", class_="grid"))
            out.append(tag("text", self.y_text(value), x=self.left - 7, y=f"{at + 4:.1f}", class_="end"))
        for value in ticks(*self.x, 6):
            at = self.px(value)
            if self.bare and not 14 <= at <= self.width - 14:
                continue
            out.append(tag("line", x1=f"{at:.1f}", x2=f"{at:.1f}", y1=floor, y2=floor + 4, class_="axis"))
            out.append(tag("text", self.x_text(value), x=f"{at:.1f}", y=floor + 17, class_="mid"))
        out.append(tag("line", x1=self.left, x2=end, y1=floor, y2=floor, class_="axis"))
        middle = (self.left + end) / 2
        if self.x_label:
            out.append(tag("text", self.x_label, x=f"{middle:.0f}", y=self.height - 6, class_="mid label"))
        if self.y_label:
            centre = (self.top + floor) / 2
            out.append(
                tag(
                    "text",
                    self.y_label,
                    x=0,
                    y=0,
                    class_="mid label",
                    transform=f"translate(12 {centre:.0f}) rotate(-90)",
                )
            )
        return out

    def svg(self) -> Safe:
        """The chart as an SVG element."""
        return picture(self.title, self.description, self.width, self.height, [*self._axes(), *self._parts])


def picture(title: str, description: str, width: float, height: float, parts: Sequence[object]) -> Safe:
    """An SVG element that scales with the page, with a title and a description for screen readers."""
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        *parts,
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        role="img",
    )


def legend(entries: Sequence[tuple[str, object]]) -> Safe:
    """A legend made from pairs of style and name."""
    return tag(
        "ul",
        *(
            tag("li", tag("span", class_=f"swatch {style}", aria_hidden="true"), name)
            for style, name in entries
        ),
        class_="legend",
    )


def figure(caption: object, *content: object, class_: str | None = None) -> Safe:
    """A figure with its caption."""
    return tag("figure", *content, tag("figcaption", caption), class_=class_)


def beside(*content: object, narrow: bool = False) -> Safe:
    """A row of parts, side by side where the page is wide enough."""
    return tag("div", *content, class_="beside narrow" if narrow else "beside")


def bars(
    title: str,
    entries: Sequence[tuple[str, float, str]],
    style: str | Sequence[str] = "c0",
    top: float | None = None,
) -> Safe:
    """Horizontal bars, each a name, a length and the text beside it; `style` is one for all, or one for each."""
    styles = [style] * len(entries) if isinstance(style, str) else style
    low = min([0.0, *(value for _, value, _ in entries)])
    span = (top or max([value for _, value, _ in entries] + [1e-12])) - low
    label_width = 14 + 8 * min(27, max([4, *(len(name) for name, _, _ in entries)]))
    # Names may be shortened, the text beside a bar never is
    text_width = 14 + 7.5 * max([4, *(len(text) for _, _, text in entries)])
    room, height = 540 - label_width - text_width, 22
    parts = []
    for i, (name, value, text) in enumerate(entries):
        y = 4 + i * height
        length = room * abs(value) / span
        start = label_width + room * (min(value, 0.0) - low) / span
        shown = name if len(name) <= 27 else name[:26] + "…"
        parts += [
            tag("text", tag("title", name), shown, x=label_width - 8, y=y + 14, class_="end"),
            tag(
                "g", tag("rect", x=f"{start:.1f}", y=y + 2, width=f"{length:.1f}", height=height - 6, rx=2),
                class_=f"fill {styles[i]}",
            ),
            tag("text", text, x=f"{start + length + 6:.1f}", y=y + 14),
        ]  # fmt: skip
    description = "; ".join(f"{name}: {text}" for name, _, text in entries)
    return picture(title, description, 540, 8 + height * len(entries), parts)


def stack(shares: Sequence[float], title: str) -> Safe:
    """One thin bar, divided by the shares of the classes."""
    parts, at = [], 0.0
    for c, share in enumerate(shares):
        if share > 0:
            rect = tag("rect", x=f"{at:.1f}", y=0, width=f"{100 * share:.1f}", height=10)
            parts.append(tag("g", rect, class_=f"fill {colour(c)}"))
        at += 100 * share
    return tag(
        "svg", tag("title", title), join(parts), viewBox="0 0 100 10", width=100, height=10, role="img",
        class_="stack", preserveAspectRatio="none",
    )  # fmt: skip
