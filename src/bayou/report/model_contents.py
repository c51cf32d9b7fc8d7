"""What is inside a model: its views with the schema they belong to, also where members hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bayou.schema import Schema


@dataclass(frozen=True, eq=False)
class ModelContents:
    """A part of a model that has views of its own; `note` says which part it is."""

    owner: Any
    schema: Schema
    views: Mapping[str, Any]
    note: str = ""


def contents(model: Any) -> ModelContents | None:
    """The model's own views; those of the first member of one made of members; None if there are none."""
    if not model.started:
        return None
    model.arrays()  # what waits is learned, what is due is read
    part, note = model, ""
    while not getattr(part, "_views", None):
        members = getattr(part, "_members", ())
        if not members:
            return None
        note = f"member 1 of {len(members)}, a {type(members[0]).__name__}"
        part = members[0]
    for view in part._views.values():
        view.refresh_if_stale()
    return ModelContents(part, model.schema_, part._views, note)
