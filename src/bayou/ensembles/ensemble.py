"""Base of ensembles: estimators whose engine holds the engines of other estimators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from bayou.classifiers.estimator import Estimator
from bayou.engines import Engine
from bayou.errors import SchemaError
from bayou.schema import Declared


class Ensemble(Estimator):
    """A classifier whose engine holds the engines of other classifiers; these share its schema and its blocks."""

    _offers: ClassVar[tuple[str, ...]] = ()  # the methods below are for building the engine

    @property
    def copies(self) -> int:
        """The number of members made from each classifier among the parameters."""
        return 1

    def templates(self) -> Sequence[Estimator]:
        """The classifiers whose engines become the members, one per member; only their parameters are used."""
        raise NotImplementedError

    def builders(self) -> list[Callable[[], Engine]]:
        """Functions that make the engine of each member, from copies of the parameters."""
        return [template.blank().build_engine for template in self.templates()]

    @property
    def numbers_are_words(self) -> bool:  # type: ignore[override] # of the class elsewhere, of the members here
        """Whether numeric columns are counts of words, as in the first member."""
        return bool(self.templates()[0].numbers_are_words)

    def declared(self) -> Declared:
        return self.templates()[0].declared()


def classifier_or(estimator: Estimator | None, default: Callable[[], Estimator]) -> Estimator:
    """`estimator`, or the default where it is None; raises SchemaError unless it is a classifier of this library."""
    if estimator is None:
        return default()
    if not isinstance(estimator, Estimator):
        raise SchemaError(f"estimator={estimator!r}; it must be a classifier of this library")
    return estimator
