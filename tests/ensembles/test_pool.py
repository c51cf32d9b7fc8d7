"""Pools of classifiers: by their formulas, and what they are for."""

from __future__ import annotations

import numpy as np
import pytest
from tests.naive import forest as naive

from bayou import AODE, CountForest, MajorityClass, MergeLaw, NaiveBayes, NoChange, Pool, WeightedVoting
from bayou.errors import MergeError, SchemaError
from bayou.testing import CHECKS

MEMBERS = {
    "that merge": lambda: Pool([NaiveBayes("gaussian"), AODE(), MajorityClass()]),
    "that forget": lambda: Pool([CountForest(trees=4), NoChange()], forget=0.99),
}


@pytest.mark.parametrize("name", MEMBERS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(check, name):
    check(MEMBERS[name], 1)


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    records = [
        {"a": float(rng.normal(c)), "b": float(rng.normal(-c)), "sky": str(rng.integers(2) ^ (c > 1))}
        for c in y
    ]
    return records, [f"class {c}" for c in y]


def test_it_follows_its_formulas_row_by_row():
    records, labels = rows(200)
    model = Pool([NaiveBayes("gaussian"), AODE()])
    model.learn_many(records[:50], labels[:50])
    codes = {c: i for i, c in enumerate(model.schema_.classes.values)}
    twin, pool = naive.Pool(2, 3, 0.05), model.engine.pool
    twin.u, twin.u_mean, twin.u_squares = (a.copy() for a in pool.shared)
    twin.v, twin.v_mean, twin.v_squares = (a.copy() for a in pool.cells)
    twin.rows, twin.credit = int(pool.scalars[0]), pool.scalars[1:].copy()
    for record, label in zip(records[50:], labels[50:], strict=True):
        engine, block = model.engine, model.encode([record])
        said = np.array([member.joint_log_proba(block)[0] for member in engine.members])
        said = np.exp(said - said.max(axis=1, keepdims=True))
        opinions = said / said.sum(axis=1, keepdims=True)
        answer = np.exp(engine.joint_log_proba(block)[0])
        np.testing.assert_allclose(answer, twin.predict(opinions, engine.classes.weight)[3], rtol=1e-9)
        twin.learn(opinions, engine.classes.weight.copy(), codes[label], 1.0)
        model.learn_one(record, label)


def test_a_member_that_comes_three_times_is_not_heard_three_times():
    """Three copies of naive Bayes on columns that say the same are far too sure; the pool learns how sure to be."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 6000)
    x = rng.normal(y, 1.5)
    X = np.column_stack([x] * 6)
    alone, pool = NaiveBayes("gaussian"), Pool([NaiveBayes("gaussian")] * 3)
    loss = {}
    for name, model in (("alone", alone), ("pool", pool)):
        model.learn_many(X[:5000], y[:5000])
        given = model.predict_proba(X[5000:])[np.arange(1000), y[5000:]]
        loss[name] = -np.log(given).mean()
    assert loss["pool"] < loss["alone"] - 0.2


def test_runs_of_labels_are_heard_through_the_last_label():
    rng = np.random.default_rng(1)
    y = np.repeat(rng.integers(0, 2, 100), 20)
    X = rng.normal(size=(2000, 2))
    pool = Pool([NaiveBayes(), NoChange()], forget=0.999)
    proba = pool.test_then_train_batch(X, y)
    assert (proba[500:].argmax(axis=1) == y[500:]).mean() > 0.9


def test_members_that_need_the_order_of_shards_do_not_merge():
    for ensemble in (Pool, WeightedVoting):
        model = ensemble([NaiveBayes(), NoChange()])
        assert model.law is MergeLaw.NONE
        records, labels = rows(40)
        model.learn_many(records, labels)
        with pytest.raises(MergeError, match="does not merge"):
            model.merge(model.fresh())
    assert Pool([NaiveBayes(), AODE()]).law is MergeLaw.AVERAGED


@pytest.mark.parametrize("params", [{"rate": 0}, {"forget": 1.5}, {"estimators": []}], ids=str)
def test_parameters_are_checked(params):
    with pytest.raises(SchemaError, match=next(iter(params))):
        Pool(**params).fit([[1.0], [2.0]], [0, 1])
