"""How numeric columns are summarised and read: recipes and their short names."""

from __future__ import annotations

from typing import Any

from bayou.errors import SchemaError
from bayou.readings.gaussian import Gaussian
from bayou.readings.view import AnyView, Live

NUMERIC = {"gaussian": Gaussian}


def numeric_recipe(numeric: Any) -> Any:
    """The recipe behind a short name; a recipe is returned as it is."""
    if not isinstance(numeric, str):
        return numeric
    if numeric not in NUMERIC:
        raise SchemaError(
            f"numeric={numeric!r}; it is one of {sorted(NUMERIC)} or a recipe such as Gaussian(ddof=1)"
        )
    return NUMERIC[numeric]()


def numeric_view(numeric: Any) -> AnyView:
    recipe = numeric_recipe(numeric)
    return Live(recipe.summary(), recipe)
