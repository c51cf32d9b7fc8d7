"""A scorer as JSON: a stable format for other tools, which docs/reference/export.md defines."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np

from bayou.errors import UnsupportedError
from bayou.kernels.scrub import HUGE
from bayou.scorer import Branch, Cell, Input, Interval, Node, Scorer, Table, Trees, Value

FORMAT, VERSION = "bayou scorer", 1
_OPS = {"FirstPossible": "first_possible", "LogSoftmax": "log_softmax", "LogSigmoid": "log_sigmoid"}


def to_json(scorer: Scorer) -> str:
    """The description as JSON text; floats read back as the same bits."""
    return json.dumps(description(scorer), ensure_ascii=False, allow_nan=False, indent=None) + "\n"


def description(scorer: Scorer) -> dict[str, Any]:
    """The scorer as plain lists and dicts, -inf and inf as the strings "-inf" and "inf"."""
    cells = {id(cell): i for i, cell in enumerate(scorer.cells)}
    numbers = {id(node): i for i, node in enumerate(scorer.nodes)}
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": scorer.model,
        "missing_beyond": HUGE,
        "classes": [plain_label(label) for label in scorer.classes],
        "order": list(scorer.order),
        "columns": {kind: [_input(column) for column in inputs] for kind, inputs in scorer.inputs.items()},
        "cells": [_cell(cell, scorer) for cell in scorer.cells],
        "nodes": [_node(node, cells, numbers) for node in scorer.nodes],
        "root": numbers[id(scorer.root)],
    }


def plain_label(label: Any) -> Any:
    """A class or value as a JSON value; refuses bytes, which JSON cannot hold."""
    if isinstance(label, bytes):
        raise UnsupportedError(
            f"cannot be exported: {label!r} is bytes, which other languages do not tell from text; decode it, and "
            "learn again"
        )
    return label.item() if isinstance(label, np.generic) else label


def codes_to_cells(cell: Value, column: Input) -> list[int]:
    """The cell of every code that a value of the column can have."""
    size = len(column.values) + (column.other >= 0)
    known_cells = cell.cells[:size].tolist()
    return [*known_cells, *([cell.beyond] * (size - len(known_cells)))]


def _input(column: Input) -> dict[str, Any]:
    if column.kind == "numeric":
        return {"name": column.name}
    document = {
        "name": column.name,
        "values": [plain_label(value) for value in column.values],
        "other": column.other,
    }
    return document | {"plain": column.plain} if column.kind == "text" else document


def _cell(cell: Cell, scorer: Scorer) -> dict[str, Any]:
    if isinstance(cell, Interval):
        return {"op": "interval", "column": cell.column, "cuts": cell.cuts.tolist()}
    assert isinstance(cell, Value)
    column = scorer.inputs["nominal"][cell.column]
    return {"op": "value", "column": cell.column, "cells": codes_to_cells(cell, column)}


def _node(node: Node, cells: dict[int, int], numbers: dict[int, int]) -> dict[str, Any]:
    name = type(node).__name__
    out: dict[str, Any] = {"op": _OPS.get(name, name.lower())}
    for f in fields(node):
        value = getattr(node, f.name)
        if f.name == "parts":
            value = [numbers[id(part)] for part in value]
        elif f.name == "part":
            value = numbers[id(value)]
        elif f.name == "cells" and isinstance(node, Table | Trees):
            value = [cells[id(cell)] for cell in value]
        elif f.name == "cell" and isinstance(node, Branch):
            value = cells[id(value)]
        out[f.name] = _plain(value)
    return out


def _plain(value: Any) -> Any:
    """A value for JSON: arrays as lists, infinities as strings."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list):
        return [_plain(element) for element in value]
    if isinstance(value, float) and not np.isfinite(value):
        return "-inf" if value < 0 else "inf"
    return value
