"""The frequent words of a text column: which of them have a row in the table of counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayou.block import Codes, Floats, Index, Words
from bayou.kernels.heavy_hitters import HEAD
from bayou.kernels.word_seats import find_seats, seat_words
from bayou.summaries.value_counters import ValueCounters


@dataclass(slots=True)
class Seated:
    """Documents with words replaced by rows of the table, before and after each is learned; rows that get new words.

    words : ids are rows before the document, the row behind the last seat where a word has none
    later : int32[nnz], rows once its words are seated; taken : int32[m] rows and takers : int64[m] hashes of the words
    that get them, those of document i from taken_at[i] on; ranks : int64[V], keys that sort the rows at first, or none
    """

    words: Words
    later: Codes
    taken_at: Index
    taken: Codes
    takers: Index
    ranks: Index


def as_they_are(words: Words) -> Seated:
    """Documents of a vocabulary in which every word keeps its row."""
    return Seated(words, words.ids, _NO_INDEX, _NO_CODES, _NO_INDEX, _NO_INDEX)


_NO_INDEX: Index = np.empty(0, dtype=np.int64)
_NO_CODES: Codes = np.empty(0, dtype=np.int32)


def filter_cells(room: int) -> int:
    """Cells of the filter: four for each word that is kept, a power of two.

    >>> filter_cells(3), filter_cells(1000)
    (16, 4096)
    """
    return 1 << max(4 * room - 1, 15).bit_length()


class WordSeats:
    """At most `room` words by their hashes: Space-Saving counters without classes.

    A count is its error plus its hits; between two new words the stored counts lag behind (see
    `_up_to_date`).
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.counters = ValueCounters(1)
        self.waiting = np.zeros(filter_cells(room))
        self._hold(_NO_INDEX, np.zeros((0, HEAD + 1)))

    def _hold(self, keys: Index, cells: Floats) -> None:
        texts = np.zeros((len(keys), 0), dtype=np.uint8)
        self.counters.hold(keys, cells, texts, self.room)

    @property
    def size(self) -> int:
        """The number of words that have a seat."""
        return self.counters.size

    @property
    def keys(self) -> Index:
        """int64[size], the hashes of the words by their rows."""
        return self.counters.keys[: self.size]

    @property
    def weight(self) -> float:
        """The weight of all words seen."""
        return float(self.counters.present[0])

    def ranks(self) -> Index:
        """int64[room + 1], the hashes by which rows are sorted, whatever seats their words have."""
        ranks = np.full(self.room + 1, -1, dtype=np.int64)
        ranks[: self.size] = self.keys
        return ranks

    def find(self, words: Words) -> Words:
        """Documents with words replaced by their rows; words without a seat are left out."""
        n = len(words.ids)
        seated = Words(np.zeros(len(words.indptr), np.int64), np.empty(n, np.int32), np.empty(n))
        counters = self.counters
        find_seats(
            counters.index, counters.keys, words.indptr, words.ids, words.counts,
            seated.indptr, seated.ids, seated.counts,
        )  # fmt: skip
        filled = int(seated.indptr[-1])
        return Words(seated.indptr, seated.ids[:filled], seated.counts[:filled])

    def take_in(self, words: Words, y: Codes, w: Floats, binary: bool) -> Seated:
        """Count the words of documents, one after the other, and give seats to new ones."""
        n, c = len(words.ids), self.counters
        before, later = np.empty(n, np.int32), np.empty(n, np.int32)
        taken_at, taken = np.zeros(len(words.indptr), np.int64), np.empty(n, np.int32)
        takers, ranks = np.empty(n, np.int64), self.ranks() if binary else _NO_INDEX
        seat_words(
            c.cells, c.keys, c.heap, c.place, c.index, c.named, c.totals, c.present, c.rest,
            self.waiting, words.indptr, words.ids, words.counts, y, w, binary, before, later, taken_at, taken, takers,
        )  # fmt: skip
        return Seated(Words(words.indptr, before, words.counts), later, taken_at, taken, takers, ranks)

    def _up_to_date(self) -> tuple[Index, Floats]:
        """Sorted hashes and their cells, with counts up to date."""
        keys, cells, _ = self.counters.held()
        cells[:, 0] = cells[:, 1] + cells[:, HEAD]
        return keys, cells

    def merge(self, other: WordSeats) -> None:
        """Counters add up, and the heaviest stay; rows are those of the words in order of their hashes."""
        self._hold(*self._up_to_date())
        theirs = WordSeats.of(*other.state())
        keys = np.union1d(self.keys, theirs.keys)
        self.counters.merge(theirs.counters, len(keys), lambda keys: (self._most(keys), theirs._most(keys)))
        keys, cells = self._up_to_date()
        self.waiting += theirs.waiting
        kept = np.sort(np.lexsort((keys, cells[:, 0]))[::-1][: self.room])
        evicted = np.setdiff1d(np.arange(len(keys)), kept)
        np.maximum.at(self.waiting, keys[evicted] & (len(self.waiting) - 1), cells[evicted, 0])
        self._hold(keys[kept], cells[kept])

    def _most(self, keys: Index) -> Floats:
        """The most that each of these words can have had without a seat."""
        bounds: Floats = self.waiting[keys & (len(self.waiting) - 1)]
        return bounds

    @property
    def floor(self) -> float:
        """The most that any word without a seat can have had: 0 while all have one."""
        return float(self.waiting.max(initial=0.0))

    def scale(self, factor: float) -> None:
        """Multiply what was counted by a factor; rows are those of the words in order of their hashes."""
        self.counters.scale(factor)
        self.waiting *= factor
        self._hold(*self._up_to_date())

    def state(self) -> tuple[Index, Floats, Floats, Floats]:
        """Hashes int64[room] in order, -1 where a seat is free; their errors and hits float64[room, 2]; the cells of
        the filter; and the weight of all words float64[1]."""
        keys, cells = np.full(self.room, -1, dtype=np.int64), np.zeros((self.room, 2))
        hashes, counted = self._up_to_date()
        keys[: len(hashes)], cells[: len(hashes)] = hashes, counted[:, 1:]
        return keys, cells, self.waiting.copy(), np.array([self.weight])

    @classmethod
    def of(cls, keys: Index, cells: Floats, waiting: Floats, met: Floats) -> WordSeats:
        """The seats with a state that `state` gave."""
        twin = cls(len(keys))
        size = int(np.count_nonzero(keys >= 0))
        twin._hold(keys[:size], np.hstack([cells[:size].sum(axis=1, keepdims=True), cells[:size]]))
        twin.waiting = np.array(waiting)
        twin.counters.present[0] = met[0]
        return twin

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.counters.nbytes + self.waiting.nbytes


def places(keys: Index, among: Index) -> tuple[Index, Index]:
    """The index of the keys that are `among` others, and their places there.

    >>> places(np.array([7, 3, 9]), np.array([3, 4, 7]))
    (array([0, 1]), array([2, 0]))
    """
    order = np.argsort(among)
    at = np.searchsorted(among, keys, sorter=order)
    index = np.flatnonzero(at < len(among))
    index = index[among[order[at[index]]] == keys[index]]
    return index, order[at[index]]
