"""The tables under weighted and averaged naive Bayes: views column by column."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayou.block import Block, Floats, Index
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.classifiers.numeric import Numeric
from bayou.readings.categorical import MEstimate
from bayou.readings.intervals import IntervalReading
from bayou.readings.partition import Discretiser
from bayou.schema import Label
from bayou.summaries.value_counts import ValueCounts
from bayou.summaries.word_counts import WordCounts
from bayou.views.live_cells import without_live_counts
from bayou.views.view import AnyView, Searched

COLUMN_VIEWS = ("numeric", "nominal", "words")  # views whose terms are weighted, in the order of the weights


def table_views(
    numeric: str | Numeric,
    bins: str | Discretiser,
    smoothing: float | MEstimate,
    prior: str | Mapping[Label, float],
) -> dict[str, AnyView]:
    """The views of naive Bayes, their searched cells as they were found."""
    views = NaiveBayes(numeric=numeric, bins=bins, smoothing=smoothing, prior=prior).views()
    return {name: without_live_counts(view) for name, view in views.items()}


def column_edges(block: Block) -> Index:
    """Where the columns of each view end; every text column is summed up on its own, as naive Bayes does."""
    p, q = block.numeric.shape[1], block.codes.shape[1]
    return np.array([0, p, *range(p + q, p + q + len(block.words) + 1)], dtype=np.int64)


def column_parameters(view: AnyView) -> Floats:
    """[d] free parameters per class of each column of a view, as it stands."""
    summary = view.summary
    if isinstance(summary, ValueCounts):
        return np.array([max(width - 1.0, 0.0) for width in summary.width])
    if isinstance(summary, WordCounts):
        return np.array([max(text.width - 1.0, 0.0) for text in summary.texts])
    if isinstance(view, Searched) and isinstance(view.reading, IntervalReading):
        return np.diff(view.reading.partitions.offsets) - 1.0
    return np.full(summary.n.shape[1], 2.0)
