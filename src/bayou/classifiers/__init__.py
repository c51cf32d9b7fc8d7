"""Classifiers: each a choice of summaries and readers. `__all__` is the registry the contract suite runs on."""

from __future__ import annotations

from bayou.lazy import offered_names

_OFFERED = {
    "bayou.classifiers.aode": "AODE",
    "bayou.classifiers.averaged": "AveragedNB",
    "bayou.classifiers.baselines": "MajorityClass NoChange",
    "bayou.classifiers.collections": "FANC SPC SPCr TC",
    "bayou.classifiers.count_forest": "CountForest",
    "bayou.classifiers.ecoc": "EcocNB",
    "bayou.classifiers.fan": "FAN",
    "bayou.classifiers.given_collection": "Collection",
    "bayou.classifiers.hoeffding_tree": "HoeffdingTree",
    "bayou.classifiers.naive_bayes": "NaiveBayes",
    "bayou.classifiers.random_networks": "RandomNetworks",
    "bayou.classifiers.read_many": "ReadMany",
    "bayou.classifiers.super_parent": "SuperParent",
    "bayou.classifiers.tan": "TAN",
    "bayou.classifiers.weighted": "WeightedNB",
    "bayou.classifiers.words": "BernoulliNB ComplementNB MultinomialNB",
}

__all__, __getattr__ = offered_names("bayou.classifiers", _OFFERED)
