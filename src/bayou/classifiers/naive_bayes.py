"""Naive Bayes over columns of every kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bayou.classifiers.estimator import Estimator
from bayou.classifiers.nominal import Nominal, groups_recipe, nominal_recipe, nominal_view
from bayou.classifiers.numeric import bins_recipe, numeric_recipe, numeric_view
from bayou.decisions import Decision
from bayou.densities.density import Density
from bayou.readings.categorical import MEstimate, categorical_estimator
from bayou.readings.modl_groups import MODLGroups
from bayou.readings.partition import Discretiser
from bayou.readings.prior import prior_reader
from bayou.readings.words import Multinomial
from bayou.schema import Declared, Label
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.word_counts import WordCounts
from bayou.views.view import AnyView, Live


class NaiveBayes(Estimator):
    r"""Naive Bayes: log P(c, x) = log P(c) + \sum_j log P(x_j | c); a missing value drops its term.

    Numeric, nominal and text columns live in one model; classes, columns, values and words may appear at any
    time. Sparse rows and declared text columns are read as words (multinomial).

    Parameters
    ----------
    numeric
        How numeric columns are summarised: `"auto"` (quantiles with class counts, turned into intervals or normal
        densities, whichever describes the classes of a column better), `"gk"` (the same quantiles, always intervals),
        `"gaussian"` (mean and variance: fastest, and rows can be unlearned), `"kernel"` (kernel density), `"pid"`,
        `"cpid"` (fine grids), or a recipe such as `AutoDensity(tuples=50)`.
    bins
        How quantiles and grids are discretised into intervals: `"modl"`, `"equal-width"`, `"equal-frequency"`,
        `"fayyad-irani"`, `"k-means"`, or a recipe; not used by Gaussians and kernels.
    nominal
        How nominal columns are counted: `"counts"` (exactly), or in a sketch of bounded size for unbounded numbers of
        values, `"sketch"`, `"count-min"`, or a recipe such as `Sketch(max_bytes=1 << 20)`.
    groups
        How values of a nominal column with similar class frequencies are grouped: not at all (None), by `"modl"` or
        `MODLGroups()`.
    smoothing
        Pseudo-count per value of a nominal column and per word (1 is Laplace's rule), or `MEstimate(m, p, share)`.
    prior
        Class prior: `"empirical"` (N_c / N), `"laplace"`, or a mapping from every class to its probability.
    decision
        How `predict` chooses a class: the most probable one (None), or by `Threshold(label, probability)`, `Costs(...)`
        or `Abstain(...)`.
    schema
        `Declared(...)`: kinds of columns, nominal values, classes and limits that are known beforehand.

    Merge: exact for nominal and text columns, within known bounds for quantiles, up to rounding for
    Gaussian ones; only quantiles cannot be unlearned. Memory: 8 (4 + K) bytes per numeric column and tuple (100, or
    up to 1,000 values that come again) for K classes, Gaussian 24 K per column; 8 per class and value or word.
    Time: O(d) per row to learn, for quantiles on average over a buffer that is sorted; O(d K) to predict. Intervals
    are searched at row counts that grow by a quarter.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown.
    UnsupportedError
        If rows are unlearned from quantiles.

    Examples
    --------
    >>> model = NaiveBayes()
    >>> model.learn_one({"sky": "blue", "hpa": 1030.0}, "dry"); model.learn_one({"sky": "grey", "hpa": 990.0}, "wet")
    >>> model.learn_one({"sky": "blue", "hpa": 1020.0}, "dry"); model.learn_one({"sky": "grey", "hpa": 1000.0}, "wet")
    >>> model.predict_one({"sky": "grey"}), model.predict_one({"hpa": 1024.0})
    ('wet', 'dry')
    """

    def __init__(
        self,
        numeric: str | Density = "auto",
        bins: str | Discretiser = "modl",
        nominal: str | Nominal = "counts",
        groups: str | MODLGroups | None = None,
        smoothing: float | MEstimate = 1.0,
        prior: str | Mapping[Label, float] = "empirical",
        decision: Decision | None = None,
        schema: Declared | None = None,
    ) -> None:
        self.numeric = numeric
        self.bins = bins
        self.nominal = nominal
        self.groups = groups
        self.smoothing = smoothing
        self.prior = prior
        self.decision = decision
        self.schema = schema

    def declared(self) -> Declared:
        return hashed_values(given_classes(super().declared(), self.prior), self.nominal)

    def views(self) -> Mapping[str, AnyView]:
        table = categorical_estimator(self.smoothing)
        return {
            "classes": Live(ClassCounts(), prior_reader(self.prior)),
            "numeric": numeric_view(self.numeric, self.bins),
            "nominal": nominal_view(self.nominal, self.groups, table),
            "words": Live(WordCounts(), Multinomial(table.alpha or 1.0)),
        }

    def resolve_param(self, name: str, value: Any) -> Any:
        return table_param(name, value)


def table_param(name: str, value: Any) -> Any:
    """The recipe of a short name, for the parameters `numeric`, `bins`, `nominal` and `groups`."""
    resolve = {
        "numeric": numeric_recipe,
        "bins": bins_recipe,
        "nominal": nominal_recipe,
        "groups": groups_recipe,
    }.get(name)
    return resolve(value) if resolve else value


def hashed_values(declared: Declared, nominal: str | Nominal) -> Declared:
    """The declaration with hashed values where nominal columns are sketched: sketches keep no vocabulary."""
    return declared if nominal_recipe(nominal) is None else replace(declared, hash_values=True)


def given_classes(declared: Declared, prior: str | Mapping[Label, float]) -> Declared:
    """The declaration with the classes of a prior that is given class by class."""
    if not isinstance(prior, Mapping):
        return declared
    return replace(declared, classes=list(prior))
