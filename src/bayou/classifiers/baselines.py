"""Two baselines: the majority class, and the label of the row before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bayou.classifiers.estimator import Estimator
from bayou.readings.last_label import Persistence
from bayou.readings.prior import CountedPrior
from bayou.schema import Declared
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.last_label import LastLabel
from bayou.views.view import AnyView, Live


class MajorityClass(Estimator):
    """Majority class, a baseline: P(c) = N_c / N for every row.

    Parameters
    ----------
    schema
        `Declared(classes=[...])`: the classes, if they are known beforehand.

    Merge: exact. Memory: 8 bytes per class. Time: O(1) per row to learn, O(K) to predict.

    Raises
    ------
    SchemaError
        If `schema` is not a `Declared`.

    Examples
    --------
    >>> model = MajorityClass().fit([[1], [2], [3]], ["a", "b", "b"])
    >>> model.predict([[7]]).tolist()
    ['b']
    """

    poor_score: ClassVar[bool] = True

    def __init__(self, schema: Declared | None = None) -> None:
        self.schema = schema

    def views(self) -> Mapping[str, AnyView]:
        return {"classes": Live(ClassCounts(), CountedPrior())}


class NoChange(Estimator):
    """No change, a baseline: the label of the latest row, hard to beat where labels come in runs.

    $P(c) = [c = y_{n-1}]$.

    Parameters
    ----------
    schema
        `Declared(classes=[...])`: the classes, if they are known beforehand.

    Merge: in stream order. Memory: 8 bytes. Time: O(1) per row to learn, O(K) to predict.

    Raises
    ------
    SchemaError
        If `schema` is not a `Declared`.
    UnsupportedError
        If rows are unlearned or faded.

    Examples
    --------
    >>> model = NoChange()
    >>> model.learn_one({"x": 1}, "a"); model.learn_one({"x": 2}, "b")
    >>> model.predict_one({"x": 3})
    'b'
    """

    poor_score: ClassVar[bool] = True

    def __init__(self, schema: Declared | None = None) -> None:
        self.schema = schema

    def views(self) -> Mapping[str, AnyView]:
        return {"last": Live(LastLabel(), Persistence())}
