"""A summary together with how it is read, and when the reading is fresh.

A *live* view is read straight from the state, so it is always current. A *searched* view keeps its reading:
it changes only at fixed row counts, or when a merge, an unlearning, a decay, or a row with a new class or a new
column left it stale; a stale view is refreshed before the next row is learned or predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.checks import require
from bayou.errors import UnsupportedError
from bayou.laws import MergeLaw
from bayou.protocols import (
    Arrays,
    ColumnReading,
    Decays,
    Framed,
    Reading,
    Regroups,
    SearchedReader,
    Subtracts,
    Summary,
)
from bayou.readings.dichotomies import ColumnOdds, Dichotomies, Odds, RegroupedReading
from bayou.readings.live import LiveReader

if TYPE_CHECKING:
    from bayou.scorer import Node

S = TypeVar("S", bound=Summary)


def next_point(rows: int) -> int:
    """The next row count at which searched readings are refreshed: 1, 2, 4 ... 64, then a quarter more each.

    >>> point, points = 0, []
    >>> for _ in range(12): point = next_point(point); points.append(point)
    >>> points
    [1, 2, 4, 8, 16, 32, 64, 80, 100, 125, 156, 195]
    """
    point = 1
    while point <= rows:
        point = point * 2 if point < 64 else point + point // 4
    return point


class View(Generic[S]):
    """Base of views: a summary, with all operations on it."""

    searched = False
    depends_on_history = (
        False  # whether a search depends on the reading before it: then no refresh point is left out
    )
    prediction_is_pure = False  # whether predicting changes nothing at all, not even a cache

    def __init__(self, summary: S) -> None:
        self.summary = summary

    @property
    def law(self) -> MergeLaw:
        """The law of `merge`: that of the summary."""
        return self.summary.law

    @property
    def depends_on_order(self) -> bool:
        """Whether rows in another order give another state.

        They do where a merge averages at best, and where there is a frame, which is set by the first rows.
        """
        return self.law in (MergeLaw.AVERAGED, MergeLaw.NONE) or isinstance(self.summary, Framed)

    def states(self) -> Sequence[Any]:
        """The objects that hold the arrays of this view: its summary, and further state besides a reading."""
        return (self.summary,)

    def update(self, block: Block) -> None:
        """Learn the rows."""
        self.summary.update(block)

    def add_log_prob(self, block: Block, out: Floats) -> None:
        """out[n, K] += log p(x | c) of this view's columns."""
        raise NotImplementedError

    def predict_then_update(self, block: Block, out: Floats) -> None:
        """out[n, K] += log p(x | c) as it stood before each row, which is then learned."""
        raise NotImplementedError

    def is_worth_a_thread(self, block: Block) -> bool:
        """Whether `predict_then_update` adds one number per row and class, and takes long enough for a thread.

        Numbers that are added to zeros in another thread, and then to the sum of the views before, have the same bits.
        """
        return False

    def column_terms(self, block: Block) -> Floats:
        """[n, d, K] the term of each column of this view in log p(x | c); for views whose reader gives single terms."""
        raise NotImplementedError

    def terms_then_update(self, block: Block, units: Floats) -> Floats:
        """[n, d, K] the terms of the columns as they stood before each row; the rows are then learned.

        The logarithms of the columns' scales are written to `units`, [n, p] or [n, 0], where the terms are densities.
        """
        raise NotImplementedError

    has_units = False  # whether the terms are densities, which depend on the units of their columns

    def fill_units(self, units: Floats) -> None:
        """Write the logarithms of the columns' present scales to `units`, where the terms are densities."""

    def scorer_columns(self) -> list[Node]:
        """The terms of the columns as nodes of a scorer, one per column; see `bayou.scorer`."""
        raise UnsupportedError(
            f"cannot be exported: {type(self).__name__} does not say what its columns add as look-ups and sums"
        )

    def add_to_scorer(self, so_far: Node) -> Node:
        """The node `so_far` plus the terms of this view, summed up in the order of `add_log_prob`."""
        from bayou.scorer import total

        return total(so_far, self.scorer_columns())

    def free_parameters(self) -> Floats:
        """Free parameters per class, by column or the same for all."""
        return np.array(2.0)

    def odds(self, dichotomies: Dichotomies) -> Odds:
        """Log-odds between groups of classes, for all columns of a code, in the present state."""
        name = type(self).__name__
        raise UnsupportedError(
            f"{name} cannot be read for groups of classes: it is found for all of them together"
        )

    def odds_then_update(self, dichotomies: Dichotomies, block: Block, out: Floats) -> None:
        """Row by row: add the log-odds of a code as they stood before the row, then learn the row."""
        for i in range(block.n):
            row = block.rows(i, i + 1)
            self.odds(dichotomies).add(row, out[i : i + 1])
            self.update(row)

    def require_odds(self) -> None:
        """Raise `UnsupportedError` unless this view can be read for groups of classes."""
        name = type(self.summary).__name__
        if not isinstance(self.summary, Regroups):
            raise UnsupportedError(f"{name} cannot be read for groups of classes: {name} does not regroup")
        if type(self).odds is View.odds:
            self.odds(Dichotomies(np.zeros((2, 0, 0)), np.zeros((0, 0)), False))

    def draw(self, block: Block, rng: np.random.Generator) -> None:
        """Fill this view's columns of a block with values drawn for the rows' classes, if the reader is generative."""
        raise UnsupportedError(
            f"cannot sample: {type(self).__name__} does not say how its columns are drawn; NaiveBayes, taught the "
            "same rows, can"
        )

    def merge(self, other: Self) -> None:
        """Add what another view of the same configuration and schema has counted."""
        self.summary.merge(other.summary)

    def subtract(self, block: Block) -> None:
        """Unlearn the rows; raises `UnsupportedError` where the summary cannot, unless there are no columns."""
        if self.has_no_columns:
            return
        if not isinstance(self.summary, Subtracts):
            name = type(self.summary).__name__
            instead = getattr(self.summary, "instead", "")
            raise UnsupportedError(
                f"cannot unlearn: {name} keeps no record from which a row could be taken out{instead}"
            )
        self.summary.subtract(block)

    def scale(self, factor: float) -> None:
        """Multiply all counts by a factor; raises `UnsupportedError` where the summary cannot."""
        if not isinstance(self.summary, Decays):
            raise UnsupportedError(
                f"cannot decay: {type(self.summary).__name__} holds nothing that could fade"
            )
        self.summary.scale(factor)

    def realign(self, plan: Alignment) -> None:
        """Make room for new classes, columns and values."""
        self.summary.realign(plan)

    @property
    def has_no_columns(self) -> bool:
        """Whether there are no columns of this view's kind yet, so that it adds nothing."""
        return getattr(self.summary, "has_no_columns", False)

    def fresh(self) -> Self:
        """A view of the same configuration and schema that has learned nothing."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Compute the reading now."""

    def refresh_if_stale(self) -> None:
        """Compute the reading if it is stale."""

    def mark_stale(self) -> None:
        """Mark the reading as stale, after a change that the row count does not show."""

    def arrays(self) -> Arrays:
        """The learned state under stable names."""
        return self.summary.arrays()

    def restore(self, arrays: Arrays) -> None:
        """Take a state given by `arrays`."""
        self.summary.restore(arrays)


