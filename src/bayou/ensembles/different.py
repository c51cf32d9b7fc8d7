"""Base of ensembles of different classifiers, given as a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayou.classifiers.estimator import Estimator
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.ensembles.ensemble import Ensemble, classifier_or
from bayou.errors import SchemaError


class DifferentMembers(Ensemble):
    """An ensemble of the classifiers in its parameter `estimators`, by default naive Bayes and a Hoeffding tree."""

    _offers = ()  # the methods below are for building the engine
    estimators: Sequence[Estimator] | None

    def different_members(self) -> Sequence[Estimator]:
        """The members; raises SchemaError unless all are classifiers of this library."""
        if self.estimators is None:
            return [NaiveBayes(), HoeffdingTree()]
        if len(self.estimators) == 0:
            raise SchemaError("estimators is empty; give at least one classifier")
        return [classifier_or(estimator, NaiveBayes) for estimator in self.estimators]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; `deep` adds those of the members as ``estimators__0__...``."""
        params = super().get_params(deep)
        for i, member in enumerate(self.estimators or ()) if deep else ():
            params[f"estimators__{i}"] = member
            params |= {f"estimators__{i}__{name}": value for name, value in member.get_params().items()}
        return params

    def resolve_param(self, name: str, value: Any) -> Any:
        return _Numbered(value) if name == "estimators" else value


class _Numbered:
    """Sets parameters of members by their number: ``0__smoothing``."""

    def __init__(self, members: Sequence[Estimator]) -> None:
        self.members = members

    def set_params(self, **params: Any) -> None:
        for key, value in params.items():
            number, _, name = key.partition("__")
            self.members[int(number)].set_params(**{name: value})
