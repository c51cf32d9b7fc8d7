"""bayou: Bayesian classifiers for data streams. One pass, any size, mergeable, explainable.

>>> from bayou import NaiveBayes
>>> model = NaiveBayes()
>>> model.learn_one({"sky": "blue", "wind": "weak"}, "dry")
>>> model.learn_one({"sky": "grey", "wind": "weak"}, "wet")
>>> model.predict_one({"sky": "blue"})
'dry'
"""

from __future__ import annotations

from bayou.lazy import offered_names

__version__ = "0.1.0"

# Imported when first asked for, so that `import bayou` and `bayou --help` stay quick.
_OFFERED = {
    "bayou.classifiers": (
        "MajorityClass NoChange NaiveBayes MultinomialNB ComplementNB BernoulliNB TAN FAN SuperParent AODE FANC SPC "
        "SPCr TC Collection ReadMany RandomNetworks WeightedNB AveragedNB EcocNB HoeffdingTree CountForest"
    ),
    "bayou.ensembles": (
        "Auto AdaptiveForest Bagging AWE WeightedVoting Pool Calibrated ConformalSet ResetOnDrift Fading Window"
    ),
    "bayou.recipes": (
        "Gaussian AutoDensity GKClass PiD CPiD MODL MODLGroups EqualWidth EqualFrequency FayyadIrani KMeansBins "
        "MEstimate Kernel RoundedNormal Sketch CountMinSketch Threshold Costs Abstain Grid GTest InformationGain Gini "
        "OneVsAll OneVsOne BCH RandomCode GivenCode Constant PaperRate Decaying AdaGrad KunchevaPlumpton MiniBatch "
        "Experts Text"
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
__all__, __getattr__ = offered_names("bayou", _OFFERED)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