class Live(View[S]):
    """A live view, which keeps no reading: the reader works on the summary as it stands."""

    def __init__(self, summary: S, reader: LiveReader[S]) -> None:
        super().__init__(summary)
        self.reader = reader

    @property
    def prediction_is_pure(self) -> bool:  # type: ignore[override] # of the class elsewhere, of the reader here
        return self.reader.prediction_is_pure

    def add_log_prob(self, block: Block, out: Floats) -> None:
        self.reader.add_log_prob(self.summary, block, out)

    def predict_then_update(self, block: Block, out: Floats) -> None:
        self.reader.predict_then_update(self.summary, block, out)

    def is_worth_a_thread(self, block: Block) -> bool:
        return self.reader.is_worth_a_thread(self.summary, block)

    def column_terms(self, block: Block) -> Floats:
        return self.reader.terms(self.summary, block)

    def terms_then_update(self, block: Block, units: Floats) -> Floats:
        if self.has_no_columns:
            return self.column_terms(block)
        return self.reader.terms_then_update(self.summary, block, units)

    def scorer_columns(self) -> list[Node]:
        return self.reader.scorer_columns(self.summary)

    def add_to_scorer(self, so_far: Node) -> Node:
        return self.reader.add_to_scorer(self.summary, so_far)

    @property
    def has_units(self) -> bool:  # type: ignore[override] # of the class elsewhere, of the reader here
        return self.reader.has_units

    def fill_units(self, units: Floats) -> None:
        self.reader.fill_units(self.summary, units)

    def free_parameters(self) -> Floats:
        return self.reader.free_parameters(self.summary)

    def odds(self, dichotomies: Dichotomies) -> Odds:
        return self.reader.odds(self.summary, dichotomies)

    def odds_then_update(self, dichotomies: Dichotomies, block: Block, out: Floats) -> None:
        self.reader.odds_then_update(self.summary, dichotomies, block, out)

    def draw(self, block: Block, rng: np.random.Generator) -> None:
        self.reader.draw(self.summary, block, rng)

    def fresh(self) -> Self:
        return type(self)(self.summary.fresh(), self.reader)


