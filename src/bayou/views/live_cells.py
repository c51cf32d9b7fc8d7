"""A view whose cells, intervals or groups, are searched at refresh points, while their weights are always current."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, cast

import numpy as np

from bayou.align import Alignment, Axis
from bayou.block import Block, Codes, Floats, Index
from bayou.checks import counts, require
from bayou.errors import UnsupportedError
from bayou.protocols import Arrays, ColumnReading, Reading, SearchedReader, Summary
from bayou.readings.categorical import CategoricalEstimator
from bayou.readings.dichotomies import Dichotomies, Odds, RegroupedReading
from bayou.readings.drawn_cells import draw_from_cells
from bayou.readings.intervals import IntervalReading
from bayou.summaries.array_summary import move
from bayou.summaries.value_counts import ValueCounts
from bayou.threads import over_pieces
from bayou.views.view import AnyView, Searched

if TYPE_CHECKING:
    from bayou.scorer import Node

S = TypeVar("S", bound=Summary)
CHUNK = 1 << 20  # cell numbers held at once
GRAIN = 1 << 14  # values worth a thread of their own
NO_COLUMNS = np.zeros(0, dtype=np.int64)


class CellReading(Reading, Protocol):
    """A reading that puts every value of a column into one of the column's cells: an interval, a group."""

    @property
    def parts(self) -> Index:
        """int64[d + 1] the cells of column j are parts[j] .. parts[j + 1] - 1."""

    @property
    def counts(self) -> Floats:
        """float64[P, K] weight of every cell."""

    def with_counts(self, counts: Floats) -> Self:
        """A reading of these cells with other weights."""

    def cells_of(self, block: Block) -> Codes:
        """int32[n, d] the cell of every value within its column, -1 where it is missing, has none or is not counted."""

    def add_table(self, table: Floats, block: Block, out: Floats) -> None:
        """out[n, K] += the rows of a table float64[P, K] for the cells of counted columns."""

    def columns(self, plan: Alignment) -> Axis:
        """The axis of a plan to which this reading's columns belong."""


class TermReading(Reading, ColumnReading, Protocol):
    """A reading that gives the terms of single columns as well as their sum."""

    def add_columns(self, index: Index, block: Block, out: Floats) -> None:
        """out[n, K] += log p(x | c), where the block has these columns among its numeric ones, at these places."""


class FixedReading(CellReading, Protocol):
    """A reading of cells some of whose columns are not counted row by row."""

    @property
    def fixed(self) -> Index:
        """Numeric columns whose cells keep the weights they were found with."""

    @property
    def fixed_part(self) -> TermReading:
        """The reading of these columns alone."""


