"""Of every exported classifier the default and its other main settings, as expressions in exported names.

The first of each is the default, the second of those in `BEFORE` the default it had before. `FRAMES` are classifiers
around others: their own options are compared, with the members they have by default, and their members apart. An
exported classifier that is not named here is measured as it is by default (`NoChange`, which reads no row, is not).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bayou

BEFORE = (  # classifiers whose second setting was once the default
    "NaiveBayes", "WeightedNB", "AveragedNB", "EcocNB", "AODE", "TAN", "FAN", "SPC", "SPCr", "TC", "FANC",
    "Collection", "ReadMany", "SuperParent", "HoeffdingTree", "Bagging", "WeightedVoting", "AWE", "ResetOnDrift",
    "Fading", "Window", "AdaptiveForest", "RandomNetworks",
)  # fmt: skip
FRAMES = ("EcocNB", "Bagging", "WeightedVoting", "Pool", "AWE", "ResetOnDrift", "Fading", "Window")
NAMED: Mapping[str, tuple[str, ...]] = {
    "MajorityClass": ("MajorityClass()",),
    "NaiveBayes": (
        "NaiveBayes()", "NaiveBayes('gaussian')", "NaiveBayes('gk')", "NaiveBayes('kernel')",
        "NaiveBayes('gk', 'fayyad-irani')", "NaiveBayes('gk', 'equal-frequency')", "NaiveBayes(smoothing=0.5)",
        "NaiveBayes(groups='modl')",
    ),
    "WeightedNB": (
        "WeightedNB()", "WeightedNB('gaussian')", "WeightedNB('gk')", "WeightedNB(rate='adagrad')",
        "WeightedNB(rate='paper')", "WeightedNB(tied=True)", "WeightedNB(smoothing=0.5)",
    ),
    "AveragedNB": (
        "AveragedNB()", "AveragedNB(numeric='gaussian')", "AveragedNB(numeric='gk')", "AveragedNB('compression')",
        "AveragedNB('bma')", "AveragedNB('sgd')", "AveragedNB(smoothing=0.5)",
    ),
    "EcocNB": (
        "EcocNB()", "EcocNB(NaiveBayes('gaussian'), 'bch')", "EcocNB(code='bch')", "EcocNB(code='one-vs-one')",
        "EcocNB(code='random')", "EcocNB(decode='hamming')",
    ),
    "AODE": (
        "AODE()", "AODE(numeric='width')", "AODE(numeric=Grid(5))", "AODE(numeric=Grid(10))",
        "AODE(numeric=Grid(8, warm_up=500))", "AODE(numeric=Grid(10, 'width', 500))", "AODE(min_count=30)",
        "AODE(smoothing=0.5)",
    ),
    "TAN": (
        "TAN()", "TAN(interpolate=0, numeric='width')", "TAN(interpolate=0)", "TAN(interpolate=0.5)",
        "TAN(numeric=Grid(5))", "TAN(numeric=Grid(10))", "TAN(numeric=Grid(10, 'width', 500))",
        "TAN(smoothing=0.5)", "TAN(delta=0.05)",
    ),
    "FAN": (
        "FAN()", "FAN('mdl', numeric='width')", "FAN('mdl')", "FAN('aic')", "FAN('loglik')", "FAN(numeric=Grid(5))",
        "FAN(numeric=Grid(10))", "FAN(smoothing=0.5)", "FAN(delta=0.05)",
    ),
    "SuperParent": (
        "SuperParent()", "SuperParent(numeric='width')", "SuperParent(numeric=Grid(5))",
        "SuperParent(numeric=Grid(10))", "SuperParent(one_in=1)", "SuperParent(smoothing=0.5)",
    ),
    "FANC": (
        "FANC()", "FANC(numeric='width')", "FANC(numeric=Grid(5))", "FANC(numeric=Grid(10))",
        "FANC(order='information')", "FANC(order='given')", "FANC(parents=6)", "FANC(smoothing=0.5)",
    ),
    "Collection": (
        "Collection()", "Collection(numeric='width')", "Collection(numeric=Grid(5))", "Collection(numeric=Grid(10))",
        "Collection(smoothing=0.5)",
    ),
    "SPC": (
        "SPC()", "SPC(numeric='width')", "SPC(numeric=Grid(5))", "SPC(order='information')", "SPC(order='given')",
        "SPC(smoothing=0.5)",
    ),
    "SPCr": (
        "SPCr()", "SPCr(numeric='width')", "SPCr(numeric=Grid(5))", "SPCr(one_in=1)", "SPCr(rows=2000)",
        "SPCr(smoothing=0.5)",
    ),
    "TC": (
        "TC()", "TC(numeric='width')", "TC(numeric=Grid(5))", "TC(order='information')", "TC(order='given')",
        "TC(smoothing=0.5)",
    ),
    "ReadMany": (
        "ReadMany()", "ReadMany(numeric='width')", "ReadMany(combine='loss')", "ReadMany(combine='best')",
        "ReadMany(numeric=Grid(5))", "ReadMany(smoothing=0.5)",
    ),
    "HoeffdingTree": (
        "HoeffdingTree()", "HoeffdingTree(split='gain')", "HoeffdingTree(leaf='bayes')",
        "HoeffdingTree(leaf='majority')", "HoeffdingTree(numeric='gk')", "HoeffdingTree(delta=0.01)",
        "HoeffdingTree(split='gini')", "HoeffdingTree(grace=50)", "HoeffdingTree(tie=0.1)",
    ),
    "CountForest": (
        "CountForest()", "CountForest(combine='mean')", "CountForest(extra=0)", "CountForest(extra=2)",
        "CountForest(trees=100)",
    ),
    "Bagging": (
        "Bagging()", "Bagging(HoeffdingTree(split='gain'), rate=1.0)", "Bagging(HoeffdingTree())",
        "Bagging(rate=1.0)", "Bagging(rate=2.0)", "Bagging(vote='hard')", "Bagging(n_estimators=30)",
        "Bagging(NaiveBayes())",
    ),
    "WeightedVoting": (
        "WeightedVoting()", "WeightedVoting([NaiveBayes('gaussian'), HoeffdingTree()])",
        "WeightedVoting(vote='soft')", "WeightedVoting(weights=[1, 1])", "WeightedVoting(weights=[1, 1], vote='soft')",
        "WeightedVoting([WeightedNB(), HoeffdingTree()])",
    ),
    "Pool": (
        "Pool()", "Pool(rate=0.01)", "Pool(rate=0.2)", "Pool(forget=0.999)", "Pool([WeightedNB(), HoeffdingTree()])",
    ),
    "AWE": (
        "AWE()", "AWE(NaiveBayes('gaussian'))", "AWE(chunk=200)", "AWE(chunk=1000)", "AWE(chunk=2000)",
        "AWE(members=10)", "AWE(replace='oldest')", "AWE(HoeffdingTree())",
    ),
    "ResetOnDrift": (
        "ResetOnDrift()", "ResetOnDrift(NaiveBayes('gaussian'))", "ResetOnDrift(delta=0.01)",
        "ResetOnDrift(delta=0.0001)", "ResetOnDrift(HoeffdingTree())",
    ),
    "Fading": (
        "Fading()", "Fading(NaiveBayes('gaussian'), half_life=1000)", "Fading(half_life=300)",
        "Fading(half_life=1000)", "Fading(half_life=10000)",
    ),
    "Window": (
        "Window()", "Window(NaiveBayes('gaussian'), rows=1000)", "Window(rows=300)", "Window(rows=1000)",
        "Window(rows=10000)",
    ),
    "AdaptiveForest": (
        "AdaptiveForest()", "AdaptiveForest(trees=10)", "AdaptiveForest(trees=30)", "AdaptiveForest(rate=1.0)",
        "AdaptiveForest(grace=200)", "AdaptiveForest(delta=0.0001)", "AdaptiveForest(warning=0.01, drift=0.001)",
    ),
    "Auto": ("Auto()", "Auto('fast')", "Auto('accurate')"),
    "Calibrated": (
        "Calibrated()", "Calibrated(method='temperature')", "Calibrated(method='vector')",
        "Calibrated(method='isotonic')", "Calibrated(forget=1.0)",
    ),
    "ConformalSet": ("ConformalSet()", "ConformalSet(coverage=0.95)", "ConformalSet(by_class=True)"),
    "RandomNetworks": (
        "RandomNetworks()", "RandomNetworks(smoothing=1.0)", "RandomNetworks(smoothing='back-off')",
        "RandomNetworks(networks=50)", "RandomNetworks(parents=1)", "RandomNetworks(weighted=True)",
        "RandomNetworks(numeric=Grid(5))",
    ),
}  # fmt: skip
TEXT: Mapping[str, tuple[str, ...]] = {
    name: (f"{name}()", f"{name}(alpha=0.5)", f"{name}(alpha=0.1)", f"{name}(alpha=0.01)")
    for name in ("MultinomialNB", "ComplementNB", "BernoulliNB")
}
UNNAMED = [
    name
    for name in bayou.__all__
    if name[0].isupper()
    and hasattr(getattr(bayou, name), "predict_many")
    and name not in (*NAMED, *TEXT, "NoChange")
]
SETTINGS: Mapping[str, tuple[str, ...]] = {**NAMED, **{name: (f"{name}()",) for name in UNNAMED}}
FORGETTING = (
    "NaiveBayes",
    "HoeffdingTree",
    "Bagging",
    "WeightedVoting",
    "Pool",
    "AWE",
    "ResetOnDrift",
    "Fading",
    "Window",
)


def defaults(model: str) -> tuple[str, ...]:
    """The default of a classifier, and the one it had before."""
    return SETTINGS[model][: 2 if model in BEFORE else 1]


def made(setting: str) -> Any:
    """The model that an expression in exported names makes."""
    names = {name: getattr(bayou, name) for name in bayou.__all__ if name[0].isupper()}
    return eval(setting, {"__builtins__": {}}, names)
