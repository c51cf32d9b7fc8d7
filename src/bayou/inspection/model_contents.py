"""The views of a model with their schema, also where the model is an ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bayou.engines import Engine, Members, views_of
from bayou.schema import Schema
from bayou.views.view import AnyView


@dataclass(frozen=True, eq=False)
class ModelContents:
    """The part of a model that has views of its own: the model itself, or a member of an ensemble.

    `owner` is the estimator whose parameters this part has, `engine` its learned state, `note` says which member it is.
    """

    owner: Any
    engine: Engine
    schema: Schema
    views: Mapping[str, AnyView]
    note: str = ""


def contents(model: Any) -> ModelContents | None:
    """The views of a model, or of the first predicting member of an ensemble; None if there are none."""
    if not model.started:
        return None
    model.arrays()  # pending records are learned, stale readings refreshed
    return contents_of(model, model.engine)


def contents_of(owner: Any, engine: Engine) -> ModelContents | None:
    """The views of an engine built by `owner`, or of its first predicting member; None if there are none."""
    note = ""
    while isinstance(engine, Members):
        first, templates = engine.predicting()[0], owner.templates()
        owner = templates[min(first, len(templates) - 1)]
        note = f"member {first + 1} of {len(engine.members)}, a {type(owner).__name__}"
        engine = engine.members[first]
    views = {prefix.removesuffix("."): view for prefix, view in views_of(engine)}
    if not views:
        return None
    for view in views.values():
        view.refresh_if_stale()
    return ModelContents(owner, engine, engine.schema, views, note)
