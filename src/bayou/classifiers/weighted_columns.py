"""The tables under weighted and averaged naive Bayes: views column by column, numeric ones cut as wished."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayou.block import Block, Floats, Index
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.errors import SchemaError
from bayou.readings.equal import EqualFrequency, EqualWidth
from bayou.readings.fayyad_irani import FayyadIrani
from bayou.readings.gaussian import Gaussian
from bayou.readings.intervals import IntervalReading, Intervals
from bayou.readings.modl import MODL
from bayou.readings.partition import Discretiser
from bayou.readings.table import MEstimate
from bayou.readings.view import AnyView, Live, Searched
from bayou.schema import Label
from bayou.summaries.quantile_tuples import GKClass
from bayou.summaries.value_counts import ValueCounts
from bayou.summaries.word_counts import WordCounts

COLUMN_VIEWS = ("numeric", "nominal", "words")  # views whose terms are weighted, in the order of the weights
COLUMNS: dict[str, Any] = {"gaussian": Gaussian, "gkclass": GKClass}
BINS: dict[str, type[Discretiser]] = {
    "modl": MODL,
    "equal-width": EqualWidth,
    "equal-frequency": EqualFrequency,
    "fayyad-irani": FayyadIrani,
}


def columns_recipe(numeric: Any) -> Any:
    """The recipe behind a short name; a recipe is returned as it is."""
    return _recipe("numeric", numeric, COLUMNS)


def bins_recipe(bins: Any) -> Any:
    """The discretiser behind a short name; a discretiser is returned as it is."""
    return _recipe("bins", bins, BINS)


def column_view(numeric: Any, bins: Any) -> AnyView:
    """Normal densities are read live; whatever has cells is cut into intervals at refresh points."""
    recipe = columns_recipe(numeric)
    if isinstance(recipe, Gaussian):
        return Live(recipe.summary(), recipe)
    return Searched(recipe.summary(), Intervals(bins_recipe(bins)))


def table_views(
    numeric: Any, bins: Any, smoothing: float | MEstimate, prior: str | Mapping[Label, float]
) -> dict[str, AnyView]:
    """The views of naive Bayes, with numeric columns as wished."""
    tables = NaiveBayes(smoothing=smoothing, prior=prior).views()
    return {**tables, "numeric": column_view(numeric, bins)}


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


def _recipe(name: str, choice: Any, known: dict[str, Any]) -> Any:
    if not isinstance(choice, str):
        return choice
    if choice not in known:
        raise SchemaError(f"{name}={choice!r}; it is one of {sorted(known)} or a recipe")
    return known[choice]()
