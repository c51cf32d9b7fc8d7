"""Naive Bayes with a weight on every term, learned row by row (Salperwyck, Lemaire and Hue)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from bayou.block import Block, Floats, Index
from bayou.classifiers.engine import BayesClassifier
from bayou.classifiers.naive_bayes import given_classes
from bayou.classifiers.numeric import bins_recipe, numeric_recipe
from bayou.classifiers.weighted_columns import COLUMN_VIEWS, column_edges, table_views
from bayou.errors import UnsupportedError
from bayou.rates import Experts, Rate, rate_recipe
from bayou.readings.categorical import MEstimate
from bayou.schema import Declared, Label
from bayou.summaries.moments import Moments
from bayou.summaries.weights import Weights
from bayou.views.column_terms import (
    chunk_rows,
    current_terms,
    fill_units,
    has_intervals,
    informative_columns,
    stacked,
    terms_then_update,
)
from bayou.views.view import AnyView, View


class WeightedNB(BayesClassifier):
    r"""P(c | x) = softmax of b_c + log P(c) + \sum_i w_{ic} \log P(x_i | c), the weights learned on the stream.

    It starts as naive Bayes. Each labelled row is predicted first, moves the weights by a step on
    -\log P(y | x) with the tables as they stand, and only then goes into the tables. By default several
    experts (naive Bayes, naive Bayes tempered, the weights, their average) are mixed by how well they predicted.

    Parameters
    ----------
    numeric
        How numeric columns are summarised: `"gaussian"`, `"gk"`, or a recipe such as `GKClass(tuples=50)`.
    bins
        How summaries of quantiles are cut into intervals: `"modl"` or a discretiser; Gaussians need none.
    rate
        The rule by which weights learn: `"experts"`, `"paper"` (raw inputs and a constant 1e-4, equations 2
        to 4), or a recipe: `Experts(forget=0.999)`, `Constant`, `Decaying`, `AdaGrad`, `KunchevaPlumpton`,
        `MiniBatch`.
    tied
        One weight per column, in [0, 1] (equation 1), instead of one per column and class.
    smoothing, prior, schema
        As in `NaiveBayes`.

    A density enters as the mass of an interval one pooled standard deviation of its column long, so that a
    change of units changes nothing; where inputs are pointwise
    mutual information (`Experts`), any such factor cancels by itself.
    A row of weight w counts as w rows in the tables and pushes w times as hard. The first row of a class
    teaches the tables only: nothing could have predicted it.

    Merge: AVERAGED, a heuristic: tables merge by their own laws, weights are averaged by rows. Not unlearnable.
    Memory: that of `NaiveBayes`, and for d columns and K classes 24 d (K + 1) bytes (without the average
    16 d K + 24 d; with a constant rate 8 d K), and 1 MB while learning.

    Examples
    --------
    One witness is right nine times in ten; another only seven times, but naive Bayes hears it three times.

    >>> from bayou import NaiveBayes
    >>> labels = [i % 2 for i in range(2000)]
    >>> good = [str(y if i // 2 % 10 < 9 else 1 - y) for i, y in enumerate(labels)]
    >>> poor = [str(y if i // 20 % 10 < 7 else 1 - y) for i, y in enumerate(labels)]
    >>> rows = [{"good": a, "poor": b, "copy": b, "again": b} for a, b in zip(good, poor)]
    >>> plain, model = NaiveBayes(), WeightedNB()
    >>> plain.learn_many(rows, labels); model.learn_many(rows, labels)
    >>> doubtful = {"good": "1", "poor": "0", "copy": "0", "again": "0"}
    >>> plain.predict_one(doubtful), model.predict_one(doubtful)
    (0, 1)

    References
    ----------
    C. Salperwyck, V. Lemaire, C. Hue, Incremental weighted naive Bayes classifiers for data stream.
    """

    refreshes_on_schema_change = False

    def __init__(
        self,
        numeric: Any = "gaussian",
        bins: Any = "modl",
        rate: str | Rate = "experts",
        tied: bool = False,
        smoothing: float | MEstimate = 1.0,
        prior: str | Mapping[Label, float] = "empirical",
        schema: Declared | None = None,
    ) -> None:
        self.numeric = numeric
        self.bins = bins
        self.rate = rate
        self.tied = tied
        self.smoothing = smoothing
        self.prior = prior
        self.schema = schema

    def declared(self) -> Declared:
        return given_classes(super().declared(), self.prior)

    def views(self) -> Mapping[str, AnyView]:
        tables = table_views(self.numeric, self.bins, self.smoothing, self.prior)
        return {**tables, "weights": LearnedView(Weights(rate_recipe(self.rate), self.tied))}

    @property
    def weights_(self) -> Floats:
        """[d, K] weights as they are now ([d, 1] if tied): numeric columns first, then nominal, then text."""
        return self._weights.factors

    def _nested(self, name: str, value: Any) -> Any:
        if name == "rate":
            return rate_recipe(value)
        if name == "bins":
            return bins_recipe(value)
        return numeric_recipe(value) if name == "numeric" else value

    @property
    def _weights(self) -> Weights:
        weights: Weights = self._views["weights"].summary
        return weights

    def learn(self, block: Block) -> None:
        self.test_then_train(block)

    def test_then_train(self, block: Block) -> Floats:
        out = np.zeros((block.n, self._k))
        for where, part in block.cut(self._points(block)):
            self._refresh_stale()
            self._in_chunks(part, out[where], learn=True)
            self._learned(part)
        return out

    def joint_log_proba(self, block: Block) -> Floats:
        out = np.zeros((block.n, self._k))
        self._refresh_stale()
        self._in_chunks(block, out, learn=False)
        return out

    def _in_chunks(self, block: Block, out: Floats, learn: bool) -> None:
        """Scores into `out`, few enough rows at a time for their terms to stay in the cache."""
        edges = column_edges(block)
        index, as_pmi = self._index(edges)
        rows = chunk_rows(len(index), self._k)
        for where, part in block.cut(range(rows, block.n, rows)):
            out[where] = self._scores(part, edges, index, as_pmi, learn)

    def _index(self, edges: Index) -> tuple[Index, int]:
        """Columns that have terms: of searched intervals only those with more than one (as PMI)."""
        if not self._uses_pmi():
            return np.arange(edges[-1]), 0
        informative = informative_columns(self._views["numeric"])
        return np.concatenate([informative, np.arange(edges[1], edges[-1])]), len(informative)

    def _uses_pmi(self) -> bool:
        return isinstance(self._weights.rate, Experts) and has_intervals(self._views["numeric"])

    def _scores(self, block: Block, edges: Index, index: Index, as_pmi: int, learn: bool) -> Floats:
        prior = np.zeros((block.n, self._k))
        uses_pmi = self._uses_pmi()
        units = np.zeros((block.n, block.numeric.shape[1] if self._needs_units() else 0))
        views = [self._views[name] for name in COLUMN_VIEWS]
        if learn:
            self._views["classes"].predict_then_update(block, prior)
            terms = [terms_then_update(view, block, units, uses_pmi) for view in views]
            y = block.y
        else:
            self._views["classes"].add_log_prob(block, prior)
            terms = [current_terms(view, block, uses_pmi) for view in views]
            fill_units(views[0], units)
            y = np.full(block.n, -1, dtype=np.int32)
        return self._weights.learn(
            stacked(terms), units, prior, prior, edges, y, block.w, index, as_pmi
        )  # fmt: skip

    def _needs_units(self) -> bool:
        """Densities are measured in units of their column only where the inputs would depend on them."""
        return (
            not self.tied
            and not self._weights.rate.takes_pmi
            and isinstance(self._views["numeric"].summary, Moments)
        )


class LearnedView(View[Weights]):
    """The place of the weights among the views: they merge, grow and are saved with the tables."""

    def draw(self, block: Block, rng: np.random.Generator) -> None:
        raise UnsupportedError("cannot sample: weighted terms are no densities; NaiveBayes can")

    def fresh(self) -> Self:
        return type(self)(self.summary.fresh())
