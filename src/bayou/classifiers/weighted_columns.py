"""Numeric columns of weighted and averaged naive Bayes: a summary, and how it is cut and read."""

from __future__ import annotations

from typing import Any

from bayou.errors import SchemaError
from bayou.readings.equal import EqualFrequency, EqualWidth
from bayou.readings.fayyad_irani import FayyadIrani
from bayou.readings.gaussian import Gaussian
from bayou.readings.intervals import Intervals
from bayou.readings.modl import MODL
from bayou.readings.partition import Discretiser
from bayou.readings.view import AnyView, Live, Searched
from bayou.summaries.quantile_tuples import GKClass

COLUMNS: dict[str, Any] = {"gaussian": Gaussian, "gkclass": GKClass}
BINS: dict[str, type[Discretiser]] = {
    "modl": MODL,
    "equal-width": EqualWidth,
    "equal-frequency": EqualFrequency,
    "fayyad-irani": FayyadIrani,
}


def columns_recipe(numeric: Any) -> Any:
    """The recipe behind a short name; a recipe is returned as it is."""
    return _recipe("numeric", numeric, COLUMNS)


def bins_recipe(bins: Any) -> Any:
    """The discretiser behind a short name; a discretiser is returned as it is."""
    return _recipe("bins", bins, BINS)


def column_view(numeric: Any, bins: Any) -> AnyView:
    """Normal densities are read live; whatever has cells is cut into intervals at refresh points."""
    recipe = columns_recipe(numeric)
    if isinstance(recipe, Gaussian):
        return Live(recipe.summary(), recipe)
    return Searched(recipe.summary(), Intervals(bins_recipe(bins)))


def _recipe(name: str, choice: Any, known: dict[str, Any]) -> Any:
    if not isinstance(choice, str):
        return choice
    if choice not in known:
        raise SchemaError(f"{name}={choice!r}; it is one of {sorted(known)} or a recipe")
    return known[choice]()
