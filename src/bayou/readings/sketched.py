"""Smoothed probability tables of nominal columns with unlimited values, from sketches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayou.block import Block, Floats
from bayou.errors import DataError, SchemaError
from bayou.kernels.heavy_hitters import add_terms
from bayou.kernels.sums import TILE
from bayou.readings.categorical import CategoricalEstimator, MEstimateTable
from bayou.readings.live import LiveReader
from bayou.recipe import Recipe
from bayou.summaries.count_min import CountMin
from bayou.summaries.heavy_hitters import LEAST, HeavyHitters

CHUNK = 1 << 18  # terms held at once


@dataclass(frozen=True)
class Sketch(Recipe):
    """Space-Saving sketch of nominal columns in a fixed number of bytes each: the heaviest values, and `*`.

    Parameters
    ----------
    max_bytes
        Bytes per column; a value takes 96 + 8 K of them.

    Examples
    --------
    >>> Sketch(max_bytes=1 << 16).summary().config()
    {'max_bytes': 65536}
    """

    max_bytes: int = 1 << 20

    def __post_init__(self) -> None:
        if self.max_bytes < LEAST:
            raise DataError(f"max_bytes must be at least {LEAST}", value=self.max_bytes)

    def summary(self) -> HeavyHitters:
        """The summary that this recipe fills."""
        return HeavyHitters(self.max_bytes)


@dataclass(frozen=True)
class CountMinSketch(Recipe):
    """Count-min sketch of nominal columns: class counts of every value, each too large by chance, none forgotten.

    For columns where no value is frequent and each still tells something; `Sketch` is the better choice elsewhere.

    Parameters
    ----------
    eps, delta
        An estimate exceeds the truth by more than eps N_c with probability delta.
    conservative
        Smaller errors, at the price of exact merging and unlearning.

    Examples
    --------
    >>> CountMinSketch(eps=0.01).summary().width
    272
    """

    eps: float = 0.001
    delta: float = 0.01
    conservative: bool = False

    def __post_init__(self) -> None:
        self.summary()

    def summary(self) -> CountMin:
        """The summary that this recipe fills."""
        return CountMin(self.eps, self.delta, self.conservative)


@dataclass(frozen=True)
class SketchedTable(LiveReader[Any]):
    r"""$\log P(v \mid c) = \log (n + \alpha + m/V) - \log (N + \alpha V + m)$ over unlimited values.

    Over `HeavyHitters` n is exact for the values kept, and a value that is not kept is read as the garbage value
    `*`; V counts the values kept and `*`. While nothing was evicted there is no `*`, and the terms are those of
    `CategoricalEstimator` over `ValueCounts`, bit for bit. Over `CountMin` n is the estimate and V the estimated
    number of values.
    A value never seen adds 0; V is the declared number of values if that is larger.
    """

    alpha: float = 1.0
    m: float = 0.0

    @classmethod
    def like(cls, table: CategoricalEstimator) -> SketchedTable:
        """The same smoothing as that of an estimator over plain counts."""
        if isinstance(table, MEstimateTable):
            raise SchemaError(
                "a sketch is smoothed by MEstimate(m) alone, without p and share; or nominal='counts'"
            )
        return cls(table.alpha, table.m)

    def add_log_prob(self, summary: HeavyHitters | CountMin, block: Block, out: Floats) -> None:
        for rows, part in _chunks(summary.shape, block):
            terms = np.empty((summary.shape[0], part.n, out.shape[1]))
            summary.read(part, terms, (self.alpha, self.m))
            _add(out[rows], terms)

    def predict_then_update(self, summary: HeavyHitters | CountMin, block: Block, out: Floats) -> None:
        for rows, part in _chunks(summary.shape, block):
            terms = np.empty((summary.shape[0], part.n, out.shape[1]))
            summary.sweep(part, terms, (self.alpha, self.m))
            _add(out[rows], terms)

    def terms(self, summary: HeavyHitters | CountMin, block: Block) -> Floats:
        """[n, q, K] log P(v_j | c), 0 where missing or never seen."""
        q, k = summary.shape
        terms = np.empty((q, block.n, k))
        summary.read(block, terms, (self.alpha, self.m))
        return np.ascontiguousarray(terms.transpose(1, 0, 2))

    def terms_then_update(self, summary: HeavyHitters | CountMin, block: Block, units: Floats) -> Floats:
        q, k = summary.shape
        terms = np.empty((q, block.n, k))
        summary.sweep(block, terms, (self.alpha, self.m))
        return np.ascontiguousarray(terms.transpose(1, 0, 2))

    def free_parameters(self, summary: HeavyHitters | CountMin) -> Floats:
        values: Floats = np.maximum(summary.distinct(), summary.declared)
        return np.maximum(values - 1.0, 0.0)


def _chunks(shape: tuple[int, int], block: Block) -> Iterator[tuple[slice, Block]]:
    cells = shape[0] * shape[1]
    return block.cut(range(0, block.n, max(1, CHUNK // max(1, cells)))) if cells else iter(())


def _add(out: Floats, terms: Floats) -> None:
    for t in range(0, len(terms), TILE):
        add_terms(out, terms[t : t + TILE])
