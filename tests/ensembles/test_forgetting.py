"""Fading and sliding windows forget what they should, when they should."""

from __future__ import annotations

import numpy as np
import pytest

from bayou import NaiveBayes
from bayou.ensembles import Fading, Window
from bayou.testing import random_data


def test_fading_weights_by_age():
    """Counts of one class per row are a sum of 2^(-age / half-life), decayed once per period."""
    model = Fading(half_life=32)
    for _ in range(10):
        model.learn_one({"x": "v"}, "a")
    model.learn_one({"x": "v"}, "b")
    assert model.engine.period == 2
    weight = model.arrays()["member.0.classes.weight"]
    expected = sum(2 * 2.0 ** (-2 * age / 32) for age in range(1, 6))
    assert weight.tolist() == pytest.approx([expected, 1.0])


def test_faded_half_after_a_half_life():
    model = Fading(half_life=64)
    model.learn_one({"x": 1.0}, "a", 100.0)
    for _ in range(64):
        model.learn_one({"x": 1.0}, "b")
    assert model.arrays()["member.0.classes.weight"][0] == pytest.approx(50.0, rel=0.05)


def test_merged_fading_is_in_stream_order():
    early, late = Fading(half_life=100), Fading(half_life=100)
    early.learn_one({"x": 1.0}, "a", 8.0)
    for _ in range(100):
        late.learn_one({"x": 1.0}, "b")
    early.merge(late)
    assert early.arrays()["member.0.classes.weight"][0] == pytest.approx(4.0)


@pytest.mark.parametrize("n", [5, 30, 31, 39, 40, 95])
def test_a_window_is_a_model_of_the_latest_panes(n):
    data = random_data(n, 120, odd=False)
    rows = [i for i in range(len(data)) if data.weights[i] > 0][:n]
    data = data.take(rows)
    model = Window(NaiveBayes("gaussian"), rows=30, panes=3)
    model.learn_many(data.records, data.labels, data.weights)
    kept = n if n < 30 else 20 + n % 10
    plain = NaiveBayes("gaussian")
    plain.learn_many(data.records[n - kept :], data.labels[n - kept :], data.weights[n - kept :])
    for x in data.records[:20]:
        theirs = plain.predict_proba_one(x)
        mine = {c: p for c, p in model.predict_proba_one(x).items() if p > 0}
        assert mine == pytest.approx({c: p for c, p in theirs.items() if p > 0}, abs=1e-9)


def test_window_forgets_a_huge_value_without_a_trace():
    model = Window(rows=20, panes=2)
    model.learn_one({"x": 1e12}, "a")
    rng = np.random.default_rng(0)
    for i in range(60):
        model.learn_one({"x": float(rng.normal(i % 2 * 5))}, "ab"[i % 2])
    assert model.predict_one({"x": 5.0}) == "b"
    assert model.predict_one({"x": 0.0}) == "a"


@pytest.mark.parametrize("numeric", ["auto", "gk", "gaussian"])
def test_looking_changes_no_digest(numeric):
    """Classes come in another order than the canonical one, in which sums over classes may round otherwise."""
    rng = np.random.default_rng(0)
    classes = rng.integers(3, size=300)
    rows = [{"z": float(rng.normal(c)), "k": float(rng.normal())} for c in classes]
    model = Window(NaiveBayes(numeric))
    model.learn_many(rows, ["ubm"[c] for c in classes])
    before = model.digest()
    model.arrays()
    model.predict_proba_many(rows[:5])
    assert model.digest() == before
