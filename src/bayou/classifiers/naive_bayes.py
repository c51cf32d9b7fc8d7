"""Naive Bayes over columns of every kind."""

from __future__ import annotations

from collections.abc import Mapping

from bayou.classifiers.engine import BayesClassifier
from bayou.readings.prior import prior_reader
from bayou.readings.table import MEstimate, table_reader
from bayou.readings.view import AnyView, Live
from bayou.schema import Declared, Label
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.value_counts import ValueCounts


class NaiveBayes(BayesClassifier):
    r"""log P(c, x) = log P(c) + \sum_j log P(x_j | c); a missing value drops its term.

    Parameters
    ----------
    smoothing
        Pseudo-count per value of a nominal column (1 is Laplace's rule), or `MEstimate(m)`.
    prior
        `"empirical"` (N_c / N), `"laplace"`, or a mapping from every class to its probability.
    schema
        What is known beforehand: kinds, values, classes, caps.

    Merge: exact for nominal columns. Memory: 8 bytes per value and class.

    Examples
    --------
    >>> model = NaiveBayes()
    >>> model.learn_one({"sky": "blue"}, "dry"); model.learn_one({"sky": "grey"}, "wet")
    >>> model.predict_one({"sky": "grey"})
    'wet'
    """

    def __init__(
        self,
        smoothing: float | MEstimate = 1.0,
        prior: str | Mapping[Label, float] = "empirical",
        schema: Declared | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.prior = prior
        self.schema = schema

    def declared(self) -> Declared:
        return given_classes(super().declared(), self.prior)

    def views(self) -> Mapping[str, AnyView]:
        return {
            "classes": Live(ClassCounts(), prior_reader(self.prior)),
            "nominal": Live(ValueCounts(), table_reader(self.smoothing)),
        }


def given_classes(declared: Declared, prior: str | Mapping[Label, float]) -> Declared:
    """A prior given class by class closes the class set to its classes."""
    if not isinstance(prior, Mapping):
        return declared
    return Declared(
        declared.columns, list(prior), declared.max_classes, declared.max_values, declared.max_words
    )
