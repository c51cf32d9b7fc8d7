"""Weight, mean and squared deviations of each numeric column in each class."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayou.block import Block, Floats
from bayou.checks import counts, finite, require, variances
from bayou.encoding.column_block import ColumnBlock
from bayou.errors import RoundingWarning, warn_user
from bayou.kernels.moments import add_columns, add_rows, merge_moments, subtract_rows
from bayou.kernels.scrub import HUGE
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.summaries import valid
from bayou.summaries.array_summary import DecayingSummary
from bayou.summaries.state import declare
from bayou.threads import over_ranges

GRAIN = (
    1_000_000  # values worth a thread of their own: below this, memory rather than arithmetic is the limit
)
LOST = 1e-4  # share of a column's variance: of larger rounding errors, users are warned


def _mean(name: str, array: Floats, summary: Moments) -> None:
    finite(name, array)
    require(np.abs(array).max(initial=0.0) <= HUGE, f"{name} holds a value beyond {HUGE}")


def _squares(name: str, array: Floats, summary: Moments) -> None:
    counts(name, array, most=1e300)


class Moments(DecayingSummary):
    """n, mean and sum of squared deviations per class and column, over the rows where the column is present.

    Welford's update and Chan's merge: no squares of large numbers are ever subtracted. Merge: ROUNDING.
    Memory: 24 bytes per class and column. Subtracting a row is exact only relative to the sums. With a mean a
    million standard deviations from 0, the variance of rows in random order is right to 1e-9; rows sorted by value
    let the mean's rounding add up, to 4e-8 at a million rows.
    """

    law: ClassVar[MergeLaw] = MergeLaw.ROUNDING
    n: Floats = declare("classes", "numeric", scales=True, valid=valid.nearly_non_negative)
    mean: Floats = declare("classes", "numeric", valid=_mean)
    m2: Floats = declare("classes", "numeric", scales=True, valid=_squares)

    def check(self, arrays: Arrays) -> None:
        """Every variance is finite."""
        super().check(arrays)
        variances(*(arrays[name] for name in self.state))

    @property
    def has_no_columns(self) -> bool:
        return bool(self.n.shape[1] == 0)

    def update(self, block: Block) -> None:
        p = self.n.shape[1]
        if p == 0:
            return
        if len(block.y) == 1:
            add_rows(self.n, self.mean, self.m2, block.numeric, block.y, block.w, 0, p, block.no_missing)
            return

        def columns(lo: int, hi: int) -> None:
            if isinstance(block, ColumnBlock) and block.in_columns:
                integers, doubles = block.columns.between(lo, hi)
                add_columns(self.n, self.mean, self.m2, integers, doubles, block.y, block.w, lo, hi)
            else:
                add_rows(
                    self.n, self.mean, self.m2, block.numeric, block.y, block.w, lo, hi, block.no_missing
                )

        over_ranges(columns, p, 1 + GRAIN // max(1, block.n))

    def subtract(self, block: Block) -> None:
        before = self.m2.copy()
        subtract_rows(self.n, self.mean, self.m2, block.numeric, block.y, block.w)
        lost = self._has_lost_digits(before)
        if lost.any():
            largest = np.nanmax(np.abs(block.numeric[:, lost]))
            warn_user(
                f"values as large as {largest:.3g} were unlearned: beside them, what is left of a "
                "numeric column has lost its digits, and predictions may differ from those of a model that never saw "
                "the rows; learn the rows that are left anew",
                RoundingWarning,
            )

    def _has_lost_digits(self, before: Floats) -> NDArray[np.bool_]:
        """[p] whether rounding errors of m2 as it was before rows were subtracted matter beside what is left."""
        total = np.maximum(self.n.sum(axis=0), np.finfo(float).tiny)
        middle = (self.n * self.mean).sum(axis=0) / total
        pooled = (self.m2 + self.n * (self.mean - middle) ** 2).sum(axis=0) / total
        error = np.finfo(float).eps * np.divide(before, self.n, out=np.zeros_like(before), where=self.n > 0)
        return np.asarray((error > LOST * pooled).any(axis=0))

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        merge_moments(self.n, self.mean, self.m2, other.n, other.mean, other.m2)

    def regroup(self, groups: Floats) -> Self:
        twin = self.fresh()
        shape = (len(groups), self.n.shape[1])
        twin.restore({name: np.zeros(shape) for name in self.state})
        for g, members in enumerate(groups):
            for c in np.flatnonzero(members):
                row, of_class = slice(g, g + 1), slice(c, c + 1)
                merge_moments(
                    twin.n[row],
                    twin.mean[row],
                    twin.m2[row],
                    self.n[of_class],
                    self.mean[of_class],
                    self.m2[of_class],
                )
        return twin
