"""Classifiers: each a choice of summaries and readers. `__all__` is the registry the contract suite runs on."""

from __future__ import annotations

import importlib
from typing import Any

# Module -> names, imported when first asked for: nobody waits for the kernels of classifiers they do not use.
_OFFERED = {
    "aode": "AODE",
    "averaged": "AveragedNB",
    "baselines": "MajorityClass NoChange",
    "collections": "FANC SPC SPCr TC Collection",
    "ecoc": "EcocNB",
    "fan": "FAN",
    "hoeffding_tree": "HoeffdingTree",
    "naive_bayes": "NaiveBayes",
    "read_many": "ReadMany",
    "super_parent": "SuperParent",
    "tan": "TAN",
    "weighted": "WeightedNB",
    "words": "BernoulliNB ComplementNB MultinomialNB",
}
_HOMES = {name: f"bayou.classifiers.{home}" for home, names in _OFFERED.items() for name in names.split()}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bayou.classifiers' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
