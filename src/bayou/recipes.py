"""Frozen choices users pass to classifiers, gathered here; each is defined beside what it builds."""

from bayou.decisions import Costs, Threshold
from bayou.readings.gaussian import Gaussian
from bayou.readings.table import MEstimate
from bayou.recipe import Recipe

__all__ = ["Costs", "Gaussian", "MEstimate", "Recipe", "Threshold"]
