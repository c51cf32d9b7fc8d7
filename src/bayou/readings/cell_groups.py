"""Groups of the cells of count-min sketches, which do not keep the values themselves."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Index
from bayou.checks import require
from bayou.kernels.count_min import sketch_cells
from bayou.protocols import Arrays
from bayou.readings.groups import GroupReading, Groups
from bayou.summaries.array_summary import move
from bayou.summaries.count_min import PRIME, CountMin
from bayou.summaries.heavy_hitters import HeavyHitters


@dataclass(frozen=True)
class CellGroups(Groups):
    r"""Searches groups among the cells of a count-min sketch; $\log P(g \mid c)$ as in `Groups`.

    A row of the sketch divides all values among its W cells, whose class counts are exact sums, so that a row is a
    table of W values and is grouped as one. The rows divide the values by different hashes; of every column the row
    whose groups save the largest share of the code length is read (the first among equals). Values that share a cell
    in that row share a group.
    """

    def read(self, summary: CountMin) -> CellGroupReading:  # type: ignore[override] # another kind of summary
        n_classes = max(1, int(np.count_nonzero(summary.present.any(axis=0))))
        keys, no_others = np.arange(1, summary.width + 1), np.zeros(summary.shape[1])
        rows, searches = [], []
        for tables in summary.tables:
            by_row = [self._search(keys, table, no_others, n_classes) for table in tables]
            best = max(range(len(by_row)), key=lambda r: by_row[r][1].level)
            rows.append(best)
            searches.append(by_row[best])
        reading = self._reading(searches, summary.shape[1], hashed=True)
        return self._of_cells(reading, np.array(rows, dtype=np.int64), summary)

    def restore(self, arrays: Arrays, summary: CountMin) -> CellGroupReading:  # type: ignore[override]
        reading, rows = super().restore(arrays, summary), np.array(arrays["rows"], dtype=np.int64)
        require(rows.shape == (len(summary.tables),), "every column has one row of its sketch read")
        require(rows.min(initial=0) >= 0 and rows.max(initial=0) < summary.depth, "no such row of a sketch")
        keys = reading.keys
        require(keys.min(initial=1) >= 1 and keys.max(initial=1) <= summary.width, "no such cell of a sketch")
        return self._of_cells(reading, rows, summary)

    @staticmethod
    def _of_cells(reading: GroupReading, rows: Index, summary: CountMin) -> CellGroupReading:
        shared: dict[str, Any] = {field.name: getattr(reading, field.name) for field in fields(reading)}
        return CellGroupReading(**shared, rows=rows, hashes=summary.hashes, width=summary.width)


@dataclass(frozen=True, eq=False)
class CellGroupReading(GroupReading):
    """Groups whose keys are cells of a sketch, counted from 1.

    rows : int64[q], the row of the sketch that is read of each column
    hashes : int64[D, 4], coefficients of the hashes of the rows; width : the cells of a row
    """

    rows: Index
    hashes: Index
    width: int

    def _values(self, block: Block) -> Index:
        keys = HeavyHitters.keys_of(block)
        require(keys.shape[1] == len(self.rows), "the groups read belong to other columns")
        cells = np.empty_like(keys)
        sketch_cells(cells, np.ascontiguousarray(keys), self.rows, self.hashes, PRIME, self.width)
        return cells

    def realign(self, plan: Alignment) -> Self:
        return replace(super().realign(plan), rows=move(self.rows, 0, plan.nominal))

    def arrays(self) -> Arrays:
        return {**super().arrays(), "rows": self.rows}
