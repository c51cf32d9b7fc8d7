"""A model taken apart: its parameters, what it knows about columns and classes, and its arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayou.persist.container import Arrays
from bayou.schema import Schema


@dataclass(frozen=True)
class ModelState:
    """Everything a model has learned; with the parameters, the whole model.

    `position` is the stream number of the next row, `unusable` the tally of huge and infinite values;
    `n_features` and `feature_names` are set by scikit-learn's dialect only.
    """

    schema: Schema
    position: int
    unusable: int
    n_features: int | None
    feature_names: list[str] | None
    arrays: Arrays


def state_of(model: Any) -> ModelState | None:
    """The state of a model, or None if it has not begun."""
    if not model.started:
        return None
    arrays = model.arrays()  # first: pending records are learned by it
    names = getattr(model, "feature_names_in_", None)
    return ModelState(
        schema=model.schema_,
        position=model.position,
        unusable=model.unusable,
        n_features=getattr(model, "n_features_in_", None),
        feature_names=None if names is None else [str(name) for name in names],
        arrays=arrays,
    )


def restore(model: Any, state: ModelState) -> None:
    """Give a model that has begun its state back."""
    model.restore(state.arrays, state.position, state.unusable)
    if state.n_features is not None:
        model.n_features_in_ = state.n_features
    if state.feature_names is not None:
        model.feature_names_in_ = np.array(state.feature_names, dtype=object)