class Searched(View[S]):
    """A view whose reading is searched at fixed row counts, and kept and saved in between."""

    searched = True

    def __init__(self, summary: S, reader: SearchedReader[S]) -> None:
        super().__init__(summary)
        self.reader = reader
        self.reading: Reading = reader.read(summary)
        self.stale = True

    def refresh(self) -> None:
        self.reading = self.reader.read(self.summary)
        self.stale = False

    def refresh_if_stale(self) -> None:
        if self.stale:
            self.refresh()

    def mark_stale(self) -> None:
        self.stale = True

    def add_log_prob(self, block: Block, out: Floats) -> None:
        self.reading.add_log_prob(block, out)

    def predict_then_update(self, block: Block, out: Floats) -> None:
        self.reading.add_log_prob(block, out)
        self.summary.update(block)

    def column_terms(self, block: Block) -> Floats:
        return cast(ColumnReading, self.reading).terms(block)

    def terms_then_update(self, block: Block, units: Floats) -> Floats:
        terms = self.column_terms(block)
        if not self.has_no_columns:
            self.update(block)
        return terms

    def scorer_columns(self) -> list[Node]:
        return cast(ColumnReading, self.reading).scorer_columns()

    def free_parameters(self) -> Floats:
        return cast(ColumnReading, self.reading).free_parameters()

    def odds(self, dichotomies: Dichotomies) -> Odds:
        if isinstance(self.reading, RegroupedReading):
            return self.reading.odds(dichotomies)
        readings = [self.reader.read(cast(Any, self.summary).regroup(g)) for g in dichotomies.groups()]
        return ColumnOdds(readings, dichotomies)

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        self.reading = self.reading.realign(plan)

    def fresh(self) -> Self:
        return type(self)(self.summary.fresh(), self.reader)

    def arrays(self) -> Arrays:
        self.refresh_if_stale()
        return {**self.summary.arrays(), **{f"reading.{k}": a for k, a in self.reading.arrays().items()}}

    def restore(self, arrays: Arrays) -> None:
        of_summary = {k: a for k, a in arrays.items() if not k.startswith("reading.")}
        self.summary.restore(of_summary)
        shape = self.reading.shape
        self.reading = self.reader.restore(
            {k.removeprefix("reading."): a for k, a in arrays.items() if k.startswith("reading.")},
            self.summary,
        )
        require(
            self.reading.shape == shape,
            "a reading has other columns or classes than its summary",
        )
        self.stale = False


AnyView = View[Any]
