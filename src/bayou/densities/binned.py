"""Densities that are constant in intervals: cells with class counts, which a discretiser joins to intervals."""

from __future__ import annotations

from dataclasses import dataclass

from bayou.densities.density import Density
from bayou.errors import DataError
from bayou.readings.categorical import CategoricalEstimator
from bayou.readings.intervals import CellSummary, Intervals
from bayou.readings.intervals_or_normal import IntervalsOrNormal
from bayou.readings.partition import Discretiser
from bayou.summaries.grid_counts import GridCounts
from bayou.summaries.quantile_tuples import MOST_EXACT, QuantileTuples
from bayou.views.live_cells import LiveCells
from bayou.views.view import AnyView


class BinnedDensity(Density):
    """Base of densities whose summary gives cells: intervals are searched at refresh points and counted live."""

    __slots__ = ()

    def summary(self) -> CellSummary:
        """The empty summary."""
        raise NotImplementedError

    def reader(self, bins: Discretiser) -> Intervals:
        """The reader that joins cells to intervals with this discretiser."""
        return Intervals(bins)

    def view(self, bins: Discretiser) -> AnyView:
        reader = self.reader(bins)
        alpha, m, _ = reader.added()
        return LiveCells(self.summary(), reader, CategoricalEstimator(alpha, m))


@dataclass(frozen=True)
class GKClass(BinnedDensity):
    """Quantile tuples with class counts: a fixed number of them, or as many as an error needs.

    Parameters
    ----------
    tuples
        Tuples per column. The error is not guaranteed beforehand; `error()` reports what it is.
    eps
        If given, cumulated cells are never off the ranks and class ranks of any value by more than eps N, and the
        number of tuples follows (2 / eps before anything is given up, and hardly more afterwards in most orders).
    exact
        A column whose values come again keeps up to this many of them, each exactly. Dates, counts and rounded
        measurements may need an interval per value, which no summary of ranks can give.

    Examples
    --------
    >>> GKClass(tuples=50).summary().config()
    {'tuples': 50, 'eps': None, 'exact': 1000}
    """

    tuples: int = 100
    eps: float | None = None
    exact: int = 1000

    def __post_init__(self) -> None:
        if self.tuples < 4:
            raise DataError("a column needs at least 4 tuples", value=self.tuples)
        if self.eps is not None and not 1e-6 <= self.eps < 0.5:
            raise DataError("eps must lie between 1e-6 and 0.5", value=self.eps)
        if not 0 <= self.exact <= MOST_EXACT:
            raise DataError(f"exact must lie between 0 and {MOST_EXACT:,}", value=self.exact)

    def summary(self) -> QuantileTuples:
        return QuantileTuples(self.tuples, self.eps, self.exact)


@dataclass(frozen=True)
class AutoDensity(GKClass):
    """Quantile tuples with class counts, as in `GKClass`, read column by column as intervals or as normal densities.

    Intervals fit any shape, and a normal needs few rows; which of them a column gets is decided whenever readings are
    refreshed, by the length of describing its classes (`IntervalsOrNormal`). Nothing is kept besides the tuples, so
    merging, memory and speed of learning are those of `GKClass` with as many.

    Parameters
    ----------
    tuples, eps, exact
        As in `GKClass`, but 300 tuples: a stream sorted by class then costs less than half a point.

    Examples
    --------
    >>> AutoDensity(tuples=50).summary().config()
    {'tuples': 50, 'eps': None, 'exact': 1000}
    """

    tuples: int = 300

    def reader(self, bins: Discretiser) -> IntervalsOrNormal:
        return IntervalsOrNormal(bins)


@dataclass(frozen=True)
class PiD(BinnedDensity):
    """Partition incremental discretisation: a fine grid whose crowded cells are divided.

    Parameters
    ----------
    intervals
        Cells of equal width inside the range of the first 1,000 values; two more are open-ended.
    alpha
        A cell with a larger share of the weight is divided.
    max_cells
        Most cells per column, which bounds memory.

    Examples
    --------
    >>> PiD(intervals=50, alpha=0.05).summary().config()["cells"]
    1000

    References
    ----------
    J. Gama and C. Pinto, Discretization from data streams, SAC 2006.
    """

    intervals: int = 200
    alpha: float = 0.01
    max_cells: int = 1000

    def __post_init__(self) -> None:
        if not 1 <= self.intervals <= self.max_cells - 2:
            raise DataError("intervals must lie between 1 and max_cells - 2", value=self.intervals)
        if not 0 < self.alpha < 1:
            raise DataError("alpha must lie between 0 and 1", value=self.alpha)

    def summary(self) -> GridCounts:
        return GridCounts(self.intervals, self.alpha, self.max_cells, joins=False)


@dataclass(frozen=True)
class CPiD(BinnedDensity):
    """PiD discretisation in constant memory: after each division the two emptiest neighbours are joined.

    Parameters
    ----------
    cells
        Number of cells per column, which is constant.
    alpha
        A cell with a larger share of the weight is divided; 2 / cells if not given, and never less, since the
        mean share is 1 / cells and the grid must come to rest.

    Examples
    --------
    >>> CPiD(cells=50).summary().config()["alpha"]
    0.04
    """

    cells: int = 100
    alpha: float | None = None

    def __post_init__(self) -> None:
        if self.cells < 5:
            raise DataError("a column needs at least 5 cells", value=self.cells)
        if self.alpha is not None and not 2 / self.cells <= self.alpha < 1:
            raise DataError(
                f"alpha must lie between 2 / cells = {2 / self.cells:g} and 1",
                value=self.alpha,
                remedy="a smaller share divides cells for ever",
            )

    def summary(self) -> GridCounts:
        return GridCounts(self.cells - 2, self.alpha or 2 / self.cells, self.cells, joins=True)
