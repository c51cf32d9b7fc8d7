"""Auto: by its formulas, what it promises about its candidates, and what it may cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.naive.followed import Followed
from tests.reach import reach

from bayou import AODE, Auto, HoeffdingTree, MajorityClass, NaiveBayes, NoChange, ReadMany, load
from bayou.ensembles import auto
from bayou.ensembles.auto import BACK, BUDGETS, FORGET, RATE, FollowedMembers
from bayou.ensembles.costs import Sizes
from bayou.errors import MergeError, SchemaError
from bayou.files import dumps, loads
from bayou.inspection.followed import candidates_of
from bayou.kernels import pool as kernels_pool
from bayou.summaries.outcomes import class_plan
from bayou.summaries.pool_weights import PoolWeights
from bayou.testing import CHECKS


def engine_of(*templates, costs=None, budget=np.inf):
    """Members followed by their record, without an estimator around them."""
    builders = [template.build_engine for template in templates]
    costs = [1.0] * len(builders) if costs is None else costs
    return FollowedMembers(builders, lambda sizes: np.array(costs, dtype=float), budget)


class Chosen(Auto):
    """Auto over candidates of a test's own, cheap enough for every check."""

    members = (NaiveBayes("gaussian"), AODE(), MajorityClass())

    def templates(self):
        return self.members

    def build_engine(self):
        return engine_of(*(template.blank() for template in self.members))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract_of_members_that_merge(check):
    check(Chosen, 1)


