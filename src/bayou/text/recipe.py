"""The recipe of a text column: how documents become counts of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bayou.errors import SchemaError
from bayou.recipe import TextRecipe

LONGEST = 8  # words or characters that a feature may span
LEAST_BUCKETS, MOST_BUCKETS = 1 << 4, 1 << 28
MOST_WORDS = 1 << 24  # of a vocabulary that keeps the frequent ones
MOST_OFTEN = 1 << 52


@dataclass(frozen=True)
class Text(TextRecipe):
    r"""How a column of text becomes counts of words, for `Declared(columns={"body": Text(ngrams=(1, 2))})`.

    A word is two or more letters, digits or underscores in a row, by the categories of Unicode, as `\b\w\w+\b` and
    scikit-learn's vectorizers have it. The default is how every column declared as `"text"` is read.

    Parameters
    ----------
    analyzer
        `"word"`; `"char"`, runs of characters of the whole text; `"char_wb"`, runs of characters within words, a
        space at either end.
    ngrams
        Fewest and most words (or characters) of a feature: (1, 2) counts words and pairs of neighbours.
    osb
        Orthogonal sparse bigrams, as spam filters use them: each word also with each of the `osb - 1` words before
        it, by their distance. 0 is off, 5 is usual.
    lowercase
        Whether capitals count as small letters, exactly as `str.lower` makes them.
    strip_accents
        Whether é counts as e: characters are decomposed (NFKD) and lose their accents.
    stop_words
        Words that are left out before n-grams are made.
    binary
        A word counts once per document, however often it occurs.
    buckets
        None keeps the words themselves, up to `max_words` of the schema. A power of two keeps counts of so many
        hashes instead: memory is fixed however many words come, models merge and unlearn exactly, and words that
        share a bucket are counted together.
    min_count
        Words that occurred less often are ignored; `BernoulliNB` counts the documents they are in. All words are
        counted, so that a word takes part from the row on that makes it frequent enough, models merge and unlearn
        exactly, and a word that fades below this is ignored again.
    vocabulary
        A number N keeps class counts of at most N words, the frequent ones, in memory that never grows: a word with
        more than 1/N of all words seen is kept whatever else the stream brings, and a new word takes the place of the
        rarest. Words that are not kept are ignored. Models merge within a bound and do not unlearn; words are
        distinguished by 31 bits of a hash. None, the default, keeps all words, or as many as `buckets` says.

    Examples
    --------
    >>> from bayou import Declared, MultinomialNB
    >>> model = MultinomialNB(schema=Declared(columns={"body": Text(ngrams=(1, 2), buckets=2**16)}))
    >>> model.learn_many([{"body": "cheap pills now"}, {"body": "see you now"}], ["spam", "ham"])
    >>> model.predict_one({"body": "Cheap pills!"})
    'spam'
    """

    analyzer: Literal["word", "char", "char_wb"] = "word"
    ngrams: Sequence[int] = (1, 1)
    osb: int = 0
    lowercase: bool = True
    strip_accents: bool = False
    stop_words: Sequence[str] = ()
    binary: bool = False
    buckets: int | None = None
    min_count: int = 1
    vocabulary: int | None = None

    def __post_init__(self) -> None:
        if self.analyzer not in ("word", "char", "char_wb"):
            raise SchemaError(f"analyzer={self.analyzer!r}; it is 'word', 'char' or 'char_wb'")
        ngrams = tuple(self.ngrams) if isinstance(self.ngrams, list | tuple) else ()
        if (
            len(ngrams) != 2
            or not all(type(n) is int for n in ngrams)
            or not 1 <= ngrams[0] <= ngrams[1] <= LONGEST
        ):
            raise SchemaError(
                f"ngrams={self.ngrams!r}; it is the fewest and the most, such as (1, 2), up to {LONGEST}"
            )
        if (
            type(self.osb) is not int
            or not 0 <= self.osb <= LONGEST
            or (self.osb and self.analyzer != "word")
        ):
            raise SchemaError(f"osb={self.osb!r}; it is a window of up to {LONGEST} words, 0 for none")
        if isinstance(self.stop_words, str) or not all(isinstance(word, str) for word in self.stop_words):
            raise SchemaError(f"stop_words={self.stop_words!r}; they are given as a list of words")
        if self.stop_words and self.analyzer != "word":
            raise SchemaError(f"stop_words leave out words, and analyzer={self.analyzer!r} has none")
        if self.buckets is not None:
            in_range = type(self.buckets) is int and LEAST_BUCKETS <= self.buckets <= MOST_BUCKETS
            if not in_range or self.buckets & (self.buckets - 1):
                raise SchemaError(
                    f"buckets={self.buckets!r}; it is a power of two from 2**4 to 2**28, such as 2**20, or None"
                )
        if type(self.min_count) is not int or not 1 <= self.min_count <= MOST_OFTEN:
            raise SchemaError(f"min_count={self.min_count!r}; it is a number of times, 1 for all words")
        if self.vocabulary is not None:
            if type(self.vocabulary) is not int or not 1 <= self.vocabulary <= MOST_WORDS:
                raise SchemaError(
                    f"vocabulary={self.vocabulary!r}; it is a number of words up to 2**24, such as 20_000, or None"
                )
            if self.buckets is not None:
                raise SchemaError(
                    "a column of text has buckets=, for all words, or vocabulary=, for the frequent ones; not both"
                )
        object.__setattr__(self, "ngrams", ngrams)
        object.__setattr__(self, "stop_words", tuple(self.stop_words))
