"""Naive Bayes with a weight on every term, learned row by row (Salperwyck, Lemaire and Hue)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayou.block import Block, Floats
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.naive_bayes import NaiveBayes, given_classes, hashed_values, table_param
from bayou.classifiers.nominal import Nominal
from bayou.densities.density import Density
from bayou.engines.weighted import WeightedViews
from bayou.errors import UnsupportedError
from bayou.rates import Experts, Rate, rate_recipe
from bayou.readings.categorical import MEstimate
from bayou.readings.modl_groups import MODLGroups
from bayou.readings.partition import Discretiser
from bayou.schema import Declared, Label
from bayou.summaries.sections import Sections
from bayou.summaries.weights import Weights
from bayou.summaries.word_weights import WordWeights
from bayou.views.learned_view import LearnedView
from bayou.views.live_cells import without_live_counts
from bayou.views.view import AnyView


class WeightedNB(Estimator):
    r"""Weighted naive Bayes: softmax of b_c + log P(c) + \sum_i w_{ic} \log P(x_i | c), weights learned on the stream.

    It starts as naive Bayes. Each labelled row is predicted first, moves the weights by a step on
    -\log P(y | x) with the tables as they stand, and only then goes into the tables. By default several
    experts (naive Bayes, naive Bayes tempered, the weights, their average) are mixed by how well they predicted.

    Parameters
    ----------
    numeric
        How numeric columns are summarised: `"auto"`, `"gk"`, `"gaussian"`, or a recipe such as `GKClass(tuples=50)`.
    bins
        How quantiles are discretised into intervals: `"modl"` or a discretiser; not used by Gaussians.
    rate
        The rule by which the weights are learned: `"experts"`, `"paper"` (raw inputs and a constant rate of 1e-4,
        equations 2 to 4), or a recipe: `Experts(forget=0.999)`, `Constant`, `Decaying`, `AdaGrad`, `KunchevaPlumpton`,
        `MiniBatch`.
    tied
        Whether a column has one weight, in [0, 1] (equation 1), instead of one per class.
    nominal, groups, smoothing, prior, schema
        As in `NaiveBayes`.

    A density enters as the mass of an interval one pooled standard deviation of its column long, so that units do not
    matter; where inputs are pointwise mutual information (`Experts`), any such factor cancels by itself. A row of
    weight w counts as w rows in the tables, and its gradient step is w times as large. The first row of a class is
    learned by the tables only, since it could not have been predicted.

    Text columns have one more expert, with a weight for every word and class: log-count ratios of the words, the
    document scaled to one length, weights learned by AdaGrad (NB-SVM, one pass; `Experts(words=False)` does without).

    Merge: AVERAGED, a heuristic: tables merge by their own laws, weights are averaged by rows. Not unlearnable.
    Memory: that of `NaiveBayes`, and for d columns and K classes 24 d (K + 1) bytes (without the average 16 d K +
    24 d; with a constant rate 8 d K), with `Experts` 96 d for the record of sections, and 1 MB while learning; 16 K
    bytes per word. Time: O(d K) per row to learn and to predict, where a text has d distinct words.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown.
    UnsupportedError
        If rows are unlearned.

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
    S. Wang, C. Manning, Baselines and bigrams: simple, good sentiment and topic classification. ACL 2012.
    """

    def __init__(
        self,
        numeric: Any = "auto",
        bins: Any = "modl",
        rate: str | Rate = "experts",
        tied: bool = False,
        nominal: str | Nominal = "counts",
        groups: str | MODLGroups | None = None,
        smoothing: float | MEstimate = 1.0,
        prior: str | Mapping[Label, float] = "empirical",
        schema: Declared | None = None,
    ) -> None:
        self.numeric = numeric
        self.bins = bins
        self.rate = rate
        self.tied = tied
        self.nominal = nominal
        self.groups = groups
        self.smoothing = smoothing
        self.prior = prior
        self.schema = schema

    def declared(self) -> Declared:
        return hashed_values(given_classes(super().declared(), self.prior), self.nominal)

    def build_engine(self) -> WeightedViews:
        return WeightedViews(self.views())

    def views(self) -> Mapping[str, AnyView]:
        tables = table_views(self.numeric, self.bins, self.nominal, self.groups, self.smoothing, self.prior)
        rate = rate_recipe(self.rate)
        views: dict[str, AnyView] = {**tables, "weights": WeightsView(Weights(rate, self.tied))}
        if isinstance(rate, Experts) and rate.hears_sections:
            views["sections"] = LearnedView(Sections())
        if isinstance(rate, Experts) and rate.words and rate.eta > 0 and not rate.published and not self.tied:
            views["word_weights"] = WeightsView(WordWeights(rate.eta, rate.share))
        return views

    @property
    def _weighted(self) -> WeightedViews:
        engine = self.engine
        assert isinstance(engine, WeightedViews)
        return engine

    @property
    def weights_(self) -> Floats:
        """[d, K] the current weights ([d, 1] if tied): numeric columns first, then nominal, then text."""
        return self._weighted.weights.factors

    @property
    def word_weights_(self) -> list[Floats]:
        """[V, K] weights of the words of every text column, by its vocabulary; empty if `rate` has none."""
        words = self._weighted.word_weights
        return [] if words is None else words.factors

    def resolve_param(self, name: str, value: Any) -> Any:
        return rate_recipe(value) if name == "rate" else table_param(name, value)


class WeightsView(LearnedView):
    """The view of the weights, which has no densities to sample from."""

    def draw(self, block: Block, rng: np.random.Generator) -> None:
        raise UnsupportedError("cannot sample: weighted terms are no densities; NaiveBayes can")


def table_views(
    numeric: str | Density,
    bins: str | Discretiser,
    nominal: str | Nominal,
    groups: str | MODLGroups | None,
    smoothing: float | MEstimate,
    prior: str | Mapping[Label, float],
) -> dict[str, AnyView]:
    """The views of naive Bayes, with the counts of searched cells as of the search rather than live."""
    views = NaiveBayes(numeric, bins, nominal, groups, smoothing, prior).views()
    return {name: without_live_counts(view) for name, view in views.items()}
