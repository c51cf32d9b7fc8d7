"""Bugs of other systems that we must not repeat (the numbers are those of our list of peers' bugs)."""

from __future__ import annotations

import numpy as np
import pytest

from bayou import BernoulliNB, ComplementNB, Declared, MultinomialNB, NaiveBayes
from bayou.readings.kept import kept


def test_01_many_attributes_do_not_underflow():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    x = rng.normal(size=(200, 5000)) + 0.2 * y[:, None]
    proba = NaiveBayes().fit(x[:150], y[:150]).predict_proba(x[150:])
    assert np.isfinite(proba).all()
    assert np.mean((proba[:, 1] > 0.5) == y[150:]) > 0.9


def test_03_value_probabilities_sum_to_one_in_every_class():
    model = NaiveBayes()
    model.learn_many([{"c": v} for v in "aabbcd"], ["A", "A", "A", "B", "B", "B"])
    terms = model.engine.views["nominal"].column_terms(model.encode([{"c": v} for v in "abcd"]))[:, 0]
    assert np.exp(terms).sum(axis=0) == pytest.approx([1.0, 1.0])


def test_05_missing_is_the_same_in_every_entry_point():
    rows = [{"x": 1.0}, {"x": float("nan")}, {"x": None}, {}, {"x": 2.0}, {"x": 9.0}]
    labels = ["a", "a", "a", "a", "a", "b"]
    one, many, fitted = NaiveBayes(), NaiveBayes(), NaiveBayes()
    for x, y in zip(rows, labels, strict=True):
        one.learn_one(x, y)
    many.learn_many(rows, labels)
    fitted.partial_fit(np.array([[1.0], [np.nan], [np.nan], [np.nan], [2.0], [9.0]]), labels)
    assert one.predict_proba_one({"x": 1.5}) == many.predict_proba_one({"x": 1.5})
    assert one.predict_proba_one({"x": 1.5}) == fitted.predict_proba_one({"x0": 1.5})
    assert one.predict_proba_one({"x": float("nan")}) == pytest.approx({"a": 5 / 6, "b": 1 / 6})


def test_06_far_away_still_tells_classes_apart_and_a_perfect_column_counts():
    rng = np.random.default_rng(0)
    model = NaiveBayes("gaussian")
    model.learn_many([{"x": float(v)} for v in rng.normal(0, 1, 50)], ["near"] * 50)
    model.learn_many([{"x": float(v)} for v in rng.normal(10, 1, 50)], ["far"] * 50)
    assert model.predict_proba_one({"x": 30.0})["far"] > 0.999
    perfect = NaiveBayes("gaussian")
    perfect.learn_many([{"x": 0.0}, {"x": 1.0}] * 10, ["a", "b"] * 10)
    assert perfect.predict_proba_one({"x": 1.0})["b"] > 0.999


def test_07_labels_keep_their_identity():
    model = MultinomialNB()
    model.learn_many([{"w": 1}, {"v": 1}], [0, 1])
    model.learn_one({"v": 1}, 1)
    assert model.labels() == [0, 1]
    mixed = NaiveBayes()
    mixed.learn_many([{"x": 1.0}] * 4, [1, "1", True, 1.0])
    assert mixed.labels() == [True, 1, "1"]


def test_08_prediction_does_not_touch_the_vocabulary():
    model = BernoulliNB()
    model.learn_many([{f"w{i}": 1 for i in range(500)}, {"w0": 1}], ["a", "b"])
    model.predict_one({"w0": 1})
    before = dict(kept(model.engine.views["words"].summary.mark))
    model.predict_one({"w1": 1})
    after = kept(model.engine.views["words"].summary.mark)
    assert before
    assert all(after[reader] is tables for reader, tables in before.items())


