"""The section on attributes: a card for every column, the most informative first."""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Floats
from bayou.inspection.attributes import Attribute, described
from bayou.plain_text import number, shortened
from bayou.report.drawing import bars, colour, figure, legend
from bayou.report.markup import Safe, fold, join, tag
from bayou.report.mosaic import deviations, mosaic
from bayou.report.numbers import share
from bayou.report.tables import Cell, table
from bayou.schema import Label

SHOWN = 50  # attributes shown at first; the others appear by search or by a button
PICTURED = 200  # attributes with a picture
_CLASSES = 8
AT_LEAST = (
    "≥ and grey: moments are kept of the column, not counts; so much the means of the classes tell at the least, "
    'whatever the distribution. numeric="gk" counts it'
)


def attribute_cards(
    attributes: list[Attribute], labels: list[Label], key: str, pictured: int = PICTURED
) -> Safe:
    """A ranking of the attributes, and a card for each, with controls to search and sort."""
    if not attributes:
        return Safe("")
    shown = shown_classes(attributes, len(labels))
    names = [shortened(labels[c], 30) for c in shown]
    left_out = len(labels) - len(shown)
    entries: list[tuple[str, object]] = [(colour(i), name) for i, name in enumerate(names)]
    if left_out:
        entries.append(("c-rest", f"{left_out} other classes"))
    top = [(a.name, a.information, "≥ " * a.at_least + share(a.information)) for a in attributes[:20]]
    ranking = figure(
        "Information about the class that each attribute holds by itself, as a share of the class's entropy"
        + (f"; the first {len(top)} of {len(attributes):,}" if len(attributes) > len(top) else "")
        + (f". {AT_LEAST}" if any(a.at_least for a in attributes[:20]) else ""),
        bars("Attributes by information", top, ["c-rest" if a.at_least else "c0" for a in attributes[:20]]),
    )
    cards = [
        attribute_card(a, shown, names, bool(left_out), pictured=i < pictured, hidden=i >= SHOWN)
        for i, a in enumerate(attributes)
    ]
    return join(
        (
            ranking,
            legend(entries),
            _controls(attributes, key),
            tag("div", *cards, class_="cards", id=f"cards-{key}"),
        )
    )


def shown_classes(attributes: list[Attribute], classes: int) -> list[int]:
    """Indices of the classes that get a colour: all, or the seven most frequent."""
    if classes <= _CLASSES:
        return list(range(classes))
    weight = np.max([a.weight for a in attributes], axis=0)
    return sorted(np.argsort(-weight, kind="stable")[: _CLASSES - 1].tolist())


def _controls(attributes: list[Attribute], key: str) -> Safe:
    target = f"cards-{key}"
    options = [("information", "information"), ("name", "name"), ("kind", "kind")]
    if any(a.level is not None for a in attributes):
        options.insert(1, ("level", "level"))
    return tag(
        "div",
        tag("label", "Search ", tag("input", type="search", class_="find", autocomplete="off")),
        tag(
            "label", "Order by ",
            tag("select", *(tag("option", text, value=value) for value, text in options), class_="order"),
        ),
        tag("span", _count(min(SHOWN, len(attributes)), len(attributes)), class_="count", role="status"),
        tag("button", "Show all", type="button", class_="all", hidden=len(attributes) <= SHOWN),
        class_="controls",
        data_for=target,
        data_most=SHOWN,
    )  # fmt: skip


def _count(shown: int, total: int) -> str:
    return f"{shown:,} of {total:,} attributes"


def attribute_card(
    a: Attribute, keep: list[int], names: list[str], rest: bool, pictured: bool = True, hidden: bool = False
) -> Safe:
    """The card of one attribute: its information, a picture, and the numbers, folded away."""
    facts = [f"information {'at least ' * a.at_least}{share(a.information)}"]
    if a.level is not None:
        facts.append(f"level {a.level:.3f}")
    if a.shape == "kernel":
        facts.append("kernel densities; drawn: intervals of the same summary")
    elif a.shape != "gaussian":
        shape = {"sketch": "cells of hashed values"}.get(a.shape, a.shape)
        one = {"intervals": "interval", "groups": "group", "values": "value"}.get(a.shape, shape)
        facts.append(f"{len(a.parts):,} {one if len(a.parts) == 1 else shape}")
    content: list[object] = [
        tag("h4", tag("span", a.name), tag("span", a.kind, class_="chip")),
        tag("p", join(facts, " · "), class_="facts"),
    ]
    if pictured:
        content += [_drawn(a, keep, names, rest), _numbers(a, keep, names, rest)]
    else:
        content.append(tag("p", described(a), class_="remark"))
    return tag(
        "article", *content, class_="card", hidden=hidden, data_name=a.name.lower(), data_kind=a.kind,
        data_information=f"{a.information:.6g}", data_level=f"{a.level or 0.0:.6g}",
    )  # fmt: skip


def _drawn(a: Attribute, keep: list[int], names: list[str], rest: bool) -> Safe:
    if a.shape == "gaussian":
        assert a.centre is not None
        assert a.spread is not None
        return deviations(a.name, a.weight[keep], a.centre[keep], a.spread[keep], names)
    assert a.counts is not None
    labels = [*names, "others"][: len(keep) + rest]
    return mosaic(a.name, a.parts, a.cuts, folded(a.counts, keep, rest), labels, rest)


def folded(counts: Floats, shown: list[int], rest: bool) -> Floats:
    """The counts of the shown classes, then (with `rest`) the sum over all other classes as a last column."""
    columns = counts[:, shown]
    if not rest:
        return columns
    others = np.delete(counts, shown, axis=1).sum(axis=1, keepdims=True)
    return np.concatenate((columns, others), axis=1)


def _numbers(a: Attribute, keep: list[int], names: list[str], rest: bool) -> Safe:
    if a.shape == "gaussian":
        assert a.centre is not None
        assert a.spread is not None
        lines: list[list[object]] = [
            [
                name,
                Cell(number(float(a.weight[c])), float(a.weight[c])),
                Cell(number(float(a.centre[c])), float(a.centre[c])),
                Cell(number(float(a.spread[c])), float(a.spread[c])),
            ]
            for c, name in zip(keep, names, strict=True)
            if a.weight[c] > 0
        ]
        listing = table(f"{shortened(a.name, 40)} by class", ["Class", "Rows", "Mean", "Deviation"], lines)
        return fold("Numbers", listing)
    assert a.counts is not None
    counts = folded(a.counts, keep, rest)
    class_names = [*names, "others"][: counts.shape[1]]
    lines = []
    for part, row in list(zip(a.parts, counts, strict=True))[:100]:
        total = float(row.sum())
        cells: list[object] = [shortened(part, 60)]
        cells += [
            Cell(number(float(v)), float(v), float(v) / total if total else 0.0) for v in row
        ]  # fmt: skip
        lines.append(cells)
    more = len(a.parts) - len(lines)
    listing = table(f"{shortened(a.name, 40)}: rows by class", [a.shape.capitalize(), *class_names], lines)
    remark = tag("p", f"{more:,} more are not listed.", class_="remark") if more > 0 else ""
    return fold("Numbers", listing, remark)


def entropy_note(attributes: list[Attribute]) -> str:
    """A sentence on how many attributes are informative."""
    informative = sum(a.information > 0.001 for a in attributes)
    mean = math.fsum(a.information for a in attributes) / max(1, len(attributes))
    return f"{informative:,} of {len(attributes):,} attributes tell more than 0.1 % each; the mean is {share(mean)}"
