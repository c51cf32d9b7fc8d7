"""Blocks and records of rows that are drawn from a generative model."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayou.block import Block, Words
from bayou.encoding.words import WORDS
from bayou.schema import Kind, Schema


def blank_block(schema: Schema, y: np.ndarray[tuple[int], np.dtype[np.int32]]) -> Block:
    """A block of the schema's shape in which everything is missing."""
    n = len(y)
    nothing = Words(np.zeros(n + 1, np.int64), np.empty(0, np.int32), np.empty(0))
    return Block(
        np.full((n, len(schema.names(Kind.NUMERIC))), np.nan),
        np.full((n, len(schema.names(Kind.NOMINAL))), -1, dtype=np.int32),
        (nothing,) * len(schema.names(Kind.TEXT)),
        y,
        np.ones(n),
    )


def records(block: Block, schema: Schema) -> list[dict[str, Any]]:
    """The block's rows as records, ready to be learned: missing values are left out, text columns hold text.

    Words that were given as counts, in a matrix or as numbers, become counts by name again.
    """
    out: list[dict[str, Any]] = [{} for _ in range(block.n)]
    for j, name in enumerate(schema.names(Kind.NUMERIC)):
        for i in np.flatnonzero(~np.isnan(block.numeric[:, j])):
            out[i][name] = float(block.numeric[i, j])
    for j, name in enumerate(schema.names(Kind.NOMINAL)):
        for i in np.flatnonzero(block.codes[:, j] >= 0):
            out[i][name] = schema.vocabularies[name].name(int(block.codes[i, j]))
    for words, name in zip(block.words, schema.names(Kind.TEXT), strict=True):
        for row in range(block.n):
            cells = slice(words.indptr[row], words.indptr[row + 1])
            names = [str(schema.vocabularies[name].name(code)) for code in words.ids[cells].tolist()]
            counts = words.counts[cells].tolist()
            if name == WORDS:
                out[row].update(zip(names, counts, strict=True))
            elif names:
                out[row][name] = " ".join(
                    " ".join([word] * int(n)) for word, n in zip(names, counts, strict=True)
                )
    return out
