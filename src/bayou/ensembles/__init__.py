"""Classifiers made of classifiers: ensembles, and ways to forget. `__all__` is the registry of the contract suite."""

from __future__ import annotations

from bayou.lazy import offered_names

_OFFERED = {
    "bayou.ensembles.adaptive_forest": "AdaptiveForest",
    "bayou.ensembles.auto": "Auto",
    "bayou.ensembles.awe": "AWE",
    "bayou.ensembles.bagging": "Bagging",
    "bayou.ensembles.calibrated": "Calibrated",
    "bayou.ensembles.conformal": "ConformalSet",
    "bayou.ensembles.drift": "ResetOnDrift",
    "bayou.ensembles.fading": "Fading",
    "bayou.ensembles.pool": "Pool",
    "bayou.ensembles.voting": "WeightedVoting",
    "bayou.ensembles.window": "Window",
}

__all__, __getattr__ = offered_names("bayou.ensembles", _OFFERED)
