"""Sampling of numeric values from summaries of cells."""

from __future__ import annotations

import numpy as np

from bayou.block import Block
from bayou.readings.intervals import CellSummary


def draw_from_cells(summary: CellSummary, block: Block, rng: np.random.Generator) -> None:
    """Draw the numeric columns of a block by its rows' classes: a cell by its weight in the class, a value inside it.

    A cell reaches from the largest value of the one before to its own; the first is a single value. A class without
    weight in a column is drawn from all classes together, and a column without values stays missing.
    """
    offsets, upper, counts = summary.all_cells()
    for j in range(len(offsets) - 1):
        here = slice(offsets[j], offsets[j + 1])
        values, weights = upper[here], counts[here]
        if not weights.any():
            continue
        lower = np.concatenate((values[:1], values[:-1]))
        for c in np.unique(block.y):
            rows = np.flatnonzero(block.y == c)
            class_weights = weights[:, c] if weights[:, c].any() else weights.sum(axis=1)
            below = np.cumsum(class_weights) / class_weights.sum()
            cell = np.minimum(np.searchsorted(below, rng.random(len(rows)), side="right"), len(values) - 1)
            bottom = np.where(np.isfinite(lower[cell]), lower[cell], values[cell])
            top = np.where(np.isfinite(values[cell]), values[cell], bottom)
            block.numeric[rows, j] = bottom + (top - bottom) * rng.random(len(rows))
