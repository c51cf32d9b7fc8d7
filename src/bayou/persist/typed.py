"""Type checks of parameters from a file, by the annotations of the constructor."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from functools import cache
from typing import Any

from bayou.errors import ModelFileError


def check_types(cls: type[Any], params: typing.Mapping[str, Any]) -> None:
    """Refuse parameters that contradict the annotations of a constructor.

    >>> class Rounded:
    ...     def __init__(self, digits: int | None = 2): ...
    >>> check_types(Rounded, {"digits": 3})
    >>> check_types(Rounded, {"digits": "3"})
    Traceback (most recent call last):
        ...
    bayou.errors.ModelFileError: Rounded(digits='3'): not of the type int | None
    """
    hints = _hints(cls.__init__)
    for name, value in params.items():
        if name in hints and not fits(value, hints[name]):
            shown = getattr(hints[name], "__name__", None) or str(hints[name])
            raise ModelFileError(
                f"{cls.__name__}({name}={repr(value)[:60]}): not of the type {str(shown)[:100]}"
            )


@cache
def _hints(constructor: Callable[..., None]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(constructor)
    except NameError:  # names that are imported for type checkers only
        return {}


def fits(value: object, hint: Any) -> bool:
    """Whether a value is of a type; an int is a valid float; elements of containers are not checked."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, option) for option in typing.get_args(hint))
    if origin is typing.Literal:
        return value in typing.get_args(hint)
    if hint is None or hint is type(None):
        return value is None
    if hint in (int, float):
        return isinstance(value, int if hint is int else int | float) and not isinstance(value, bool)
    plain = origin or hint
    if not isinstance(plain, type):  # Any, type variables, aliases
        return True
    if origin is not None and isinstance(value, str | bytes):  # a string is not a sequence of strings
        return False
    try:
        return isinstance(value, plain)
    except TypeError:  # a protocol that cannot be checked at run time
        return True