class LiveCells(Searched[S]):
    r"""Cells that change at refresh points only; $\log P(i \mid c)$ from their weights as they stand.

    A search finds cells and their weights; every row since then is counted in its cells. So probabilities include all
    rows learned, and only the division into cells waits for the next refresh point. A nominal value that has no cell
    yet is a cell of its own until then. Columns that a reading calls `fixed` are not counted: their cells hold the
    weights of a fitted density, among which a single row would stand out.

    Parameters
    ----------
    summary, reader
        As in `Searched`; the reader's readings have cells.
    smoothing
        The estimator of the probabilities of a column's cells.
    """

    def __init__(self, summary: S, reader: SearchedReader[S], smoothing: CategoricalEstimator) -> None:
        super().__init__(summary, reader)
        self.smoothing = smoothing
        self.cells = ValueCounts()
        self._reset_counts()

    @property
    def _fixed(self) -> Index:
        """Columns whose weights stay as the search found them."""
        fixed: Index = getattr(self.reading, "fixed", NO_COLUMNS)
        return fixed

    @property
    def _fixed_part(self) -> TermReading:
        """The reading of the fixed columns."""
        return cast(FixedReading, self.reading).fixed_part

    @property
    def _cell_reading(self) -> CellReading:
        return cast(CellReading, self.reading)

    def current(self) -> CellReading:
        """The reading with the current weights of its cells."""
        return self._cell_reading.with_counts(self.cells.counts[self._searched_cells()])

    def _n_own_cells(self) -> Index:
        """int64[d], the number of values of each column that may need a cell of their own."""
        if isinstance(self.summary, ValueCounts):
            return self.summary.sizes
        return np.zeros(len(self._cell_reading.parts) - 1, dtype=np.int64)

    def _searched_cells(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """bool[cells]: which cells come from the search, rather than being values of their own."""
        if not isinstance(self.summary, ValueCounts):
            return np.ones(int(self._cell_reading.parts[-1]), dtype=np.bool_)
        sizes = np.column_stack([np.diff(self._cell_reading.parts), self._n_own_cells()]).ravel()
        return np.repeat(np.arange(len(sizes)) % 2 == 0, sizes)

    def _reset_counts(self, present: Floats | None = None, own_counts: Floats | None = None) -> None:
        """Set the counts of cells to those of the reading; `present` and `own_counts` if rows were counted since."""
        reading, sizes = self._cell_reading, np.diff(self._cell_reading.parts)
        if present is None:
            present = np.zeros((len(sizes), reading.counts.shape[1]))
            np.add.at(present, np.repeat(np.arange(len(sizes)), sizes), reading.counts)
        searched = self._searched_cells()
        weights = np.zeros((len(searched), reading.counts.shape[1]))
        weights[searched] = reading.counts
        if own_counts is not None:
            weights[~searched] = own_counts
        self.cells.restore(
            {"counts": weights, "present": present, "sizes": sizes + self._n_own_cells(), "declared": sizes}
        )

    def _coded(self, block: Block) -> Block:
        """The rows with their cells in place of codes, -1 in fixed columns."""
        codes = self._cell_reading.cells_of(block)
        if isinstance(self.summary, ValueCounts):
            own_cells = np.diff(self._cell_reading.parts) + block.codes
            codes = np.where((codes < 0) & (block.codes >= 0), own_cells, codes).astype(np.int32)
        return block.coded(codes)

    def _chunks(self, block: Block) -> Iterator[tuple[slice, Block]]:
        return block.cut(range(0, block.n, max(1, CHUNK // max(1, len(self.cells.sizes)))))

    def refresh(self) -> None:
        super().refresh()
        self._reset_counts()

    def update(self, block: Block) -> None:
        if not self.stale and isinstance(self.reading, IntervalReading):
            self.reading.count(self.cells, block)
        elif not self.stale:
            for _, part in self._chunks(block):
                self.cells.update(self._coded(part))
        self.summary.update(block)

    def add_log_prob(self, block: Block, out: Floats) -> None:
        if self._has_as_many_values(block) and not self._n_own_cells().any():
            self._cell_reading.add_table(self.smoothing.table(self.cells), block, out)
        else:
            for where, part in self._chunks(block):
                self.smoothing.add_log_prob(self.cells, self._coded(part), out[where])
        self._add_fixed(block, out)

    def _has_as_many_values(self, block: Block) -> bool:
        """Whether the block has as many values as there are cells, so that a table of all cells pays."""
        return block.n * len(self.cells.sizes) >= len(self.cells.counts)

    def _add_fixed(self, block: Block, out: Floats) -> None:
        if len(self._fixed):
            self._fixed_part.add_columns(self._fixed, block, out)

    def _fill_fixed(self, block: Block, terms: Floats) -> Floats:
        if len(self._fixed):
            part = replace(block, numeric=np.ascontiguousarray(block.numeric[:, self._fixed]))
            terms[:, self._fixed] = self._fixed_part.terms(part)
        return terms

    def predict_then_update(self, block: Block, out: Floats) -> None:
        def predict() -> None:
            if isinstance(self.reading, IntervalReading) and self._has_as_many_values(block):
                self.reading.predict_then_count(self.cells, self.smoothing, block, out)
            else:
                for where, part in self._chunks(block):
                    self.smoothing.predict_then_update(self.cells, self._coded(part), out[where])
            self._add_fixed(block, out)

        self._beside_update(predict, block)

    def _beside_update(self, predict: Callable[[], None], block: Block) -> None:
        """Predict from the cells and update the summary, which are independent, in two threads for large blocks."""
        tasks = predict, lambda: self.summary.update(block)

        def run(lo: int, hi: int) -> None:
            for task in tasks[lo:hi]:
                task()

        over_pieces(run, 2, 1 if block.n * len(self.cells.sizes) >= GRAIN else 2)

    def column_terms(self, block: Block) -> Floats:
        return self._fill_fixed(block, self.smoothing.terms(self.cells, self._coded(block)))

    def scorer_columns(self) -> list[Node]:
        """Tables of the cells with their current weights; of fixed columns, as the search found them."""
        columns = self._counted_columns()
        for j, column in zip(self._fixed.tolist(), self._fixed_scorer(), strict=True):
            columns[j] = column
        return columns

    def add_to_scorer(self, so_far: Node) -> Node:
        from bayou.scorer import total

        return total(so_far, self._counted_columns(), self._fixed_scorer())

    def _fixed_scorer(self) -> list[Node]:
        from bayou.scorer import on_column

        if not len(self._fixed):
            return []
        columns = self._fixed_part.scorer_columns()
        return [on_column(column, int(j)) for j, column in zip(self._fixed, columns, strict=True)]

    def _counted_columns(self) -> list[Node]:
        """Tables of the cells that are counted live; those of fixed columns are zero."""
        table, first = self.smoothing.table(self.cells), self.cells.offsets
        if isinstance(self.summary, ValueCounts):
            return [self._values(j, table[first[j] : first[j + 1]]) for j in range(len(self.cells.sizes))]
        if not isinstance(self.reading, IntervalReading):
            raise UnsupportedError(
                "cannot be exported: values are known by their hash; nominal='counts' exports"
            )
        sizes = np.diff(self._cell_reading.parts)
        table[np.repeat(np.isin(np.arange(len(sizes)), self._fixed), sizes)] = 0.0
        return self.reading.tables_of_columns(table)

    def _values(self, column: int, table: Floats) -> Node:
        """The table of a nominal column: each value has the terms of its group, or else of its own cell."""
        from bayou.scorer import value_table

        codes = np.full((int(self._n_own_cells()[column]), len(self.cells.sizes)), -1, dtype=np.int32)
        codes[:, column] = np.arange(len(codes))
        n = len(codes)
        block = Block(np.empty((n, 0)), codes, (), np.full(n, -1, np.int32), np.ones(n))
        return value_table(column, table[self._coded(block).codes[:, column]])

    def terms_then_update(self, block: Block, units: Floats) -> Floats:
        terms = self.smoothing.terms_then_update(self.cells, self._coded(block), units)
        self._fill_fixed(block, terms)
        self.summary.update(block)
        return terms

    def odds(self, dichotomies: Dichotomies) -> Odds:
        return cast(RegroupedReading, self.current()).odds(dichotomies)

    def draw(self, block: Block, rng: np.random.Generator) -> None:
        """Draw values from the counts of the summary, class by class, whatever cells were found in them."""
        if isinstance(self.summary, ValueCounts):
            CategoricalEstimator(alpha=0.0).draw(self.summary, block, rng)
        elif hasattr(self.summary, "all_cells"):
            draw_from_cells(cast(Any, self.summary), block, rng)
        else:
            super().draw(block, rng)

    def scale(self, factor: float) -> None:
        super().scale(factor)
        self.cells.scale(factor)

    def realign(self, plan: Alignment) -> None:
        columns, searched = self._cell_reading.columns(plan), self._searched_cells()
        own_counts = np.split(self.cells.counts[~searched], np.cumsum(self._n_own_cells())[:-1])
        present = move(move(self.cells.present, 0, columns), 1, plan.classes)
        self.reading = self.current()
        super().realign(plan)
        moved = np.zeros((int(self._n_own_cells().sum()), present.shape[1]))
        starts = np.cumsum(self._n_own_cells()) - self._n_own_cells()
        for old, new in enumerate(columns.to.tolist()):
            if len(own_counts[old]):
                moved[starts[new] + plan.values[new].to] = move(own_counts[old], 1, plan.classes)
        self._reset_counts(present, moved)

    def fresh(self) -> Self:
        return type(self)(self.summary.fresh(), self.reader, self.smoothing)

    def arrays(self) -> Arrays:
        self.refresh_if_stale()
        return {
            **self.summary.arrays(),
            **{f"reading.{name}": a for name, a in self.current().arrays().items()},
            "reading.present": self.cells.present,
            "reading.own": self.cells.counts[~self._searched_cells()],
        }

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        shape = (len(self._cell_reading.parts) - 1, self._cell_reading.counts.shape[1])
        for name, rows in (("present", shape[0]), ("own", int(self._n_own_cells().sum()))):
            array = arrays[f"reading.{name}"]
            require(array.shape == (rows, shape[1]), f"{name} of a reading of cells must have {rows} rows")
            counts(f"{name} of a reading of cells", array)
        self._reset_counts(np.array(arrays["reading.present"]), np.array(arrays["reading.own"]))


def without_live_counts(view: AnyView) -> AnyView:
    """A view whose cells keep the weights that the search found; views without live cells are returned as they are."""
    return Searched(view.summary, cast(Any, view).reader) if isinstance(view, LiveCells) else view
