"""How nominal columns are summarised and read: recipes and their short names."""

from __future__ import annotations

from typing import Any

from bayou.errors import SchemaError
from bayou.readings.categorical import CategoricalEstimator
from bayou.readings.cell_groups import CellGroups
from bayou.readings.groups import Groups
from bayou.readings.modl_groups import MODLGroups
from bayou.readings.sketched import CountMinSketch, Sketch, SketchedTable
from bayou.summaries.value_counts import ValueCounts
from bayou.views.live_cells import LiveCells
from bayou.views.view import AnyView, Live

Nominal = Sketch | CountMinSketch
NOMINAL: dict[str, type[Nominal]] = {"sketch": Sketch, "count-min": CountMinSketch}


def nominal_recipe(nominal: str | Nominal) -> Nominal | None:
    """The sketch behind a short name; None for plain counts."""
    if isinstance(nominal, Nominal):
        return nominal
    if nominal != "counts" and nominal not in NOMINAL:
        raise SchemaError(f"nominal={nominal!r}; it is 'counts', one of {sorted(NOMINAL)}, or a recipe")
    return None if nominal == "counts" else NOMINAL[nominal]()


def nominal_view(
    nominal: str | Nominal, groups: str | MODLGroups | None, table: CategoricalEstimator
) -> AnyView:
    """The empty view of nominal columns: values or searched groups of values, counted exactly or sketched."""
    sketch = nominal_recipe(nominal)
    summary: Any = ValueCounts() if sketch is None else sketch.summary()
    grouping = groups_recipe(groups)
    if grouping is not None:
        if isinstance(sketch, CountMinSketch) and sketch.conservative:
            raise SchemaError(
                "cells of conservative updates are no counts that could be grouped; conservative=False"
            )
        reader = CellGroups(grouping) if isinstance(sketch, CountMinSketch) else Groups(grouping)
        return LiveCells(summary, reader, reader.smoothing)
    return Live(summary, table) if sketch is None else Live(summary, SketchedTable.like(table))


def groups_recipe(groups: str | MODLGroups | None) -> MODLGroups | None:
    """The recipe that a short name of grouping stands for."""
    if groups is None or isinstance(groups, MODLGroups):
        return groups
    if groups != "modl":
        raise SchemaError(f"groups={groups!r}; it is 'modl', a recipe such as MODLGroups(), or None")
    return MODLGroups()
