"""Dependences between attributes, drawn as a graph from left to right."""

from __future__ import annotations

from collections.abc import Mapping

from bayou.engines.joint import joint_columns
from bayou.inspection.model_contents import ModelContents
from bayou.plain_text import shortened
from bayou.report.drawing import figure, picture
from bayou.report.markup import Safe, fold, join, tag
from bayou.report.tables import table

_DRAWN = 120  # attributes in one picture
_STEP, _LINE = 170, 24


def parents_of(inside: ModelContents) -> dict[str, str | None] | None:
    """Each column's parent besides the class, None if it has none; None where the model is no tree of columns."""
    view = inside.views.get("joint")
    if view is None or not view.searched:
        return None
    names, arrays = joint_columns(inside.schema), view.arrays()
    if "reading.column" in arrays and arrays["reading.column"].ndim == 1:
        chosen = int(arrays["reading.column"][0])
        return {name: names[chosen] if 0 <= chosen != j else None for j, name in enumerate(names)}
    parent_sets = arrays.get("reading.sets")
    if parent_sets is None or parent_sets.ndim != 2 or parent_sets.shape[1] != 3:
        return None
    edges = {(int(i), int(p)) for i, p, _ in parent_sets if p >= 0}
    parent_of = dict(edges)
    if any(int(second) >= 0 for _, _, second in parent_sets) or len(parent_of) < len(edges):
        return None  # pairs of parents, or several networks
    return {name: names[parent_of[j]] if parent_of.get(j, -1) >= 0 else None for j, name in enumerate(names)}


def dependence(parents: Mapping[str, str | None]) -> Safe:
    """The graph of dependences, and a table of them."""
    lines: list[list[object]] = [[name, parent or "the class alone"] for name, parent in parents.items()]
    listed = fold("As a table", table("Parents", ["Attribute", "Depends on, besides the class"], lines))
    edges = sum(parent is not None for parent in parents.values())
    if edges == 0:
        return join(
            (tag("p", "No attribute depends on another: the structure is that of naive Bayes."), listed)
        )
    description = f"{edges:,} of {len(parents):,} attributes depend on another besides the class"
    if len(parents) > _DRAWN:
        return join((tag("p", f"{description}; too many to draw.", class_="remark"), listed))
    return join((figure(f"{description}: arrows lead from parents to children", graph(parents)), listed))


def graph(parents: Mapping[str, str | None]) -> Safe:
    """The graph, a line per attribute; children stand below their parent and further right."""
    children: dict[str | None, list[str]] = {}
    for name, parent in parents.items():
        children.setdefault(parent, []).append(name)
    rows: dict[str, tuple[int, int]] = {}
    todo = [
        (name, 0)
        for name in sorted(children.get(None, []), key=lambda n: (-_below(n, children), n), reverse=True)
    ]
    while todo:
        name, depth = todo.pop()
        rows[name] = (len(rows), depth)
        todo += [(child, depth + 1) for child in sorted(children.get(name, []), reverse=True)]
    deepest = max(depth for _, depth in rows.values())
    step = min(_STEP, max(46, 900 // (deepest + 1)))
    parts: list[object] = []
    for name, (row, depth) in rows.items():
        x, y = 12 + depth * step, 16 + row * _LINE
        parent = parents[name]
        if parent is not None:
            px, py = 12 + rows[parent][1] * step, 16 + rows[parent][0] * _LINE
            path = f"M{px} {py + 6} C{px} {y}, {px} {y}, {x - 9} {y}"
            parts.append(tag("path", d=path, class_="edge"))
            parts.append(
                tag("polygon", points=f"{x - 6},{y} {x - 12},{y - 3.5} {x - 12},{y + 3.5}", class_="arrow")
            )
        style = "fill c0" if children.get(name) else "fill c-rest"
        parts.append(tag("g", tag("circle", cx=x, cy=y, r=5), class_=style))
        description = (
            f"{name}: depends on {parent}" if parent is not None else f"{name}: depends on the class alone"
        )
        parts.append(tag("text", tag("title", description), shortened(name, 26), x=x + 10, y=y + 4))
    description = "; ".join(
        f"{name} depends on {parent}" for name, parent in parents.items() if parent is not None
    )
    width = 12 + deepest * step + 230
    return picture(
        "Dependences between attributes", shortened(description, 2000), width, 28 + _LINE * len(rows), parts
    )


def _below(name: str, children: Mapping[str | None, list[str]]) -> int:
    count, todo = 0, [name]
    while todo:
        below = children.get(todo.pop(), [])
        count += len(below)
        todo += below
    return count
