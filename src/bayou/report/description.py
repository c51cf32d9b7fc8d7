"""A page on a model's JSON description, as `bayou export --to json` writes it: what each column adds to the score.

The page is made from the description alone, without the model.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from bayou.errors import ModelFileError
from bayou.report.evaluations import Background
from bayou.report.markup import Safe, join, tag
from bayou.report.numbers import compact
from bayou.report.overview import tiles
from bayou.report.page import Section, page_html
from bayou.report.tables import Cell, table

SHOWN_COLUMNS, SHOWN_CELLS, SHOWN_CLASSES = 60, 40, 12
OPS = {
    "constant": "the same for every row",
    "table": "looked up by the row's cells",
    "normal": "a normal density of a number",
    "kernels": "a kernel density of a number",
    "words": "a sum over the words of a text",
    "sum": "vectors added up",
    "scaled": "a vector times weights",
    "clipped": "a vector kept within bounds",
    "pmi": "what a column says beyond the classes' shares",
    "log": "logarithms",
    "exp": "exponentials",
    "log_sigmoid": "log-odds turned into log-probabilities",
    "log_softmax": "scores turned into log-probabilities",
    "folded": "a vector times a matrix",
    "chosen": "a vote for one class",
    "mixture": "a weighted mean of probabilities",
    "first_possible": "the first vector that allows any class",
    "branch": "a test that chooses one of several vectors",
    "trees": "the leaves a row reaches in many trees, added up",
}


def described_html(description: Mapping[str, Any], background: Background) -> str:
    """The HTML page of a description; raises `ModelFileError` for anything else."""
    if description.get("format") != "bayou scorer" or description.get("version") != 1:
        raise ModelFileError(
            "it is no description of a model in version 1, as `bayou export --to json` writes it"
        )
    try:
        sections = list(_sections(description))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as problem:
        raise ModelFileError(f"the description is damaged: {type(problem).__name__} {problem}") from None
    return page_html(background, [section for section in sections if section.content])


def read_description(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a description from a file."""
    try:
        description = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as problem:
        raise ModelFileError(f"{path} is not JSON: {problem}") from None
    if not isinstance(description, dict):
        raise ModelFileError(f"{path} holds no description of a model")
    return description


def _sections(description: Mapping[str, Any]) -> Iterator[Section]:
    columns = [
        (kind, column["name"])
        for kind, columns_of_kind in description["columns"].items()
        for column in columns_of_kind
    ]
    kinds = Counter(kind for kind, _ in columns)
    entries = [
        ("Model", str(description["model"]), "as exported"),
        (
            "Classes",
            f"{len(description['classes']):,}",
            ", ".join(str(label) for label in description["classes"][:SHOWN_CLASSES]),
        ),
        ("Columns", f"{len(columns):,}", ", ".join(f"{n} {kind}" for kind, n in kinds.items())),
        ("Steps", f"{len(description['nodes']):,}", "from the row to its probabilities"),
    ]
    yield Section("overview", "Overview", tiles(entries))
    yield Section("columns", "What each column adds", _columns(description))
    counted = Counter(node["op"] for node in description["nodes"])
    lines = [(op, Cell(f"{n:,}", n), OPS[op]) for op, n in counted.items()]
    steps = table(
        "The steps, by kind, as docs/reference/export.md defines them",
        ("step", "how often", "what it is"),
        lines,
    )
    yield Section("steps", "How a row is scored", steps)


def _columns(description: Mapping[str, Any]) -> Safe:
    labels = [str(description["classes"][r]) for r in range(len(description["classes"]))][:SHOWN_CLASSES]
    places = description["order"][:SHOWN_CLASSES]
    ranked: list[tuple[bool, int, Safe]] = []
    for node in description["nodes"]:
        if (
            node["op"] == "table"
            and len(node["cells"]) == 1
            and len(node["values"][0]) == len(description["classes"])
        ):
            cell = description["cells"][node["cells"][0]]
            kind = "numeric" if cell["op"] == "interval" else "nominal"
            names, values = _cell_names(description, cell), node["values"]
        elif node["op"] == "normal" and len(node["peak"]) == len(description["classes"]):
            cell, kind, names = node, "numeric", ["mean", "standard deviation"]
            spread = [math.sqrt(0.5 / half) if half > 0 else math.inf for half in node["half"]]
            values = [node["centre"], spread]
        else:
            continue
        lines = [
            (name, *(Cell(_shown(row[place]), float(row[place])) for place in places))
            for name, row in zip(names[:SHOWN_CELLS], values, strict=False)
        ]
        left_out = f", the first {SHOWN_CELLS} of {len(names):,}" if len(names) > SHOWN_CELLS else ""
        title = description["columns"][kind][cell["column"]]["name"]
        shown = table(f"{title}{left_out}", ("", *labels), lines, sortable=False)
        ranked.append((kind == "nominal", cell["column"], shown))
    tables = [shown for _, _, shown in sorted(ranked, key=lambda entry: entry[:2])]
    if not tables:
        return Safe("")
    remark = (
        "Log-probabilities by class that a value adds to the score, or what the normal density of a class has. "
        "Where columns are read jointly, or within trees, they are not listed one by one."
    )
    rest = (
        tag("p", f"{len(tables) - SHOWN_COLUMNS:,} more are left out.") if len(tables) > SHOWN_COLUMNS else ""
    )
    return join((tag("p", remark), *tables[:SHOWN_COLUMNS], rest))


def _cell_names(description: Mapping[str, Any], cell: Mapping[str, Any]) -> list[str]:
    """A name for each cell of a column: its interval, or its values."""
    if cell["op"] == "interval":
        cuts = [compact(float(cut)) for cut in cell["cuts"]]
        if not cuts:
            return ["any number"]
        between = [f"{low} to {high}" for low, high in pairwise(cuts)]
        return [f"≤ {cuts[0]}", *between, f"> {cuts[-1]}"]
    column = description["columns"]["nominal"][cell["column"]]
    values_by_cell: dict[int, list[str]] = {}
    for code, place in enumerate(cell["cells"]):
        values_by_cell.setdefault(place, []).append(
            str(column["values"][code]) if code < len(column["values"]) else "others"
        )
    return [
        _few(values_by_cell.get(place, ["others"])) for place in range(max(values_by_cell, default=-1) + 1)
    ]


def _few(values: Sequence[str]) -> str:
    return ", ".join(values[:6]) + (f" and {len(values) - 6:,} more" if len(values) > 6 else "")


def _shown(value: Any) -> str:
    return f"{float(value):.4g}"
