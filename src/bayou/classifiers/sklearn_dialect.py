"""scikit-learn's interface: arrays and frames, `fit` and `predict`, and its conventions for columns and labels."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayou.block import Block, Floats
from bayou.classifiers.estimator_core import EstimatorCore
from bayou.encoding.table import Table, table_of
from bayou.errors import BayouError, DataError, NotFittedError
from bayou.kernels.posterior import log_posterior
from bayou.missing import is_missing, unmasked
from bayou.schema import Label

# 1 and 1.0 are one label; 1, True and "1" are three
_SAME_LABEL: dict[type, type] = {int: float, np.int64: float, np.float64: float}


class SklearnDialect(EstimatorCore):
    """`fit`, `partial_fit`, `predict` and their conventions, without scikit-learn as a dependency."""

    poor_score: ClassVar[bool] = False  # scikit-learn's name for models not meant for its numeric toy data

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, learn the rows, and refresh every stale reading.

        The order of a table has no meaning, and files sorted by class are common. So a classifier that
        `depends_on_order` learns the rows in the order of a hash of their content: a permuted table gives the same
        model (`bayou.encoding.hashed_order`); the others learn them in the given order. A column in other units has
        other hashes and so another order. Where order means time, use `partial_fit` or `learn_many`, which never
        change it.
        """
        with self.unchanged_on_failure():
            table, labels = self._checked(X, y, reset=True)
            if sample_weight is not None and not np.asarray(sample_weight).any():
                raise DataError(
                    "all sample weights are zero", remedy="give at least one row a weight above 0"
                )
            self.reset()
            if self.depends_on_order and len(labels) == table.n:
                self.learn_in_hashed_order(table, labels, sample_weight)
            else:
                self.learn_batch(table, labels, sample_weight)
            self.refresh()
        self.tell_unknown_classes()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows. `classes`, given at the first call, closes the class set."""
        if self.started:
            if classes is not None:
                self._require_known(_unconverted(classes).tolist())
            self.learn_batch(*self._checked(X, y, reset=False), sample_weight)
            return self
        with self.unchanged_on_failure():
            table, labels = self._checked(X, y, reset=True)
            if classes is not None:
                self.reset(replace(self.declared(), classes=_unconverted(classes).tolist()))
            self.learn_batch(table, labels, sample_weight)
        return self

    def _require_known(self, classes: list[Label]) -> None:
        """Refuse classes that a class set closed by an earlier call does not have; an open one takes all."""
        closed = self.schema_.declared.classes
        new = [] if closed is None else [label for label in classes if label not in closed]
        if new:
            raise DataError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {list(closed or ())!r}",
                remedy="give all classes at the first call, or leave classes= out to keep the class set open",
            )

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row (or as `decision` says); ties go to the first in canonical order.

        Where a rule abstains, the array holds objects and the row None.
        """
        self._require_fitted()
        decided = self.reading(lambda: self._answers(self.decide(self._proba(self._encoded(X)))))
        self.tell_unknown_classes()
        return decided

    def _answers(self, places: NDArray[np.intp]) -> NDArray[Any]:
        """The class labels at these indices; None for -1."""
        if places.min(initial=0) >= 0:
            return self.classes_[places]
        return np.append(self.classes_.astype(object), [None])[places]

    def predict_proba(self, X: Any) -> Floats:
        """[n, K] probabilities, columns in the order of `classes_`."""
        self._require_classes()
        return self.reading(lambda: self._proba(self._encoded(X)))

    def predict_log_proba(self, X: Any) -> Floats:
        """[n, K] logarithms of `predict_proba`."""
        self._require_classes()
        return self.reading(lambda: self._log_proba(self._encoded(X)))

    def _log_proba(self, block: Block) -> Floats:
        joint = self._engine.joint_log_proba(block)
        log_posterior(joint, self._require().canonical_classes()[0])
        return joint

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of right predictions."""
        decided, labels = self.predict(X), _target(y)
        if len(labels) != len(decided):
            raise DataError(f"{len(decided)} rows but {len(labels)} labels")
        return float(np.average(decided == labels, weights=sample_weight))

    @property
    def classes_(self) -> NDArray[Any]:
        """Classes in canonical order."""
        return label_array(self.labels())

    def _encoded(self, X: Any) -> Block:
        return self.encode(self._same_columns(_table(X)))

    def _require_classes(self) -> None:
        self._require_fitted()
        if not self.labels():
            raise NotFittedError(
                f"this {type(self).__name__} has met no class yet; learn labelled rows first"
            )

    def _require_fitted(self) -> None:
        if self.started:
            return
        text = f"This {type(self).__name__} instance is not fitted yet. Call 'fit' or 'partial_fit' first."
        if "sklearn" in sys.modules:
            from sklearn.exceptions import NotFittedError as SklearnNotFitted

            raise type("NotFittedError", (NotFittedError, SklearnNotFitted), {})(text)
        raise NotFittedError(text)

    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[Table, Any]:
        """The batch and its labels by scikit-learn's rules; `reset` takes this batch's columns as the model's."""
        table = _table(X)
        labels = _target(y)
        if reset:
            _require_rows(table)
            self.n_features_in_ = _width(table)
            if table.named and table.names:
                self.feature_names_in_ = np.array(table.names, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        else:
            table = self._same_columns(table)
        return table, labels

    def _same_columns(self, table: Table) -> Table:
        """The batch with the columns of the first call; raises unless number, names and order are the same."""
        if not hasattr(self, "n_features_in_"):
            return table
        _require_rows(table)
        names = getattr(self, "feature_names_in_", None)
        if names is not None and table.named and list(names) != list(table.names):
            raise DataError(_name_trouble(list(names), list(table.names)))
        if _width(table) != self.n_features_in_:
            raise DataError(
                f"X has {_width(table)} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        if names is not None and not table.named:
            warnings.warn(
                f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names",
                stacklevel=4,
            )
            table.names = [str(name) for name in names]
        elif names is None and table.named:
            warnings.warn(
                f"X has feature names, but {type(self).__name__} was fitted without feature names",
                stacklevel=4,
            )
            table.names = [f"x{j}" for j in range(len(table.names))]
        return table

    def __sklearn_is_fitted__(self) -> bool:
        return bool(self.started)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_class=True, poor_score=self.poor_score),
            input_tags=InputTags(
                allow_nan=True,
                sparse=True,
                categorical=True,
                string=True,
                positive_only=self.numbers_are_words,
            ),
        )