def test_10_11_each_column_is_judged_on_its_own_scale_whatever_the_batches():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    x = np.column_stack([rng.normal(0, 100, 2000), rng.normal(1.5e-3 * y, 6e-4)])
    at_once = NaiveBayes().fit(x, y)
    by_row = NaiveBayes()
    for i in range(2000):
        by_row.partial_fit(x[i : i + 1], y[i : i + 1])
    assert at_once.score(x, y) > 0.87
    assert np.array_equal(at_once.predict_proba(x), by_row.refresh().predict_proba(x))


def test_12_unseen_values_and_strings_are_ordinary():
    model = NaiveBayes()
    model.learn_many([{"c": "a"}, {"c": "b"}, {"c": "b"}], ["x", "y", "y"])
    assert model.predict_proba_one({"c": "never"}) == pytest.approx({"x": 1 / 3, "y": 2 / 3})


def test_13_a_row_without_any_value_gets_the_prior():
    model = NaiveBayes()
    model.learn_many([{"x": 1.0, "c": "a"}, {"x": 2.0, "c": "b"}, {"x": 2.5, "c": "b"}], ["p", "q", "q"])
    for row in ({}, {"x": None, "c": None}):
        assert model.predict_proba_one(row) == pytest.approx({"p": 1 / 3, "q": 2 / 3})


@pytest.mark.parametrize("model", [MultinomialNB, ComplementNB, BernoulliNB])
def test_17_missing_counts_are_no_words_for_learning_and_predicting_alike(model):
    gaps, plain = model(), model()
    gaps.learn_many(
        [{"a": 2, "b": None}, {"a": float("nan"), "b": 1}, {"b": 3, "a": float("inf")}], [0, 1, 1]
    )
    plain.learn_many([{"a": 2}, {"b": 1}, {"b": 3}], [0, 1, 1])
    for gap in (None, float("nan"), float("inf"), 1e300):
        assert gaps.predict_proba_one({"a": 1, "b": gap}) == plain.predict_proba_one({"a": 1})


def test_18_a_stream_that_starts_empty_keeps_its_precision():
    rng = np.random.default_rng(0)
    model = NaiveBayes()
    hits = 0
    for _ in range(600):
        y = int(rng.integers(0, 2))
        x = {"tiny": float(rng.normal(1e-5 * y, 3e-6))}
        hits += model.predict_one(x) == y
        model.learn_one(x, y)
    assert hits > 500


def test_19_a_large_offset_does_not_cancel():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    x = (rng.normal(y, 1.0) * 1024).round() / 1024  # so that the shift below is exact
    near, far = (
        NaiveBayes().fit((x + shift)[:, None], y).predict_proba((x + shift)[:, None]) for shift in (0, 2**23)
    )
    np.testing.assert_allclose(near, far, atol=1e-8)


def test_20_missing_values_do_not_change_the_prior():
    model = NaiveBayes()
    model.learn_many([{"a": 1.0, "b": None}, {"a": None, "b": None}, {"a": 2.0, "b": 1.0}], ["x", "x", "y"])
    assert model.predict_proba_one({}) == pytest.approx({"x": 2 / 3, "y": 1 / 3})


def test_26_probabilities_are_a_distribution():
    model = NaiveBayes(schema=Declared(classes=["a", "b", "c"]))
    model.learn_many([{"x": 1.0}, {"x": 2.0}], ["a", "b"])
    assert sum(model.predict_proba_one({"x": 1.2}).values()) == pytest.approx(1.0, abs=1e-12)


def test_28_a_class_that_is_declared_and_absent_is_smoothed_once():
    told = Declared(classes=["a", "b", "c"], columns={"v": ["x", "y"]})
    model = NaiveBayes(prior="laplace", schema=told)
    model.learn_many([{"v": "x"}, {"v": "y"}, {"v": "x"}], ["a", "b", "a"])
    joint = {"a": 3 / 6 * 3 / 4, "b": 2 / 6 * 1 / 3, "c": 1 / 6 * 1 / 2}
    expected = {label: p / sum(joint.values()) for label, p in joint.items()}
    assert model.predict_proba_one({"v": "x"}) == pytest.approx(expected, abs=1e-12)
