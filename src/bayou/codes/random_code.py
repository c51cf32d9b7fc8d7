"""Random codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayou.codes.code import Code, Signs
from bayou.codes.mixing import mixed
from bayou.errors import SchemaError

MOST_BITS = 8191  # as many as the longest BCH code has


@dataclass(frozen=True)
class RandomCode(Code):
    """Random code: coin flips, no two rows alike nor complements of each other; `min_distance` tells what came out.

    Parameters
    ----------
    bits
        Columns, at most 8,191; more where k classes would not find k such rows.
    seed
        Seed of the random numbers.

    Examples
    --------
    >>> RandomCode(bits=31, seed=1).min_distance(13)
    7.0
    """

    bits: int = 63
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= MOST_BITS:
            raise SchemaError(f"{self}: bits is a number of columns, from 1 to {MOST_BITS:,}")

    def rows(self, k: int) -> Signs:
        bits = max(self.bits, k.bit_length() + 1)
        numbers, seen = mixed(self.seed), set[int]()
        rows: list[int] = []
        while len(rows) < k:
            row = 0
            for _ in range(0, bits, 64):
                row = row << 64 | next(numbers)
            row &= (1 << bits) - 1
            if row not in seen:
                seen |= {row, row ^ ((1 << bits) - 1)}
                rows.append(row)
        flips = [[row >> i & 1 for i in range(bits)] for row in rows]
        return (2 * np.array(flips, dtype=np.int8).reshape(k, bits) - 1).astype(np.int8)
