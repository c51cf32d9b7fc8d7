"""Terms of all columns of a model in one array, for models with a weight per column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayou.block import Block, Floats, Index

CHUNK = 1 << 17  # terms held at a time, 1 MB
COLUMN_VIEWS = ("numeric", "nominal", "words")  # views whose terms are weighted, in the order of the weights


def chunk_rows(columns: int, classes: int) -> int:
    """The number of rows whose terms fill a chunk; at least 1."""
    return max(1, CHUNK // max(1, columns * classes))


def stacked(terms: Sequence[Floats]) -> Floats:
    """The terms of several views as columns of one array."""
    not_empty = [t for t in terms if t.shape[1]]
    if len(not_empty) == 1:
        return np.ascontiguousarray(not_empty[0])
    out = np.empty((len(terms[0]), sum(t.shape[1] for t in not_empty), terms[0].shape[2]))
    at = 0
    for t in not_empty:
        out[:, at : at + t.shape[1]] = t
        at += t.shape[1]
    return out


def column_edges(block: Block) -> Index:
    """Bounds of the columns that naive Bayes sums up apart: numeric ones, nominal ones, each text column."""
    p, q = block.numeric.shape[1], block.codes.shape[1]
    return np.array([0, p, *range(p + q, p + q + len(block.words) + 1)], dtype=np.int64)
