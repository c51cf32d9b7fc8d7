"""How much weight each word of each text column has in each class."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment, Axis
from bayou.block import Block, Flags, Floats, Index, Words
from bayou.checks import SLACK, require
from bayou.errors import UnsupportedError
from bayou.kernels.class_counts import count_classes
from bayou.kernels.value_counts import count_seen
from bayou.kernels.word_counts import count_in_turn, count_words, words_in_use
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.schema import Shape
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary, sweep
from bayou.summaries.mark import Mark
from bayou.summaries.state import declare, move
from bayou.summaries.word_seats import Seated, WordSeats, as_they_are, places
from bayou.vocabulary import HASHES

SEAT = 56  # bytes of a file, at least, for a word that has a row in a bounded table
SEATS = ("keys", "cells", "waiting", "met")  # the arrays of such words
EXACTLY = (
    1.0 - 1e-9
)  # share of a count that suffices: weights such as .1 add up to whole numbers up to rounding


@dataclass
class TextCounts:
    """One text column: counts[V, K] with room to double, total[K], words in use, seen and declared.

    The number of words seen, int64[1], is -1 if all are declared, since it is not needed then. A word whose weight in
    all classes together is below `least` is counted, but takes no part in predictions. Where the vocabulary is bounded,
    `seats` holds the words of the rows, and the row behind the last seat stays empty.
    """

    counts: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    total: Floats = field(default_factory=lambda: np.zeros(0))
    size: int = 0
    declared: int = 0
    seen: Index = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    least: float = 0.0
    seats: WordSeats | None = None

    @property
    def width(self) -> int:
        """Words as smoothing counts them: those seen, or the declared number if larger."""
        return max(int(self.seen[0]), self.declared)

    def count_seen(self) -> None:
        """Count the words seen in any class."""
        if self.declared >= self.size:
            self.seen[0] = -1
        else:
            count_seen(self.seen, self.counts, np.zeros(2, dtype=np.int64), np.array([self.size]))

    def words_in_use(self) -> Flags:
        """bool[V], the words with enough weight to take part in predictions."""
        enough_weight = np.empty(self.size, dtype=np.bool_)
        words_in_use(enough_weight, self.counts, self.least)
        return enough_weight

    def ranks(self) -> Index:
        """int64[V], keys that sort the words; empty where words are sorted by their ids."""
        return np.empty(0, dtype=np.int64) if self.seats is None else self.seats.ranks()

    def in_order(self) -> tuple[Index, Index]:
        """The rows in an order that does not depend on the seats of words, and the ids of their words in documents."""
        if self.seats is None:
            return np.arange(self.size), np.arange(self.size)
        order = np.argsort(self.seats.keys)
        return order, self.seats.keys[order]

    def known(self, words: Words) -> Words:
        """Documents with words replaced by their rows in the table; words without a row are left out."""
        return words if self.seats is None else self.seats.find(words)

    def seated(self, words: Words, block: Block, binary: bool) -> Seated:
        """Documents with words replaced by their rows in the table, which new words get as they are learned."""
        if self.seats is None:
            return as_they_are(words)
        return self.seats.take_in(words, block.y, block.w, binary)

    def add_by_hash(self, keys: Index, counts: Floats) -> None:
        """Add counts of words, given by their hashes, where they have a seat."""
        assert self.seats is not None
        index, at = places(keys, self.seats.keys)
        self.counts[at] += counts[index]

    def realign(self, words: Axis, classes: Axis) -> None:
        """Move the counts to where the larger schema has words and classes."""
        if self.seats is not None:
            self.size, self.declared = words.size, words.declared
            self.counts = move(self.counts, 1, classes)
            self.total = move(self.total, 0, classes)
            return
        empty = not self.total.any()
        self.counts = moved_words(self.counts, self.size, words, classes, empty)
        self.size, self.declared = words.size, words.declared
        self.total = move(self.total, 0, classes)
        counted = self.seen[0] >= 0
        if not (empty or words.stays) or counted == (self.declared >= self.size):
            self.count_seen()


def moved_words(room: Floats, size: int, words: Axis, classes: Axis, empty: bool) -> Floats:
    """The first `size` rows of a table [V, K] where the larger schema has words and classes, with room to double.

    A table of zeros (`empty`) is only resized.
    """
    if empty:
        return np.zeros((max(words.size, len(room)), classes.size))
    cells = move(room[:size], 1, classes)
    if words.size > len(room) or not words.stays:
        room = np.zeros((max(words.size, 2 * len(room)), classes.size))
    elif cells.shape[1] != room.shape[1]:
        room = np.zeros((len(room), classes.size))
    if not words.stays:
        np.add.at(room, words.to, cells)
    elif not np.may_share_memory(room, cells):
        room[:size] = cells
    return room


def empty_table(seats: int, classes: int) -> Floats:
    """The counts of a bounded vocabulary, with the row behind the last seat."""
    return np.zeros((seats + 1, classes))


def _keys(name: str, array: Index, summary: WordCounts) -> None:
    used = array[: np.count_nonzero(array >= 0)]
    rise = bool((used >= 0).all() and (used[1:] > used[:-1]).all() and used.max(initial=0) < HASHES)
    require(rise and (array[len(used) :] == -1).all(), f"{name} must hold rising hashes, then -1")


def _sizes(name: str, array: Index, summary: WordCounts) -> None:
    sizes = [[text.size, text.declared] for text in summary.texts]
    require(array.tolist() == sizes, "the numbers of words are not those of the schema")


class WordCounts(ArraySummary):
    """n(word, c) and T(c) per text column; with `binary`, documents that hold the word, and all documents.

    Documents without a word are documents too, also those that come before any text column is known.

    Merge: EXACT (addition), until a vocabulary overflows its `max_words` into the shared cell. Where a vocabulary is
    bounded (`Text(vocabulary=N)`): BOUNDED by `error()`, which is 0 (and the merge exact) while all words fit.
    Memory: 8 K bytes per word, twice that while growing; of a bounded vocabulary 8 K + 90 to 130 bytes per word,
    however many come.
    """

    law: ClassVar[MergeLaw] = MergeLaw.EXACT
    counts: Floats = declare(
        "words", "classes", valid=valid.non_negative
    )  # "0.counts", "1.counts" ..: one per text column
    total: Floats = declare("classes", valid=valid.non_negative)
    sizes: Index = declare("text", 2, dtype=np.int64, frame=True, valid=_sizes)
    documents: Floats = declare(
        "classes", valid=valid.non_negative
    )  # weight of each class; kept with `binary` only
    # of columns with a bounded vocabulary: hashes, their errors and hits; the filter for other words, and the weight of
    # all words
    keys: Index = declare("words", dtype=np.int64, fill=-1, valid=_keys)
    cells: Floats = declare("words", 2, valid=valid.non_negative)
    waiting: Floats = declare("cells", valid=valid.non_negative)
    met: Floats = declare(1, valid=valid.non_negative)

    def least_bytes(self, shape: Shape) -> int:
        """Bytes of the counts of all words, and of the seats of bounded vocabularies."""
        return 8 * shape.classes * (sum(shape.words) + shape.text) + SEAT * shape.seats

    def __init__(self, binary: bool = False) -> None:
        self.binary = binary
        self.texts: list[TextCounts] = []
        self.documents = np.zeros(0)
        self.mark = Mark()  # of the present state: see `Mark`

    def config(self) -> Mapping[str, Scalar]:
        return {"binary": self.binary}

    @property
    def has_no_columns(self) -> bool:
        return not self.texts and not self.binary

    def update(self, block: Block) -> None:
        self.mark = Mark()
        if self.binary:
            count_classes(self.documents, block.y, block.w, 1.0)
        for text, words in zip(self.texts, block.words, strict=True):
            seated = text.seated(words, block, self.binary)
            count_in_turn(
                text.counts, text.total, text.seen, words.indptr, seated.later, words.counts,
                block.y, block.w, self.binary, seated.taken_at, seated.taken,
            )  # fmt: skip

    def known(self, block: Block) -> tuple[Words, ...]:
        """The documents of a block with words replaced by their rows in the tables."""
        return tuple(text.known(words) for text, words in zip(self.texts, block.words, strict=True))

    def error(self) -> float:
        """The largest error of a word's count, as a share of all words; 0 while all of them have a seat."""
        seats = [text.seats for text in self.texts if text.seats is not None]
        return max((s.floor / max(s.weight, 1e-300) for s in seats), default=0.0)

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        return self.documents.nbytes + sum(
            text.counts.nbytes + text.total.nbytes + (0 if text.seats is None else text.seats.nbytes)
            for text in self.texts
        )

    def subtract(self, block: Block) -> None:
        if any(text.seats is not None for text in self.texts):
            raise UnsupportedError(
                "cannot unlearn: of words that lost their place in Text(vocabulary=...) no record is kept from which "
                "they could be taken out; Text(buckets=...) has fixed memory and unlearns exactly"
            )
        before = copy.deepcopy((self.texts, self.documents))
        self.mark = Mark()
        if self.binary:
            count_classes(self.documents, block.y, block.w, -1.0)
        for text, words in zip(self.texts, block.words, strict=True):
            count_words(
                text.counts, text.total, text.seen, words.indptr, words.ids, words.counts,
                block.y, block.w, -1.0, self.binary,
            )  # fmt: skip
        sweep(before[1], self.documents)
        for old, new in zip(before[0], self.texts, strict=True):
            sweep(old.counts, new.counts)
            sweep(old.total, new.total)
            new.count_seen()

    def scale(self, factor: float) -> None:
        self.mark = Mark()
        self.documents *= factor
        for text in self.texts:
            text.counts *= factor
            text.total *= factor
            if text.seats is not None:
                keys, counts = text.seats.keys, text.counts
                text.seats.scale(factor)
                text.counts = np.zeros_like(counts)
                text.add_by_hash(keys, counts)
            text.count_seen()

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        self.mark = Mark()
        self.documents += other.documents
        for mine, theirs in zip(self.texts, other.texts, strict=True):
            if mine.seats is not None and theirs.seats is not None:
                keys, counts = mine.seats.keys, mine.counts
                mine.seats.merge(theirs.seats)
                mine.counts = np.zeros_like(counts)
                mine.add_by_hash(keys, counts)
                mine.add_by_hash(theirs.seats.keys, theirs.counts)
            else:
                mine.counts[: mine.size] += theirs.counts[: theirs.size]
            mine.total += theirs.total
            mine.declared = max(mine.declared, theirs.declared)
            mine.count_seen()

    def realign(self, plan: Alignment) -> None:
        self.mark = Mark()
        self.lengths = plan.lengths
        k = len(plan.classes.to)
        by_place = dict(zip(plan.text.to.tolist(), self.texts, strict=True))
        self.texts = [by_place.get(j) or self._column(k, seats) for j, seats in enumerate(plan.lengths.seats)]
        for text, words in zip(self.texts, plan.words, strict=True):
            text.realign(words, plan.classes)
        self._set_least()
        if self.binary:
            self.documents = move(self.documents, 0, plan.classes)

    def _column(self, k: int, seats: int) -> TextCounts:
        """A new text column; the documents before it have none of its words."""
        total = self.documents.copy() if self.binary else np.zeros(k)
        if not seats:
            return TextCounts(np.zeros((0, k)), total)
        return TextCounts(empty_table(seats, k), total, seats=WordSeats(seats))

    def check(self, arrays: Arrays) -> None:
        """The class counts of a bounded vocabulary add up to the hits of its seats."""
        super().check(arrays)
        for j in range(len(self.texts)):
            if f"{j}.keys" in arrays:
                keys, cells, waiting, met = (arrays[f"{j}.{name}"] for name in SEATS)
                free = keys < 0
                counts = arrays[f"{j}.counts"]
                require(not counts[free].any() and not cells[free].any(), "a word without a seat is counted")
                gap = np.abs(counts.sum(axis=1) - cells[:, 1])
                require(
                    (gap <= SLACK * (1.0 + cells[:, 1])).all(), "the hits of a word are its counts by class"
                )
                most = met[0] * (1.0 + SLACK)
                require(waiting.max(initial=0.0) <= most, "a word can be no heavier than all words together")

    def regroup(self, groups: Floats) -> Self:
        twin = type(self)(self.binary)
        twin.documents = groups @ self.documents if self.binary else twin.documents
        for text in self.texts:
            new = TextCounts(
                text.counts[: text.size] @ groups.T, groups @ text.total, text.size, text.declared
            )  # fmt: skip
            if text.seats is not None:
                new.seats, new.counts = copy.deepcopy(text.seats), text.counts @ groups.T
            new.count_seen()
            twin.texts.append(new)
        twin.lengths = replace(self.lengths, classes=len(groups))
        twin._set_least()
        return twin

    def _set_least(self) -> None:
        """Set the least weight of words of each column from the schema, and the merge law."""
        if any(text.seats is not None for text in self.texts):
            self.law = MergeLaw.BOUNDED  # type: ignore[misc] # the law depends on how words are kept
        for text, least in zip(self.texts, self.lengths.min_counts, strict=False):
            text.least = least * EXACTLY if least > 1 else 0.0

    def arrays(self) -> Arrays:
        out: dict[str, NDArray[Any]] = {}
        for j, text in enumerate(self.texts):
            out[f"{j}.counts"] = text.counts[: text.size]
            out[f"{j}.total"] = text.total
            if text.seats is not None:  # words by their hashes, so that equal content gives equal arrays
                order, _ = text.in_order()
                out[f"{j}.counts"] = np.zeros((text.size, len(text.total)))
                out[f"{j}.counts"][: len(order)] = text.counts[order]
                out |= {f"{j}.{name}": a for name, a in zip(SEATS, text.seats.state(), strict=True)}
        out["sizes"] = np.array([[t.size, t.declared] for t in self.texts], dtype=np.int64).reshape(-1, 2)
        return {**out, "documents": self.documents} if self.binary else out

    def restore(self, arrays: Arrays) -> None:
        self.mark = Mark()
        self.documents = np.array(arrays["documents"]) if self.binary else np.zeros(0)
        self.texts = []
        for j, (size, declared) in enumerate(arrays["sizes"].tolist()):
            text = TextCounts(np.array(arrays[f"{j}.counts"]), np.array(arrays[f"{j}.total"]), size, declared)
            if f"{j}.keys" in arrays:
                text.seats = WordSeats.of(*(arrays[f"{j}.{name}"] for name in SEATS))
                text.counts = empty_table(size, len(text.total))
                text.counts[:size] = arrays[f"{j}.counts"]
            text.count_seen()
            self.texts.append(text)
        self._set_least()
