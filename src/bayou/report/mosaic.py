"""Pictures of one attribute: parts as wide as they are frequent and split by class, or densities."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bayou.block import Floats
from bayou.plain_text import shortened
from bayou.report.drawing import Chart, colour, picture
from bayou.report.markup import Safe, join, tag
from bayou.report.numbers import compact, number, share

_WIDTH, _HEIGHT, _FLOOR = 330, 150, 122
_MOST = 24  # values drawn one by one; the rarer ones are drawn as one


def mosaic(
    name: str,
    parts: Sequence[str],
    cuts: Sequence[float],
    counts: Floats,
    labels: Sequence[str],
    rest: bool = False,
) -> Safe:
    """Parts from left to right, as wide as their share of the rows, split by class; with `rest`, the last is grey."""
    if not cuts and len(parts) > _MOST:
        rare = counts[_MOST - 1 :].sum(axis=0, keepdims=True)
        others = len(parts) - _MOST + 1
        parts = [*parts[: _MOST - 1], f"{others:,} others"]
        counts = np.concatenate((counts[: _MOST - 1], rare))
    total = float(counts.sum()) or 1.0
    widths = _WIDTH * counts.sum(axis=1) / total
    overall = counts.sum(axis=0) / total
    styles = [colour(c) for c in range(len(labels) - rest)] + ["c-rest"] * rest
    shapes: list[object] = []
    written: list[object] = []
    at, taken = 0.0, -1e9
    for i, part in enumerate(parts):
        row, width = counts[i], float(widths[i])
        weight = float(row.sum())
        if weight > 0:
            shapes.append(_column(part, at, width, row / weight, labels, weight / total, styles))
        at += width
        if cuts:
            if i < len(cuts):
                taken = _label(written, number(cuts[i]), at, taken, "mid")
        elif width > 24:
            room = int(width / 6.4)
            taken = _label(written, shortened(part, max(2, room)), at - width / 2, taken, "mid")
    base = _FLOOR
    for share_of in np.cumsum(overall)[:-1].tolist() if len(overall) == 2 else []:
        level = base - (base - 4) * share_of
        shapes.append(
            tag(
                "g",
                tag("title", f"over all rows: {share(float(overall[0]))} {labels[0]}"),
                tag("line", x1=0, x2=_WIDTH, y1=f"{level:.1f}", y2=f"{level:.1f}"),
                class_="prior",
            )
        )
    first = list(zip(parts, counts, strict=True))[:12]
    description = "; ".join(f"{shortened(p, 30)}: {share(float(c.sum()) / total)} of rows" for p, c in first)
    return picture(f"{name}: classes by part", description, _WIDTH, _HEIGHT - 6, [*shapes, *written])


def _column(
    part: str,
    at: float,
    width: float,
    shares: Floats,
    labels: Sequence[str],
    weight: float,
    styles: Sequence[str],
) -> Safe:
    rects, below = [], 0.0
    gap = 1.0 if width > 4 else 0.0
    for c, one in enumerate(shares.tolist()):
        if one > 0:
            height = (_FLOOR - 4) * one
            top = _FLOOR - (_FLOOR - 4) * below - height
            rects.append(
                tag(
                    "rect", x=f"{at:.1f}", y=f"{top:.1f}", width=f"{max(0.4, width - gap):.1f}",
                    height=f"{height:.1f}", class_=styles[c],
                )
            )  # fmt: skip
        below += one
    most = sorted(range(len(labels)), key=lambda c: -shares[c])[:3]
    description = ", ".join(f"{labels[c]} {share(float(shares[c]))}" for c in most)
    return tag(
        "g",
        tag("title", f"{shortened(part, 120)} ({share(weight)} of rows): {description}"),
        *rects,
        class_="fill",
    )


def _label(written: list[object], text: str, at: float, taken: float, anchor: str) -> float:
    """Write below the picture unless it would touch the label before; the place up to which it is taken."""
    half = 3.4 * len(text)
    left = min(max(at - half, 0.0), _WIDTH - 2 * half)
    if left < taken + 5:
        return taken
    written.append(tag("text", text, x=f"{left + half:.1f}", y=_FLOOR + 16, class_=anchor))
    return left + 2 * half


def density(name: str, weight: Floats, centre: Floats, spread: Floats, labels: Sequence[str]) -> Safe:
    """Normal densities of the classes, each with an area of one."""
    met = [c for c in range(len(weight)) if weight[c] > 0]
    if not met:
        return tag("p", "no values yet", class_="remark")
    low = min(float(centre[c] - 3 * spread[c]) for c in met)
    high = max(float(centre[c] + 3 * spread[c]) for c in met)
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return tag("p", f"always {compact(float(centre[met[0]]))}", class_="remark")
    xs = np.unique(
        np.concatenate(
            [np.linspace(low, high, 60), *(centre[c] + spread[c] * np.linspace(-3, 3, 25) for c in met)]
        )
    )
    curves = {c: np.exp(-0.5 * ((xs - centre[c]) / spread[c]) ** 2) / spread[c] for c in met}
    top = max(float(values.max()) for values in curves.values())
    second = sorted(float(values.max()) for values in curves.values())[-2] if len(met) > 1 else top
    top = min(top, 6 * second)  # a spike must not flatten the others
    description = "; ".join(f"{labels[c]}: mean {centre[c]:.4g}, deviation {spread[c]:.4g}" for c in met)
    chart = Chart(
        f"{name}: normal densities by class",
        description,
        (low, high),
        (0.0, top * 1.05),
        width=_WIDTH,
        height=_HEIGHT,
    )
    chart.left, chart.right, chart.top, chart.bottom = 4, 4, 4, 28
    chart.bare = True
    for c in met:
        chart.area(xs.tolist(), np.minimum(curves[c], top * 1.05).tolist(), colour(c))
    said = "Densities as fitted; they may reach beyond the values seen."
    return join((chart.svg(), tag("p", said, class_="remark")))
