"""The learned state of a model: its schema, its arrays, and some counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayou.persist.container import Arrays
from bayou.schema import Schema


@dataclass(frozen=True)
class ModelState:
    """Everything that a model has learned; together with its parameters, the whole model.

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
    """The state of a model; None if it has not learned yet."""
    if not model.started:
        return None
    arrays = model.arrays()  # first, since this learns pending records
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
    """Restore the state of a model that has been started over the same schema."""
    model.restore(state.arrays, state.position, state.unusable)
    if state.n_features is not None:
        model.n_features_in_ = state.n_features
    if state.feature_names is not None:
        model.feature_names_in_ = np.array(state.feature_names, dtype=object)
