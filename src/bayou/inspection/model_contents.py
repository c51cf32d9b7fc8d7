"""What is inside a model: its views with the schema they belong to, also where members hold them."""

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

    `owner` is the estimator whose parameters rule this part, `engine` what it has learned,
    `note` says which part it is.
    """

    owner: Any
    engine: Engine
    schema: Schema
    views: Mapping[str, AnyView]
    note: str = ""


def contents(model: Any) -> ModelContents | None:
    """The model's own views; of one made of members, those of the first that predicts; None if there are none."""
    if not model.started:
        return None
    model.arrays()  # pending records are learned, stale readings refreshed
    return contents_of(model, model.engine)


def contents_of(owner: Any, engine: Engine) -> ModelContents | None:
    """The views of an engine, whose parameters are the owner's; of members, those of the first that predicts."""
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
