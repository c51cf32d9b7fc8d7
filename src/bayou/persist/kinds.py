"""The classes that a file may name, by short ids that the caller passes. Nothing is ever imported by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from bayou.errors import ModelFileError
from bayou.persist.typed import check_types
from bayou.recipe import Recipe
from bayou.schema import Declared


@dataclass(frozen=True)
class Kinds:
    """Classes of models and recipes by short id. An id never changes, even if its class is renamed.

    `layouts` is a cache of `model_file`: the layout of arrays by kind and parameters.

    Examples
    --------
    >>> from bayou.schema import Declared
    >>> Kinds({}, {"Declared": Declared}).recipe_id(Declared())
    'Declared'
    """

    models: Mapping[str, type[Any]]
    recipes: Mapping[str, type[Recipe]]
    layouts: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def model_id(self, model: object) -> str:
        """The short id of a classifier's class."""
        return _id(self.models, model, "classifier")

    def recipe_id(self, recipe: Recipe) -> str:
        """The short id of a recipe's class."""
        return _id(self.recipes, recipe, "recipe")

    def model(self, kind: object, params: Mapping[str, Any]) -> Any:
        """A new model of a kind; raises ModelFileError for an unknown id or parameter."""
        cls = _class(self.models, kind, "classifier")
        _check_names(kind, params, cls.parameter_names())
        return _construct(cls, params)

    def recipe(self, kind: object, params: Mapping[str, Any]) -> Any:
        """A recipe of a kind; raises ModelFileError for an unknown id or parameter."""
        cls = _class(self.recipes, kind, "recipe")
        names = [field.name for field in fields(cls)] if is_dataclass(cls) else []
        _check_names(kind, params, names)
        return _construct(cls, params)


def kinds_of(model: Any) -> Kinds:
    """The kinds needed to save a model: its class, and those of its inner models and recipes, under their own names."""
    models: dict[str, type[Any]] = {type(model).__name__: type(model)}
    recipes: dict[str, type[Recipe]] = {"Declared": Declared}
    pending = list(model.get_params(deep=False).values())
    while pending:
        value = pending.pop()
        if isinstance(value, list | tuple):
            pending += value
        elif isinstance(value, Mapping):
            pending += value.values()
        elif hasattr(value, "get_params") and not isinstance(value, type):
            classes: dict[str, Any] = recipes if isinstance(value, Recipe) else models
            classes[type(value).__name__] = type(value)
            pending += value.get_params(deep=False).values()
    return Kinds(models, recipes)


def _id(table: Mapping[str, type[Any]], value: object, what: str) -> str:
    name = type(value).__name__
    if name in table and table[name] is type(value):
        return name
    for kind, cls in table.items():
        if type(value) is cls:
            return kind
    known = ", ".join(sorted(table))
    raise ModelFileError(f"{type(value).__name__} is not a {what} that files know; known are {known}")


def _class(table: Mapping[str, type[Any]], kind: object, what: str) -> type[Any]:
    if not isinstance(kind, str) or kind not in table:
        raise ModelFileError(f"unknown {what} {repr(kind)[:60]}; is the file from a newer bayou?")
    return table[kind]


def _check_names(kind: object, params: Mapping[str, Any], known: list[str]) -> None:
    for name in params:
        if name not in known:
            raise ModelFileError(f"{kind} has no parameter {name[:60]!r}; is the file from a newer bayou?")


def _construct(cls: type[Any], params: Mapping[str, Any]) -> Any:
    check_types(cls, params)
    try:
        return cls(**params)
    except Exception as problem:  # parameters that the constructor refuses: the file is not valid
        raise ModelFileError(f"the file's parameters do not make a {cls.__name__}: {problem}") from problem
