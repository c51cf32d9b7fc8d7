"""Log-probabilities of documents: multinomial, complement and Bernoulli readings of word counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayou.block import Block, Flags, Floats, Words
from bayou.errors import SchemaError
from bayou.kernels.absent_words import bernoulli_predict_then_update, bernoulli_table
from bayou.kernels.class_counts import add_vector, count_classes
from bayou.kernels.coded_rows import word_odds_then_update
from bayou.kernels.word_counts import (
    add_complement,
    add_multinomial,
    complement_predict_then_update,
    complement_table,
    multinomial_predict_then_update,
    multinomial_table,
)
from bayou.kernels.word_sums import add_words
from bayou.readings.cell_odds import CellOdds, DocumentOdds, WordOdds
from bayou.readings.dichotomies import Dichotomies, Odds
from bayou.readings.kept import kept
from bayou.readings.live import LiveReader
from bayou.readings.logs import integer_logs
from bayou.summaries.mark import Mark
from bayou.summaries.word_counts import TextCounts, WordCounts
from bayou.summaries.word_seats import Seated
from bayou.summaries.word_weights import WordWeights
from bayou.threads import over_ranges

if TYPE_CHECKING:
    from bayou.scorer import Node

GRAIN = 2_000  # documents worth a thread of their own
USUAL = 1 << 16  # counts of words up to which logarithms are looked up
LEAST = 1e-300  # instead of a pseudo-count of 0: lost beside any count, and its logarithm is finite


@dataclass(frozen=True)
class _Documents(LiveReader[WordCounts]):
    """Base of the three readings: a table per text column, and documents as sums of its entries."""

    alpha: float = 1.0
    binary = False
    # kernels: for few rows (None where a table is always needed), and for rows that are learned one by one
    _few: ClassVar[Callable[..., None] | None] = None
    _rows: ClassVar[Callable[..., None]]

    def __post_init__(self) -> None:
        if not isinstance(self.alpha, Real) or not 0.0 <= self.alpha < np.inf:
            raise SchemaError(f"alpha={self.alpha!r}; it is a pseudo-count >= 0")
        object.__setattr__(self, "alpha", max(float(self.alpha), LEAST))  # kernels compile for floats

    def table(self, text: TextCounts) -> tuple[Floats, Floats]:
        """[V, K] log-probabilities by word, and [K] a constant for every document."""
        raise NotImplementedError

    def tables(self, summary: WordCounts) -> list[tuple[Floats, Floats]]:
        """The tables of the current state, cached."""
        tables: list[tuple[Floats, Floats]] | None = kept(summary.mark).get(self)
        if tables is None:
            tables = kept(summary.mark)[self] = [self.table(text) for text in summary.texts]
        return tables

    def _wants_table(self, summary: WordCounts, block: Block) -> bool:
        """Whether a table of all words pays: it exists, or as many words were read from this state as the table has."""
        cache = kept(summary.mark)
        if self._few is None or self in cache:
            return True
        words_read = cache.get((self, "words read"), 0) + sum(len(words.ids) for words in block.words)
        cache[self, "words read"] = words_read
        return bool(words_read >= sum(text.size for text in summary.texts))

    def add_log_prob(self, summary: WordCounts, block: Block, out: Floats) -> None:
        if not summary.texts:
            return
        if not self._wants_table(summary, block):
            for text, words in zip(summary.texts, summary.known(block), strict=True):
                self._add_few(text, words, out)
            return
        for (table, base), words in zip(self.tables(summary), summary.known(block), strict=True):
            self._add(words, table, base, out)

    def _add_few(self, text: TextCounts, words: Words, out: Floats) -> None:
        few = type(self)._few
        assert few is not None
        few(
            out, text.counts, text.total, words.indptr, words.ids, words.counts,
            integer_logs(USUAL), float(text.width), self.alpha, text.least,
        )  # fmt: skip

    def predict_then_update(self, summary: WordCounts, block: Block, out: Floats) -> None:
        self._begin_rows(summary, block)
        for text, words in zip(summary.texts, block.words, strict=True):
            self._predict_then_update(text, words, block, out)

    def terms_then_update(self, summary: WordCounts, block: Block, units: Floats) -> Floats:
        self._begin_rows(summary, block)

        def add(text: TextCounts, words: Words, out: Floats) -> None:
            self._predict_then_update(text, words, block, out)

        return _by_column(summary, block.words, block.n, add)

    def _begin_rows(self, summary: WordCounts, block: Block) -> None:
        summary.mark = Mark()
        if summary.binary:
            count_classes(summary.documents, block.y, block.w, 1.0)

    def _predict_then_update(self, text: TextCounts, words: Words, block: Block, out: Floats) -> None:
        logs = integer_logs(_logs_needed(text, words))
        seated = text.seated(words, block, self.binary)
        type(self)._rows(
            text.counts, text.total, text.seen, out, words.indptr, seated.words.ids, words.counts,
            block.y, block.w, logs, float(text.declared), self.alpha, text.least, *self._turns(seated),
        )  # fmt: skip

    def _turns(self, seated: Seated) -> tuple[Any, ...]:
        """Arguments of the kernel about rows of the table that pass from one word to another."""
        return seated.later, seated.taken_at, seated.taken

    def _add(self, words: Words, table: Floats, base: Floats, out: Floats) -> None:
        def rows(lo: int, hi: int) -> None:
            add_words(out, table, words.indptr, words.ids, words.counts, self.binary, lo, hi)

        add_vector(out, base)
        over_ranges(rows, len(out), GRAIN)

    def terms(self, summary: WordCounts, block: Block) -> Floats:
        """[n, t, K] log P(document | c), one term per text column."""
        if summary.texts and not self._wants_table(summary, block):
            return _by_column(summary, summary.known(block), block.n, self._add_few)
        out = np.zeros((block.n, len(summary.texts), len(summary.texts[0].total) if summary.texts else 0))
        known = summary.known(block)
        for j, ((table, base), words) in enumerate(zip(self.tables(summary), known, strict=True)):
            column = np.zeros((block.n, out.shape[2]))
            self._add(words, table, base, column)
            out[:, j] = column
        return out

    def scorer_columns(self, summary: WordCounts) -> list[Node]:
        from bayou import scorer

        tables = [self.table(text) for text in summary.texts]
        return [
            scorer.Words(j, base, table[: summary.texts[j].size], self.binary)
            for j, (table, base) in enumerate(tables)
        ]

    def add_to_scorer(self, summary: WordCounts, so_far: Node) -> Node:
        from bayou.scorer import total

        return total(so_far, *([column] for column in self.scorer_columns(summary)))

    def free_parameters(self, summary: WordCounts) -> Floats:
        return np.array([max(text.width - 1.0, 0.0) for text in summary.texts])

    def odds(self, summary: WordCounts, dichotomies: Dichotomies) -> Odds:
        return DocumentOdds.of(self.table, self.binary, summary, dichotomies)


@dataclass(frozen=True)
class Multinomial(_Documents):
    """log P(document | c) = sum of count * (log(n_c + a) - log(T_c + a V))."""

    _few, _rows = add_multinomial, multinomial_predict_then_update

    def table(self, text: TextCounts) -> tuple[Floats, Floats]:
        table = np.empty_like(text.counts)
        multinomial_table(table, text.counts, text.total, float(text.width), self.alpha, text.least)
        return table, np.zeros(len(text.total))

    def weigh_then_update(
        self, summary: WordCounts, words: WordWeights, block: Block, prior: Floats, scores: Floats
    ) -> tuple[Floats, Flags]:
        """Like `terms_then_update`, and row by row the weights of words are added to the scores and learned."""
        self._begin_rows(summary, block)
        most = max(_logs_needed(text, w) for text, w in zip(summary.texts, block.words, strict=True))
        return words.learn(summary, block, prior, scores, integer_logs(most), self.alpha)

    def draw(self, summary: WordCounts, block: Block, rng: np.random.Generator) -> None:
        """Draw the text columns of a block: twenty words per document from the distribution of the row's class."""
        drawn = []
        for text in summary.texts:
            order, ids = text.in_order()
            counted = text.words_in_use()[order, np.newaxis]
            if not counted.any():
                drawn.append(words_of(np.zeros((block.n, 0), dtype=np.int64), ids))
                continue
            weight = np.exp(self.table(text)[0][order]) * counted
            drawn.append(words_of((rng.multinomial(20, w / w.sum()) for w in weight.T[block.y]), ids))
        block.words = tuple(drawn)

    def odds(self, summary: WordCounts, dichotomies: Dichotomies) -> Odds:
        return WordOdds(
            summary,
            [
                CellOdds(
                    t.counts,
                    t.total,
                    t.declared,
                    int(t.seen[0]),
                    0,
                    t.size,
                    dichotomies,
                    self.alpha,
                    0.0,
                    t.least,
                )
                for t in summary.texts
            ],
        )

    def odds_then_update(
        self, summary: WordCounts, dichotomies: Dichotomies, block: Block, out: Floats
    ) -> None:
        self._begin_rows(summary, block)
        for text, words in zip(summary.texts, block.words, strict=True):
            logs = integer_logs(
                int(text.total.sum()) + _logs_needed(text, words)
            )  # each side of a code adds up classes
            seated = text.seated(words, block, False)
            word_odds_then_update(
                text.counts, text.total, text.seen, out, words.indptr, seated.words.ids, words.counts, block.y, block.w,
                logs, float(text.declared), self.alpha, text.least, seated.later, seated.taken_at, seated.taken,
                dichotomies.dichotomies, dichotomies.fold, dichotomies.ternary,
            )  # fmt: skip


