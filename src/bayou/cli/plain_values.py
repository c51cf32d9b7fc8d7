"""Commands that take words, numbers of rows and defaults as they are, without importing what validates values."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


class _PlainValues:
    """Options are validated by typer only where there is something to validate.

    It would import pydantic, .12 s, to find that words are words. A version of typer that validates elsewhere is left
    alone.
    """

    def get_params(self, ctx: Any) -> Any:
        options = super().get_params(ctx)  # type: ignore[misc] # of a command
        for option in options:
            if getattr(option, "_runtime_param", option) is None and hasattr(option, "type_descriptor"):
                option._runtime_param = _Plain()
        return options


class PlainCommand(_PlainValues, TyperCommand):
    """A command that takes plain values as they are."""


class PlainGroup(_PlainValues, TyperGroup):
    """A group of commands that takes plain values as they are."""


class _Plain:
    """The function that converts the value of one option to the argument of the command."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        kind = param.type_descriptor.annotation
        parser = param.type_descriptor.parameter_info.parser
        if value is None:
            return () if several else None
        if several and kind == list[str] and isinstance(value, list | tuple):
            return list(value)
        if not several and isinstance(value, str) and (kind is str or parser is not None):
            return value if parser is None else parser(value)
        if isinstance(value, bool) or (value is param.default and isinstance(value, str | int | float)):
            return value
        param._runtime_param = None  # typer makes its own
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)
