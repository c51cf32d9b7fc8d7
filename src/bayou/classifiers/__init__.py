"""Classifiers: each a choice of summaries and readers. `__all__` is the registry the contract suite runs on."""

from bayou.classifiers.aode import AODE
from bayou.classifiers.averaged import AveragedNB
from bayou.classifiers.baselines import MajorityClass, NoChange
from bayou.classifiers.collections import FANC, SPC, TC, Collection, SPCr
from bayou.classifiers.ecoc import EcocNB
from bayou.classifiers.fan import FAN
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.classifiers.super_parent import SuperParent
from bayou.classifiers.tan import TAN
from bayou.classifiers.weighted import WeightedNB
from bayou.classifiers.words import BernoulliNB, ComplementNB, MultinomialNB

__all__ = [
    "AODE",
    "FAN",
    "FANC",
    "SPC",
    "TAN",
    "TC",
    "AveragedNB",
    "BernoulliNB",
    "Collection",
    "ComplementNB",
    "EcocNB",
    "HoeffdingTree",
    "MajorityClass",
    "MultinomialNB",
    "NaiveBayes",
    "NoChange",
    "SPCr",
    "SuperParent",
    "WeightedNB",
]
