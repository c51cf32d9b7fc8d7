"""Base of recipes, the frozen choices that users pass: named parameters and no state."""

from __future__ import annotations

import dataclasses
from typing import Any


class Recipe:
    """Base of frozen dataclasses that describe a choice, such as ``MODL(prior="khiops")``.

    The dataclass gives equality, hashing and a readable ``repr``; this class adds scikit-learn's way of
    asking for parameters. Recipes never change: ``dataclasses.replace`` makes a new one.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Rounded(Recipe):
    ...     digits: int = 2
    >>> Rounded(3)
    Rounded(digits=3)
    >>> Rounded(3).get_params()
    {'digits': 3}
    """

    __slots__ = ()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; `deep` adds those of nested recipes as ``outer__inner``."""
        params: dict[str, Any] = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            params[field.name] = value
            if deep and isinstance(value, Recipe):
                params.update({f"{field.name}__{name}": inner for name, inner in value.get_params().items()})
        return params


class TextRecipe(Recipe):
    """Base of recipes for tokenizing a column of text."""

    __slots__ = ()
    buckets: int | None  # number of hash buckets; None: words are not hashed
    min_count: int  # the count that a word needs to take part in predictions
    vocabulary: int | None  # the most words that are kept, by frequency; None: no bound
