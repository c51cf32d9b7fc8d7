"""A record that is learned right after it was predicted is not encoded again; nobody can tell but by the clock."""

from __future__ import annotations

import threading
from contextlib import nullcontext, suppress

import numpy as np
import pytest

from bayou import Bagging, HoeffdingTree, NaiveBayes, ResetOnDrift, Sketch, WeightedNB
from bayou.encoding import records as plain
from bayou.errors import BayouError

MODELS = {
    "normal": lambda: NaiveBayes(numeric="gaussian"),
    "quantiles": lambda: NaiveBayes(numeric="gk"),
    "sketch": lambda: NaiveBayes(nominal=Sketch()),
    "tree": lambda: HoeffdingTree(grace=20, delta=0.05),
    "tree of quantiles": lambda: HoeffdingTree(grace=20, delta=0.05, numeric="gk", memory=1 << 16),
    "bagged": lambda: Bagging(HoeffdingTree(grace=20, delta=0.05), n_estimators=3),
    "weighted": WeightedNB,
    "reset": ResetOnDrift,
}


def stream(rows: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    for i in range(rows):
        x = {"a": float(rng.normal()), "b": int(rng.integers(5)), "c": "uvw"[rng.integers(3)]}
        if i % 7 == 0:
            x["a"] = None
        if i % 50 == 49:
            x[f"new{i}"] = 1.0  # a column comes
        yield x, bool(x["b"] > 2) if i < 250 else "late", [1.0, 0.0, 2, 0.25][i % 4]


@pytest.mark.parametrize("name", MODELS)
def test_predicted_then_learned_is_learned_with_the_same_bits(name):
    one, other = MODELS[name](), MODELS[name]()
    for x, y, w in stream(300):
        proba = one.predict_proba_one(x)
        one.learn_one(x, y, w)
        again = dict(x)  # another object: encoded anew, and kept with others
        assert other.predict_proba_one(dict(x)) == proba
        other.learn_one(again, y, w)
        assert one.position == other.position
    assert one.digest() == other.digest()
    for mine, theirs in zip(one.arrays().values(), other.arrays().values(), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_record_that_was_changed_in_between_is_learned_as_it_is():
    def changed(x, how):
        if how == "value":
            x["a"] = 7.0
        elif how == "type":
            x["b"] = True  # equal to 1, and no number
        elif how == "key":
            x["z"] = x.pop("c")
        elif how == "gone":
            del x["a"]
        return x

    for how in ("value", "type", "key", "gone"):
        one, other = NaiveBayes(), NaiveBayes()
        for model in (one, other):
            model.learn_many([{"a": 1.0, "b": 1, "c": "u"}, {"a": 2.0, "b": 2, "c": "v"}], [0, 1])
        x = {"a": 1.5, "b": 1, "c": "u"}
        one.predict_proba_one(x)
        for model, record in ((one, changed(x, how)), (other, changed({"a": 1.5, "b": 1, "c": "u"}, how))):
            with nullcontext() if how != "type" else suppress(BayouError):
                model.learn_one(record, 1)
        assert one.digest() == other.digest(), how


def test_odd_labels_and_weights_go_the_long_way():
    for y, w in (
        (2, 1.0),
        (None, 1.0),
        ([1], 1.0),
        (1, -1.0),
        (1, "x"),
        (1, 10**400),
        (np.int64(1), np.float32(2)),
    ):
        said = []
        for predicts in (True, False):
            model = NaiveBayes()
            model.learn_many([{"a": 1.0}, {"a": 2.0}], [0, 1])
            x = {"a": 1.5}
            if predicts:
                model.predict_proba_one(x)
            try:
                model.learn_one(x, y, w)
                said.append((None, model.digest()))
            except (BayouError, TypeError) as problem:
                said.append((str(problem), model.digest()))
        assert said[0] == said[1]


def test_what_all_blocks_share_is_never_written_to():
    for name, make in MODELS.items():
        model = make()
        for x, y, w in stream(120, 1):
            model.predict_proba_one(x)
            model.learn_one(x, y, w)
        labels = model._encoder.records._labels
        assert [label.tolist() for label in labels] == [[c] for c in (*range(len(labels) - 1), -1)], name
    assert plain._ONE.tolist() == [1.0]
    assert plain._UNLABELLED.tolist() == [-1]


def test_shards_have_locks_and_flags_of_their_own():
    origin = NaiveBayes(numeric="gaussian")
    origin.learn_many([{"a": 1.0}, {"a": 5.0}], [0, 1])
    one, other = origin.fresh(), origin.fresh()
    assert one._sync is not other._sync
    one.learn_one({"a": 1.0}, 0)
    other.learn_one({"a": 1.0}, 0)
    assert other.predict_proba_one({"a": 1.0}) == {0: 1.0, 1: 0.0}
    assert one.predict_proba_one({"a": 1.0}) == {0: 1.0, 1: 0.0}


def test_threads_that_predict_beside_one_that_predicts_and_learns():
    model, alone = NaiveBayes(numeric="gaussian"), NaiveBayes(numeric="gaussian")
    rows = list(stream(2000, 2))
    stop, problems = threading.Event(), []

    def ask():
        while not stop.is_set():
            for x, _, _ in rows[:50]:
                proba = model.predict_proba_one(x)
                if proba and abs(sum(proba.values()) - 1) > 1e-9:
                    problems.append(proba)

    askers = [threading.Thread(target=ask, daemon=True) for _ in range(2)]
    for asker in askers:
        asker.start()
    for x, y, w in rows:
        model.predict_proba_one(x)
        model.learn_one(x, y, w)
        alone.learn_one(dict(x), y, w)
    stop.set()
    for asker in askers:
        asker.join(60)
    assert not problems
    assert model.digest() == alone.digest()