@dataclass(frozen=True)
class Complement(_Documents):
    """-log P(document | all classes but c): the same counts, classes regrouped to their complements."""

    _few, _rows = add_complement, complement_predict_then_update

    def table(self, text: TextCounts) -> tuple[Floats, Floats]:
        table = np.empty_like(text.counts)
        complement_table(table, text.counts, text.total, float(text.width), self.alpha, text.least)
        return table, np.zeros(len(text.total))

    def draw(self, summary: WordCounts, block: Block, rng: np.random.Generator) -> None:
        """Draw documents as the multinomial reading does, which has the same counts."""
        Multinomial(self.alpha).draw(summary, block, rng)


@dataclass(frozen=True)
class Bernoulli(_Documents):
    """Every word of the vocabulary counts, present or absent; the absent ones are summed beforehand."""

    binary = True
    _rows = bernoulli_predict_then_update

    def table(self, text: TextCounts) -> tuple[Floats, Floats]:
        table, base = np.empty_like(text.counts), np.empty_like(text.total)
        bernoulli_table(
            table, base, text.counts, text.total, integer_logs(1), float(text.width), self.alpha, text.least,
            text.ranks(),
        )  # fmt: skip
        return table, base

    def _turns(self, seated: Seated) -> tuple[Any, ...]:
        return (*super()._turns(seated), seated.takers, seated.ranks)

    def draw(self, summary: WordCounts, block: Block, rng: np.random.Generator) -> None:
        """Draw the text columns of a block: each word occurs with its share in the documents of the row's class."""
        drawn = []
        for text in summary.texts:
            order, ids = text.in_order()
            counted = text.words_in_use()[order, np.newaxis]
            share = counted * (text.counts[order] + self.alpha) / (text.total + 2 * self.alpha)
            rows = ((rng.random(len(order)) < share[:, c]).astype(np.int64) for c in block.y)
            drawn.append(words_of(rows, ids))
        block.words = tuple(drawn)


