"""Intervals of equal width and of equal weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayou.errors import DataError
from bayou.readings.partition import Discretiser, Floats, Partition, checked_cells, from_ends


@dataclass(frozen=True)
class EqualWidth(Discretiser):
    r"""Intervals of equal width: cuts at $\min + (\max - \min)\, t / \text{bins}$, empty intervals left out.

    On summaries a cut is moved down to the nearest cell bound, because cells cannot be divided. Classes are
    ignored; the level is that of MODL's criterion. $O(m)$ for m cells.

    Parameters
    ----------
    bins
        The largest number of intervals.

    Examples
    --------
    >>> EqualWidth(bins=3).partition(np.arange(1.0, 11.0), np.ones((10, 2))).cuts
    array([4., 7.])
    """

    bins: int = 10

    def __post_init__(self) -> None:
        if self.bins < 1:
            raise DataError("bins must be at least 1", value=self.bins)

    def partition(
        self, upper: Floats, counts: Floats, *, midpoints: bool = False, n_classes: int | None = None
    ) -> Partition:
        """Intervals of one column of cells."""
        upper, counts, k = checked_cells(upper, counts, n_classes)
        present = np.flatnonzero(counts.sum(axis=1) > 0)
        if len(present) == 0:
            return from_ends(upper, counts, [len(upper)], False, k)
        low, high = upper[present[0]], upper[present[-1]]
        cuts = low + (high - low) * np.arange(1, self.bins) / self.bins
        cells_left = np.searchsorted(
            upper[present], cuts, side="right"
        )  # this many cells lie left of the cut
        cells_left, first = np.unique(cells_left, return_index=True)
        inside = (cells_left > 0) & (cells_left < len(present))
        ends = present[cells_left[inside] - 1] + 1
        partition = from_ends(upper, counts, [*ends.tolist(), len(upper)], False, k)
        return Partition(cuts[first[inside]], partition.counts, partition.level) if midpoints else partition


@dataclass(frozen=True)
class EqualFrequency(Discretiser):
    r"""Intervals of equal weight: t ends with the first cell at which the weight reaches $t N / \text{bins}$.

    Heavy cells may take up whole intervals, so that fewer remain. Classes are ignored; the level is that of MODL's
    criterion. $O(m)$ for m cells.

    Parameters
    ----------
    bins
        The largest number of intervals.

    Examples
    --------
    >>> EqualFrequency(bins=2).partition(np.array([1.0, 2.0, 3.0, 9.0]), np.ones((4, 2)), midpoints=True).cuts
    array([2.5])
    """

    bins: int = 10

    def __post_init__(self) -> None:
        if self.bins < 1:
            raise DataError("bins must be at least 1", value=self.bins)

    def partition(
        self, upper: Floats, counts: Floats, *, midpoints: bool = False, n_classes: int | None = None
    ) -> Partition:
        """Intervals of one column of cells."""
        upper, counts, k = checked_cells(upper, counts, n_classes)
        reached = np.cumsum(counts.sum(axis=1))
        if len(upper) == 0 or reached[-1] <= 0:
            return from_ends(upper, counts, [len(upper)], midpoints, k)
        targets = np.arange(1, self.bins) * reached[-1] / self.bins
        ends = np.unique(np.searchsorted(reached, targets, side="left") + 1)
        ends = ends[(ends < len(upper)) & (reached[np.minimum(ends, len(upper)) - 1] < reached[-1])]
        return from_ends(upper, counts, [*ends.tolist(), len(upper)], midpoints, k)
