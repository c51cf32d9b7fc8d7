"""What is refused leaves the model as it was, and says which row of what was given is meant."""

from __future__ import annotations

import copy
import inspect
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from tests.reach import reach

import bayou
from bayou import (
    AODE,
    Bagging,
    BernoulliNB,
    ComplementNB,
    EcocNB,
    MEstimate,
    MultinomialNB,
    NaiveBayes,
    classifiers,
    ensembles,
)
from bayou.errors import (
    BayouError,
    DataError,
    MergeError,
    MergeWarning,
    NotFittedError,
    SchemaError,
    UnsupportedError,
)
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


GENERATIVE = {"BernoulliNB", "ComplementNB", "MajorityClass", "MultinomialNB", "NaiveBayes"}


@pytest.mark.parametrize("name", sorted({*classifiers.__all__, *ensembles.__all__}))
def test_every_classifier_draws_rows_or_says_what_does(name):
    model = getattr(bayou, name)()
    model.learn_many(
        [{"a": float(i % 3), "b": float(i % 5)} for i in range(60)], [str(i % 2) for i in range(60)]
    )
    before = fingerprint(model)
    if name in GENERATIVE:
        rows, labels = model.sample(4)
        assert len(rows) == len(labels) == 4
        assert set(labels) <= {"0", "1"}
    else:
        with pytest.raises(UnsupportedError, match=r"cannot sample: .*(NaiveBayes.* can|sample from)"):
            model.sample(4)
    assert fingerprint(model) == before


def learned(rows, labels):
    model = NaiveBayes()
    model.learn_many(rows, labels)
    return model


def test_a_merge_of_strangers_says_what_it_joins():
    here = learned([{"a": 1.0}], ["x"])
    with pytest.warns(MergeWarning, match="no column in common \\('a' with 'b'\\) and no class in common"):
        copy.deepcopy(here).merge(learned([{"b": 1.0}], ["p"]))
    with pytest.warns(MergeWarning, match="no class in common \\('x' with 'p'\\)") as told:
        copy.deepcopy(here).merge(learned([{"a": 1.0}], ["p"]))
    assert told[0].filename == __file__


@pytest.mark.filterwarnings("error")
def test_a_merge_with_one_that_has_something_in_common_or_met_nothing_is_silent():
    here = learned([{"a": 1.0}], ["x"])
    here.merge(learned([{"a": 2.0, "b": 3.0}, {"c": "u"}], ["x", "p"]))
    here.merge(NaiveBayes()).merge(here.fresh())
    NaiveBayes().merge(here)


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
        model.predict({"x": [1.0]})


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


BAD = [{"a": 1.0}, {"a": "one"}]  # not a number


@pytest.mark.parametrize(
    "first",
    [
        lambda m, X: m.fit(X, ["x", "y"]),
        lambda m, X: m.partial_fit(X, ["x", "y"], classes=["x", "y"]),
        lambda m, X: m.partial_fit(X, ["x", "y"]),
        lambda m, X: m.learn_many(X, ["x", "y"]),
        lambda m, X: m.test_then_train_batch(X, ["x", "y"]),
        lambda m, X: m.learn_one({"a": object()}, "x"),
    ],
)
def test_a_first_call_that_fails_leaves_no_trace(first):
    model = NaiveBayes()
    before = dict(vars(model))
    with pytest.raises(DataError):
        first(model, BAD)
    assert {name: value for name, value in vars(model).items() if name != "_sync"} == before
    with pytest.raises(NotFittedError):
        model.predict_proba([[1.0]])
    model.fit([[1.0, 2.0], [3.0, 4.0]], ["p", "q"])
    assert model.n_features_in_ == 2


def test_a_fit_that_fails_leaves_what_was_fitted_before():
    model = NaiveBayes().fit([[1.0, 2.0], [3.0, 4.0]], ["p", "q"])
    before = fingerprint(model), model.n_features_in_
    with pytest.raises(DataError):
        model.fit(BAD, ["x", "y"])
    assert (fingerprint(model), model.n_features_in_) == before


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda m: m.decay("x"), "decay\\('x'\\): the factor must lie in"),
        (lambda m: m.decay(None), "the factor must lie in"),
        (lambda m: m.learn_many([{"a": 1.0}], 3), "labels are a list or column.*: 3"),
        (lambda m: m.learn_many([{"a": 1.0}], "x"), "labels are a list or column.*: 'x'"),
        (lambda m: m.learn_many([{"a": 1.0}], np.array("x")), "labels are a list or column"),
        (lambda m: m.unlearn([{"a": 1.0}], 3), "labels are a list or column"),
        (lambda m: m.learn_one({"a": 1.0}, "x", 10**400), "a weight must be a finite number"),
        (lambda m: m.learn_many([{"a": 1.0}], ["x"], [10**400]), "a weight must be a finite number"),
        (lambda m: m.learn_one(3, "x"), "Expected 2D array"),
        (lambda m: m.predict_proba_one(3), "Expected 2D array"),
        (lambda m: m.predict_proba_many({"a": 3}), "column 'a': a column is a list or array of values: 3"),
        (
            lambda m: m.learn_many(pd.DataFrame([[1, 2]], columns=["a", "a"]), ["x"]),
            "two columns have the same name",
        ),
        (lambda m: m.learn_one({1: 3.0, "1": 4.0}, "x"), r"column '1': two keys of a record.*: \[3.0, 4.0\]"),
        (
            lambda m: m.predict_proba_many([{"a": 1.0}, {"1": 3.0, 1: "u"}]),
            "two keys of a record have the same",
        ),
        (lambda m: m.learn_batch({1: [3.0], "1": [4.0]}, ["x"]), "two columns have the same name"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(wrong, told):
    model = learned([{"a": 1.0}, {"a": 2.0}], ["x", "y"])
    before = fingerprint(model)
    with pytest.raises(BayouError, match=told):
        wrong(model)
    assert fingerprint(model) == before


GENERATIVE = {"BernoulliNB", "ComplementNB", "MajorityClass", "MultinomialNB", "NaiveBayes"}


@pytest.mark.parametrize("name", sorted({*classifiers.__all__, *ensembles.__all__}))
def test_a_parameter_of_the_wrong_type_is_bayous_own_error(name: str) -> None:
    """Whatever is passed, a model is made or says why not: no error comes from inside."""
    cls = getattr(bayou, name)
    for parameter in inspect.signature(cls).parameters:
        for value in ("nonsense", object()):
            with suppress(BayouError):
                cls(**{parameter: value}).learn_many([{"x": 1.0}, {"x": 2.0}], ["p", "q"])


def test_without_a_class_there_are_no_probabilities() -> None:
    model = bayou.NaiveBayes()
    model.learn_many([{"x0": 1.0}], [None])
    for method in (model.predict, model.predict_proba, model.predict_log_proba):
        with pytest.raises(NotFittedError, match="has met no class yet"):
            method([[1.0]])
