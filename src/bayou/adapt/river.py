"""A bayou classifier as a River estimator, for River's pipelines, ensembles and evaluation."""

from __future__ import annotations

import copy
from typing import Any

import narwhals as nw
from river import base

from bayou.classifiers.estimator import Estimator


class RiverClassifier(base.MiniBatchClassifier):
    """A bayou classifier with the interface of a River estimator.

    Parameters
    ----------
    model
        A classifier of bayou, untrained: it serves as the template, and every clone starts empty.

    Examples
    --------
    >>> from bayou import NaiveBayes
    >>> model = RiverClassifier(NaiveBayes())
    >>> model.learn_one({"sky": "blue"}, "dry")
    >>> model.predict_one({"sky": "blue"})
    'dry'
    """

    def __init__(self, model: Estimator) -> None:
        self.model = model
        self.live = model.blank()

    @property
    def _multiclass(self) -> bool:
        return True

    def _more_tags(self) -> set[Any]:
        return {base.tags.POSITIVE_INPUT} if self.model.numbers_are_words else set()

    @classmethod
    def _unit_test_params(cls) -> Any:
        from bayou import NaiveBayes

        yield {"model": NaiveBayes()}

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        self.live.learn_one(x, y, w)

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        return self.live.predict_proba_one(x)

    def learn_many(self, X: Any, y: Any) -> None:
        self.live.learn_many(X, y)

    def predict_proba_many(self, X: Any) -> Any:
        """Probabilities as a frame of the same library as X, a column per class."""
        frame = nw.from_native(X, eager_only=True)
        rows = self.live.predict_proba_many(X)
        labels = list(rows[0]) if rows else []
        columns = {label: [row[label] for row in rows] for label in labels}
        if frame.implementation.is_pandas():
            return type(X)(columns, index=X.index)
        named = {str(label): column for label, column in columns.items()}
        return nw.from_dict(named, backend=frame.implementation).to_native()

    def predict_many(self, X: Any) -> Any:
        frame = nw.from_native(X, eager_only=True)
        labels = self.live.predict_many(X)
        if frame.implementation.is_pandas():
            import pandas as pd

            return pd.Series(labels, index=X.index)
        return nw.new_series("prediction", labels, backend=frame.implementation).to_native()

    def __deepcopy__(self, memo: dict[int, Any]) -> RiverClassifier:
        twin = RiverClassifier(copy.deepcopy(self.model, memo))
        twin.live = copy.deepcopy(self.live, memo)
        return twin
