"""Contributions of the words of a text to the log-odds of a row, by copies of the row without one word each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayou.block import Block, Hashed, Index, Words
from bayou.encoding.lookup import text_of
from bayou.schema import HashedVocabulary, Kind
from bayou.text.documents import documents_of
from bayou.text.tokenizer import NO_LIMIT, Tokenizer

if TYPE_CHECKING:
    from bayou.classifiers.estimator_core import EstimatorCore

MOST = 300  # words of a text that are explained one by one; the others count as one


def without_words(
    model: EstimatorCore, row: Block, record: dict[str, Any]
) -> Iterator[tuple[str, dict[str, float], Block]]:
    """For each text column of a row: its name, its words with counts, and a block of the row without each word."""
    for j, name in enumerate(model.schema_.names(Kind.TEXT)):
        words = row.words[j]
        if len(words.ids) and isinstance(record.get(name), str):
            groups: list[Index] = [np.array([e]) for e in range(min(MOST, len(words.ids)))]
            names = _names(model, name, record[name], words.ids[: len(groups)].tolist())
            counts = words.counts[: len(groups)].tolist()
            if len(words.ids) > MOST:
                groups.append(np.arange(MOST, len(words.ids)))
                names.append(f"({len(words.ids) - MOST:,} more words)")
                counts.append(float(words.counts[MOST:].sum()))
            yield name, dict(zip(names, counts, strict=True)), _without_each(row, j, groups)


def _names(model: EstimatorCore, column: str, text: str, codes: Sequence[int]) -> list[str]:
    """The words of a text with these codes; for hashed words, all that share the bucket."""
    vocabulary = model.schema_.vocabularies[column]
    if not isinstance(vocabulary, HashedVocabulary):
        return [str(vocabulary.name(code)) for code in codes]
    tokens = Tokenizer(text_of(model.schema_, column)).tokens(documents_of([text]), names=NO_LIMIT)
    words_by_code: dict[int, dict[str, None]] = {}
    for code, word in zip(tokens.noted, tokens.new, strict=True):
        words_by_code.setdefault(code, {})[word] = None
    return [" / ".join(words_by_code[code]) for code in codes]


def _without_each(row: Block, column: int, groups: Sequence[Index]) -> Block:
    """A block with one copy of the row per group of positions among its words, without these words."""
    n = len(groups)
    words = row.words[column]
    remaining = [np.setdiff1d(np.arange(len(words.ids)), group) for group in groups]
    positions = np.concatenate(remaining)
    indptr = np.cumsum([0, *map(len, remaining)], dtype=np.int64)
    columns = [_repeated(other, n) for other in row.words]
    columns[column] = Words(indptr, words.ids[positions], words.counts[positions])
    return replace(
        row,
        numeric=np.repeat(row.numeric, n, axis=0),
        codes=np.repeat(row.codes, n, axis=0),
        words=tuple(columns),
        y=np.full(n, -1, dtype=np.int32),
        w=np.ones(n),
        hashed=None
        if row.hashed is None
        else Hashed(np.repeat(row.hashed.keys, n, axis=0), row.hashed.values),
    )


def _repeated(words: Words, n: int) -> Words:
    size = len(words.ids)
    return Words(np.arange(n + 1, dtype=np.int64) * size, np.tile(words.ids, n), np.tile(words.counts, n))
