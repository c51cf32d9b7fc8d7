"""The grid on which numeric columns are counted: a choice of cuts, made once from the first values."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from bayou.block import Floats
from bayou.errors import SchemaError
from bayou.recipe import Recipe


@dataclass(frozen=True)
class Grid(Recipe):
    r"""Intervals of a numeric column, frozen after `warm_up` rows: cuts at the values that divide the rows evenly, or
    at $\min + (\max - \min) t / B$.

    Parameters
    ----------
    bins
        Intervals per column, B. With `"frequency"`, fewer where values come again too often, or where the tables of
        all columns would take more than an eighth of `max_bytes`.
    rule
        `"frequency"` or `"width"`.
    warm_up
        Rows with a value in a column that has no grid yet, before its cuts are made. The rows are kept until
        then, and readings see them on the grid they give so far.

    Examples
    --------
    >>> Grid(bins=2).cuts(np.array([5.0, 1.0, 2.0, 3.0]))
    array([2.5])
    >>> Grid(bins=3, rule="width").cuts(np.array([0.0, 1.0, 9.0]))
    array([3., 6.])
    """

    bins: int = 8
    rule: str = "frequency"
    warm_up: int = 200

    def __post_init__(self) -> None:
        if self.rule not in ("width", "frequency"):
            raise SchemaError(f"rule={self.rule!r}; it is 'width' or 'frequency'")
        if self.bins < 1 or self.warm_up < 1:
            raise SchemaError(f"bins={self.bins!r}, warm_up={self.warm_up!r}: both are at least 1")

    def cuts(self, values: Floats) -> Floats:
        """bins - 1 increasing cuts; a value equal to a cut lies on its left. Cuts not needed are infinite."""
        out = np.full(self.bins - 1, np.inf)
        sorted_values = np.sort(values)
        low, high = sorted_values[0], sorted_values[-1]
        if low == high:
            return out
        if self.rule == "width":
            out[:] = low + (high - low) * np.arange(1, self.bins) / self.bins
        else:
            # A list: a few look-ups take less time than setting up NumPy's
            n, ordered = len(sorted_values), sorted_values.tolist()
            ends = [-(-step * n // self.bins) - 1 for step in range(1, self.bins)]
            after = dict.fromkeys(bisect_right(ordered, ordered[end]) for end in ends)
            cuts = [ordered[i - 1] + (ordered[i] - ordered[i - 1]) / 2 for i in after if i < n]
            out[: len(cuts)] = cuts
        return out


NAMED = {"frequency": Grid(), "width": Grid(3, "width", 500)}


def grid_of(numeric: str | Grid) -> Grid:
    """A grid by its short name: `"frequency"`, or `"width"`, three intervals as in Bouckaert's experiments.

    >>> grid_of("width")
    Grid(bins=3, rule='width', warm_up=500)
    """
    if not isinstance(numeric, str):
        return numeric
    if numeric not in NAMED:
        raise SchemaError(f"numeric={numeric!r}; it is one of {sorted(NAMED)}, or a Grid")
    return NAMED[numeric]
