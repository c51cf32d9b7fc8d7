"""Frozen choices users pass to classifiers, gathered here; each is defined beside what it builds."""

from bayou.decisions import Costs, Threshold
from bayou.readings.equal import EqualFrequency, EqualWidth
from bayou.readings.fayyad_irani import FayyadIrani
from bayou.readings.gaussian import Gaussian
from bayou.readings.kernel import Kernel, RoundedNormal
from bayou.readings.kmeans_bins import KMeansBins
from bayou.readings.modl import MODL
from bayou.readings.modl_groups import MODLGroups
from bayou.readings.sketched import CountMinSketch, Sketch
from bayou.readings.table import MEstimate
from bayou.recipe import Recipe
from bayou.summaries.grid_counts import CPiD, PiD
from bayou.summaries.quantile_tuples import GKClass

__all__ = [
    "MODL",
    "CPiD",
    "Costs",
    "CountMinSketch",
    "EqualFrequency",
    "EqualWidth",
    "FayyadIrani",
    "GKClass",
    "Gaussian",
    "KMeansBins",
    "Kernel",
    "MEstimate",
    "MODLGroups",
    "PiD",
    "Recipe",
    "RoundedNormal",
    "Sketch",
    "Threshold",
]
