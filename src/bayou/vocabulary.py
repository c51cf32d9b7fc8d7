"""Vocabularies: values and words with codes in order of arrival, or hashes of unboundedly many words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import overload

import numpy as np

Label = str | bytes | int | float | bool
NAMED = 4096  # buckets for which a word is stored by name
LONGEST_NAME = 60  # characters of a word that are stored
HASHES = 1 << 31  # number of ids of words that are identified by their hash alone

_TRUTHS = (bool, np.bool_)


def identity_key(value: object) -> Hashable:
    """The key under which a value is stored; 1 and 1.0 have the same key, True and 1 have not."""
    return ("bool", bool(value)) if isinstance(value, _TRUTHS) else value


class NumberedNames(Sequence[str]):
    """Names of the columns of a nameless matrix: x0, x1, ...; they are cached, and made once for all matrices.

    Examples
    --------
    >>> names = NumberedNames(range(12))
    >>> names[10], len(names[2:]), list(names[10:])
    ('x10', 10, ['x10', 'x11'])
    """

    __slots__ = ("numbers",)
    _cached: tuple[str, ...] = ()

    def __init__(self, numbers: range) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> NumberedNames: ...
    def __getitem__(self, at: int | slice) -> str | NumberedNames:
        return NumberedNames(self.numbers[at]) if isinstance(at, slice) else f"x{self.numbers[at]}"

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def names(self) -> tuple[str, ...]:
        """The names themselves."""
        n = self.numbers
        cached = NumberedNames._cached
        if len(cached) < n.stop:
            cached = (*cached, *(f"x{j}" for j in range(len(cached), n.stop)))
            NumberedNames._cached = cached
        return cached[n.start : n.stop : n.step]


class Vocabulary:
    """Values in order of arrival, each with a code; beyond `limit` all share the "other" code.

    The dictionary of codes of numbered names, whose codes are their numbers, is built when it is first read.

    Examples
    --------
    >>> v = Vocabulary(limit=2)
    >>> v.extend(["a", "b", "c"])
    >>> [v.code(x) for x in ("a", "b", "c", "z")], v.size
    ([0, 1, 2, 2], 3)
    """

    __slots__ = ("_beginning", "_codes", "_numbered", "declared", "limit", "overflowed", "values")

    def __init__(self, values: Iterable[Label] = (), limit: int = 1 << 31) -> None:
        self.values: list[Label] = []
        self._codes: dict[Hashable, int] = {}
        self._numbered = 0  # how many of the first values are known to be numbered names
        self.limit = limit
        self.overflowed = False
        self._beginning: Sequence[Label] | None = None
        self.extend(values)
        self.declared = len(self.values)

    @property
    def size(self) -> int:
        """Number of cells: the values kept, and the "other" cell once it is in use."""
        return self.limit + 1 if self.overflowed else len(self.values)

    @property
    def codes(self) -> dict[Hashable, int]:
        """The code of each value, by its `identity_key`."""
        entered = len(self._codes)
        if entered < len(self.values):  # the others are numbered names
            self._codes.update(zip(self.values[entered:], range(entered, len(self.values)), strict=True))
        return self._codes

    def code(self, value: object) -> int:
        """The code of a value; the "other" code if it is unknown and the vocabulary is full; else -1."""
        code = self.codes.get(value if type(value) is str else identity_key(value))
        if code is not None:
            return code
        return self.limit if self.overflowed else -1

    def begins_with(self, names: Sequence[Label]) -> bool:
        """Whether the first values are exactly these names, so that their positions are their codes."""
        if names is self._beginning or (isinstance(names, NumberedNames) and len(names) <= self._numbered):
            return True
        if len(names) > len(self.values) or list(names) != self.values[: len(names)]:
            return False
        self._set_beginning(names)
        return True

    def begins(self, names: Sequence[Label]) -> bool:
        """Whether the names begin with exactly the values, so that the others can be appended in their order."""
        size = len(self.values)
        if len(names) > self.limit or len(names) < size:
            return False
        if isinstance(names, NumberedNames) and self._numbered == size:
            return True
        if list(names[:size]) != self.values:
            return False
        self._set_beginning(names[:size])
        return True

    def _set_beginning(self, names: Sequence[Label]) -> None:
        """Store that the first values are these names."""
        self._beginning = names
        if isinstance(names, NumberedNames):
            self._numbered = max(self._numbered, len(names))

    def extend(self, values: Iterable[Label]) -> None:
        """Give codes to the values that have none yet, in order, as far as the limit allows."""
        first = len(self.values)
        if isinstance(values, NumberedNames) and first == self._numbered == values.numbers.start:
            if values.numbers.stop <= self.limit:
                self.values += values.names()
                self._numbered = len(self.values)
                return
        values, known = list(values), self.codes
        if first + len(values) <= self.limit and set(map(type, values)) == {str}:
            codes: dict[Hashable, int] = dict(zip(values, range(first, first + len(values)), strict=True))
            if len(codes) < len(values) or not known.keys().isdisjoint(codes):
                values = [value for value in dict.fromkeys(values) if value not in known]
                codes = dict(zip(values, range(first, first + len(values)), strict=True))
            known.update(codes)
            self.values += values
            return
        for value in values:
            key = identity_key(value)
            if key in known:
                continue
            if len(self.values) >= self.limit:
                self.overflowed = True
            else:
                known[key] = len(self.values)
                self.values.append(value)

    def name(self, code: int) -> Label:
        """The value behind a code; "(other)" for the shared cell."""
        return self.values[code] if code < len(self.values) else "(other)"

    def __deepcopy__(self, memo: dict[int, object]) -> Vocabulary:
        return self.copy()

    def copy(self) -> Vocabulary:
        """An independent copy."""
        twin = Vocabulary(limit=self.limit)
        twin.values, twin._codes, twin._numbered = list(self.values), dict(self._codes), self._numbered
        twin.overflowed, twin.declared = self.overflowed, self.declared
        return twin

    def absorb(self, other: Vocabulary) -> None:
        """Add the values of another vocabulary."""
        self.extend(other.values)
        self.overflowed = self.overflowed or other.overflowed
        self.declared = max(self.declared, other.declared)

    def in_order(self, key: Callable[[Label], object]) -> Vocabulary:
        """A vocabulary of the same values in another order."""
        twin = Vocabulary(sorted(self.values, key=key), limit=self.limit)  # type: ignore[arg-type] # keys compare
        twin.overflowed, twin.declared = self.overflowed, self.declared
        return twin


class HashedVocabulary(Vocabulary):
    """Words by the hash of their letters: a fixed number of buckets, and the names of the most frequent words.

    The names serve explanations only and are no part of what is learned: they are counted in some of the documents by
    the algorithm of Misra and Gries, which keeps every word with more than 1/4096 of the weight there.

    Examples
    --------
    >>> v = HashedVocabulary(16)
    >>> v.note([3, 5, 3], ["cheap", "pills", "cheap"])
    >>> v.size, v.name(3), v.name(4)
    (16, 'cheap', '(bucket 4)')
    """

    __slots__ = ("tallies",)

    def __init__(self, buckets: int) -> None:
        super().__init__(limit=buckets)
        self.tallies: dict[int, tuple[str, int]] = {}

    @property
    def size(self) -> int:
        """Number of buckets."""
        return self.limit

    @property
    def hashes(self) -> int:
        """Number of ids that words of a document may have."""
        return self.limit

    def name(self, code: int) -> str:
        """A word of the bucket; the number of the bucket if no word is stored."""
        entry = self.tallies.get(code)
        return f"(bucket {code})" if entry is None else entry[0]

    def note(self, codes: Sequence[int], names: Sequence[str]) -> None:
        """Count words, each with its bucket."""
        counts = Counter(codes)
        if (
            len(self.tallies.keys() | counts.keys()) <= NAMED
        ):  # none is dropped, so that all words of a bucket are counted at once
            first = dict(zip(reversed(codes), range(len(codes) - 1, -1, -1), strict=True))
            for code, count in counts.items():
                entry = self.tallies.get(code)
                name, tally = entry or (names[first[code]][:LONGEST_NAME], 0)
                self.tallies[code] = (name, tally + count)
            return
        for i, code in enumerate(codes):
            entry = self.tallies.get(code)
            if entry is not None:
                self.tallies[code] = (entry[0], entry[1] + 1)
            elif len(self.tallies) < NAMED:
                self.tallies[code] = (names[i][:LONGEST_NAME], 1)
            else:
                self.tallies = {c: (n, t - 1) for c, (n, t) in self.tallies.items() if t > 1}

    def absorb(self, other: Vocabulary) -> None:
        """Add the names of another vocabulary, and keep the most frequent of both."""
        both = dict(self.tallies)
        for code, (name, tally) in other.tallies.items() if isinstance(other, HashedVocabulary) else ():
            mine = both.get(code, (name, 0))
            both[code] = (mine[0], mine[1] + tally)
        heaviest = sorted(both.items(), key=lambda item: (-item[1][1], item[0]))
        self.tallies = dict(islice(heaviest, NAMED))

    def in_order(self, key: Callable[[Label], object]) -> Vocabulary:
        return self.copy()

    def copy(self) -> HashedVocabulary:
        twin = type(self)(self.limit)
        twin.tallies = dict(self.tallies)
        return twin


class FrequentWords(HashedVocabulary):
    """A vocabulary of at most `limit` frequent words: documents hold hashes, and the summary decides which are kept.

    Examples
    --------
    >>> v = FrequentWords(1000)
    >>> v.note([123456789], ["cheap"])
    >>> v.size, v.name(123456789), v.name(5)
    (1000, 'cheap', '(hash 5)')
    """

    __slots__ = ()

    @property
    def hashes(self) -> int:
        return HASHES

    def name(self, code: int) -> str:
        """The word of a hash; the hash if the word is not stored."""
        entry = self.tallies.get(code)
        return f"(hash {code})" if entry is None else entry[0]
