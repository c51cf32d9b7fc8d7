"""Intervals or a normal density for every numeric column, whichever describes its classes in fewer bits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Floats, Index
from bayou.checks import require
from bayou.kernels.normal_cells import normal_columns
from bayou.protocols import Arrays
from bayou.readings.equal import EqualFrequency
from bayou.readings.intervals import SEARCH_GRAIN, CellSummary, IntervalReading, Intervals
from bayou.readings.logs import log_factorials
from bayou.readings.partition import Ints, Partition, Partitions, heaviest_column, offsets_of
from bayou.summaries.array_summary import move
from bayou.threads import over_pieces

SHOWN = 10  # intervals of a normal column that reports show


@dataclass(frozen=True)
class IntervalsOrNormal(Intervals):
    r"""Intervals as `Intervals` finds them, or the cells themselves under one normal density per class.

    A discretiser loses the differences within an interval, which costs most where columns are smooth and rows are few;
    normal densities fail where columns are not smooth. So each column is read in both ways, and the shorter code of its
    classes is kept: that of the intervals by MODL's criterion, that of the normals as $-\sum_i \log P(y_i | x_i)$
    with the moments of class $y_i$ less row i. A column read as normal has the cells of its summary for intervals,
    and the weight of each is divided among the classes by the normals, before smoothing.
    """

    def read(self, summary: CellSummary) -> MixedReading:
        offsets, upper, counts = self.cells(summary)
        partitions = self.search(offsets, upper, counts, summary)
        if not len(partitions):
            return MixedReading(partitions, self.added())
        seen = np.flatnonzero(counts.any(axis=0))
        n_classes = max(len(seen), int(summary.declared[0]), 1)
        present, levels = np.ascontiguousarray(counts[:, seen]), np.zeros(len(offsets) - 1)
        shared = np.zeros_like(present)
        table = log_factorials(n_classes, heaviest_column(offsets, counts))

        def columns(lo: int, hi: int) -> None:
            normal_columns(shared, levels[lo:hi], offsets[lo : hi + 1], upper, present, table, n_classes)

        over_pieces(columns, len(levels), SEARCH_GRAIN)
        normal = levels > partitions.levels
        normal_counts = np.zeros_like(counts)
        normal_counts[:, seen] = shared
        cuts = upper.copy()
        cuts[offsets[1:][np.diff(offsets) > 0] - 1] = np.inf
        cells = Partitions(offsets, cuts, normal_counts, levels)
        return MixedReading(_chosen(normal, cells, partitions), self.added(), normal.astype(np.int64))

    def restore(self, arrays: Arrays, summary: CellSummary) -> MixedReading:
        reading, normal = super().restore(arrays, summary), arrays["normal"]
        require(normal.shape == (len(reading.partitions),), "every column of a reading is read in one way")
        require(bool(np.isin(normal, (0, 1)).all()), "a column is read as normal, or not")
        return MixedReading(reading.partitions, reading.added, np.array(normal, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class MixedReading(IntervalReading):
    """Intervals of all numeric columns, some of which are cells under normal densities.

    Parameters
    ----------
    partitions, added
        As in `IntervalReading`.
    normal
        int64[d], 1 where a column is read as normal.
    """

    normal: Index = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __iter__(self) -> Iterator[Partition]:
        """Partitions for display: neighbouring cells of a normal column are joined to a few of equal weight."""
        for j, part in enumerate(super().__iter__()):
            if self.normal[j]:
                few = EqualFrequency(SHOWN).partition(np.append(part.cuts, np.inf), part.counts)
                yield Partition(few.cuts, few.counts, part.level)
            else:
                yield part

    @cached_property
    def fixed(self) -> Index:
        """Columns read as normal: their cells keep the weights they were found with."""
        return np.flatnonzero(self.normal)

    @cached_property
    def counted(self) -> Index:
        return np.where(self.normal > 0, -1, np.arange(len(self.normal)))

    @cached_property
    def fixed_part(self) -> IntervalReading:
        """The reading of the fixed columns alone."""
        partitions, chosen = self.partitions, self.normal > 0
        of_chosen = _places(chosen, partitions.offsets)
        offsets = offsets_of(np.diff(partitions.offsets)[chosen])
        part = Partitions(
            offsets, partitions.cuts[of_chosen], partitions.counts[of_chosen], partitions.levels[chosen]
        )
        return IntervalReading(part, self.added)

    def free_parameters(self) -> Floats:
        """[d] intervals of each column but one; a normal has its location and its scale."""
        return np.where(self.normal > 0, 2.0, super().free_parameters())

    def realign(self, plan: Alignment) -> Self:
        return replace(super().realign(plan), normal=move(self.normal, 0, plan.numeric))

    def arrays(self) -> Arrays:
        return {**super().arrays(), "normal": self.normal}


def _chosen(
    from_first: np.ndarray[tuple[int], np.dtype[np.bool_]], first: Partitions, second: Partitions
) -> Partitions:
    """The partitions of `first` for the columns in `from_first`, those of `second` for the others."""
    sources = [_places(from_first, first.offsets), _places(~from_first, second.offsets)]
    sizes = np.where(from_first, np.diff(first.offsets), np.diff(second.offsets))
    offsets = offsets_of(sizes)
    taken = np.repeat(from_first, sizes)
    cuts, counts = np.empty(len(taken)), np.empty((len(taken), first.counts.shape[1]))
    for targets, source, cells in ((taken, first, sources[0]), (~taken, second, sources[1])):
        cuts[targets], counts[targets] = source.cuts[cells], source.counts[cells]
    return Partitions(offsets, cuts, counts, np.where(from_first, first.levels, second.levels))


def _places(
    chosen: np.ndarray[tuple[int], np.dtype[np.bool_]], offsets: Ints
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """bool[cells]: which cells belong to a chosen column."""
    return np.repeat(chosen, np.diff(offsets))
