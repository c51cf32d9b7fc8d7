"""Terms of all columns of a model side by side, for models that weigh them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayou.block import Block, Floats, Index

CHUNK = 1 << 17  # terms held at a time, 1 MB
COLUMN_VIEWS = ("numeric", "nominal", "words")  # views whose terms are weighted, in the order of the weights


def chunk_rows(columns: int, classes: int) -> int:
    """Rows whose terms fill a chunk."""
    return max(1, CHUNK // max(1, columns * classes))


def stacked(terms: Sequence[Floats]) -> Floats:
    """The terms of several views as columns of one array."""
    several = [t for t in terms if t.shape[1]]
    if len(several) == 1:
        return np.ascontiguousarray(several[0])
    out = np.empty((len(terms[0]), sum(t.shape[1] for t in several), terms[0].shape[2]))
    at = 0
    for t in several:
        out[:, at : at + t.shape[1]] = t
        at += t.shape[1]
    return out


def column_edges(block: Block) -> Index:
    """Where the columns of each view end; every text column is summed up on its own, as naive Bayes does."""
    p, q = block.numeric.shape[1], block.codes.shape[1]
    return np.array([0, p, *range(p + q, p + q + len(block.words) + 1)], dtype=np.int64)
