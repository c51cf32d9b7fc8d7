"""Log-odds between two groups of classes, for all columns of a code at once, read off the counts of the classes.

Every binary classifier of a code is naive Bayes over regrouped classes. What it adds to the log-odds of a row is read
here from the same summary the classes are read from: nothing is learned twice. A reading is good for one state of its
summary and must be dropped when that changes. A new way of reading needs nothing here if its summary regroups; a
faster way is registered with `odds` (live readers) or `reading_odds` (readings that are searched for and kept).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from bayou.block import Block, Floats
from bayou.errors import UnsupportedError
from bayou.kernels.ecoc import add_difference, side_gaussians
from bayou.kernels.gaussian import add_gaussian
from bayou.protocols import Regroups
from bayou.readings.categorical import CategoricalEstimator
from bayou.readings.cell_odds import CellOdds, DocumentOdds, ValueOdds, WordOdds
from bayou.readings.dichotomies import (
    ColumnOdds,
    Dichotomies,
    Odds,
    PairedOdds,
    VectorOdds,
    prior_of_dichotomies,
)
from bayou.readings.gaussian import Gaussian
from bayou.readings.groups import GroupReading
from bayou.readings.intervals import IntervalReading
from bayou.readings.prior import CountedPrior, GivenPrior, Possible
from bayou.readings.words import Bernoulli, Complement, Multinomial
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.moments import Moments
from bayou.summaries.value_counts import ValueCounts
from bayou.summaries.word_counts import WordCounts
from bayou.threads import over_ranges
from bayou.views.live_cells import LiveCells
from bayou.views.view import AnyView, Live, Searched

GRAIN = 500  # rows worth a thread of their own


def require_regroups(view: AnyView) -> None:
    """Refuse a view that cannot be read for groups of classes."""
    if not isinstance(view.summary, Regroups):
        name = type(view.summary).__name__
        raise UnsupportedError(f"{name} cannot be read for groups of classes: {name} does not regroup")
    if not isinstance(view, LiveCells | Searched | Live):
        name = type(view).__name__
        raise UnsupportedError(
            f"{name} cannot be read for groups of classes: it is found for all of them together"
        )


def view_odds(view: AnyView, dichotomies: Dichotomies) -> Odds:
    """The log-odds of a view."""
    if isinstance(view, LiveCells):
        return reading_odds(view.current(), view, dichotomies)
    if isinstance(view, Searched):
        return reading_odds(view.reading, view, dichotomies)
    assert isinstance(view, Live)
    return odds(view.reader, view.summary, dichotomies)


@singledispatch
def odds(reader: Any, summary: Any, dichotomies: Dichotomies) -> Odds:
    """The log-odds that a live reader finds in a summary; without a faster way, one regrouped summary per column."""
    return ColumnOdds([Live(summary.regroup(groups), reader) for groups in dichotomies.groups()], dichotomies)


@singledispatch
def reading_odds(reading: Any, view: Searched[Any], dichotomies: Dichotomies) -> Odds:
    """The log-odds of a reading that is kept; without a faster way, one reading per column, searched for now."""
    found = [view.reader.read(view.summary.regroup(groups)) for groups in dichotomies.groups()]
    return ColumnOdds(found, dichotomies)


@reading_odds.register
def _(reading: IntervalReading, view: Searched[Any], dichotomies: Dichotomies) -> Odds:
    """All columns share the intervals of the classes; counts of a side are summed, then smoothed."""
    parts = reading.partitions
    if reading.added[
        2
    ]:  # smoothing by the weight of the column, which differs from column to column of the code
        counts = [np.ascontiguousarray(parts.counts @ groups.T) for groups in dichotomies.groups()]
        return ColumnOdds(
            [replace(reading, partitions=replace(parts, counts=c)) for c in counts], dichotomies
        )
    return PairedOdds(
        replace(reading, partitions=replace(parts, counts=dichotomies.sums(parts.counts))), dichotomies
    )


@reading_odds.register
def _(reading: GroupReading, view: Searched[Any], dichotomies: Dichotomies) -> Odds:
    """All columns share the groups of values."""
    return PairedOdds(replace(reading, counts=dichotomies.sums(reading.counts)), dichotomies)


@odds.register
def _(reader: CountedPrior, summary: ClassCounts, dichotomies: Dichotomies) -> Odds:
    return prior_of_dichotomies(summary.weight, reader.alpha, dichotomies)


@odds.register
def _(reader: GivenPrior, summary: ClassCounts, dichotomies: Dichotomies) -> Odds:
    return prior_of_dichotomies(np.array(reader.probabilities), 0.0, dichotomies)


@odds.register
def _(reader: Possible, summary: ClassCounts, dichotomies: Dichotomies) -> Odds:
    return VectorOdds(np.zeros(dichotomies.width))


@odds.register
def _(reader: CategoricalEstimator, summary: ValueCounts, dichotomies: Dichotomies) -> Odds:
    s = summary
    columns = [
        CellOdds(
            s.counts, s.present[j], int(s.declared[j]), int(s.seen[j]), int(s.offsets[j]),
            int(s.offsets[j] + s.sizes[j]), dichotomies, reader.alpha, reader.m,
        )
        for j in range(len(s.sizes))
    ]  # fmt: skip
    return ValueOdds(columns)


@odds.register
def _(reader: Multinomial, summary: WordCounts, dichotomies: Dichotomies) -> Odds:
    return WordOdds(
        [
            CellOdds(t.counts, t.total, t.declared, int(t.seen[0]), 0, t.size, dichotomies, reader.alpha, 0.0)
            for t in summary.texts
        ]
    )


@odds.register(Bernoulli)
@odds.register(Complement)
def _(reader: Bernoulli | Complement, summary: WordCounts, dichotomies: Dichotomies) -> Odds:
    return DocumentOdds.of(reader, summary, dichotomies)


@dataclass(frozen=True)
class GaussianOdds:
    """Numeric columns, two normal densities per column of the code."""

    tables: tuple[Floats, Floats, Floats]
    dichotomies: Dichotomies

    def add(self, block: Block, out: Floats) -> None:
        both = np.zeros((block.n, len(self.tables[0])))
        margins = np.zeros((block.n, both.shape[1] // 2))

        def rows(lo: int, hi: int) -> None:
            add_gaussian(both[lo:hi], block.numeric[lo:hi], *self.tables)
            add_difference(margins[lo:hi], both[lo:hi])
            self.dichotomies.put(out[lo:hi], margins[lo:hi])

        over_ranges(rows, block.n, GRAIN)


@odds.register
def _(reader: Gaussian, summary: Moments, dichotomies: Dichotomies) -> Odds:
    s = summary
    peak, centre, half = (np.empty((2 * dichotomies.columns, s.n.shape[1])) for _ in range(3))
    side_gaussians(
        s.n, s.mean, s.m2, dichotomies.dichotomies, float(reader.ddof), reader.floor, peak, centre, half
    )
    return GaussianOdds((peak, centre, half), dichotomies)
