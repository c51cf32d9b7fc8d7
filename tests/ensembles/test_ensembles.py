"""The contract on every ensemble, and on ensembles of other things."""

from __future__ import annotations

import pytest
from tests.seeds import seeds

from bayou import (
    AODE,
    FAN,
    FANC,
    SPC,
    TAN,
    TC,
    Collection,
    EcocNB,
    MajorityClass,
    MultinomialNB,
    NaiveBayes,
    ReadMany,
    SPCr,
    SuperParent,
    WeightedNB,
)
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.ensembles import AWE, AdaptiveForest, Bagging, Fading, ResetOnDrift, WeightedVoting, Window
from bayou.errors import MergeError, SchemaError, UnsupportedError
from bayou.testing import CHECKS, random_data
from bayou.testing.contract import check_memory

MODELS = {  # beside the defaults, on which the contract runs in tests/classifiers/test_contract.py
    "AdaptiveForest, nervous": lambda: AdaptiveForest(
        trees=2, warning=0.9, drift=0.7, grace=20, max_bytes=12_000
    ),
    "AWE, small chunks": lambda: AWE(chunk=20, members=3, folds=3),
    "AWE of words, oldest goes": lambda: AWE(MultinomialNB(), chunk=20, members=3, folds=3, replace="oldest"),
    "Bagging of naive Bayes, hard votes": lambda: Bagging(NaiveBayes(), n_estimators=3, vote="hard"),
    "Bagging of windows": lambda: Bagging(Window(rows=30, panes=3), n_estimators=2),
    "Fading, quick": lambda: Fading(half_life=10),
    "ResetOnDrift, nervous, of trees": lambda: ResetOnDrift(
        HoeffdingTree(grace=20, memory=12_000), delta=0.9, clock=4
    ),
    "WeightedVoting, fixed, soft": lambda: WeightedVoting(
        [NaiveBayes(), MajorityClass()], weights=[2, 1], vote="soft", threshold=0.3
    ),
    "Window, small": lambda: Window(rows=30, panes=3),
    "Window of AODE": lambda: Window(AODE(), rows=30, panes=3),
}
JOINT = [TAN, FAN, SuperParent, AODE, FANC, SPC, SPCr, TC, Collection, ReadMany]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_contract(name, check):
    # Their windows and chunks are full after 100 rows
    less = {"rows": (1_000, 1_000)} if check.__wrapped__ is check_memory else {}
    for seed in seeds(name, check.__name__):
        check(MODELS[name], seed, **less)


@pytest.mark.parametrize("member", JOINT)
def test_classifiers_over_joint_counts_are_members_like_others(member):
    """They name their columns, and a member has no schema but its parent's."""
    data = random_data(3, 80)
    model, alone = WeightedVoting([member()], vote="soft"), member()
    for each in (model, alone):
        for part in (data[:40], data[40:]):
            each.learn_many(part.records, part.labels, part.weights)
    assert model.predict_many(data.records) == alone.predict_many(data.records)


def test_structures_found_for_all_classes_are_not_coded():
    with pytest.raises(UnsupportedError, match="groups of classes"):
        EcocNB(TAN()).learn_one({"x": 1.0}, "a")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Bagging(n_estimators=0),
        lambda: Bagging(vote="loud"),
        lambda: Bagging(estimator="tree"),
        lambda: AWE(folds=1),
        lambda: AWE(replace="none"),
        lambda: AWE(estimator=3),
        lambda: Fading(half_life=0),
        lambda: Window(rows=10, panes=3),
        lambda: ResetOnDrift(delta=2.0),
        lambda: WeightedVoting([]),
        lambda: WeightedVoting([NaiveBayes()], weights=[1, 2]),
        lambda: WeightedVoting(weights="fame"),
        lambda: WeightedVoting(threshold=1.0),
    ],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(SchemaError):
        wrong().learn_one({"x": 1.0}, "a")


def test_what_cannot_fade_or_add_up_says_so_at_once():
    with pytest.raises(UnsupportedError, match="decay"):
        Fading(HoeffdingTree()).learn_one({"x": 1.0}, "a")
    with pytest.raises(UnsupportedError, match="merge"):
        Window(HoeffdingTree()).learn_one({"x": 1.0}, "a")
    with pytest.raises(MergeError):
        Bagging().merge(Bagging())


def test_merged_bagging_adds_up_member_by_member():
    a, b = random_data(1, 40), random_data(2, 40)
    one, two = (Bagging(NaiveBayes(), n_estimators=3) for _ in range(2))
    one.learn_many(a.records, a.labels, a.weights)
    two.learn_many(b.records, b.labels, b.weights)
    total = one.memory_bytes
    one.merge(two)
    assert one.memory_bytes >= total
    assert set(one.labels()) == {"a", "b", "c"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bagging(NaiveBayes(), n_estimators=2, vote="hard"),
        lambda: Bagging(WeightedNB(), n_estimators=2),
        lambda: WeightedVoting([NaiveBayes(), NaiveBayes()]),
        Fading,
    ],
)
def test_members_follow_the_schema_through_a_merge_and_beyond(make):
    """Workers that met other classes and columns: whoever votes must know them all, and those that come later."""
    here, there = make(), make()
    for i in range(40):
        here.learn_one({"x": i % 5 + 20 * (i % 2)}, "mp"[i % 2])
        there.learn_one({"x": 50 + i % 5, "sky": "blue"}, "a")
    here.merge(there)
    assert here.predict_one({"x": 52, "sky": "blue"}) == "a"
    for i in range(40):
        here.learn_one({"x": i % 5 - 60, "wind": "weak"}, "later")
    assert here.predict_one({"x": -58, "wind": "weak"}) == "later"
    assert here.predict_one({"x": 52}) == "a"
    assert here.predict_one({"x": 22}) == "p"


def test_members_share_nothing_with_the_template():
    template = NaiveBayes()
    model = Bagging(template, n_estimators=2)
    model.learn_one({"x": 1.0}, "a")
    assert not template.started
    assert model.get_params()["estimator"] is template


@pytest.mark.parametrize("make", [Bagging, AWE, Window, Fading, ResetOnDrift])
def test_an_ensemble_is_no_distribution_of_rows(make):
    model = make(NaiveBayes("gaussian")).fit([[1.0], [2.0], [3.0]], [0, 1, 0])
    with pytest.raises(UnsupportedError, match=r"cannot sample.*sample from its members' own kind"):
        model.sample(3)
