"""Bootstrap weights by hash, and votes."""

from __future__ import annotations

import json
import math
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.naive.ensembles import poisson, voted

import bayou
from bayou import NaiveBayes
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.engines import Views
from bayou.ensembles import Bagging
from bayou.ensembles.bagging import cumulative
from bayou.kernels.poisson import poisson_weights
from bayou.kernels.votes import log_votes
from bayou.testing import random_data

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "awe_oza_cms.json").read_text())


def weights(y, w, member=0, first=0, seed=1, rate=1.0):
    out = np.empty(len(y))
    poisson_weights(np.array(y, dtype=np.int32), np.array(w), cumulative(rate), seed, member, first, out)
    return out


@pytest.mark.parametrize("rate", [1.0, 6.0])
def test_weights_are_the_plain_ones(rate):
    for seed, member in ((1, 0), (1, 7), (123456789, 3)):
        mine = weights([0] * 300, [1.0] * 300, member, 5, seed, rate)
        assert mine.tolist() == [poisson(seed, member, 5 + i, rate) for i in range(300)]


def test_rows_without_weight_or_label_are_not_numbered():
    full = weights([0, 1, 0], [1.0, 1.0, 2.0])
    thin = weights([0, -1, 1, 1, 0], [1.0, 1.0, 0.0, 1.0, 2.0])
    assert thin[[0, 3, 4]].tolist() == full.tolist()
    assert thin[[1, 2]].tolist() == [0.0, 0.0]


def test_weights_are_poisson():
    n = 200_000
    drawn = weights([0] * n, [1.0] * n)
    for k, p in enumerate(VECTORS["poisson1"]):
        assert np.mean(drawn == k) == pytest.approx(p, abs=5 * math.sqrt(p / n))
    other = weights([0] * n, [1.0] * n, member=1)
    assert abs(np.corrcoef(drawn, other)[0, 1]) < 0.01
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 0.01


@pytest.mark.parametrize("hard", [True, False])
def test_votes_are_the_plain_ones(hard):
    rng = np.random.default_rng(0)
    joint = rng.normal(size=(4, 50, 3)) * 3
    joint[0, :5] = -np.inf
    joint[:, 5] = -np.inf
    joint[1, 7, 2] = -np.inf
    share = rng.choice([0.0, 0.5, 2.0], (50, 4))
    out = np.empty((50, 3))
    log_votes(joint, share, np.arange(3), hard, out)
    for i in range(50):
        expected = voted(joint[:, i].tolist(), share[i].tolist(), hard)
        assert np.exp(out[i]).tolist() == pytest.approx(expected, abs=1e-12)


def test_hard_votes_of_equals_go_to_the_first_in_canonical_order():
    joint = np.log(np.array([[[0.5, 0.5]]]))
    out = np.empty((1, 2))
    log_votes(joint, np.ones((1, 1)), np.array([1, 0]), True, out)
    assert out.tolist() == [[-np.inf, 0.0]]


def test_it_is_members_taught_with_those_weights():
    data = random_data(3, 200)
    model = Bagging(NaiveBayes("gaussian"), n_estimators=3, rate=1.0, seed=9)
    proba = model.test_then_train_batch(data.records, data.labels, data.weights)
    parts = []
    block = model.encode(data.records, data.labels, data.weights)
    for m in range(3):
        alone = NaiveBayes("gaussian")
        alone.learn_many(data.records[:0], [])
        twin = model.fresh().engine.members[m]
        drawn = weights(block.y, block.w, m, 0, 9)
        joint = twin.test_then_train(replace(block, w=drawn))[:, model.engine.class_order()]
        top = joint.max(axis=1, keepdims=True)
        p = np.exp(joint - np.where(np.isfinite(top), top, 0.0))
        parts.append(p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300))
    total = sum(parts)
    votes = total.sum(axis=1, keepdims=True)
    expected = np.divide(total, votes, out=np.zeros_like(total), where=votes > 0)
    np.testing.assert_allclose(proba, expected, atol=1e-12)


def test_threads_do_not_show_in_the_bits():
    data = random_data(5, 600)
    prints = []
    for threads in (1, 2):
        bayou.set_threads(threads)
        model = Bagging(HoeffdingTree(grace=30), n_estimators=4)
        model.learn_many(data.records, data.labels, data.weights)
        prints.append(model.digest())
    assert prints[0] == prints[1]


def test_members_share_one_encoded_block_and_two_threads(monkeypatch):
    data = random_data(5, 600)
    bayou.set_threads(2)
    seen = []
    learn = Views.learn

    def watched(self, block):
        seen.append((threading.get_ident(), block.numeric))
        learn(self, block)

    monkeypatch.setattr(Views, "learn", watched)
    Bagging(HoeffdingTree(), n_estimators=4).learn_many(data.records, data.labels, data.weights)
    threads = [thread for thread, _ in seen]
    assert sorted(threads.count(thread) for thread in set(threads)) == [2, 2]
    assert all(np.shares_memory(seen[0][1], numeric) for _, numeric in seen)


def test_nested_ensembles_do_not_wait_for_each_other():
    data = random_data(5, 600)
    bayou.set_threads(2)
    model = Bagging(Bagging(Bagging(NaiveBayes(), 2), 2), 4)
    model.learn_many(data.records, data.labels, data.weights)
    assert model.predict_one(data.records[0]) in {"a", "b", "c"}
