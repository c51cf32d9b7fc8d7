"""The least size of a model by its parameters, checked before anything of that size is built.

A file of a few kilobytes may ask for a million members or a grid of a billion cells. In a valid file both have arrays:
every member has at least one, and a summary stores what it allocates by its parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayou.engines.engine import Engine, views_of
from bayou.errors import ModelFileError
from bayou.recipe import Recipe
from bayou.schema import Shape
from bayou.summaries.array_summary import State

SPARE = 48 << 20  # bytes that a model may take beyond its file: room for further learning


def least_arrays(model: Any) -> int:
    """The least number of arrays of a model: one, and those of its members."""
    inner = sum(least_arrays(value) for value in _models(model.get_params(deep=False).values()))
    return 1 + int(getattr(model, "copies", 1)) * max(1, inner)


def _models(values: Any) -> list[Any]:
    models = []
    for value in values:
        if isinstance(value, list | tuple):
            models += _models(value)
        elif isinstance(value, Mapping):
            models += _models(value.values())
        elif hasattr(value, "get_params") and not isinstance(value, type | Recipe):
            models.append(value)
    return models


def check_members(model: Any, arrays: int) -> None:
    """Refuse a model that has more than `arrays` arrays, whatever it has learned."""
    least = least_arrays(model)
    if least > arrays:
        raise ModelFileError(
            f"this {type(model).__name__} has at least {least:,} arrays, and a file of it would have at most {arrays:,}"
        )


def least_bytes(engine: Engine, shape: Shape) -> int:
    """The bytes that the summaries of an engine take over a schema of this shape before anything is learned."""
    states = [state for _, view in views_of(engine) for state in view.states()]
    return sum(state.least_bytes(shape) for state in states if isinstance(state, State))


def check_bytes(engine: Engine, shape: Shape, stored: int) -> None:
    """Refuse an engine that takes more than the bytes of its file and `SPARE` before anything is learned."""
    least = least_bytes(engine, shape)
    if least > stored + SPARE:
        raise ModelFileError(
            f"the file's parameters and schema imply {least:,} bytes, and the file has {stored:,}"
        )
