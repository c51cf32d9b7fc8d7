"""Frozen choices users pass to classifiers, gathered here; each is defined beside what it builds."""

from bayou.codes import BCH, GivenCode, OneVsAll, OneVsOne, RandomCode
from bayou.decisions import Abstain, Costs, Threshold
from bayou.densities.binned import AutoDensity, CPiD, GKClass, PiD
from bayou.densities.gaussian import Gaussian
from bayou.densities.kernel import Kernel, RoundedNormal
from bayou.rates import AdaGrad, Constant, Decaying, Experts, KunchevaPlumpton, MiniBatch, PaperRate
from bayou.readings.categorical import MEstimate
from bayou.readings.equal import EqualFrequency, EqualWidth
from bayou.readings.fayyad_irani import FayyadIrani
from bayou.readings.kmeans_bins import KMeansBins
from bayou.readings.modl import MODL
from bayou.readings.modl_groups import MODLGroups
from bayou.readings.sketched import CountMinSketch, Sketch
from bayou.readings.splits import Gini, GTest, InformationGain
from bayou.recipe import Recipe
from bayou.summaries.grid import Grid
from bayou.text.recipe import Text

__all__ = [
    "BCH",
    "MODL",
    "Abstain",
    "AdaGrad",
    "AutoDensity",
    "CPiD",
    "Constant",
    "Costs",
    "CountMinSketch",
    "Decaying",
    "EqualFrequency",
    "EqualWidth",
    "Experts",
    "FayyadIrani",
    "GKClass",
    "GTest",
    "Gaussian",
    "Gini",
    "GivenCode",
    "Grid",
    "InformationGain",
    "KMeansBins",
    "Kernel",
    "KunchevaPlumpton",
    "MEstimate",
    "MODLGroups",
    "MiniBatch",
    "OneVsAll",
    "OneVsOne",
    "PaperRate",
    "PiD",
    "RandomCode",
    "Recipe",
    "RoundedNormal",
    "Sketch",
    "Text",
    "Threshold",
]
