"""A bounded sample of rows, for searches that need rows more than once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment
from bayou.block import Block, Codes, Floats, Index, Words
from bayou.checks import parts, require
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.kept_rows import no_rows, realigned, stack, take
from bayou.summaries.state import declare

Hashes = NDArray[np.uint64]


class Reservoir(ArraySummary):
    """The rows with the smallest hashes of their number: a uniform sample, however the rows are cut into blocks.

    Rows with label and weight are numbered. Merge: AVERAGED; the smallest hashes of both, a sample of all rows as long
    as shards are not copies of each other. Shards number their rows alike, so hashes collide; which of two such rows a
    full sample keeps depends on the order of merging. Memory: rows (8 p + 4 q + 20) bytes from the
    first row on, and the words of the rows kept.

    Parameters
    ----------
    rows
        Rows kept at most.
    seed
        Of the hashes.
    """

    law: ClassVar[MergeLaw] = MergeLaw.AVERAGED

    numeric: Floats = declare("rows", "numeric", fill=np.nan, valid=valid.not_infinite)
    codes: Codes = declare("rows", "nominal", dtype=np.int32, fill=-1, valid=valid.value_codes)
    y: Codes = declare("rows", dtype=np.int32, fill=-1, valid=valid.class_codes)
    w: Floats = declare("rows", valid=valid.non_negative)
    hashes: Hashes = declare("rows", dtype=np.uint64, valid=valid.anything)
    seen: Index = declare(1, dtype=np.int64, valid=valid.finite)
    # "0.indptr", ..: one per text column
    indptr: Index = declare("*row ends", dtype=np.int64, valid=valid.finite)
    ids: Codes = declare("*words", dtype=np.int32, valid=valid.word_codes)
    counts: Floats = declare("*words", valid=valid.non_negative)

    def __init__(self, rows: int = 2000, seed: int = 0) -> None:
        self.rows, self.seed = rows, seed
        self.kept = no_rows(0, 0, 0)
        self.hashes = np.zeros(0, dtype=np.uint64)
        self.seen = np.zeros(1, dtype=np.int64)

    def config(self) -> Mapping[str, Scalar]:
        return {"rows": self.rows, "seed": self.seed}

    def update(self, block: Block) -> None:
        labelled = np.flatnonzero((block.y >= 0) & (block.w > 0))
        hashes = row_hashes(self.seed, int(self.seen[0]), len(labelled))
        self.seen[0] += len(labelled)
        if len(self.hashes) == self.rows:
            low = hashes < self.hashes[-1]
            labelled, hashes = labelled[low], hashes[low]
        if len(labelled):
            self._keep(
                self._both(self.kept, self._pick(block, labelled)), np.concatenate([self.hashes, hashes])
            )

    def _keep(self, block: Block, hashes: Hashes) -> None:
        order = np.argsort(hashes, kind="stable")[: self.rows]
        self.kept, self.hashes = self._pick(block, order), hashes[order]

    def _pick(self, block: Block, rows: Index) -> Block:
        return take(block, rows)

    def _both(self, a: Block, b: Block) -> Block:
        return stack(a, b)

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        self._keep(self._both(self.kept, other.kept), np.concatenate([self.hashes, other.hashes]))
        self.seen = self.seen + other.seen

    def scale(self, factor: float) -> None:
        self.kept.w[:] *= factor

    def fresh(self) -> Self:
        twin = type(self)(self.rows, self.seed)
        twin.lengths = self.lengths
        twin.kept = self._pick(self.kept, np.zeros(0, dtype=np.int64))
        return twin

    def realign(self, plan: Alignment) -> None:
        self.lengths = plan.lengths
        self.kept = realigned(self.kept, plan)

    def arrays(self) -> Arrays:
        """The arrays, padded to the full number of rows, so that the first row needs as much memory as the last."""
        b, rows = self.kept, self.rows
        out: dict[str, NDArray[Any]] = {
            "numeric": padded(b.numeric, rows, np.nan),
            "codes": padded(b.codes, rows, -1),
            "y": padded(b.y, rows, -1),
            "w": padded(b.w, rows, 0),
            "hashes": padded(self.hashes, rows, 0),
            "seen": self.seen,
        }
        for j, words in enumerate(b.words):
            out |= {f"{j}.indptr": words.indptr, f"{j}.ids": words.ids, f"{j}.counts": words.counts}
        return out

    def restore(self, arrays: Arrays) -> None:
        n = int(np.count_nonzero(arrays["y"] >= 0))
        words: list[Words] = []
        while f"{len(words)}.indptr" in arrays:
            j = len(words)
            words.append(Words(*(np.array(arrays[f"{j}.{name}"]) for name in ("indptr", "ids", "counts"))))
        fixed = {
            name: np.array(arrays[name][:n], order="C") for name in ("numeric", "codes", "y", "w", "hashes")
        }
        self.kept = Block(fixed["numeric"], fixed["codes"], tuple(words), fixed["y"], fixed["w"])
        self.hashes = fixed["hashes"]
        self.seen = np.array(arrays["seen"], dtype=np.int64)

    def check(self, arrays: Arrays) -> None:
        """The rows kept come first, and `indptr` gives each its words."""
        super().check(arrays)
        n = int(np.count_nonzero(arrays["y"] >= 0))
        require((arrays["y"][:n] >= 0).all(), "the rows kept do not come first")
        require(
            n <= arrays["seen"][0] < 1 << 53, "more rows are kept than were seen, or more seen than ever come"
        )
        for j in range(len(self.lengths.words)):
            indptr = arrays[f"{j}.indptr"]
            require(len(indptr) == n + 1 and indptr[0] == 0, "the words of the sample do not fit its rows")
            parts(f"{j}.indptr", np.diff(indptr), len(arrays[f"{j}.ids"]))


def padded(array: NDArray[Any], rows: int, fill: float) -> NDArray[Any]:
    """The array padded to `rows` rows; padding of an empty array takes no memory."""
    shape = (rows, *array.shape[1:])
    if len(array) == 0:
        return np.broadcast_to(np.array(fill, dtype=array.dtype), shape)
    out = np.full(shape, fill, dtype=array.dtype)
    out[: len(array)] = array
    return out


def row_hashes(seed: int, first: int, n: int) -> Hashes:
    """Hashes of `n` row numbers from `first` on: the finaliser of SplitMix64.

    >>> [int(h) >> 48 for h in row_hashes(0, 0, 3)]
    [57888, 28280, 1732]
    """
    x = np.arange(first + 1, first + n + 1, dtype=np.uint64)
    x += np.uint64((seed * 0x632BE59BD9B4E019) % (1 << 64))
    x *= np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
