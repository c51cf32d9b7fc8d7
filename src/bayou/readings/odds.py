"""Log-odds between two groups of classes, for all columns of a code at once, read off the counts of the classes.

Every binary classifier of a code is naive Bayes over regrouped classes. What it adds to the log-odds of a row is read
here from the same summary the classes are read from: nothing is learned twice. A reading is good for one state of its
summary and must be dropped when that changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any, Protocol

import numpy as np

from bayou.block import Block, Codes, Floats, Index, Words
from bayou.errors import UnsupportedError
from bayou.kernels.class_counts import add_vector
from bayou.kernels.ecoc import (
    add_difference,
    add_folded,
    odds_table,
    prior_odds,
    side_gaussians,
    side_width,
)
from bayou.kernels.gaussian import add_gaussian
from bayou.kernels.value_counts import add_table
from bayou.kernels.word_counts import add_words
from bayou.protocols import Regroups
from bayou.readings.gaussian import Gaussian
from bayou.readings.logs import integer_logs
from bayou.readings.prior import CountedPrior, GivenPrior, Possible
from bayou.readings.table import Table
from bayou.readings.view import AnyView, Live, Searched
from bayou.readings.words import Bernoulli, Complement, Multinomial
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.moments import Moments
from bayou.summaries.value_counts import ValueCounts
from bayou.summaries.word_counts import TextCounts, WordCounts
from bayou.threads import over_ranges

GRAIN = 500  # rows or cells worth a thread of their own
LOGS = 1 << 16


@dataclass(frozen=True)
class Sides:
    """The columns of a code as kernels want them.

    sides : float64[2, K, m], 1 where a class is on the side + (first) or - (second) of a column
    fold : float64[m, K], what the log-odds of a column add to the score of a class, where that is all the decoding
    does; else float64[0, 0], and readings give the log-odds themselves
    ternary : whether columns leave out possible classes, so that sizes must be counted column by column
    """

    sides: Floats
    fold: Floats
    ternary: bool

    @property
    def width(self) -> int:
        """Numbers per row that readings give: one per class if folded, one per column if not."""
        return int(self.fold.shape[1] if len(self.fold) else self.sides.shape[2])

    def groups(self) -> list[Floats]:
        """float64[2, K] per column, as `regroup` takes them."""
        return [np.ascontiguousarray(self.sides[:, :, b]) for b in range(self.sides.shape[2])]

    def put(self, out: Floats, odds: Floats) -> None:
        """Add log-odds [n, m] to what readings give."""
        if len(self.fold):
            add_folded(out, odds, self.fold)
        else:
            out += odds


class Odds(Protocol):
    """Good for one state of a summary."""

    def add(self, block: Block, out: Floats) -> None:
        """out[n, width] += log p(x | +) - log p(x | -), column by column or folded."""


def view_odds(view: AnyView, sides: Sides) -> Odds:
    """The log-odds of a view; refuses one that cannot be read for groups of classes."""
    if isinstance(view, Live):
        return odds(view.reader, view.summary, sides)
    if isinstance(view, Searched) and isinstance(view.reading, Regroups):
        return RegroupedReading([view.reading.regroup(groups) for groups in sides.groups()], sides)
    raise _unreadable(view.summary)


@singledispatch
def odds(reader: Any, summary: Any, sides: Sides) -> Odds:
    """The log-odds that a live reader finds in a summary. Without a faster way: one regrouped summary per column."""
    if not isinstance(summary, Regroups):
        raise _unreadable(summary)
    views = [Live(summary.regroup(groups), reader) for groups in sides.groups()]
    return RegroupedReading(views, sides)


def _unreadable(summary: Any) -> UnsupportedError:
    return UnsupportedError(
        f"{type(summary).__name__} cannot be read for groups of classes: it does not regroup"
    )


@dataclass(frozen=True)
class RegroupedReading:
    """One reading of two groups per column: the plain way, for whatever regroups."""

    columns: list[Any]
    sides: Sides

    def add(self, block: Block, out: Floats) -> None:
        margins = np.zeros((block.n, len(self.columns)))
        for b, reading in enumerate(self.columns):
            both = np.zeros((block.n, 2))
            reading.add_log_prob(block, both)
            margins[:, b] = both[:, 0] - both[:, 1]
        self.sides.put(out, margins)


@dataclass(frozen=True)
class VectorOdds:
    """The same for every row."""

    vector: Floats

    def add(self, block: Block, out: Floats) -> None:
        add_vector(out, self.vector)


def _prior(weight: Floats, alpha: float, sides: Sides) -> VectorOdds:
    margins, vector = np.zeros((1, sides.sides.shape[2])), np.zeros((1, sides.width))
    prior_odds(margins[0], weight, sides.sides, alpha)
    sides.put(vector, margins)
    return VectorOdds(vector[0])


@odds.register
def _(reader: CountedPrior, summary: ClassCounts, sides: Sides) -> Odds:
    return _prior(summary.weight, reader.alpha, sides)


@odds.register
def _(reader: GivenPrior, summary: ClassCounts, sides: Sides) -> Odds:
    return _prior(np.array(reader.probabilities), 0.0, sides)


@odds.register
def _(reader: Possible, summary: ClassCounts, sides: Sides) -> Odds:
    return VectorOdds(np.zeros(sides.width))


@dataclass
class CellOdds:
    """Tables of one column of cells: nominal values, or words; whole once many are asked for."""

    counts: Floats
    total: Floats
    declared: int
    seen: int
    lo: int
    hi: int
    sides: Sides
    alpha: float
    m: float
    _width: Floats | None = field(default=None)
    _whole: Floats | None = field(default=None)

    def width(self) -> Floats:
        """Values per column of the code as smoothing counts them."""
        if self._width is None:
            self._width = np.full(self.sides.sides.shape[2], float(max(self.seen, self.declared)))
            if self.sides.ternary and self.declared < self.hi - self.lo:
                side_width(self._width, self.counts, self.sides.sides, float(self.declared), self.lo, self.hi)
        return self._width

    def table(self, cells: Index) -> Floats:
        """Rows for the given cells."""
        out, width, logs = np.empty((len(cells), self.sides.width)), self.width(), integer_logs(LOGS)

        def rows(lo: int, hi: int) -> None:
            odds_table(
                self.counts, cells[lo:hi], self.total, width, self.sides.sides, self.sides.fold, logs,
                self.alpha, self.m, out[lo:hi],
            )  # fmt: skip

        over_ranges(rows, len(cells), GRAIN)
        return out

    def whole(self) -> Floats:
        if self._whole is None:
            self._whole = self.table(np.arange(self.lo, self.hi))
        return self._whole

    def ready(self, asked: int) -> bool:
        """Whether the whole table is there, or worth making for so many cells."""
        return self._whole is not None or asked >= self.hi - self.lo

    def lookup(self, codes: Codes) -> tuple[Floats, Codes]:
        """A table and where in it each code stands; -1 stays."""
        if self.ready(len(codes)):
            return self.whole(), codes
        if len(codes) == 1:
            cells, places = codes[codes >= 0], np.minimum(codes, 0)
        else:
            cells, inverse = np.unique(codes, return_inverse=True)
            missing = int(len(cells) > 0 and cells[0] < 0)
            cells, places = cells[missing:], inverse - missing
        return self.table(cells.astype(np.int64) + self.lo), places.astype(np.int32)


@dataclass(frozen=True)
class ValueOdds:
    """Nominal columns."""

    columns: list[CellOdds]
    width: int

    def add(self, block: Block, out: Floats) -> None:
        if not self.columns:
            return
        found = [column.lookup(block.codes[:, j]) for j, column in enumerate(self.columns)]
        table = np.concatenate([rows for rows, _ in found])
        offsets = np.cumsum([0] + [len(rows) for rows, _ in found])
        codes = np.ascontiguousarray(np.stack([places for _, places in found], axis=1))

        def rows(lo: int, hi: int) -> None:
            add_table(out[lo:hi], table, offsets, codes[lo:hi])

        over_ranges(rows, block.n, GRAIN)


@odds.register
def _(reader: Table, summary: ValueCounts, sides: Sides) -> Odds:
    s = summary
    columns = [
        CellOdds(
            s.counts, s.present[j], int(s.declared[j]), int(s.seen[j]), int(s.offsets[j]),
            int(s.offsets[j] + s.sizes[j]), sides, reader.alpha, reader.m,
        )
        for j in range(len(s.sizes))
    ]  # fmt: skip
    return ValueOdds(columns, sides.width)


@dataclass(frozen=True)
class WordOdds:
    """Text columns of which a document needs its own words only."""

    columns: list[CellOdds]

    def add(self, block: Block, out: Floats) -> None:
        for column, words in zip(self.columns, block.words, strict=True):
            if column.ready(len(words.ids)):
                _add_words(out, column.whole(), words, False)
                continue
            cells, places = np.unique(words.ids, return_inverse=True)
            few = Words(words.indptr, places.astype(np.int32), words.counts)
            _add_words(out, column.table(cells.astype(np.int64)), few, False)


def _add_words(out: Floats, table: Floats, words: Words, binary: bool) -> None:
    def rows(lo: int, hi: int) -> None:
        add_words(out, table, words.indptr, words.ids, words.counts, binary, lo, hi)

    over_ranges(rows, len(out), GRAIN)


@odds.register
def _(reader: Multinomial, summary: WordCounts, sides: Sides) -> Odds:
    return WordOdds(
        [
            CellOdds(t.counts, t.total, t.declared, int(t.seen[0]), 0, t.size, sides, reader.alpha, 0.0)
            for t in summary.texts
        ]
    )


@dataclass(frozen=True)
class DocumentOdds:
    """Text columns read by tables over all words, and what every document gets."""

    tables: list[tuple[Floats, Floats]]
    binary: bool

    def add(self, block: Block, out: Floats) -> None:
        for (table, base), words in zip(self.tables, block.words, strict=True):
            add_vector(out, base)
            _add_words(out, table, words, self.binary)


@odds.register(Bernoulli)
@odds.register(Complement)
def _(reader: Bernoulli | Complement, summary: WordCounts, sides: Sides) -> Odds:
    tables = []
    for text in summary.texts:
        margins = np.empty((text.size, sides.sides.shape[2]))
        bases = np.empty((1, sides.sides.shape[2]))
        for b, groups in enumerate(sides.groups()):
            table, base = reader.table(_regrouped(text, groups))
            margins[:, b] = table[:, 0] - table[:, 1]
            bases[0, b] = base[0] - base[1]
        rows, every = np.zeros((text.size, sides.width)), np.zeros((1, sides.width))
        sides.put(rows, margins)
        sides.put(every, bases)
        tables.append((rows, every[0]))
    return DocumentOdds(tables, reader.binary)


def _regrouped(text: TextCounts, groups: Floats) -> TextCounts:
    """The counts of two groups, classes added in storage order."""
    counts, total = np.zeros((text.size, 2)), np.zeros((1, 2))
    add_folded(counts, text.counts[: text.size], np.ascontiguousarray(groups.T))
    add_folded(total, text.total[None, :], np.ascontiguousarray(groups.T))
    both = TextCounts(counts, total[0], text.size, text.declared)
    both.count_seen()
    return both


@dataclass(frozen=True)
class GaussianOdds:
    """Numeric columns, two normal densities per column of the code."""

    tables: tuple[Floats, Floats, Floats]
    sides: Sides

    def add(self, block: Block, out: Floats) -> None:
        both = np.zeros((block.n, len(self.tables[0])))
        margins = np.zeros((block.n, both.shape[1] // 2))

        def rows(lo: int, hi: int) -> None:
            add_gaussian(both[lo:hi], block.numeric[lo:hi], *self.tables)
            add_difference(margins[lo:hi], both[lo:hi])
            self.sides.put(out[lo:hi], margins[lo:hi])

        over_ranges(rows, block.n, GRAIN)


@odds.register
def _(reader: Gaussian, summary: Moments, sides: Sides) -> Odds:
    s = summary
    peak, centre, half = (np.empty((2 * sides.sides.shape[2], s.n.shape[1])) for _ in range(3))
    side_gaussians(s.n, s.mean, s.m2, sides.sides, float(reader.ddof), reader.floor, peak, centre, half)
    return GaussianOdds((peak, centre, half), sides)
