"""Pictures of one attribute: a mosaic of its parts, or mean and standard deviation by class."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bayou.block import Floats
from bayou.plain_text import number, shortened
from bayou.report.drawing import Chart, colour, picture
from bayou.report.markup import Safe, join, tag
from bayou.report.numbers import compact, share

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
    """A mosaic plot: parts as wide as their share of the rows, split by class; with `rest`, the last class is grey."""
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
    texts: list[object] = []
    at, occupied = 0.0, -1e9
    for i, part in enumerate(parts):
        row, width = counts[i], float(widths[i])
        weight = float(row.sum())
        if weight > 0:
            shapes.append(_column(part, at, width, row / weight, labels, weight / total, styles))
        at += width
        if cuts:
            if i < len(cuts):
                occupied = _label(texts, number(cuts[i]), at, occupied, "mid")
        elif width > 24:
            room = int(width / 6.4)
            occupied = _label(texts, shortened(part, max(2, room)), at - width / 2, occupied, "mid")
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
    return picture(f"{name}: classes by part", description, _WIDTH, _HEIGHT - 6, [*shapes, *texts])


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


def _label(texts: list[object], text: str, at: float, occupied: float, anchor: str) -> float:
    """Add a label below the picture unless it would touch the one before; return where the last label ends."""
    half = 3.4 * len(text)
    left = min(max(at - half, 0.0), _WIDTH - 2 * half)
    if left < occupied + 5:
        return occupied
    texts.append(tag("text", text, x=f"{left + half:.1f}", y=_FLOOR + 16, class_=anchor))
    return left + 2 * half


def deviations(name: str, weight: Floats, centre: Floats, spread: Floats, labels: Sequence[str]) -> Safe:
    """Mean and one standard deviation on either side of it, as a line per class.

    No curve is drawn: it would run where no value was ever seen, and moments keep no range. (They could not: a range
    cannot be taken back when rows are unlearned, and never fades.)
    """
    seen = [c for c in range(len(weight)) if weight[c] > 0]
    if not seen:
        return tag("p", "no values yet", class_="remark")
    low = min(float(centre[c] - spread[c]) for c in seen)
    high = max(float(centre[c] + spread[c]) for c in seen)
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return tag("p", f"always {compact(float(centre[seen[0]]))}", class_="remark")
    margin = 0.04 * (high - low)
    description = "; ".join(f"{labels[c]}: mean {centre[c]:.4g}, deviation {spread[c]:.4g}" for c in seen)
    chart = Chart(
        f"{name}: mean and deviation by class", description, (low - margin, high + margin), (0.0, float(len(seen))),
        width=_WIDTH, height=_HEIGHT,
    )  # fmt: skip
    chart.left, chart.right, chart.top, chart.bottom = 4, 4, 4, 28
    chart.bare = True
    for row, c in enumerate(seen):
        at, text = len(seen) - row - 0.5, f"{labels[c]}: {number(centre[c])} ± {number(spread[c])}"
        ends = [float(centre[c] - spread[c]), float(centre[c] + spread[c])]
        chart.line(ends, [at, at], colour(c), text)
        chart.dot(float(centre[c]), at, 4, colour(c), text)
    return join((chart.svg(), tag("p", "Mean and one standard deviation on either side.", class_="remark")))