def rows(n, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    records = [{"a": float(rng.normal(c)), "b": float(rng.normal(-c)), "sky": str(c % 2)} for c in y]
    return records, [f"class {c}" for c in y]


def test_it_follows_its_formulas_row_by_row():
    records, labels = rows(200)
    model = Chosen()
    model.learn_many(records[:50], labels[:50])
    codes = {c: i for i, c in enumerate(model.schema_.classes.values)}
    twin, engine = Followed(3, 3, RATE, FORGET, BACK), model.engine
    twin.pool.u, twin.pool.u_mean, twin.pool.u_squares = (a.copy() for a in engine.pool.shared)
    twin.pool.v, twin.pool.v_mean, twin.pool.v_squares = (a.copy() for a in engine.pool.cells)
    twin.pool.rows, twin.shares = int(engine.pool.scalars[0]), engine.followed.shares.copy()
    for record, label in zip(records[50:], labels[50:], strict=True):
        engine, block = model.engine, model.encode([record])
        said = np.array([member.joint_log_proba(block)[0] for member in engine.members])
        said = np.exp(said - said.max(axis=1, keepdims=True))
        opinions = said / said.sum(axis=1, keepdims=True)
        answer = np.exp(engine.joint_log_proba(block)[0])
        expected = twin.learn(opinions, engine.classes.weight.copy(), codes[label])
        np.testing.assert_allclose(answer, expected, rtol=1e-9)
        model.learn_one(record, label)
    np.testing.assert_allclose(model.engine.followed.shares, twin.shares, rtol=1e-9)


def test_its_log_loss_stays_near_the_best_candidate_of_every_stretch():
    """Labels that repeat the last one for 1,000 rows, then depend on x, then repeat again: by fixed share."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=3000)
    runs = np.repeat(rng.integers(0, 2, 150), 20)
    y = np.where((np.arange(3000) // 1000) == 1, (x + rng.normal(0, 0.5, 3000) > 0).astype(int), runs)
    X = np.column_stack([x])
    members = [NaiveBayes("gaussian"), NoChange()]
    singles = {repr(m): m.test_then_train_batch(X, y) for m in members}
    model = Chosen()
    model.members = tuple(m.blank() for m in members)
    answer = model.test_then_train_batch(X, y)

    def loss(proba, lo, hi):
        return -np.log(np.maximum(proba[np.arange(lo, hi), y[lo:hi]], 1e-9)).mean()

    for lo in (1200, 2200):  # two hundred rows after each change
        best = min(loss(proba, lo, lo + 800) for proba in singles.values())
        assert loss(answer, lo, lo + 800) < best + 0.05


def test_members_beyond_the_budget_are_dropped_at_row_counts_and_the_best_one_stays(monkeypatch):
    monkeypatch.setattr(auto, "FIRST_WEIGHED", 1000)
    records, labels = rows(1500)
    engine = engine_of(NaiveBayes("gaussian"), AODE(), MajorityClass(), costs=[1, 3, 2], budget=1.5)
    model = Chosen()
    model.build_engine = lambda: engine
    monkeypatch.setattr(auto, "SIZED", 0)  # what follows is about weighing by errors
    model.learn_many(records[:999], labels[:999])
    assert engine.followed.active.tolist() == [1, 1, 1]
    seen, right, _, wrong = engine.followed.record[:, :3].copy()
    assert (seen == right + wrong).all()
    model.learn_many(records[999:], labels[999:])
    assert engine.followed.active.sum() == 1
    assert engine.followed.active[wrong.argmin()] == 1
    told = engine.followed.record[0]
    assert told[:3].max() > told[:3].min() == 997, "who was dropped has no record of later rows"
    assert engine.followed.shares[:3][engine.followed.active == 0].tolist() == [0.0, 0.0]
    assert engine.members[2].arrays()["classes.weight"].sum() == 0, "what was dropped has forgotten its rows"


@pytest.mark.parametrize("cut", [1, 7, 640, 5000])
def test_dropping_does_not_depend_on_blocks(cut, tmp_path, monkeypatch):
    monkeypatch.setattr(auto, "FIRST_WEIGHED", 1000)
    records, labels = rows(1300)

    def taught(size):
        model = Auto("fast")
        engine = FollowedMembers(
            model.builders(), lambda sizes: np.array([1.0, 0.3, 1.5, 1.8, 0, 0]) * sizes.columns / 3, 2.0
        )
        model.build_engine = lambda: engine
        for lo in range(0, 1300, size):
            model.learn_many(records[lo : lo + size], labels[lo : lo + size])
        return model

    model, whole = taught(cut), taught(1300)
    assert model.digest() == whole.digest()
    assert 0 in model.engine.followed.active.tolist()
    del model.build_engine
    model.save(tmp_path / "m.bayou")
    again = load(tmp_path / "m.bayou")
    assert again.digest() == model.digest()
    assert again.record_ == model.record_


def test_what_it_says_about_its_candidates_is_what_they_did():
    records, labels = rows(300)
    model = Chosen()
    model.learn_many(records, labels)
    alone = NaiveBayes("gaussian").test_then_train_batch(records, labels)
    names = sorted(set(labels))
    right = [names[p.argmax()] == c and p.any() for p, c in zip(alone, labels, strict=True)]
    told = model.record_["NaiveBayes(numeric='gaussian')"]
    # The first row of a class tells nothing
    assert told["accuracy"] == pytest.approx(np.sum(right) / (300 - 3))
    assert sum(model.shares_.values()) == pytest.approx(1.0)
    assert list(model.shares_.values()) == sorted(model.shares_.values(), reverse=True)


def wide(numeric=0, nominal=0, classes=2):
    return Sizes(numeric, nominal, 0, classes)


@pytest.mark.parametrize(
    ("sizes", "budget", "kept"),
    [
        (wide(7, 1), "balanced", ["CountForest()", "Bagging()"]),  # electricity
        (wide(16, classes=26), "balanced", ["CountForest()"]),  # letters: bagged trees are dear
        (wide(nominal=8, classes=5), "balanced", ["CountForest(trees=15)"]),  # nursery: naive Bayes is cheap
        (
            wide(nominal=8, classes=5),
            "accurate",
            ["CountForest()", "Bagging()"],
        ),  # the better one after 1,000 rows
    ],
)
def test_forests_are_sized_by_the_shape_of_the_table(sizes, budget, kept):
    """Of a table with so many columns and classes, 300 rows of noise: what may stay, and in which form."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=300) for j in range(sizes.numeric)}
    columns |= {f"a{j}": rng.choice(list("abc"), 300) for j in range(sizes.nominal)}
    table, y = pd.DataFrame(columns), np.arange(300) % sizes.classes
    model, by_row = Auto(budget), Auto(budget)
    model.learn_many(table[:255], y[:255])
    assert "CountForest()" in model.shares_
    for lo, hi in ((255, 256), (256, 300)):
        model.learn_many(table[lo:hi], y[lo:hi])
    by_row.learn_many(table, y)
    assert by_row.digest() == model.digest()
    assert model.engine.sizes() == sizes
    forests = [
        name for name, told in model.record_.items() if "For" in name or "Bag" in name if told["followed"]
    ]
    assert forests == kept
    again = loads(dumps(model))
    assert again.record_ == model.record_
    again.learn_many(table[:30], y[:30])
    model.learn_many(table[:30], y[:30])
    assert again.digest() == model.digest()


def test_a_pool_stays_as_sure_when_one_of_two_twins_is_dropped():
    rng = np.random.default_rng(4)
    pool, z, prior = PoolWeights(3, RATE, FORGET), rng.normal(size=(3, 4)), np.log(np.full(4, 0.25))
    pool.realign(class_plan([], list("abcd")))
    pool.shared[:2], pool.cells[:2] = rng.normal(size=(2, 3)), rng.normal(size=(2, 4, 4))
    z[2] = z[0]
    said = reach(kernels_pool.score)
    for which in (kernels_pool.WEIGHTS, kernels_pool.MEANS):
        before, after = np.empty(4), np.empty(4)
        said(which, 1 / 3, pool.shared, pool.cells, z, prior, before)
        pool_after = pool.copy()
        pool_after.hand_over(2, 0)
        said(
            which, 1 / 3, pool_after.shared, pool_after.cells, np.vstack([z[:2], [np.zeros(4)]]), prior, after
        )
        np.testing.assert_allclose(after, before, rtol=1e-9)
        said(which, 1 / 3, pool_after.shared, pool_after.cells, z, prior, after)
        np.testing.assert_allclose(after, before, rtol=1e-9)  # who is gone has no weight left


def test_what_is_kept_by_errors_fits_the_budget():
    """Whatever the shape: the best first, then all that fit."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        model = Auto(str(rng.choice(list(BUDGETS))))
        engine = model.build_engine()
        sizes = Sizes(*rng.integers(0, 60, 2).tolist(), int(rng.integers(0, 2)), int(rng.integers(2, 30)))
        engine.followed.record[3] = rng.permutation(len(engine.members) + 2)
        costs = engine._costs(sizes)
        dropped = engine._beyond_budget(costs)
        kept = np.delete(costs, dropped)
        assert kept.sum() <= engine.budget or np.count_nonzero(kept) == 1
        assert all(costs[m] > 0 for m in dropped)


def test_sizes_are_those_of_rows_that_teach():
    model = Auto("fast")
    model.learn_many([{"a": 1.0, "b": None}, {"a": 2.0, "b": None}], ["x", "y"])
    assert model.engine.sizes() == Sizes(1, 0, 0, 2)
    model.learn_many([{"a": 1.0, "b": "u", "c": "v"}], ["z"], [0.0])
    assert model.engine.sizes() == Sizes(1, 0, 0, 2)
    model.learn_many([{"b": "u"}], ["z"])
    assert model.engine.sizes() == Sizes(1, 1, 0, 3)


def test_budgets():
    assert repr(HoeffdingTree()) in map(repr, Auto("fast").templates())
    with pytest.raises(SchemaError, match="budget='cheap'"):
        Auto("cheap").learn_one({"x": 1.0}, "a")
    one, other = Auto("fast"), Auto("fast")
    for model in (one, other):
        model.learn_one({"x": 1.0}, "a")
    with pytest.raises(MergeError):
        one.merge(other)


def test_only_who_follows_candidates_tells_of_them():
    records, labels = rows(60)
    model, other = Chosen(), ReadMany()
    for one in (model, other):
        assert candidates_of(one) == {}
        one.learn_many(records, labels)
    assert candidates_of(model) == model.record_
    assert candidates_of(other) == {}, "its record is of another kind"
