"""A classifier in one file: naive Bayes over equal-frequency bins, searched at refresh points.

Level 1 counts, per class, how many values fall between powers of two; level 2 groups neighbouring cells into
bins of about equal weight. It is what CONTRIBUTING points to as an example.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayou.classifiers.estimator import Estimator
from bayou.laws import MergeLaw
from bayou.readings.prior import CountedPrior
from bayou.summaries import valid
from bayou.summaries.array_summary import DecayingSummary
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.state import ADD, declare, move
from bayou.views.view import Live, Searched

CELLS = 64


def cell_of(x):
    """Sign and binary exponent of a number, as one of 64 cells in ascending order; -1 for NaN."""
    _, exponent = np.frexp(np.where(np.isnan(x), 0.0, x))
    size = np.clip(exponent + 16, 0, CELLS // 2 - 1)
    return np.where(np.isnan(x), -1, np.where(x < 0, CELLS // 2 - 1 - size, CELLS // 2 + size))


class ExponentCounts(DecayingSummary):
    """Weight per class, column and cell. Merge: EXACT. Memory: 512 bytes per class and column."""

    law = MergeLaw.EXACT
    counts = declare("classes", "numeric", CELLS, merge=ADD, scales=True, valid=valid.nearly_non_negative)

    def update(self, block, sign=1.0):
        cells = cell_of(block.numeric)
        i, j = np.nonzero((cells >= 0) & ((block.y >= 0) & (block.w > 0))[:, None])
        np.add.at(self.counts, (block.y[i], j, cells[i, j]), sign * block.w[i])

    def subtract(self, block):
        self.update(block, -1.0)


@dataclass(frozen=True)
class Bins:
    """log P(bin | c) of every cell, [K, p, 64]."""

    table: np.ndarray

    @property
    def shape(self):
        return self.table.shape

    def add_log_prob(self, block, out):
        cells = cell_of(block.numeric)
        for j in range(cells.shape[1]):
            known = cells[:, j] >= 0
            out[known] += self.table[:, j, cells[known, j]].T

    def realign(self, plan):
        return Bins(move(move(self.table, 0, plan.classes), 1, plan.numeric))

    def arrays(self):
        return {"table": self.table}


@dataclass(frozen=True)
class EqualFrequencyBins:
    bins: int = 4

    def read(self, summary):
        column = summary.counts.sum(axis=0)
        share = np.cumsum(column, axis=1) / np.maximum(column.sum(axis=1, keepdims=True), 1.0)
        bin_of = np.minimum((share * self.bins).astype(int), self.bins - 1)
        counts = np.stack(
            [np.where(bin_of == b, summary.counts, 0.0).sum(axis=2) for b in range(self.bins)], axis=2
        )
        logs = np.log(counts + 1.0) - np.log(counts.sum(axis=2, keepdims=True) + self.bins)
        logs[:, column.sum(axis=1) == 0] = 0.0  # a column without values says nothing
        return Bins(np.take_along_axis(logs, np.broadcast_to(bin_of, summary.counts.shape), axis=2))

    def restore(self, arrays, summary):
        return Bins(arrays["table"])


class BinnedNB(Estimator):
    """Naive Bayes over the bins of numeric columns."""

    def __init__(self, bins=4):
        self.bins = bins

    def views(self):
        return {
            "classes": Live(ClassCounts(), CountedPrior()),
            "bins": Searched(ExponentCounts(), EqualFrequencyBins(self.bins)),
        }
