"""Axes to draw on, and the colours of the report."""

from __future__ import annotations

from typing import Any

from bayou.errors import UnsupportedError

COLOURS = ("#2f74b5", "#e08a2e", "#2a9d75", "#b45a9b", "#c4a01d", "#3fa9c4", "#96624a", "#5f6bd0")
REST = "#8a93a3"


def colour(place: int) -> str:
    """The colour of the n-th class or model; beyond the palette all are grey.

    >>> colour(1), colour(20)
    ('#e08a2e', '#8a93a3')
    """
    return COLOURS[place] if place < len(COLOURS) else REST


def axes(ax: Any = None, width: float = 6.4, height: float = 4.0) -> Any:
    """`ax`, or the axes of a new figure where it is None."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UnsupportedError('pictures need matplotlib: pip install "bayou[plot]"') from None
    return Figure(figsize=(width, height), layout="constrained").subplots()


def legend_beside(ax: Any) -> None:
    """Put the legend to the right of the axes, where it covers nothing."""
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))


def tidy(ax: Any, title: str, x: str = "", y: str = "") -> Any:
    """Set title and axis labels, and remove the upper and right edge."""
    ax.set_title(title, loc="left", fontsize="medium", parse_math=False)
    ax.set_xlabel(x, parse_math=False)
    ax.set_ylabel(y, parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plain(text: object, width: int = 30) -> str:
    """A name from the data, shortened, with dollar signs escaped, which matplotlib would read as mathematics.

    >>> plain("a$b$")
    'a\\\\$b\\\\$'
    """
    from bayou.plain_text import shortened

    return shortened(text, width).replace("$", r"\$")