def label_array(labels: list[Label]) -> NDArray[Any]:
    """Labels as an array of their own type, or of objects where types are mixed or no type holds them all.

    >>> label_array([1, 2.5]), label_array([1, 2**63])
    (array([1. , 2.5]), array([1, 9223372036854775808], dtype=object))
    """
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 or kinds <= {int, float}:
        out = np.array(labels)
        if out.dtype.kind != "f" or (kinds != {int} and out.tolist() == labels):
            return out
    out = np.empty(len(labels), dtype=object)
    out[:] = labels
    return out


def _table(X: Any) -> Table:
    try:
        return table_of(X)
    except BayouError:
        raise
    except (TypeError, ValueError) as problem:
        raise DataError(f"cannot read rows from {type(X).__name__}: {problem}") from problem


def _width(table: Table) -> int:
    return len(table.sparse.names) if table.sparse is not None and not table.names else len(table.names)


def _require_rows(table: Table) -> None:
    if table.n == 0:
        raise DataError("Found array with 0 sample(s) while a minimum of 1 is required.")
    if _width(table) == 0:
        raise DataError(
            f"Found array with 0 feature(s) (shape=({table.n}, 0)) while a minimum of 1 is required."
        )


def _target(y: Any) -> Any:
    """Labels as scikit-learn accepts them: one per row, no NaN, classes rather than measurements."""
    if y is None:
        raise DataError("This estimator requires y to be passed, but the target y is None")
    labels = _unconverted(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warn_column_vector()
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DataError(f"y should be a 1d array, got an array of shape {labels.shape} instead")
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            raise DataError("Input y contains NaN or infinity")
        if np.any(labels != np.floor(labels)):
            raise DataError("Unknown label type: continuous; a classifier needs classes, not measurements")
    if labels.dtype.kind == "c":
        raise DataError("Complex data not supported")
    if labels.dtype.kind == "O" and any(is_missing(label) or label != label for label in labels):
        raise DataError("Input y contains NaN or None")
    return labels


def _unconverted(labels: Any) -> NDArray[Any]:
    """Labels as an array without conversion: NumPy would turn 1 beside "a" into text, and True beside 2 into 1.

    >>> _unconverted([1, "a"]), _unconverted([1, 2])
    (array([1, 'a'], dtype=object), array([1, 2]))
    """
    if (
        isinstance(labels, list | tuple)
        and len({_SAME_LABEL.get(kind, kind) for kind in map(type, labels)}) > 1
    ):
        out = np.empty(len(labels), dtype=object)
        out[:] = labels
        return out
    return np.asarray(unmasked(labels))


def warn_column_vector() -> None:
    """Warn, as scikit-learn does, that y came as a column rather than as a vector."""
    text = "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,)."
    category: type[Warning] = UserWarning
    if "sklearn" in sys.modules:
        from sklearn.exceptions import DataConversionWarning

        category = DataConversionWarning
    warnings.warn(text, category, stacklevel=5)


def _name_trouble(known: list[str], given: list[str]) -> str:
    text = "The feature names should match those that were passed during fit.\n"
    unexpected, missing = sorted(set(given) - set(known)), sorted(set(known) - set(given))
    if unexpected:
        text += "Feature names unseen at fit time:\n" + "".join(f"- {name}\n" for name in unexpected[:5])
    if missing:
        text += "Feature names seen at fit time, yet now missing:\n" + "".join(
            f"- {name}\n" for name in missing[:5]
        )
    if not unexpected and not missing:
        text += "Feature names must be in the same order as they were in fit.\n"
    return text
