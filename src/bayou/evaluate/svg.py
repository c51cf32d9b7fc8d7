"""Learning curves as a small drawing, without any plotting library."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from bayou.evaluate.curve import Curve

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#999999")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 640, 260, 46, 24


def curve_svg(curves: Mapping[str, Curve], metric: str = "accuracy") -> str:
    """The windowed metric over the rows, one line per model; empty if there are fewer than two points."""
    lines = {
        name: (curve.rows, curve.windowed[metric]) for name, curve in curves.items() if len(curve.rows) > 1
    }
    if not lines:
        return ""
    last = max(rows[-1] for rows, _ in lines.values())
    low = min(0.0, *(min(values) for _, values in lines.values()))
    high = 1.0

    def x(row: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 8) * row / last

    def y(value: float) -> float:
        return 8 + (_HEIGHT - _BOTTOM - 8) * (high - value) / (high - low)

    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT + 16 * len(lines)}" width="{_WIDTH}" role="img" '
        f'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11">',
        f"<title>{escape(metric)} over the latest rows</title>",
    ]
    for tick in range(5):
        value = low + (high - low) * tick / 4
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - 8}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>'
            f'<text x="{_LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.2f}</text>'
        )
    parts.append(f'<text x="{_WIDTH - 8}" y="{_HEIGHT - 6}" text-anchor="end">{last:,} rows</text>')
    for i, (name, (rows, values)) in enumerate(lines.items()):
        colour = _COLOURS[i % len(_COLOURS)]
        points = " ".join(f"{x(r):.1f},{y(v):.1f}" for r, v in zip(rows, values, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts.append(
            f'<text x="{_LEFT}" y="{_HEIGHT + 12 + 16 * i}" fill="{colour}">{escape(name)}: '
            f"{values[-1]:.4f}</text>"
        )
    return "".join([*parts, "</svg>"])
