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

# Module -> names: imported when first asked for, so that `import bayou` and `bayou --help` stay quick.
_OFFERED = {
    "bayou.classifiers": (
        "MajorityClass NoChange NaiveBayes MultinomialNB ComplementNB BernoulliNB TAN FAN SuperParent AODE FANC SPC "
        "SPCr TC Collection ReadMany WeightedNB AveragedNB EcocNB HoeffdingTree"
    ),
    "bayou.ensembles": "Bagging AWE WeightedVoting ResetOnDrift Fading Window",
    "bayou.recipes": (
        "Gaussian GKClass PiD CPiD MODL MODLGroups EqualWidth EqualFrequency FayyadIrani KMeansBins MEstimate "
        "Kernel RoundedNormal Sketch CountMinSketch Threshold Costs Grid InformationGain Gini OneVsAll OneVsOne BCH "
        "RandomCode GivenCode Constant PaperRate Decaying AdaGrad KunchevaPlumpton MiniBatch Experts"
    ),
    "bayou.readings.discretize": "discretize group",
    "bayou.evaluate": "prequential holdout cross_validate compare",
    "bayou.streams": "open_stream generators",
    "bayou.files": "load save",
    "bayou.backends.pool": "fit_files",
    "bayou.report": "write_report",
    "bayou.schema": "Declared",
    "bayou.laws": "MergeLaw",
    "bayou.errors": "BayouError",
    "bayou.threads": "set_threads",
}
_HOMES = {name: home for home, names in _OFFERED.items() for name in names.split()}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bayou' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
