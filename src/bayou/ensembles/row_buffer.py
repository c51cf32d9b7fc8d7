"""Rows kept as they came, until there are enough of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment
from bayou.block import Block, Words
from bayou.errors import SchemaError
from bayou.protocols import Arrays


class RowBuffer:
    """The rows of one chunk that teach something, encoded; it follows the schema as it grows.

    Memory: that of the rows it holds.
    """

    def __init__(self, numeric: int = 0, nominal: int = 0, text: int = 0) -> None:
        none = Words(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0))
        self.block = Block(
            np.zeros((0, numeric)),
            np.zeros((0, nominal), dtype=np.int32),
            (none,) * text,
            np.zeros(0, dtype=np.int32),
            np.zeros(0),
        )

    def add(self, block: Block) -> None:
        """Append the rows that teach something."""
        self.block = joined(self.block, taken(block, np.flatnonzero((block.y >= 0) & (block.w > 0))))

    def clear(self) -> None:
        self.block = self.block.rows(0, 0)

    def realign(self, plan: Alignment) -> None:
        """Move columns, classes, values and words."""
        old = self.block
        numeric = np.full((old.n, plan.numeric.size), np.nan)
        numeric[:, plan.numeric.to] = old.numeric
        codes = np.full((old.n, plan.nominal.size), -1, dtype=np.int32)
        for here, there in enumerate(plan.nominal.to):
            column = old.codes[:, here]
            codes[:, there] = np.append(plan.values[there].to, -1)[column] if len(column) else column
        none = Words(np.zeros(old.n + 1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0))
        words = [none] * plan.text.size
        for here, there in enumerate(plan.text.to):
            held = old.words[here]
            ids = plan.words[there].to[held.ids].astype(np.int32)
            words[there] = Words(held.indptr, ids, held.counts)
        y = plan.classes.to[old.y].astype(np.int32) if old.n else old.y
        self.block = Block(numeric, codes, tuple(words), y, old.w)

    def arrays(self) -> Arrays:
        b = self.block
        out: dict[str, NDArray[np.generic]] = {"numeric": b.numeric, "codes": b.codes + 1, "y": b.y, "w": b.w}
        for j, words in enumerate(b.words):
            out |= {f"{j}.lengths": np.diff(words.indptr), f"{j}.ids": words.ids, f"{j}.counts": words.counts}
        return {k: _no_nan(a) for k, a in out.items()} | {"missing": np.isnan(b.numeric)}

    def restore(self, arrays: Arrays) -> None:
        n, old = len(arrays["y"]), self.block
        if (
            arrays["numeric"].shape != (n, old.numeric.shape[1])
            or arrays["codes"].shape != (n, old.codes.shape[1])
            or arrays["missing"].shape != arrays["numeric"].shape
            or len(arrays["w"]) != n
        ):
            raise SchemaError("the buffered rows do not fit the schema")
        words = []
        for j in range(len(old.words)):
            lengths, ids, counts = (arrays[f"{j}.{name}"] for name in ("lengths", "ids", "counts"))
            if (
                len(lengths) != n
                or lengths.min(initial=0) < 0
                or not lengths.sum() == len(ids) == len(counts)
            ):
                raise SchemaError("the buffered words do not add up")
            indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
            words.append(Words(indptr, np.array(ids), np.array(counts)))
        self.block = Block(
            np.where(arrays["missing"], np.nan, arrays["numeric"]),
            (arrays["codes"] - 1).astype(np.int32),
            tuple(words),
            np.array(arrays["y"]),
            np.array(arrays["w"]),
        )


def _no_nan(array: NDArray[np.generic]) -> NDArray[np.generic]:
    return np.nan_to_num(array) if array.dtype.kind == "f" else array


def taken(block: Block, rows: NDArray[np.int64]) -> Block:
    """Some rows of a block, copied."""
    return Block(
        np.ascontiguousarray(block.numeric[rows]),
        np.ascontiguousarray(block.codes[rows]),
        tuple(_words(words, rows) for words in block.words),
        block.y[rows],
        block.w[rows],
    )


def joined(a: Block, b: Block) -> Block:
    """Rows of one block, then of the other."""
    return Block(
        np.concatenate((a.numeric, b.numeric)),
        np.concatenate((a.codes, b.codes)),
        tuple(
            Words(
                np.concatenate((x.indptr, x.indptr[-1] + y.indptr[1:])),
                np.concatenate((x.ids, y.ids)),
                np.concatenate((x.counts, y.counts)),
            )
            for x, y in zip(a.words, b.words, strict=True)
        ),
        np.concatenate((a.y, b.y)),
        np.concatenate((a.w, b.w)),
    )


def _words(words: Words, rows: NDArray[np.int64]) -> Words:
    lengths = np.diff(words.indptr)[rows]
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    pick = np.concatenate(
        [np.arange(words.indptr[r], words.indptr[r + 1]) for r in rows] or [np.zeros(0, dtype=np.int64)]
    )
    return Words(indptr, words.ids[pick], words.counts[pick])
