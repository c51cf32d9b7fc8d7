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
    """The part of a model that has views of its own: the model itself, or the first member of an ensemble.

    `owner` is the estimator whose parameters rule this part, `engine` what it has learned,
    `note` says which part it is.
    """

    owner: Any
    engine: Engine
    schema: Schema
    views: Mapping[str, AnyView]
    note: str = ""


def contents(model: Any) -> ModelContents | None:
    """The model's own views; those of the first member of one made of members; None if there are none."""
    if not model.started:
        return None
    model.arrays()  # pending records are learned, stale readings refreshed
    owner, engine, note = model, model.engine, ""
    while isinstance(engine, Members):
        owner = owner.templates()[0]
        note = f"member 1 of {len(engine.members)}, a {type(owner).__name__}"
        engine = engine.members[0]
    views = {prefix.removesuffix("."): view for prefix, view in views_of(engine)}
    if not views:
        return None
    for view in views.values():
        view.refresh_if_stale()
    return ModelContents(owner, engine, model.schema_, views, note)
