"""Intervals around cluster centres: one-dimensional k-means on cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayou.errors import DataError
from bayou.kernels.kmeans import kmeans_ends
from bayou.readings.partition import Discretiser, Floats, Partition, checked_cells, from_ends


@dataclass(frozen=True)
class KMeansBins(Discretiser):
    r"""Exact k-means in one dimension: at most `bins` runs with the least $\sum_i \sum_{v \in i} w_v (x_v - \mu_i)^2$.

    A cell counts as its largest value. Classes are ignored; the level is that of MODL's criterion.
    $O(\text{bins} \cdot m \log m)$ for m cells.

    Parameters
    ----------
    bins
        The largest number of intervals.

    Examples
    --------
    >>> upper = np.array([1.0, 2.0, 10.0, 11.0, 30.0])
    >>> KMeansBins(bins=3).partition(upper, np.ones((5, 1)), midpoints=True).cuts
    array([ 6. , 20.5])
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
        weights = counts.sum(axis=1)
        present = np.flatnonzero(weights > 0)
        ends = np.zeros(min(self.bins, len(present)), dtype=np.int64)
        if len(ends):
            kmeans_ends(ends, upper[present], weights[present])
            ends = present[ends - 1] + 1
            ends[-1] = len(upper)
        return from_ends(upper, counts, ends.tolist() or [len(upper)], midpoints, k)
