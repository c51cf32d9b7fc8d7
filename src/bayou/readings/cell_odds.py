"""Log-odds of cells: nominal values, and words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bayou.block import Block, Codes, Floats, Index, Words
from bayou.kernels.class_counts import add_vector
from bayou.kernels.ecoc import odds_table, side_width
from bayou.kernels.value_counts import add_table
from bayou.kernels.word_sums import add_words
from bayou.readings.dichotomies import Dichotomies
from bayou.readings.logs import integer_logs
from bayou.summaries.word_counts import TextCounts, WordCounts
from bayou.threads import over_ranges

if TYPE_CHECKING:
    from bayou.scorer import Node

GRAIN = 500  # rows or cells worth a thread of their own
LOGS = 1 << 16
ANY = 5e-324  # the least positive weight: words without weight are ignored


@dataclass
class CellOdds:
    """Log-odds of one column of cells, nominal values or words; computed for all cells once many are needed."""

    counts: Floats
    total: Floats
    declared: int
    seen: int
    lo: int
    hi: int
    dichotomies: Dichotomies
    alpha: float
    m: float
    least: float = 0.0  # weight below which a cell is ignored
    _width: Floats | None = field(default=None)
    _full: Floats | None = field(default=None)

    def width(self) -> Floats:
        """The number of values for smoothing, by column of the code."""
        if self._width is None:
            self._width = np.full(self.dichotomies.columns, float(max(self.seen, self.declared)))
            if self.dichotomies.ternary and self.declared < self.hi - self.lo:
                side_width(
                    self._width,
                    self.counts,
                    self.dichotomies.dichotomies,
                    float(self.declared),
                    self.lo,
                    self.hi,
                )
        return self._width

    def table(self, cells: Index) -> Floats:
        """The log-odds of the given cells."""
        out, width, logs = np.empty((len(cells), self.dichotomies.width)), self.width(), integer_logs(LOGS)

        def rows(lo: int, hi: int) -> None:
            odds_table(
                self.counts, cells[lo:hi], self.total, width, self.dichotomies.dichotomies, self.dichotomies.fold, logs,
                self.alpha, self.m, self.least, out[lo:hi],
            )  # fmt: skip

        over_ranges(rows, len(cells), GRAIN)
        return out

    def full_table(self) -> Floats:
        """The log-odds of all cells of the column, computed once."""
        if self._full is None:
            self._full = self.table(np.arange(self.lo, self.hi))
        return self._full

    def ready(self, cells: int) -> bool:
        """Whether the full table exists, or is worth computing for so many cells."""
        return self._full is not None or cells >= self.hi - self.lo

    def lookup(self, codes: Codes) -> tuple[Floats, Codes]:
        """A table, and the row in it of each code; -1 stays -1."""
        if self.ready(len(codes)):
            return self.full_table(), codes
        if len(codes) == 1:
            cells, places = codes[codes >= 0], np.minimum(codes, 0)
        else:
            cells, inverse = np.unique(codes, return_inverse=True)
            missing = int(len(cells) > 0 and cells[0] < 0)
            cells, places = cells[missing:], inverse - missing
        return self.table(cells.astype(np.int64) + self.lo), places.astype(np.int32)


@dataclass(frozen=True)
class ValueOdds:
    """Log-odds of nominal columns."""

    columns: list[CellOdds]

    def add(self, block: Block, out: Floats) -> None:
        if not self.columns:
            return
        lookups = [column.lookup(block.codes[:, j]) for j, column in enumerate(self.columns)]
        table = np.concatenate([rows for rows, _ in lookups])
        offsets = np.cumsum([0] + [len(rows) for rows, _ in lookups])
        codes = np.ascontiguousarray(np.stack([places for _, places in lookups], axis=1))

        def rows(lo: int, hi: int) -> None:
            add_table(out[lo:hi], table, offsets, codes[lo:hi])

        over_ranges(rows, block.n, GRAIN)

    def scorer(self) -> Node:
        from bayou.scorer import silent, total, value_table

        tables = [value_table(j, column.full_table()) for j, column in enumerate(self.columns)]
        return total(silent(tables[0].width), tables) if tables else silent(0)


@dataclass(frozen=True)
class WordOdds:
    """Log-odds of text columns where a document needs its own words only."""

    counts: WordCounts
    columns: list[CellOdds]

    def add(self, block: Block, out: Floats) -> None:
        for column, words in zip(self.columns, self.counts.known(block), strict=True):
            if column.ready(len(words.ids)):
                _add_words(out, column.full_table(), words, False)
                continue
            if block.n == 1:  # the words of a document are distinct
                cells, places = words.ids, np.arange(len(words.ids))
            else:
                cells, places = np.unique(words.ids, return_inverse=True)
            few = Words(words.indptr, places.astype(np.int32), words.counts)
            _add_words(out, column.table(cells.astype(np.int64)), few, False)

    def scorer(self) -> Node:
        from bayou import scorer
        from bayou.scorer import silent, total

        tables = [column.full_table() for column in self.columns]
        words = [scorer.Words(j, np.zeros(table.shape[1]), table, False) for j, table in enumerate(tables)]
        return total(silent(words[0].width), *([column] for column in words)) if words else silent(0)


def _add_words(out: Floats, table: Floats, words: Words, binary: bool) -> None:
    def rows(lo: int, hi: int) -> None:
        add_words(out, table, words.indptr, words.ids, words.counts, binary, lo, hi)

    over_ranges(rows, len(out), GRAIN)


@dataclass(frozen=True)
class DocumentOdds:
    """Log-odds of text columns from tables over all words, and a vector that every document gets."""

    counts: WordCounts
    tables: list[tuple[Floats, Floats]]
    binary: bool

    def add(self, block: Block, out: Floats) -> None:
        for (table, base), words in zip(self.tables, self.counts.known(block), strict=True):
            add_vector(out, base)
            _add_words(out, table, words, self.binary)

    def scorer(self) -> Node:
        from bayou import scorer
        from bayou.scorer import silent, total

        words = [scorer.Words(j, base, table, self.binary) for j, (table, base) in enumerate(self.tables)]
        return total(silent(words[0].width), *([column] for column in words)) if words else silent(0)

    @staticmethod
    def of(
        table_of: Callable[[TextCounts], tuple[Floats, Floats]],
        binary: bool,
        summary: WordCounts,
        dichotomies: Dichotomies,
    ) -> DocumentOdds:
        """The log-odds from tables of two groups of classes, column by column of the code."""
        tables = []
        for text in summary.texts:
            margins, bases = np.empty((text.size, dichotomies.columns)), np.empty((1, dichotomies.columns))
            both, total = (
                dichotomies.sums(text.counts[: text.size]),
                dichotomies.sums(text.total[np.newaxis])[0],
            )
            for b in range(dichotomies.columns):
                pair = slice(2 * b, 2 * b + 2)
                grouped = TextCounts(
                    np.ascontiguousarray(both[:, pair]), total[pair].copy(), text.size, text.declared,
                    seats=text.seats,
                )  # fmt: skip
                grouped.count_seen()
                if text.least:  # words are ignored by their weight in all classes, not in the two groups
                    grouped.counts[~text.words_in_use()] = 0.0
                    grouped.least = ANY
                table, base = table_of(grouped)
                margins[:, b] = table[:, 0] - table[:, 1]
                bases[0, b] = base[0] - base[1]
            rows, every = np.zeros((text.size, dichotomies.width)), np.zeros((1, dichotomies.width))
            dichotomies.put(rows, margins)
            dichotomies.put(every, bases)
            tables.append((rows, every[0]))
        return DocumentOdds(summary, tables, binary)
