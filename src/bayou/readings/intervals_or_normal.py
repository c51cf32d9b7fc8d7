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
from bayou.readings.intervals import CellSummary, IntervalReading, Intervals
from bayou.readings.partition import Ints, Partition, Partitions, log_factorials, offsets_of
from bayou.summaries.array_summary import move

SHOWN = 10  # intervals of a normal column that people are shown


@dataclass(frozen=True)
class IntervalsOrNormal(Intervals):
    r"""Intervals as `Intervals` finds them, or the cells themselves under one normal density per class.

    A discretiser gives up what lies within an interval, which costs most where columns are smooth and rows are few;
    normal densities fail where they are not smooth. So each column is read in both ways, and the shorter code of its
    classes is kept: that of the intervals by MODL's criterion, that of the normals as $-\sum_i \log P(y_i | x_i)$
    with the moments of class $y_i$ less row i. A column read as normal has the cells of its summary for intervals,
    and the weight of each is divided among the classes as the normals say, which is all that is left to smoothing.
    """

    def read(self, summary: CellSummary) -> MixedReading:
        offsets, upper, counts = self.cells(summary)
        found = self.search(offsets, upper, counts, summary)
        if not len(found):
            return MixedReading(found, self.added())
        seen = np.flatnonzero(counts.any(axis=0))
        n_classes = max(len(seen), int(summary.declared[0]), 1)
        present, levels = np.ascontiguousarray(counts[:, seen]), np.zeros(len(offsets) - 1)
        shared = np.zeros_like(present)
        normal_columns(shared, levels, offsets, upper, present, log_factorials(n_classes), n_classes)
        normal = levels > found.levels
        whole = np.zeros_like(counts)
        whole[:, seen] = shared
        cuts = upper.copy()
        cuts[offsets[1:][np.diff(offsets) > 0] - 1] = np.inf
        cells = Partitions(offsets, cuts, whole, levels)
        return MixedReading(_chosen(normal, cells, found), self.added(), normal.astype(np.int64))

    def restore(self, arrays: Arrays, summary: CellSummary) -> MixedReading:
        found, normal = super().restore(arrays, summary), arrays["normal"]
        require(normal.shape == (len(found.partitions),), "every column of a reading is read in one way")
        require(bool(np.isin(normal, (0, 1)).all()), "a column is read as normal, or not")
        return MixedReading(found.partitions, found.added, np.array(normal, dtype=np.int64))


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
        """Partitions to look at: neighbouring cells of a normal column are joined to a few of equal weight."""
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
        own, chosen = self.partitions, self.normal > 0
        places = _places(chosen, own.offsets)
        offsets = offsets_of(np.diff(own.offsets)[chosen])
        part = Partitions(offsets, own.cuts[places], own.counts[places], own.levels[chosen])
        return IntervalReading(part, self.added)

    def free_parameters(self) -> Floats:
        """[d] intervals of each column but one; a normal has its location and its scale."""
        return np.where(self.normal > 0, 2.0, super().free_parameters())

    def realign(self, plan: Alignment) -> Self:
        return replace(super().realign(plan), normal=move(self.normal, 0, plan.numeric))

    def arrays(self) -> Arrays:
        return {**super().arrays(), "normal": self.normal}


def _chosen(
    first: np.ndarray[tuple[int], np.dtype[np.bool_]], one: Partitions, two: Partitions
) -> Partitions:
    """Column by column, from `one` where `first` says so, else from `two`."""
    places = [_places(first, one.offsets), _places(~first, two.offsets)]
    sizes = np.where(first, np.diff(one.offsets), np.diff(two.offsets))
    offsets = offsets_of(sizes)
    taken = np.repeat(first, sizes)
    cuts, counts = np.empty(len(taken)), np.empty((len(taken), one.counts.shape[1]))
    for which, source, there in ((taken, one, places[0]), (~taken, two, places[1])):
        cuts[which], counts[which] = source.cuts[there], source.counts[there]
    return Partitions(offsets, cuts, counts, np.where(first, one.levels, two.levels))


def _places(
    chosen: np.ndarray[tuple[int], np.dtype[np.bool_]], offsets: Ints
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """bool[cells]: which cells belong to a chosen column."""
    return np.repeat(chosen, np.diff(offsets))
