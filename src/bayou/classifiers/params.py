"""Constructor parameters by name, by scikit-learn's conventions, for classifiers and nested recipes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, Self

from bayou.errors import SchemaError


class Parameterised:
    """Base of objects whose parameters are the constructor's arguments, stored unchanged under their names."""

    @classmethod
    def parameter_names(cls) -> list[str]:
        """Names of the constructor's parameters."""
        if cls.__init__ is object.__init__:
            return []
        return [name for name in _parameters(cls.__init__) if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep`, those of nested objects as `outer__inner`."""
        out: dict[str, Any] = {}
        for name in self.parameter_names():
            value = getattr(self, name)
            out[name] = value
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                out.update({f"{name}__{k}": v for k, v in value.get_params().items()})
        return out

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, nested ones as `outer__inner`, and return the object."""
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in self.parameter_names():
                raise SchemaError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}(). "
                    f"Valid parameters are: {self.parameter_names()!r}."
                )
            if rest:
                nested.setdefault(name, {})[rest] = value
            else:
                setattr(self, name, value)
        for name, inner in nested.items():
            nested_object = self.resolve_param(name, getattr(self, name))
            if is_dataclass(nested_object) and not isinstance(nested_object, type):
                known = [field.name for field in fields(nested_object)]
                for unknown in inner.keys() - set(known):
                    raise SchemaError(
                        f"Invalid parameter {unknown!r} for {name}={nested_object!r}. Valid parameters are: {known!r}."
                    )
                setattr(self, name, replace(nested_object, **inner))
            elif hasattr(nested_object, "set_params"):
                nested_object.set_params(**inner)
            else:
                raise SchemaError(
                    f"Invalid parameter {name}__{next(iter(inner))}: {name}={nested_object!r} has none of its own"
                )
        return self

    def resolve_param(self, name: str, value: Any) -> Any:
        """The object on which `name__...` is set; a classifier with short names for recipes resolves them here."""
        return value

    def __repr__(self) -> str:
        defaults = _parameters(type(self).__init__)
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def refuse_huge_numbers(params: Mapping[str, Any]) -> None:
    """Refuse integers of more than 64 bits, alone or in lists, which no kernel accepts.

    >>> refuse_huge_numbers({"smoothing": 10**30})
    Traceback (most recent call last):
    bayou.errors.SchemaError: smoothing is a whole number of 100 bits, and 63 is the most; ...
    """
    for name, value in params.items():
        for number in value if isinstance(value, list | tuple) else (value,):
            if isinstance(number, int) and not -(2**63) <= number < 2**63:
                raise SchemaError(
                    f"{name} is a whole number of {number.bit_length()} bits, and 63 is the most; "
                    "where a fraction would do, write it as one, such as 1e30"
                )


@cache
def _parameters(constructor: Callable[..., None]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(constructor).parameters
