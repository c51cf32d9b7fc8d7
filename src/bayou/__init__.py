"""bayou: Bayesian classifiers for data streams. One pass, any size, mergeable, explainable.

>>> from bayou import NaiveBayes
>>> model = NaiveBayes()
>>> model.learn_one({"sky": "blue", "wind": "weak"}, "dry")
>>> model.learn_one({"sky": "grey", "wind": "weak"}, "wet")
>>> model.predict_one({"sky": "blue"})
'dry'
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# Name -> module: imported when first asked for, so that `import bayou` and `bayou --help` stay quick.
_HOMES = {
    "MajorityClass": "bayou.classifiers",
    "NoChange": "bayou.classifiers",
    "NaiveBayes": "bayou.classifiers",
    "MultinomialNB": "bayou.classifiers",
    "ComplementNB": "bayou.classifiers",
    "BernoulliNB": "bayou.classifiers",
    "Gaussian": "bayou.recipes",
    "Threshold": "bayou.recipes",
    "Costs": "bayou.recipes",
    "MEstimate": "bayou.recipes",
    "Declared": "bayou.schema",
    "MergeLaw": "bayou.laws",
    "BayouError": "bayou.errors",
    "set_threads": "bayou.threads",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bayou' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