def _logs_needed(text: TextCounts, words: Words) -> int:
    """An upper bound of the integers whose logarithms are needed while the words are learned."""
    return int(text.total.max(initial=0.0)) + int(words.counts.sum()) + text.size + 2


def _by_column(
    summary: WordCounts, columns: Sequence[Words], n: int, add: Callable[[TextCounts, Words, Floats], None]
) -> Floats:
    """[n, t, K] the terms that `add` computes for each text column."""
    terms = np.zeros((n, len(summary.texts), len(summary.texts[0].total)))
    for j, (text, words) in enumerate(zip(summary.texts, columns, strict=True)):
        out = np.zeros((n, terms.shape[2]))
        add(text, words, out)
        terms[:, j] = out
    return terms


def words_of(rows: Iterable[NDArray[np.int64]], names: NDArray[np.int64]) -> Words:
    """Documents as sparse counts, from dense counts of the words with ids `names`.

    >>> words_of([np.array([0, 2]), np.array([1, 0])], np.arange(2))
    Words(indptr=array([0, 1, 2]), ids=array([1, 0], dtype=int32), counts=array([2., 1.]))
    """
    documents = [(np.flatnonzero(row), row) for row in rows]
    return Words(
        np.cumsum([0, *(len(ids) for ids, _ in documents)], dtype=np.int64),
        np.concatenate([np.empty(0), *(names[ids] for ids, _ in documents)]).astype(np.int32),
        np.concatenate([np.empty(0), *(row[ids] for ids, row in documents)]),
    )
