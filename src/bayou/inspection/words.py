"""Words by log-odds: which of them speak for a class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayou.align import canonical_order
from bayou.block import Floats
from bayou.inspection.model_contents import ModelContents
from bayou.schema import Kind
from bayou.summaries.word_counts import WordCounts


@dataclass(frozen=True, eq=False)
class WordTable:
    """The words of a text column: counts float64[V, K] and log-odds float64[V, K], classes in canonical order.

    log-odds(w, c) = log p(w | c) - log p(w | other classes), each with one pseudo-count per word; `sure` divides it
    by its standard error, so that a word met twice does not lead the list.
    """

    column: str
    words: tuple[str, ...]
    counts: Floats
    log_odds: Floats
    sure: Floats

    def leading(self, c: int, most: int) -> list[int]:
        """Words that speak for a class, the surest first."""
        order = np.argsort(-self.sure[:, c], kind="stable")[:most]
        return [int(w) for w in order if self.log_odds[w, c] > 0]


def word_tables(inside: ModelContents) -> Iterator[WordTable]:
    """A table per text column."""
    order = canonical_order(inside.schema.classes.values)
    for view in inside.views.values():
        if not isinstance(view.summary, WordCounts):
            continue
        for name, text in zip(inside.schema.names(Kind.TEXT), view.summary.texts, strict=False):
            counts = text.counts[: text.size][:, order]
            if counts.size == 0 or counts.shape[1] < 2:
                continue
            vocabulary = inside.schema.vocabularies[name]
            met = np.flatnonzero(counts.sum(axis=1) > 0)
            counts = counts[met]
            others = counts.sum(axis=1, keepdims=True) - counts
            total, rest = counts.sum(axis=0) + len(met), others.sum(axis=0) + len(met)
            odds = np.log((counts + 1) / total) - np.log((others + 1) / rest)
            sure = odds / np.sqrt(1 / (counts + 1) + 1 / (others + 1))
            yield WordTable(name, tuple(str(vocabulary.name(int(w))) for w in met), counts, odds, sure)
