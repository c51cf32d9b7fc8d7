"""The checks of laws can fail: for every law a summary, or a classifier, that breaks it is found out."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from bayou import NaiveBayes, WeightedNB
from bayou.classifiers.estimator import Estimator
from bayou.laws import MergeLaw
from bayou.readings.prior import CountedPrior
from bayou.schema import Declared, Schema
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.count_min import CountMin
from bayou.summaries.fading import FadedOutcomes
from bayou.summaries.grid_counts import CPiD, GridCounts
from bayou.summaries.heavy_hitters import HeavyHitters
from bayou.summaries.last_label import LastLabel
from bayou.summaries.moments import Moments
from bayou.summaries.quantile_tuples import QuantileTuples
from bayou.summaries.rivals import MajorityHits
from bayou.summaries.weights import Weights
from bayou.testing import laws
from bayou.testing.contract import check_average, check_identity, check_merge
from bayou.views.view import Live


@cache
def forgetting(kind):
    """The kind of summary with a merge that forgets the other side."""
    return type(f"Forgetting{kind.__name__}", (kind,), {"merge": lambda self, other: None})


@cache
def boasting(kind):
    """The kind of summary with an error that claims to be exact."""
    return type(f"Boasting{kind.__name__}", (kind,), {"error": lambda self: 0.0})


class OtherOnly(MajorityHits):
    """A mean that is none: the other side replaces this one."""

    def merge(self, other):
        self.restore(other.arrays())


class Touched(MajorityHits):
    """A merge that leaves a trace even where there is nothing to merge."""

    def merge(self, other):
        super().merge(other)
        self.sums = self.sums + 1.0


class EarlierWins(LastLabel):
    """Not what one pass gives, though associative."""

    def merge(self, other):
        if self.last[0] < 0:
            super().merge(other)


class NotAssociative(FadedOutcomes):
    """Fades the earlier side by a constant, whatever the rows of the later one."""

    def merge(self, other):
        self.true = 0.5 * self.true + other.true


class Silent(ClassCounts):
    """Says that it does not merge, and merges."""

    law = MergeLaw.NONE


BROKEN = {
    "EXACT": (forgetting(ClassCounts), False),
    "ROUNDING": (forgetting(Moments), False),
    "ORDERED, one pass": (EarlierWins, False),
    "ORDERED, grouping": (NotAssociative, False),
    "AVERAGED, order": (OtherOnly, False),
    "AVERAGED, empty": (Touched, False),
    "NONE": (Silent, False),
    "BOUNDED, tuples": (lambda: forgetting(QuantileTuples)(20), False),
    "BOUNDED, error of tuples": (lambda: boasting(QuantileTuples)(20), False),
    "BOUNDED, grid": (lambda: forgetting(GridCounts)(8, 0.2, 10, True), False),
    "BOUNDED, error of a grid": (lambda: boasting(GridCounts)(8, 0.2, 10, True), False),
    "BOUNDED, heavy hitters": (lambda: forgetting(HeavyHitters)(4096), True),
    "BOUNDED, count-min": (lambda: forgetting(CountMin)(0.1, 0.1, True), True),
}


MERGING = [laws.check_merge_is_one_pass, laws.check_grouping, laws.check_average, laws.check_empty]


@pytest.mark.parametrize("name", BROKEN)
def test_a_summary_that_breaks_its_law_is_found_out(name, monkeypatch):
    make, hashed = BROKEN[name]
    if hashed:
        monkeypatch.setattr(laws, "Schema", lambda: Schema(Declared(hash_values=True)))
    failed = []
    for check in MERGING:
        try:
            check(make, 1, False)
        except AssertionError:
            failed.append(check.__name__)
    assert failed


SOUND = {
    "CountMin, conservative": (lambda: CountMin(0.1, 0.1, True), True),
    "HeavyHitters": (lambda: HeavyHitters(4096), True),
    "QuantileTuples": (lambda: QuantileTuples(8, exact=30), False),
    "CPiD": (CPiD(cells=10).summary, False),
    "MajorityHits": (MajorityHits, False),
}


@pytest.mark.parametrize("check", MERGING)
@pytest.mark.parametrize("name", SOUND)
def test_sound_summaries_keep_theirs(name, check, monkeypatch):
    make, hashed = SOUND[name]
    if hashed:
        monkeypatch.setattr(laws, "Schema", lambda: Schema(Declared(hash_values=True)))
    for seed in range(2):
        check(make, seed, False)


@pytest.mark.parametrize("check", [laws.check_grouping, laws.check_empty])
def test_faded_outcomes_are_associative(check):
    for seed in range(3):
        check(FadedOutcomes, seed, False)


class ForgetfulMajority(Estimator):
    """A classifier whose counts forget the other side of a merge."""

    def views(self):
        return {"classes": Live(forgetting(ClassCounts)(), CountedPrior())}


def test_a_classifier_that_forgets_is_found_out():
    with pytest.raises(AssertionError):
        check_merge(ForgetfulMajority, 0)


def test_counts_of_a_bounded_model_are_still_those_of_one_pass(monkeypatch):
    monkeypatch.setattr(ClassCounts, "merge", lambda self, other: None)
    with pytest.raises(AssertionError):
        check_merge(lambda: NaiveBayes(numeric="gk"), 0)


def test_a_bounded_model_that_forgets_values_is_found_out(monkeypatch):
    monkeypatch.setattr(QuantileTuples, "merge", lambda self, other: None)
    with pytest.raises(AssertionError):
        check_merge(lambda: NaiveBayes(numeric="gk"), 0)


def test_weights_that_are_no_weighted_mean_are_found_out(monkeypatch):
    def plain_mean(self, other):
        self.weights = 0.5 * (self.weights + other.weights)

    monkeypatch.setattr(Weights, "merge", plain_mean)
    with pytest.raises(AssertionError):
        check_average(WeightedNB, 0)


def test_a_merge_with_nothing_that_changes_something_is_found_out(monkeypatch):
    monkeypatch.setattr(ClassCounts, "merge", lambda self, other: np.add(self.weight, 1.0, out=self.weight))
    with pytest.raises(AssertionError):
        check_identity(NaiveBayes, 0)
