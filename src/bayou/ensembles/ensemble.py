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

    _offers: ClassVar[tuple[str, ...]] = ()  # all below is for who builds the engine

    @property
    def copies(self) -> int:
        """How many members each classifier among the parameters makes."""
        return 1

    def templates(self) -> Sequence[Estimator]:
        """The classifiers whose engines are the members, one per member; what they have learned does not matter."""
        raise NotImplementedError

    def builders(self) -> list[Callable[[], Engine]]:
        """What makes the engine of each member, from parameters that nobody else can change."""
        return [template.blank().build_engine for template in self.templates()]

    @property
    def numbers_are_words(self) -> bool:  # type: ignore[override] # of the class elsewhere, of the members here
        """Whether numeric columns are counts of words, as the first member says."""
        return bool(self.templates()[0].numbers_are_words)

    def declared(self) -> Declared:
        return self.templates()[0].declared()


def classifier_or(estimator: Estimator | None, default: Callable[[], Estimator]) -> Estimator:
    """The estimator given, or the default; anything that is no classifier of this library is refused."""
    if estimator is None:
        return default()
    if not isinstance(estimator, Estimator):
        raise SchemaError(f"estimator={estimator!r}; it must be a classifier of this library")
    return estimator
