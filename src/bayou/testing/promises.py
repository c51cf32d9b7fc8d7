"""Errors of BOUNDED summaries and means of AVERAGED ones, for the checks of these laws.

Register a summary of your own by ``off_by.register(MySummary, function)``.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from bayou.block import Block, Floats
from bayou.kernels.weights import WEIGHT
from bayou.summaries.count_min import CountMin
from bayou.summaries.grid_counts import GridCounts
from bayou.summaries.heavy_hitters import HeavyHitters
from bayou.summaries.quantile_tuples import QuantileTuples
from bayou.summaries.weights import Weights
from bayou.summaries.word_counts import WordCounts
from bayou.testing.tolerances import LAW


@singledispatch
def off_by(summary: Any, block: Block) -> float:
    """The actual error of a summary against the rows it has learned, in the unit of its own `error()`; 0: exact."""
    name = type(summary).__name__
    raise AssertionError(
        f"{name} is BOUNDED, but nobody said by what: off_by.register({name}, ...) compares it with the rows themselves"
    )


@off_by.register(QuantileTuples)
@off_by.register(GridCounts)
def ranks_off_by(summary: QuantileTuples | GridCounts, block: Block) -> float:
    """The largest error of a rank or class rank, read from cumulated cells, relative to the column's weight."""
    worst = 0.0
    for j in range(block.numeric.shape[1]):
        learned = (block.y >= 0) & (block.w > 0) & np.isfinite(block.numeric[:, j])
        values, row = np.unique(block.numeric[learned, j], return_inverse=True)
        upper, counts = summary.cells(j)
        true = np.zeros((len(values), counts.shape[1]))
        np.add.at(true, (row, block.y[learned]), block.w[learned])
        estimated = np.concatenate([np.zeros((1, counts.shape[1])), np.cumsum(counts, axis=0)])
        gaps = np.cumsum(true, axis=0) - estimated[np.searchsorted(upper, values, side="right")]
        worst = max(worst, _largest(gaps, gaps.sum(axis=1)) / max(true.sum(), 1e-300))
    return worst


@off_by.register
def counts_off_by(summary: HeavyHitters, block: Block) -> float:
    """The largest error of a value's count, relative to the column's weight; a value not kept counts as 0."""
    worst = 0.0
    for j, column in enumerate(summary.columns):
        keys, true = _true_counts(summary, block, j)
        kept_keys, cells, _ = column.held()
        bounds = np.zeros((len(keys), 2))
        places = np.searchsorted(keys, kept_keys)
        assert np.array_equal(keys[places], kept_keys), "values are kept that never came"
        bounds[places] = np.column_stack([cells[:, 0], cells[:, 0] - cells[:, 1]])  # at most, and at least
        total = true.sum(axis=1)
        worst = max(worst, _largest(bounds - total[:, np.newaxis]) / max(total.sum(), 1e-300))
    return worst


@off_by.register
def words_off_by(summary: WordCounts, block: Block) -> float:
    """The largest error of a word's weight in bounded vocabularies, relative to that of all words.

    Infinite if a word has more of a class than came with it.
    """
    worst = 0.0
    for text, words in zip(summary.texts, block.words, strict=True):
        if text.seats is None:
            continue
        row = np.repeat(np.arange(block.n), np.diff(words.indptr))
        learned = ((block.y >= 0) & (block.w > 0))[row] & (words.counts > 0)
        keys, place = np.unique(words.ids[learned], return_inverse=True)
        true = np.zeros((len(keys), len(text.total)))
        amounts = np.minimum(words.counts, 1.0) if summary.binary else words.counts
        np.add.at(true, (place, block.y[row[learned]]), (amounts * block.w[row])[learned])
        kept_ids, cells, _, (weight,) = text.seats.state()
        kept_ids, cells = kept_ids[: text.seats.size], cells[: text.seats.size]
        places = np.searchsorted(keys, kept_ids)
        assert np.array_equal(keys[places], kept_ids), "words are kept that never came"
        rows, _ = text.in_order()
        if (text.counts[rows] > true[places] * (1.0 + LAW)).any():
            return float("inf")
        bounds = np.zeros((len(keys), 2))
        bounds[places] = np.column_stack([cells.sum(axis=1), cells[:, 1]])  # at most, and at least
        worst = max(worst, _largest(bounds - true.sum(axis=1, keepdims=True)) / max(weight, 1e-300))
    return worst


@off_by.register
def estimates_off_by(summary: CountMin, block: Block) -> float:
    """The share of N_c by which estimates are too large, a share delta of the values aside; infinite if too small."""
    worst = 0.0
    for j in range(summary.shape[0]):
        keys, true = _true_counts(summary, block, j)
        if len(keys) == 0:
            continue
        over = summary.estimate(j, keys) - true
        if over.min() < 0.0:
            return float("inf")
        share = over / np.maximum(true.sum(axis=0), 1e-300)
        worst = max(
            worst, float(np.quantile(share, 1.0 - summary.delta, axis=0, method="lower").max(initial=0.0))
        )
    return worst


def _true_counts(summary: HeavyHitters | CountMin, block: Block, column: int) -> tuple[Any, Floats]:
    """Keys of the learned values, in ascending order, and their class counts."""
    keys = HeavyHitters.keys_of(block)[:, column]
    learned = (block.y >= 0) & (block.w > 0) & (keys != 0)
    distinct, row = np.unique(keys[learned], return_inverse=True)
    true = np.zeros((len(distinct), summary.shape[1]))
    np.add.at(true, (row, block.y[learned]), block.w[learned])
    return distinct, true


def _largest(*gaps: Floats) -> float:
    return max(float(np.abs(gap).max(initial=0.0)) for gap in gaps)


@singledispatch
def means_of(summary: Any) -> tuple[float, dict[str, Floats]]:
    """The weight of a summary, and its arrays that a merge averages by this weight; none unless registered."""
    return 0.0, {}


@means_of.register
def _(summary: Weights) -> tuple[float, dict[str, Floats]]:
    weight = float(summary.scalars[WEIGHT])
    return weight, {"factors": summary.factors, "bias": summary.bias[:-1], "mixture": summary.mixture_weights}
