"""Blocks of kept rows: selecting rows, concatenating blocks, moving rows to a schema that has grown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment, Axis
from bayou.block import Block, Words


def no_rows(numeric: int, nominal: int, text: int) -> Block:
    """A block without rows."""
    return Block(
        np.zeros((0, numeric)),
        np.zeros((0, nominal), dtype=np.int32),
        (_no_words(0),) * text,
        np.zeros(0, dtype=np.int32),
        np.zeros(0),
    )


def take(block: Block, rows: NDArray[np.int64]) -> Block:
    """A copy of the rows of a block with these numbers."""
    return Block(
        np.ascontiguousarray(block.numeric[rows]),
        np.ascontiguousarray(block.codes[rows]),
        tuple(_rows_of(words, rows) for words in block.words),
        block.y[rows],
        block.w[rows],
    )


def stack(a: Block, b: Block) -> Block:
    """The rows of both blocks, one after the other."""
    words = tuple(
        Words(
            np.concatenate([x.indptr, z.indptr[1:] + x.indptr[-1]]),
            np.concatenate([x.ids, z.ids]),
            np.concatenate([x.counts, z.counts]),
        )
        for x, z in zip(a.words, b.words, strict=True)
    )
    return Block(
        np.concatenate([a.numeric, b.numeric]), np.concatenate([a.codes, b.codes]), words,
        np.concatenate([a.y, b.y]), np.concatenate([a.w, b.w]),
    )  # fmt: skip


def realigned(block: Block, plan: Alignment) -> Block:
    """Labelled rows under another schema: columns, classes, values and words moved, new columns missing."""
    numeric = np.full((block.n, plan.numeric.size), np.nan)
    numeric[:, plan.numeric.to] = block.numeric
    codes = np.full((block.n, plan.nominal.size), -1, dtype=np.int32)
    for j, new in enumerate(plan.nominal.to):
        to = np.append(plan.values[new].to, -1)  # the last place is that of a missing value
        codes[:, new] = to[block.codes[:, j]]
    words = [_no_words(block.n)] * plan.text.size
    for j, new in enumerate(plan.text.to):
        hashed = plan.lengths.seats[new]  # a hash is the same in every schema
        words[new] = block.words[j] if hashed else _moved(block.words[j], plan.words[new])
    return Block(numeric, codes, tuple(words), plan.classes.to[block.y].astype(np.int32), block.w)


def _rows_of(words: Words, rows: NDArray[np.int64]) -> Words:
    sizes = np.diff(words.indptr)[rows]
    indptr = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    places = np.repeat(words.indptr[rows] - indptr[:-1], sizes) + np.arange(indptr[-1])
    return Words(indptr, words.ids[places], words.counts[places])


def _moved(words: Words, axis: Axis) -> Words:
    """Words under their new ids, ascending within each row."""
    ids = axis.to[words.ids].astype(np.int32)
    row = np.repeat(np.arange(len(words.indptr) - 1), np.diff(words.indptr))
    order = np.lexsort((ids, row))
    return Words(words.indptr, ids[order], words.counts[order])


def _no_words(n: int) -> Words:
    return Words(np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0))
