"""The words of text columns: log-odds by class, and how full their vocabularies are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayou.align import canonical_order
from bayou.block import Floats
from bayou.inspection.model_contents import ModelContents
from bayou.schema import FrequentWords, HashedVocabulary, Kind
from bayou.summaries.word_counts import WordCounts


@dataclass(frozen=True, eq=False)
class WordTable:
    """The words of a text column: counts float64[V, K] and log-odds float64[V, K], classes in canonical order.

    log-odds(w, c) = log p(w | c) - log p(w | other classes), each with one pseudo-count per word; `sure` divides it
    by its standard error, so that a word seen twice does not lead the list.
    """

    column: str
    words: tuple[str, ...]
    counts: Floats
    log_odds: Floats
    sure: Floats

    def leading(self, c: int, most: int) -> list[int]:
        """Indices of the words with positive log-odds for a class, the surest first."""
        order = np.argsort(-self.sure[:, c], kind="stable")[:most]
        return [int(w) for w in order if self.log_odds[w, c] > 0]


@dataclass(frozen=True)
class Buckets:
    """How full the buckets of a hashed text column are.

    Of m buckets n are in use. If D different words fell into them at random, m (1 - exp(-D / m)) would be; so D is
    about -m log(1 - n / m), and D - n words share a bucket with another one.
    """

    column: str
    buckets: int
    used: int

    @property
    def words(self) -> float:
        """An estimate of the number of different words seen; bounded if all buckets are in use."""
        free = max(self.buckets - self.used, 0.5)
        return self.buckets * float(np.log(self.buckets / free))

    @property
    def collisions(self) -> float:
        """An estimate of the number of words that share the bucket of another."""
        return max(self.words - self.used, 0.0)


def hashed_columns(inside: ModelContents) -> Iterator[Buckets]:
    """How full the buckets of each hashed text column are."""
    for view in inside.views.values():
        if isinstance(view.summary, WordCounts):
            for name, text in zip(inside.schema.names(Kind.TEXT), view.summary.texts, strict=False):
                vocabulary = inside.schema.vocabularies[name]
                if isinstance(vocabulary, HashedVocabulary) and not isinstance(vocabulary, FrequentWords):
                    yield Buckets(name, text.size, int(text.seen[0]))


def frequent_words(inside: ModelContents) -> Iterator[tuple[str, int, int, float]]:
    """For each text column with a bounded vocabulary: its name, the words in it, its capacity, and an upper bound
    of the share that a word outside it can have among all words seen."""
    for view in inside.views.values():
        if isinstance(view.summary, WordCounts):
            for name, text in zip(inside.schema.names(Kind.TEXT), view.summary.texts, strict=False):
                if text.seats is not None:
                    share = text.seats.floor / max(text.seats.weight, 1e-300)
                    yield name, text.seats.size, text.seats.room, share


def words_met_often(inside: ModelContents) -> Iterator[tuple[str, int, int]]:
    """For each text column with a `min_count`: its name, the number of words seen that often, and `min_count`."""
    for view in inside.views.values():
        if isinstance(view.summary, WordCounts):
            for name, text in zip(inside.schema.names(Kind.TEXT), view.summary.texts, strict=False):
                recipe = inside.schema.text_recipe(name)
                if recipe is not None and recipe.min_count > 1:
                    yield name, int(text.words_in_use().sum()), recipe.min_count


def word_tables(inside: ModelContents) -> Iterator[WordTable]:
    """A table per text column, of the words that were counted."""
    order = canonical_order(inside.schema.classes.values)
    for view in inside.views.values():
        if not isinstance(view.summary, WordCounts):
            continue
        for name, text in zip(inside.schema.names(Kind.TEXT), view.summary.texts, strict=False):
            counts = text.counts[: text.size][:, order]
            if counts.size == 0 or counts.shape[1] < 2:
                continue
            vocabulary = inside.schema.vocabularies[name]
            rows, ids = text.in_order()
            counted = text.words_in_use()[rows]
            ids_counted, counts = ids[counted], counts[rows[counted]]
            total = counts.sum(axis=0) + len(ids_counted)
            rest = counts.sum() - counts.sum(axis=0) + len(ids_counted)
            if isinstance(vocabulary, HashedVocabulary):
                has_name = np.isin(ids_counted, list(vocabulary.tallies))
                ids_counted, counts = ids_counted[has_name], counts[has_name]
            others = counts.sum(axis=1, keepdims=True) - counts
            odds = np.log((counts + 1) / total) - np.log((others + 1) / rest)
            sure = odds / np.sqrt(1 / (counts + 1) + 1 / (others + 1))
            yield WordTable(
                name, tuple(str(vocabulary.name(int(w))) for w in ids_counted), counts, odds, sure
            )
