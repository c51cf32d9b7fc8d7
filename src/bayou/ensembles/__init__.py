"""Classifiers made of classifiers: ensembles, and ways to forget. `__all__` is the registry of the contract suite."""

from bayou.ensembles.awe import AWE
from bayou.ensembles.bagging import Bagging
from bayou.ensembles.drift import ResetOnDrift
from bayou.ensembles.fading import Fading
from bayou.ensembles.voting import WeightedVoting
from bayou.ensembles.window import Window

__all__ = ["AWE", "Bagging", "Fading", "ResetOnDrift", "WeightedVoting", "Window"]
