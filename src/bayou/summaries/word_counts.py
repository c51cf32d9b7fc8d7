"""How much weight each word of each text column has in each class."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment, Axis
from bayou.block import Block, Flags, Floats, Index
from bayou.checks import require
from bayou.kernels.class_counts import count_classes
from bayou.kernels.value_counts import count_seen
from bayou.kernels.word_counts import count_words, words_heard
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.schema import Shape
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary, sweep
from bayou.summaries.mark import Mark
from bayou.summaries.state import declare, move

EXACTLY = 1.0 - 1e-9  # of a count: weights such as .1 add up to whole numbers but for rounding


@dataclass
class TextCounts:
    """One text column: counts[V, K] with room to double, total[K], words in use, seen and declared.

    A word whose weight in all classes together is below `least` is counted, and says nothing.
    """

    counts: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    total: Floats = field(default_factory=lambda: np.zeros(0))
    size: int = 0
    declared: int = 0
    seen: Index = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    least: float = 0.0

    @property
    def width(self) -> int:
        """Words as smoothing counts them: those seen, or the declared number if larger."""
        return max(int(self.seen[0]), self.declared)

    def count_seen(self) -> None:
        """Find out which words were seen in any class."""
        count_seen(self.seen, self.counts, np.zeros(2, dtype=np.int64), np.array([self.size]))

    def heard(self) -> Flags:
        """bool[V], the words that were met often enough to say something."""
        heard = np.empty(self.size, dtype=np.bool_)
        words_heard(heard, self.counts, self.least)
        return heard

    def realign(self, words: Axis, classes: Axis) -> None:
        """Move the counts to where the larger schema has words and classes."""
        empty = not self.total.any()
        stay = empty or _stay(words, self.size)
        self.counts = moved_words(self.counts, self.size, words, classes, empty)
        self.size, self.declared = words.size, words.declared
        self.total = move(self.total, 0, classes)
        if not stay:
            self.count_seen()


def _stay(words: Axis, size: int) -> bool:
    """Whether words are where they were: new ones follow the others."""
    return np.array_equal(words.to, np.arange(size))


def moved_words(room: Floats, size: int, words: Axis, classes: Axis, empty: bool) -> Floats:
    """The first `size` rows of a table [V, K] where the larger schema has words and classes, with room to double.

    Of one that holds nothing but zeros (`empty`) nothing is moved.
    """
    if empty:
        return np.zeros((max(words.size, len(room)), classes.size))
    cells = move(room[:size], 1, classes)
    stay = _stay(words, size)
    if words.size > len(room) or not stay:
        room = np.zeros((max(words.size, 2 * len(room)), classes.size))
    elif cells.shape[1] != room.shape[1]:
        room = np.zeros((len(room), classes.size))
    if not stay:
        np.add.at(room, words.to, cells)
    elif not np.may_share_memory(room, cells):
        room[:size] = cells
    return room


def _sizes(name: str, array: Index, summary: WordCounts) -> None:
    sizes = [[text.size, text.declared] for text in summary.texts]
    require(array.tolist() == sizes, "the numbers of words are not those of the schema")


class WordCounts(ArraySummary):
    """n(word, c) and T(c) per text column; with `binary`, documents that hold the word, and all documents.

    Documents without a word are documents too, also those that come before any text column is known.

    Merge: EXACT (addition), until a vocabulary overflows its `max_words` into the shared cell.
    Memory: 8 K bytes per word, twice that while growing.
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

    def least_bytes(self, shape: Shape) -> int:
        """The counts of all words."""
        return 8 * shape.classes * (sum(shape.words) + shape.text)

    def __init__(self, binary: bool = False) -> None:
        self.binary = binary
        self.texts: list[TextCounts] = []
        self.documents = np.zeros(0)
        self.mark = Mark()  # of this very state: see `Mark`

    def config(self) -> Mapping[str, Scalar]:
        return {"binary": self.binary}

    @property
    def has_no_columns(self) -> bool:
        return not self.texts and not self.binary

    def update(self, block: Block) -> None:
        self._count(block, 1.0)

    def subtract(self, block: Block) -> None:
        before = copy.deepcopy((self.texts, self.documents))
        self._count(block, -1.0)
        sweep(before[1], self.documents)
        for old, new in zip(before[0], self.texts, strict=True):
            sweep(old.counts, new.counts)
            sweep(old.total, new.total)
            new.count_seen()

    def _count(self, block: Block, sign: float) -> None:
        self.mark = Mark()
        if self.binary:
            count_classes(self.documents, block.y, block.w, sign)
        for text, words in zip(self.texts, block.words, strict=True):
            count_words(
                text.counts, text.total, text.seen, words.indptr, words.ids, words.counts,
                block.y, block.w, sign, self.binary,
            )  # fmt: skip

    def scale(self, factor: float) -> None:
        self.mark = Mark()
        self.documents *= factor
        for text in self.texts:
            text.counts *= factor
            text.total *= factor
            text.count_seen()

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        self.mark = Mark()
        self.documents += other.documents
        for mine, theirs in zip(self.texts, other.texts, strict=True):
            mine.counts[: mine.size] += theirs.counts[: theirs.size]
            mine.total += theirs.total
            mine.declared = max(mine.declared, theirs.declared)
            mine.count_seen()

    def realign(self, plan: Alignment) -> None:
        self.mark = Mark()
        self.lengths = plan.lengths
        k = len(plan.classes.to)
        total = self.documents if self.binary else np.zeros(k)
        moved = [TextCounts(np.zeros((0, k)), total.copy()) for _ in range(plan.text.size)]
        for old, new in enumerate(plan.text.to):
            moved[new] = self.texts[old]
        for text, words in zip(moved, plan.words, strict=True):
            text.realign(words, plan.classes)
        self.texts = moved
        self._set_least()
        if self.binary:
            self.documents = move(self.documents, 0, plan.classes)

    def regroup(self, groups: Floats) -> Self:
        twin = type(self)(self.binary)
        twin.documents = groups @ self.documents if self.binary else twin.documents
        for text in self.texts:
            new = TextCounts(
                text.counts[: text.size] @ groups.T, groups @ text.total, text.size, text.declared
            )  # fmt: skip
            new.count_seen()
            twin.texts.append(new)
        twin.lengths = replace(self.lengths, classes=len(groups))
        twin._set_least()
        return twin

    def _set_least(self) -> None:
        """The weight that words of each column must have to be heard, as the schema says."""
        for text, least in zip(self.texts, self.lengths.min_counts, strict=False):
            text.least = least * EXACTLY if least > 1 else 0.0

    def arrays(self) -> Arrays:
        out: dict[str, NDArray[Any]] = {}
        for j, text in enumerate(self.texts):
            out[f"{j}.counts"] = text.counts[: text.size]
            out[f"{j}.total"] = text.total
        out["sizes"] = np.array([[t.size, t.declared] for t in self.texts], dtype=np.int64).reshape(-1, 2)
        return {**out, "documents": self.documents} if self.binary else out

    def restore(self, arrays: Arrays) -> None:
        self.mark = Mark()
        self.documents = np.array(arrays["documents"]) if self.binary else np.zeros(0)
        self.texts = []
        for j, (size, declared) in enumerate(arrays["sizes"].tolist()):
            text = TextCounts(np.array(arrays[f"{j}.counts"]), np.array(arrays[f"{j}.total"]), size, declared)
            text.count_seen()
            self.texts.append(text)
        self._set_least()
