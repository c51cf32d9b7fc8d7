"""The use of each column by a forest, and its partial dependence on a column."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from bayou.align import canonical_order
from bayou.block import Floats
from bayou.errors import DataError
from bayou.inspection.attributes import interval_names
from bayou.kernels.forest_rows import NO_PLACE
from bayou.kernels.forest_view import column_view
from bayou.plain_text import clean, shortened, table_text
from bayou.schema import Kind, Label, Schema
from bayou.summaries.forest import Forest

MOST_PARTS = 16  # intervals of a numeric column in a partial view


@dataclass(frozen=True, eq=False)
class PartialView:
    """Partial dependence of a forest on one column: class probabilities for each part of the column's values.

    At splits by other columns a row goes both ways, in proportion to the rows that went there; `proba` is
    float64[parts, K], classes as in `labels`.
    """

    column: str
    labels: tuple[Label, ...]
    parts: tuple[str, ...]
    cuts: tuple[float, ...]
    proba: Floats

    def __str__(self) -> str:
        headers = ["part", *(shortened(f"P({label!s})", 30) for label in self.labels)]
        lines = [
            [shortened(part, 60), *(f"{p:.4f}" for p in row)]
            for part, row in zip(self.parts, self.proba.tolist(), strict=True)
        ]
        return f"{clean(self.column)}, whatever the other columns hold\n{table_text(headers, lines)}"


def forest_uses(forest: Forest, schema: Schema) -> dict[str, float]:
    """By column, the mean number of tests of it on a row's path through one tree; the most used first."""
    columns = (*schema.names(Kind.NUMERIC), *schema.names(Kind.NOMINAL))
    inner = np.flatnonzero(forest.attribute >= 0)
    weight = forest.counts.sum(axis=1)
    tests = np.bincount(forest.attribute[inner], weight[inner], minlength=len(columns))
    rows = float(weight[forest.roots].sum())
    uses = {
        name: test / rows if rows > 0 else 0.0 for name, test in zip(columns, tests.tolist(), strict=True)
    }
    return dict(sorted(uses.items(), key=lambda item: -item[1]))


def partial_view(forest: Forest, schema: Schema, column: str) -> PartialView:
    """The partial dependence of a forest on a numeric or nominal column."""
    numeric, nominal = schema.names(Kind.NUMERIC), schema.names(Kind.NOMINAL)
    if column not in (*numeric, *nominal):
        raise DataError(
            f"no such column among those a forest tests, {', '.join((*numeric, *nominal))}", column=column
        )
    if forest.trees == 0:
        raise DataError("no trees have been grown yet", remedy="learn more rows, or call refresh()")
    cuts: tuple[float, ...] = ()
    if column in numeric:
        j = numeric.index(column)
        all_cuts = forest.cuts[j, : forest.used[j]]
        parts = min(MOST_PARTS, len(all_cuts) + 1)
        selected = (np.arange(1, parts) * (len(all_cuts) + 1) // parts) - 1
        cuts = tuple(all_cuts[selected].tolist())
        edges = [-1, *selected.tolist(), len(all_cuts)]
        cells = [1 + (low + high + 1) // 2 for low, high in itertools.pairwise(edges)]
        names = interval_names(cuts)
    else:
        j = nominal.index(column)
        vocabulary, codes = schema.vocabularies[column], forest.values[j]
        cells = np.flatnonzero(codes >= 0).tolist()
        names = [str(vocabulary.name(int(codes[cell]))) for cell in cells]
        cells, names, j = [*cells, NO_PLACE], [*names, "all others"], len(numeric) + j
    order = canonical_order(schema.classes.values)
    proba = np.empty((len(cells), len(forest.classes)))
    for row, cell in zip(proba, cells, strict=True):
        column_view(
            forest.counts, forest.attribute, forest.threshold, forest.left, forest.roots, j, len(forest.cuts), cell,
            int(forest.declared[0]), row,
        )  # fmt: skip
    labels = tuple(schema.classes.values[i] for i in order)
    return PartialView(column, labels, tuple(names), cuts, proba[:, order])
