"""The section on the data: classes, columns, missing values, and refused rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayou.align import canonical_order
from bayou.inspection.attributes import Attribute
from bayou.inspection.model_contents import ModelContents
from bayou.plain_text import number, shortened
from bayou.report.drawing import bars, colour, figure
from bayou.report.evaluations import Background
from bayou.report.markup import Safe, fold, join, tag
from bayou.report.numbers import share
from bayou.report.tables import Cell, table
from bayou.schema import Kind, Label
from bayou.summaries.class_counts import ClassCounts

_CLASSES = 20


def class_weights(inside: ModelContents) -> dict[Label, float]:
    """The weight of each class that the model has counted, in canonical order."""
    for view in inside.views.values():
        if isinstance(view.summary, ClassCounts):
            counts: Any = view.summary.arrays()
            array = next(a for a in counts.values() if a.ndim == 1 and a.dtype == np.float64)
            values = inside.schema.classes.values
            return {values[i]: float(array[i]) for i in canonical_order(values) if i < len(array)}
    return {}


def data_summary(
    inside: ModelContents | None,
    attributes: list[Attribute],
    support: Mapping[Label, float],
    background: Background,
) -> Safe:
    """Facts on the data, the class distribution, and the columns with their missing values."""
    out: list[object] = []
    facts: list[tuple[str, str]] = []
    if background.about:
        facts.append(("Data", background.about))
    if background.target:
        facts.append(("Target", background.target))
    if inside is not None:
        kinds = [(kind.value, len(inside.schema.names(kind))) for kind in Kind]
        facts.append(("Columns", ", ".join(f"{n:,} {kind}" for kind, n in kinds if n) or "none"))
    if facts:
        pairs = [part for name, text in facts for part in (tag("dt", name), tag("dd", text))]
        out.append(tag("dl", *pairs, class_="facts-list"))
    total = sum(support.values())
    if support and total > 0:
        ranked = sorted(support.items(), key=lambda item: -item[1])[:_CLASSES]
        entries = [
            (shortened(label, 30), weight, f"{number(weight)} ({share(weight / total)})")
            for label, weight in ranked
        ]
        more = f"; the {len(ranked)} largest of {len(support):,}" if len(support) > len(ranked) else ""
        out.append(figure(f"Rows by class{more}", bars("Rows by class", entries, colour(0))))
    rows = total or max([a.present for a in attributes] + [0.0])
    if attributes:
        lines: list[list[object]] = [
            [
                a.name,
                a.kind,
                a.shape,
                Cell(number(max(0.0, rows - a.present)), max(0.0, rows - a.present)),
                Cell(
                    share(max(0.0, 1 - a.present / rows)) if rows else "–",
                    1 - a.present / rows if rows else 0.0,
                ),
            ]
            for a in sorted(attributes, key=lambda a: a.present)
        ]
        missing = sum(a.present < rows for a in attributes)
        head = f"{len(attributes):,} columns; {missing:,} of them have missing values"
        listing = table("Columns", ["Column", "Kind", "Read as", "Missing", "Share missing"], lines[:2000])
        out.append(fold(head, listing))
    return join(out)


def rejects(background: Background, rejected: int) -> Safe:
    """Rows and cells that were refused, by reason."""
    if not background.rejects:
        text = "Nothing was refused." if not rejected else f"{rejected:,} rows or cells were refused."
        return tag("p", text)
    lines: list[list[object]] = [
        [reason, Cell(f"{times:,}", times)] for reason, times in background.rejects.items()
    ]
    return table("Rows and cells that were refused", ["Reason", "Times"], lines)
