"""Frozen choices users pass to classifiers, gathered here; each is defined beside what it builds."""

from bayou.readings.gaussian import Gaussian
from bayou.readings.table import MEstimate
from bayou.recipe import Recipe

__all__ = ["Gaussian", "MEstimate", "Recipe"]
