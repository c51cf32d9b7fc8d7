"""Labels that are rather measurements, or come again under another type, are told, whichever way they come."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from bayou import NaiveBayes
from bayou.errors import TargetWarning

PRICES = np.random.default_rng(0).permutation(3000) + 10_000


@pytest.mark.parametrize(
    "learn",
    [
        lambda m: m.fit(np.ones((200, 1)), PRICES[:200]),
        lambda m: m.partial_fit(np.ones((200, 1)), PRICES[:200]),
        lambda m: m.learn_many([{"a": 1.0}] * 200, (PRICES[:200] / 7).tolist()),
        lambda m: m.learn_many([{"a": 1.0}] * 6000, PRICES.repeat(2)),
    ],
)
def test_a_numeric_target_is_told(learn):
    with pytest.warns(TargetWarning, match="different numbers in .* pandas.qcut .* strings"):
        learn(NaiveBayes())


def test_it_is_told_once_in_a_stream():
    model = NaiveBayes()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for price in PRICES[:300].tolist():
            model.learn_one({"a": 1.0}, price)
    assert [w.category for w in caught] == [TargetWarning]


@pytest.mark.parametrize(
    "labels",
    [
        [str(i) for i in range(200)],  # names
        [i % 100 for i in range(200)],
        np.arange(900).repeat(3),
    ],
)
def test_classes_are_not(labels):
    NaiveBayes().fit(np.ones((len(labels), 1)), labels)


@pytest.mark.parametrize(("first", "second"), [([0, 1], "1"), (["0", "1"], 1), (["True", "False"], True)])
def test_a_class_that_comes_again_under_another_type_is_told(first, second):
    model = NaiveBayes()
    model.learn_many([{"a": 1.0}, {"a": 2.0}], first)
    with pytest.warns(TargetWarning, match="is a new class, beside"):
        model.learn_one({"a": 3.0}, second)
    model.learn_one({"a": 3.0}, second)  # told once
    assert len(model.labels()) == 3
