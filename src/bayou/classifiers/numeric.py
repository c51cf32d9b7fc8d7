"""How numeric columns are summarised and read: recipes and their short names."""

from __future__ import annotations

from typing import Any

from bayou.densities.binned import AutoDensity, CPiD, GKClass, PiD
from bayou.densities.density import Density
from bayou.densities.gaussian import Gaussian
from bayou.densities.kernel import Kernel, RoundedNormal
from bayou.errors import SchemaError
from bayou.readings.equal import EqualFrequency, EqualWidth
from bayou.readings.fayyad_irani import FayyadIrani
from bayou.readings.kmeans_bins import KMeansBins
from bayou.readings.modl import MODL
from bayou.readings.partition import Discretiser
from bayou.views.view import AnyView

NUMERIC: dict[str, type[Density]] = {
    "auto": AutoDensity,
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


def numeric_recipe(numeric: str | Density) -> Density:
    """The density behind a short name; a density is returned as it is."""
    recipe: Density = _named("numeric", numeric, NUMERIC, Density)
    return recipe


def bins_recipe(bins: str | Discretiser) -> Discretiser:
    """The discretiser behind a short name; a discretiser is returned as it is."""
    recipe: Discretiser = _named("bins", bins, BINS, Discretiser)
    return recipe


def numeric_view(numeric: str | Density, bins: str | Discretiser) -> AnyView:
    """The empty view of numeric columns."""
    return numeric_recipe(numeric).view(bins_recipe(bins))


def _named(parameter: str, choice: Any, known: dict[str, Any], kind: type) -> Any:
    if isinstance(choice, kind):
        return choice
    if not isinstance(choice, str) or choice not in known:
        raise SchemaError(f"{parameter}={choice!r}; it is one of {sorted(known)}, or a recipe")
    return known[choice]()
