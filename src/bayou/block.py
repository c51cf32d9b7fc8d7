"""Blocks, the encoded mini-batches: checked once by the encoder, trusted by all that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bayou.schema import Label

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Index = NDArray[np.int64]
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]


@dataclass(slots=True)
class Words:
    """Word counts of one text column, row by row (compressed sparse rows).

    indptr : int64[n + 1]; ids : int32[nnz], ascending within a row; counts : float64[nnz]
    """

    indptr: Index
    ids: Codes
    counts: Floats

    def rows(self, lo: int, hi: int) -> Words:
        """The documents lo .. hi - 1."""
        a, b = self.indptr[lo], self.indptr[hi]
        return Words(self.indptr[lo : hi + 1] - a, self.ids[a:b], self.counts[a:b])


@dataclass(slots=True)
class Hashed:
    """Values of the nominal columns by stable hash, for models that keep no vocabulary.

    keys : int64[n, q], 0 = missing; values : the value of each key, at least of those in this block
    """

    keys: Index
    values: Mapping[int, Label]

    def rows(self, lo: int, hi: int) -> Hashed:
        """The rows lo .. hi - 1."""
        return Hashed(self.keys[lo:hi], self.values)


@dataclass(slots=True)
class Block:
    """Rows ready for kernels, row-major and writeable.

    numeric : float64[n, p], NaN = missing; codes : int32[n, q], -1 = missing; words : one per text column
    y : int32[n], -1 = unlabelled; w : float64[n] >= 0; start : stream number of the first row
    schema_change_rows : rows with a new class or column; proba : float64[n, K], class probabilities once predicted
    hashed : nominal values by hash where the schema says so; codes are then 0, or -1 where missing
    no_missing : whether it is known that no number is missing
    decided : int32[n], the classes decided for, where that is not simply the most probable one
    unusable : number of huge or infinite values that were taken as missing, counted when the whole block is learned
    """

    numeric: Floats
    codes: Codes
    words: tuple[Words, ...]
    y: Codes
    w: Floats
    start: int = 0
    schema_change_rows: Sequence[int] = ()
    proba: Floats | None = field(default=None)
    hashed: Hashed | None = None
    no_missing: bool = False
    decided: Codes | None = None
    unusable: int = 0

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    def rows(self, lo: int, hi: int) -> Block:
        """Rows lo..hi as views, no copy."""
        return Block(
            self.numeric[lo:hi],
            self.codes[lo:hi],
            tuple(words.rows(lo, hi) for words in self.words),
            self.y[lo:hi],
            self.w[lo:hi],
            self.start + lo,
            [r - lo for r in self.schema_change_rows if lo <= r < hi],
            None if self.proba is None else self.proba[lo:hi],
            None if self.hashed is None else self.hashed.rows(lo, hi),
            self.no_missing,
            None if self.decided is None else self.decided[lo:hi],
        )

    def cut(self, points: Sequence[int]) -> Iterator[tuple[slice, Block]]:
        """The pieces between the given row numbers, in order, each with its range of rows."""
        edges = sorted({0, self.n, *points})
        if len(edges) == 2:
            yield slice(0, self.n), self
            return
        for lo, hi in pairwise(edges):
            yield slice(lo, hi), self.rows(lo, hi)

    def learned(self) -> int:
        """Number of rows that are learned: those with a label and a weight above 0."""
        if len(self.y) == 1:
            return int(self.y.item() >= 0 and self.w.item() > 0)
        return int(np.count_nonzero((self.y >= 0) & (self.w > 0)))

    def relabelled(self, y: Codes) -> Block:
        """These rows with other class codes."""
        return replace(self, y=np.ascontiguousarray(y, dtype=np.int32))

    # Without `replace`, which takes ten times as long: too long where records are learned one at a time
    def weighted(self, w: Floats) -> Block:
        """These rows with other weights."""
        return Block(
            self.numeric, self.codes, self.words, self.y, w, self.start, self.schema_change_rows, self.proba,
            self.hashed, self.no_missing, self.decided,
        )  # fmt: skip

    def coded(self, codes: Codes) -> Block:
        """These rows with other codes."""
        return Block(
            self.numeric, codes, self.words, self.y, self.w, self.start, self.schema_change_rows, self.proba,
            self.hashed, self.no_missing, self.decided,
        )  # fmt: skip

    def scored(self, proba: Floats) -> Block:
        """These rows with class probabilities."""
        return replace(self, proba=proba)
