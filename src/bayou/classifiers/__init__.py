"""Classifiers: each a choice of summaries and readers. `__all__` is the registry the contract suite runs on."""

from bayou.classifiers.baselines import MajorityClass, NoChange
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.classifiers.words import BernoulliNB, ComplementNB, MultinomialNB

__all__ = ["BernoulliNB", "ComplementNB", "MajorityClass", "MultinomialNB", "NaiveBayes", "NoChange"]
