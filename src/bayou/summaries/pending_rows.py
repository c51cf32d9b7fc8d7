"""Pending rows, which are kept as they are until their numeric columns have a grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment
from bayou.block import Block, Codes, Floats
from bayou.errors import DataError


@dataclass(frozen=True, eq=False)
class PendingRows:
    """A bag of rows: their order does not matter, and `sorted` joins equal rows.

    numeric : float64[n, p]; codes : int32[n, q]; y : int32[n]; w : float64[n]
    """

    numeric: Floats
    codes: Codes
    y: Codes
    w: Floats

    @staticmethod
    def none(p: int = 0, q: int = 0) -> PendingRows:
        """No rows, of p numeric and q nominal columns."""
        return PendingRows(
            np.zeros((0, p)), np.zeros((0, q), dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0)
        )

    def __len__(self) -> int:
        return len(self.y)

    def block(self) -> Block:
        """The rows as a block."""
        return Block(self.numeric, self.codes, (), self.y, self.w)

    def joined(self, block: Block, which: NDArray[np.bool_]) -> PendingRows:
        """These rows and the rows of a block where `which` is true."""
        return PendingRows(
            np.concatenate((self.numeric, block.numeric[which])),
            np.concatenate((self.codes, block.codes[which])),
            np.concatenate((self.y, block.y[which])),
            np.concatenate((self.w, block.w[which])),
        )

    def take(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> PendingRows:
        """The rows that `which` selects."""
        return PendingRows(self.numeric[which], self.codes[which], self.y[which], self.w[which])

    def weighted(self, w: Floats) -> PendingRows:
        """These rows with other weights."""
        return PendingRows(self.numeric, self.codes, self.y, w)

    def sorted(self) -> PendingRows:
        """The rows in lexical order, equal ones as one with their weights added."""
        if len(self) == 0:
            return self
        missing = np.isnan(self.numeric)
        numeric = np.where(missing, np.nan, self.numeric + 0.0)  # one NaN, one zero
        keys = np.column_stack((self.y, self.codes, np.where(missing, 0.0, numeric), missing))
        order = np.lexsort(keys.T[::-1])
        keys = keys[order]
        new = np.ones(len(self), dtype=np.bool_)
        new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        first, same = order[new], np.empty(len(self), dtype=np.int64)
        same[order] = np.cumsum(new) - 1
        w = np.zeros(len(first))
        np.add.at(w, same, self.w)
        return PendingRows(numeric[first], self.codes[first], self.y[first], w)

    def without(self, row: Block) -> PendingRows:
        """The rows without the weight of one row; raises `DataError` if they do not have it."""
        mine, theirs = np.isnan(self.numeric), np.isnan(row.numeric)
        same = np.all((self.numeric == row.numeric) | (mine & theirs), axis=1)
        same &= np.all(self.codes == row.codes, axis=1) & (self.y == row.y[0])
        w, remaining = self.w.copy(), float(row.w[0])
        for i in np.flatnonzero(same)[::-1]:
            taken = min(remaining, w[i])
            w[i] -= taken
            remaining -= taken
        if remaining > 0:
            raise DataError("a row that was never learned cannot be unlearned", row=row.start)
        return self.weighted(w).take(w > 0)

    def realigned(self, plan: Alignment) -> PendingRows:
        """These rows under a larger schema."""
        n = len(self)
        codes = np.full((n, plan.nominal.size), -1, dtype=np.int32)
        numeric = np.full((n, plan.numeric.size), np.nan)
        for i, j in enumerate(plan.nominal.to):
            there = self.codes[:, i] >= 0
            codes[there, j] = plan.values[j].to[self.codes[there, i]]
        numeric[:, plan.numeric.to] = self.numeric
        return PendingRows(numeric, codes, plan.classes.to[self.y].astype(np.int32), self.w)
