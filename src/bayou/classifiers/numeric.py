"""How numeric columns are summarised and read: recipes and their short names."""

from __future__ import annotations

from typing import Any

from bayou.densities.gaussian import Gaussian
from bayou.densities.kernel import Kernel, RoundedNormal
from bayou.errors import SchemaError
from bayou.readings.categorical import CategoricalEstimator
from bayou.readings.equal import EqualFrequency, EqualWidth
from bayou.readings.fayyad_irani import FayyadIrani
from bayou.readings.intervals import Intervals
from bayou.readings.kmeans_bins import KMeansBins
from bayou.readings.modl import MODL
from bayou.readings.partition import Discretiser
from bayou.summaries.grid_counts import CPiD, PiD
from bayou.summaries.quantile_tuples import GKClass
from bayou.views.live_cells import LiveCells
from bayou.views.view import AnyView

Numeric = Gaussian | GKClass | PiD | CPiD | Kernel | RoundedNormal
NUMERIC: dict[str, type[Numeric]] = {
    "gaussian": Gaussian,
    "gk": GKClass,
    "pid": PiD,
    "cpid": CPiD,
    "kernel": Kernel,
    "rounded-normal": RoundedNormal,
}
BINS: dict[str, type[Discretiser]] = {
    "modl": MODL,
    "equal-width": EqualWidth,
    "equal-frequency": EqualFrequency,
    "fayyad-irani": FayyadIrani,
    "k-means": KMeansBins,
}


def numeric_recipe(numeric: str | Numeric) -> Numeric:
    """The recipe behind a short name; a recipe is returned as it is."""
    recipe: Numeric = _named("numeric", numeric, NUMERIC)
    return recipe


def bins_recipe(bins: str | Discretiser) -> Discretiser:
    """The discretiser behind a short name; a discretiser is returned as it is."""
    recipe: Discretiser = _named("bins", bins, BINS)
    return recipe


def numeric_view(numeric: str | Numeric, bins: str | Discretiser) -> AnyView:
    """Normal densities are read live; cells are cut into intervals at refresh points and counted live, or smoothed."""
    recipe, discretiser = numeric_recipe(numeric), bins_recipe(bins)
    if not isinstance(recipe, GKClass | PiD | CPiD):
        return recipe.view(discretiser)
    intervals = Intervals(discretiser)
    alpha, m, _ = intervals.added()
    return LiveCells(recipe.summary(), intervals, CategoricalEstimator(alpha, m))


def _named(parameter: str, choice: Any, known: dict[str, Any]) -> Any:
    if not isinstance(choice, str):
        return choice
    if choice not in known:
        raise SchemaError(f"{parameter}={choice!r}; it is one of {sorted(known)}, or a recipe")
    return known[choice]()
