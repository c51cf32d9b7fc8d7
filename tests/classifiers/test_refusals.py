"""What is refused leaves the model as it was, and says which row of what was given is meant."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from tests.reach import reach

from bayou import AODE, Bagging, BernoulliNB, ComplementNB, EcocNB, MEstimate, MultinomialNB, NaiveBayes
from bayou.errors import DataError, MergeError, NotFittedError, SchemaError
from bayou.kernels import value_counts
from bayou.testing.contract import fingerprint


@pytest.mark.parametrize(
    "make",
    [
        lambda: NaiveBayes(numeric="pid"),
        AODE,
        lambda: Bagging(NaiveBayes(numeric="pid"), n_estimators=2),
        lambda: EcocNB(NaiveBayes(numeric="pid")),
    ],
)
def test_a_refused_merge_changes_nothing(make):
    """Classes add up before grids are found to differ: not even they may stay behind."""
    rng = np.random.default_rng(0)
    here, there = make(), make()
    here.learn_many({"x": rng.normal(size=2000)}, rng.integers(0, 2, 2000))
    there.learn_many({"x": rng.normal(90.0, size=2000), "y": ["u", "v"] * 1000}, rng.integers(1, 4, 2000))
    before = fingerprint(here), fingerprint(there), here.position, list(here.schema_.place)
    with pytest.raises(MergeError):
        here.merge(there)
    assert (fingerprint(here), fingerprint(there), here.position, list(here.schema_.place)) == before
    assert here.labels() == [0, 1]


def test_parameters_are_the_same_objects_after_a_merge():
    template = NaiveBayes()
    model = Bagging(template, n_estimators=2)
    other = copy.deepcopy(model)
    other.learn_one({"x": 1.0}, "a")
    assert model.merge(other).estimator is template


def test_rows_to_predict_are_numbered_as_they_are_given():
    model = NaiveBayes().fit([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    with pytest.raises(DataError, match="row 1, column 'x0'"):
        model.predict_proba_many([{"x0": 1.0}, {"x0": "one"}])
    with pytest.raises(DataError, match="row 4, column 'x0'"):
        model.learn_many([{"x0": 1.0}, {"x0": "one"}], ["a", "b"])


def test_who_has_met_no_class_cannot_decide_for_one():
    model = NaiveBayes()
    model.learn_one({"x": 1.0}, None)
    assert model.predict_one({"x": 1.0}) is None
    with pytest.raises(NotFittedError, match="no class"):
        model.predict([[1.0]])


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf"), "one"])
@pytest.mark.parametrize("model", [MultinomialNB, ComplementNB, BernoulliNB])
def test_pseudo_counts_are_numbers_from_zero_on(model, wrong):
    with pytest.raises(SchemaError, match="pseudo-count"):
        model(alpha=wrong).fit([[1, 0], [0, 1]], ["a", "b"])
    with pytest.raises(SchemaError, match="pseudo-count"):
        NaiveBayes(smoothing=wrong).fit([[1, 0], [0, 1]], ["a", "b"])
    with pytest.raises(SchemaError, match="MEstimate"):
        MEstimate(wrong)


def test_no_logarithm_is_looked_up_before_the_table_begins():
    """Counts and pseudo-counts are checked; what a kernel reads must not depend on it."""
    log_or_floor, cached_log = reach(value_counts.log_or_floor), reach(value_counts.cached_log)
    logs = np.array([log_or_floor(float(i)) for i in range(8)])
    for x in (-1.0, -1e-16, -4e9, float("-inf")):
        assert cached_log(x, logs) == log_or_floor(x)
