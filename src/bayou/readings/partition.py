"""Partitions: intervals of a numeric column with class counts and relevance, as discretisers return them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bayou.errors import DataError
from bayou.kernels.modl import gather_parts, partition_level, running_totals
from bayou.readings.logs import log_factorials
from bayou.recipe import Recipe

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Partition:
    r"""Intervals $(-\infty, t_1], (t_1, t_2], \dots, (t_{I-1}, \infty)$ of one numeric column.

    Parameters
    ----------
    cuts
        float64[I-1], increasing; a value equal to a cut belongs to the interval on its left.
    counts
        float64[I, K], weight per interval and class.
    level
        Relevance in [0, 1): the share of the null model's code length that the intervals save.

    Examples
    --------
    >>> halves = Partition(np.array([2.5]), np.array([[3.0, 0.0], [1.0, 4.0]]), 0.1)
    >>> halves.n_parts, halves.informative
    (2, True)
    >>> halves.cell_of([2.5, 2.6, float("nan")])
    array([ 0,  1, -1], dtype=int32)
    """

    cuts: Floats
    counts: Floats
    level: float

    @property
    def n_parts(self) -> int:
        """Number of intervals, at least one."""
        return len(self.counts)

    @property
    def informative(self) -> bool:
        """Whether there is more than one interval."""
        return len(self.counts) > 1

    def cell_of(self, values: object) -> NDArray[np.int32]:
        """Interval number of every value, -1 for NaN. O(n log I)."""
        numbers = np.asarray(values, dtype=np.float64)
        cells = np.searchsorted(self.cuts, numbers, side="left")
        return np.where(np.isnan(numbers), -1, cells).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Partitions:
    """Partitions of many columns, end to end: column j's intervals are ``offsets[j] .. offsets[j+1]-1``.

    Parameters
    ----------
    offsets
        int64[d+1].
    cuts
        float64[P], the largest value of each interval; infinite for the last of a column.
    counts
        float64[P, K].
    levels
        float64[d].

    Examples
    --------
    >>> cuts = np.array([4.0, np.inf, np.inf])
    >>> many = Partitions(np.array([0, 2, 3]), cuts, np.ones((3, 2)), np.array([0.2, 0.0]))
    >>> len(many), many[0].cuts, many[1].n_parts
    (2, array([4.]), 1)
    """

    offsets: Ints
    cuts: Floats
    counts: Floats
    levels: Floats

    def __len__(self) -> int:
        return len(self.levels)

    def __getitem__(self, column: int) -> Partition:
        if not 0 <= column < len(self.levels):
            raise IndexError(f"column {column} of {len(self.levels)}")
        start, end = self.offsets[column], self.offsets[column + 1]
        return Partition(self.cuts[start : end - 1], self.counts[start:end], float(self.levels[column]))


class Discretiser(Recipe):
    """Base of discretisers: pure functions from ordered cells with class counts to intervals.

    Cells are two arrays: `upper`, float64[m], strictly increasing, the largest value of each cell (for exact
    data: the distinct values), and `counts`, float64[m, K], weights that may be fractional.
    """

    __slots__ = ()
    supervised: ClassVar[bool] = False  # whether the cuts depend on the classes

    def partition(
        self, upper: Floats, counts: Floats, *, midpoints: bool = False, n_classes: int | None = None
    ) -> Partition:
        """Intervals of one column.

        `midpoints` places a cut half-way between neighbouring cells (exact data) instead of at the left
        cell's largest value (summaries). `n_classes` counts the classes the model knows, if more than K.
        """
        raise NotImplementedError

    def partitions(
        self,
        offsets: Ints,
        upper: Floats,
        counts: Floats,
        *,
        midpoints: bool = False,
        n_classes: int | None = None,
    ) -> Partitions:
        """Intervals of many columns; column j's cells are ``offsets[j] .. offsets[j+1]-1``."""
        parts = [
            self.partition(upper[a:b], counts[a:b], midpoints=midpoints, n_classes=n_classes)
            for a, b in itertools.pairwise(offsets)
        ]
        sizes = np.array([part.n_parts for part in parts], dtype=np.int64)
        return Partitions(
            offsets_of(sizes),
            np.concatenate([np.append(part.cuts, np.inf) for part in parts] or [np.empty(0)]),
            np.concatenate([part.counts for part in parts] or [np.empty((0, counts.shape[1]))]),
            np.array([part.level for part in parts]),
        )


def offsets_of(sizes: Ints) -> Ints:
    """Offsets 0, s_0, s_0+s_1, .. of consecutive pieces with these sizes."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def heaviest_column(offsets: Ints, counts: Floats) -> float:
    """The largest sum of the weight and the number of cells of a column, for the table of factorials.

    >>> heaviest_column(np.array([0, 2, 2, 3]), np.array([[1.0, 2.0], [0.0, 3.0], [2.0, 2.0]]))
    8.0
    """
    weights = np.append(0.0, np.cumsum(counts.sum(axis=1))) + np.arange(len(counts) + 1)
    return float(np.diff(weights[offsets]).max(initial=0.0))


def checked_cells(upper: object, counts: object, n_classes: int | None) -> tuple[Floats, Floats, int]:
    """Cells as contiguous float64 arrays of matching lengths, and the number of classes."""
    values = np.ascontiguousarray(upper, dtype=np.float64)
    weights = np.ascontiguousarray(counts, dtype=np.float64)
    if values.ndim != 1 or weights.ndim != 2 or len(values) != len(weights):
        raise DataError(
            f"cells need upper[m] and counts[m, K], got shapes {values.shape} and {weights.shape}",
            remedy="one row of counts per cell",
        )
    return values, weights, max(weights.shape[1], n_classes or 1)


def gather(
    bounds: Ints, sizes: Ints, levels: Floats, offsets: Ints, upper: Floats, counts: Floats, midpoints: bool
) -> Partitions:
    """Cut values and class counts of intervals given by their ends; no cells give one empty interval."""
    part_offsets = offsets_of(np.maximum(sizes, 1))
    cuts = np.empty(part_offsets[-1])
    part_counts = np.zeros((int(part_offsets[-1]), counts.shape[1]))
    gather_parts(cuts, part_counts, part_offsets, bounds, sizes, offsets, upper, counts, midpoints)
    return Partitions(part_offsets, cuts, part_counts, levels)


def from_ends(upper: Floats, counts: Floats, ends: list[int], midpoints: bool, n_classes: int) -> Partition:
    """The partition whose intervals end before the cells `ends` (the last is m), with MODL's level."""
    bounds = np.zeros(max(len(upper), 1), dtype=np.int64)
    bounds[: len(ends)] = ends
    sizes = np.array([len(ends) if len(upper) else 0], dtype=np.int64)
    offsets = np.array([0, len(upper)], dtype=np.int64)
    partition = gather(bounds, sizes, np.zeros(1), offsets, upper, counts, midpoints)[0]
    return with_level(partition, n_classes)


def with_level(partition: Partition, n_classes: int) -> Partition:
    """The intervals of a partition with the level Boullé's criterion gives them."""
    prefix = np.empty((partition.n_parts + 1, partition.counts.shape[1] + 1))
    running_totals(prefix, partition.counts)
    table = log_factorials(n_classes, partition.counts.sum() + partition.n_parts)
    level = partition_level(table, prefix, n_classes)
    return Partition(partition.cuts, partition.counts, level)
