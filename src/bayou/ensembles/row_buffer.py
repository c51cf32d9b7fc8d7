"""A buffer of encoded rows, until a chunk is full."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment, Lengths
from bayou.block import Block, Words
from bayou.checks import codes, counts, finite, require
from bayou.errors import SchemaError
from bayou.protocols import Arrays
from bayou.summaries.kept_rows import no_rows, realigned, stack, take


class RowBuffer:
    """The encoded rows of one chunk that have a label and a weight; realigned when the schema grows.

    Memory: that of the rows it holds.
    """

    def __init__(self) -> None:
        self.block = no_rows(0, 0, 0)
        self.lengths = Lengths()

    def add(self, block: Block) -> None:
        """Append the rows that have a label and a weight."""
        self.block = stack(self.block, take(block, np.flatnonzero((block.y >= 0) & (block.w > 0))))

    def clear(self) -> None:
        """Drop all rows."""
        self.block = self.block.rows(0, 0)

    def realign(self, plan: Alignment) -> None:
        """Follow a change of the schema."""
        self.block = realigned(self.block, plan)
        self.lengths = plan.lengths

    def arrays(self) -> Arrays:
        """The rows under stable names."""
        b = self.block
        out: dict[str, NDArray[np.generic]] = {"numeric": b.numeric, "codes": b.codes + 1, "y": b.y, "w": b.w}
        for j, words in enumerate(b.words):
            out |= {f"{j}.lengths": np.diff(words.indptr), f"{j}.ids": words.ids, f"{j}.counts": words.counts}
        return {k: _no_nan(a) for k, a in out.items()} | {"missing": np.isnan(b.numeric)}

    def restore(self, arrays: Arrays) -> None:
        """Restore the rows from what `arrays` returned."""
        n, old = len(arrays["y"]), self.block
        if (
            arrays["numeric"].shape != (n, old.numeric.shape[1])
            or arrays["codes"].shape != (n, old.codes.shape[1])
            or arrays["missing"].shape != arrays["numeric"].shape
            or len(arrays["w"]) != n
        ):
            raise SchemaError("the buffered rows do not fit the schema")
        finite("the buffered numbers", arrays["numeric"])
        counts("the buffered weights", arrays["w"])
        codes("the buffered labels", arrays["y"], self.lengths.classes)
        require(arrays["y"].min(initial=0) >= 0 and arrays["w"].min(initial=1.0) > 0, "buffered rows teach")
        for j, size in enumerate(self.lengths.values):
            codes(
                f"the buffered values of nominal column {j}", arrays["codes"][:, j].astype(np.int64) - 1, size
            )
        words = []
        for j in range(len(old.words)):
            lengths, ids, counts_of = (arrays[f"{j}.{name}"] for name in ("lengths", "ids", "counts"))
            if (
                len(lengths) != n
                or lengths.min(initial=0) < 0
                or not lengths.sum() == len(ids) == len(counts_of)
            ):
                raise SchemaError("the buffered words do not add up")
            codes("the buffered words", ids, self.lengths.word_ids(j))
            require(ids.min(initial=0) >= 0, "a buffered word is one of the vocabulary")
            counts("the buffered counts of words", counts_of)
            indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
            words.append(Words(indptr, np.array(ids), np.array(counts_of)))
        self.block = Block(
            np.where(arrays["missing"], np.nan, arrays["numeric"]),
            (arrays["codes"] - 1).astype(np.int32),
            tuple(words),
            np.array(arrays["y"]),
            np.array(arrays["w"]),
        )


def _no_nan(array: NDArray[np.generic]) -> NDArray[np.generic]:
    return np.nan_to_num(array) if array.dtype.kind == "f" else array
