"""Hoeffding trees: MOA's vectors, the plain twin, the contract, memory, words, and where they start from."""

from __future__ import annotations

import copy
import json
import random
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.naive.tree import NaiveTree, entropy, gini
from tests.seeds import seeds

from bayou import NaiveBayes
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.densities.binned import GKClass
from bayou.errors import BayouError, ModelFileError, SchemaError
from bayou.readings.equal import EqualFrequency, EqualWidth
from bayou.readings.fayyad_irani import FayyadIrani
from bayou.readings.splits import Gini, GTest, InformationGain, hoeffding_bound, table_merit
from bayou.testing import CHECKS

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "hoeffding.json").read_text())

MODELS = {
    "g-test, little memory": lambda: HoeffdingTree(grace=15, delta=0.9, memory=12_000),
    "g-test, naive Bayes leaves": lambda: HoeffdingTree(grace=10, delta=0.9, leaf="bayes", memory=12_000),
    "g-test, one branch per value": lambda: HoeffdingTree(
        grace=10, delta=0.9, split=GTest(binary=False), memory=12_000
    ),
    "g-test, quantiles": lambda: HoeffdingTree(
        grace=10, delta=0.9, numeric=GKClass(tuples=8), memory=150_000
    ),
    "eager, gini": lambda: HoeffdingTree(grace=20, delta=0.1, split="gini", memory=12_000),
    "eager, binary, little memory": lambda: HoeffdingTree(
        grace=15, delta=0.2, memory=6000, split=InformationGain(binary=True)
    ),
    "naive Bayes leaves": lambda: HoeffdingTree(
        grace=30, delta=0.1, split="gain", leaf="bayes", memory=12_000
    ),
    "quantiles, Fayyad-Irani": lambda: HoeffdingTree(
        grace=20,
        delta=0.1,
        numeric=GKClass(tuples=8),
        split=InformationGain(cuts=FayyadIrani()),
        memory=150_000,
    ),
    "majority leaves": lambda: HoeffdingTree(
        grace=10, delta=0.3, split="gain", leaf="majority", memory=12_000
    ),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_contract(name, check):
    for seed in seeds(name, check.__name__):
        check(MODELS[name], seed)


@pytest.mark.parametrize("case", VECTORS["bounds"], ids=lambda c: f"R={c['R']:.2f},d={c['delta']},n={c['n']}")
def test_bounds(case):
    assert hoeffding_bound(case["R"], case["delta"], case["n"]) == pytest.approx(case["eps"], rel=1e-12)


def test_merits_of_the_spam_table():
    """Document 004's table of 6 messages: information gain in bits and Gini reductions."""
    money = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 0.0]])
    assert table_merit(money, InformationGain()) == pytest.approx(0.9182958340544896)
    one = np.array([[2.0, 1.0], [2.0, 1.0]])
    assert table_merit(one, InformationGain()) == pytest.approx(0.0, abs=1e-12)
    two = np.array([[3.0, 0.0], [1.0, 2.0]])
    assert table_merit(two, InformationGain()) == pytest.approx(0.459148, abs=1e-6)
    assert table_merit(two, Gini()) == pytest.approx(0.222222, abs=1e-6)
    assert table_merit(np.array([[2.0, 0.0], [2.0, 2.0]]), InformationGain()) == pytest.approx(
        0.251629, abs=1e-6
    )
    assert table_merit(np.array([[2.0, 0.0], [2.0, 2.0]]), Gini()) == pytest.approx(0.111111, abs=1e-6)


def draw(case, n):
    """The rows of a vector: y, then A, B, C in this order from one generator."""
    rng = random.Random(case["seed"])
    for _ in range(n):
        y = rng.randint(0, 1)
        a = y if rng.random() < case["pA"] else 1 - y
        b = y if rng.random() < case["pB"] else 1 - y
        yield {"A": str(a), "B": str(b), "C": str(rng.randint(0, 1))}, y


@pytest.mark.parametrize("case", VECTORS["moa_split_times"], ids=lambda c: f"seed={c['seed']}")
def test_first_split_is_where_moa_splits(case):
    model = HoeffdingTree(split="gain")
    first = None
    for i, (x, y) in enumerate(draw(case, 3600), 1):
        model.learn_one(x, y)
        if first is None and i % 200 == 0 and model.leaves > 1:
            first = i
    assert first == case["moa_first_split_n"] == case["rule_first_split_n"]
    assert model.path({"A": "0", "B": "0", "C": "0"})[0].startswith(case["gains"][0][1])


def mixed_rows(seed, n, missing=0.1):
    rng = random.Random(seed)
    for _ in range(n):
        a, b = rng.gauss(0, 1), rng.random()
        sky, wind = rng.choice("rgb"), rng.choice(["weak", "strong"])
        y = "up" if (a > 0.3 if sky == "r" else b > 0.6) else ("down" if wind == "weak" else "level")
        if rng.random() < 0.1:
            y = rng.choice(["up", "down", "level"])
        row = {"a": a, "b": b, "sky": sky, "wind": wind}
        yield (
            {k: None if rng.random() < missing else v for k, v in row.items()},
            y,
            rng.choice([0.0, 1.0, 1.0, 2.0]),
        )


@pytest.mark.parametrize("leaf", ["adaptive", "bayes", "majority"])
@pytest.mark.parametrize(("split", "impurity"), [("gain", entropy), ("gini", gini)])
@pytest.mark.parametrize("seed", range(3))
def test_is_the_plain_tree(leaf, split, impurity, seed):
    rows = list(mixed_rows(seed, 600))
    plain = NaiveTree(grace=25, delta=0.3, tie=0.2, impurity=impurity, leaf=leaf)
    model = HoeffdingTree(grace=25, delta=0.3, tie=0.2, split=split, leaf=leaf)
    proba = model.test_then_train_batch(
        [x for x, _, _ in rows], [y for _, y, _ in rows], [w for *_, w in rows]
    )
    labels = model.labels()
    for (x, y, w), mine in zip(rows, proba.tolist(), strict=True):
        theirs = plain.predict(x)
        for label, p in zip(labels, mine, strict=True):
            assert p == pytest.approx(theirs.get(label, 0.0), abs=1e-7)
        plain.learn(x, y, w)
    assert model.leaves > 4
    assert len(plain.splits) > 3


@pytest.mark.parametrize("leaf", ["adaptive", "bayes", "majority"])
@pytest.mark.parametrize("seed", range(3))
def test_the_g_test_is_the_plain_one(leaf, seed):
    rows = list(mixed_rows(seed, 700))
    plain = NaiveTree(grace=25, delta=0.3, leaf=leaf, tested=True)
    model = HoeffdingTree(grace=25, delta=0.3, leaf=leaf)
    proba = model.test_then_train_batch(
        [x for x, _, _ in rows], [y for _, y, _ in rows], [w for *_, w in rows]
    )
    for (x, y, w), mine in zip(rows, proba.tolist(), strict=True):
        theirs = plain.predict(x)
        assert mine == pytest.approx([theirs.get(label, 0.0) for label in model.labels()], abs=1e-7)
        plain.learn(x, y, w)
    assert model.leaves > 4


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=6))
def test_no_two_groups_of_values_are_better_with_two_classes(table):
    """Against brute force over all ways to divide the values in two (Breiman et al., 1984, theorem 4.5)."""
    counts = np.array(table, dtype=float)
    met = np.flatnonzero(counts.sum(axis=1))
    assume(len(met) > 1)
    best = 0.0
    for size in range(1, len(met)):
        for left in combinations(met, size):
            halves = np.stack((counts[list(left)].sum(axis=0), counts[np.setdiff1d(met, left)].sum(axis=0)))
            best = max(best, table_merit(halves, InformationGain(min_branch=0.0)))
    beyond = 2 * np.log(2) * counts.sum() * table_merit(counts, InformationGain(min_branch=0.0))
    # Else the values tell no more than chance, and no groups are looked for
    assume(beyond > len(met) - 1 + 1e-9)
    assert table_merit(counts, GTest(min_branch=0.0)) == pytest.approx(best, abs=1e-12)


def test_many_classes_split_soon_and_beat_naive_bayes():
    """26 classes whose cells lie on a board: Hoeffding's bound over log2 26 bits waits for 70,000 rows."""
    rng = np.random.default_rng(3)
    n, cells = 8000, 36
    cell = rng.integers(cells, size=n)
    X = np.column_stack((cell % 6, cell // 6)) + rng.normal(0, 0.15, (n, 2))
    X = np.column_stack((X, rng.normal(size=(n, 3))))
    y = np.array([chr(ord("a") + c) for c in rng.permutation(cells) % 26])[cell]
    learned, tested = slice(0, 6000), slice(6000, None)
    bayes = NaiveBayes("gaussian").fit(X[learned], y[learned]).score(X[tested], y[tested])
    tree = HoeffdingTree().fit(X[learned], y[learned])
    assert tree.leaves > 10
    assert tree.score(X[tested], y[tested]) > bayes + 0.05
    assert HoeffdingTree(split="gain").fit(X[learned], y[learned]).leaves == 1


def test_names_with_hundreds_of_values_cost_nothing():
    """Two columns of 300 values tell the class together with a third: one branch per value would leave 20 rows each."""
    rng = np.random.default_rng(5)
    n = 6000
    start, goal, day = rng.integers(300, size=n), rng.integers(300, size=n), rng.integers(7, size=n)
    delayed = rng.random(n) < 0.2 + 0.3 * (start % 3 == 0) + 0.3 * (goal % 4 == 0) + 0.1 * (day == 4)
    table = {
        "start": [f"s{v}" for v in start],
        "goal": [f"g{v}" for v in goal],
        "day": [f"d{v}" for v in day],
    }
    labels = ["late" if d else "on time" for d in delayed]
    right = {}
    for model in (NaiveBayes(), HoeffdingTree(), HoeffdingTree(grace=50, delta=0.1, split="gain")):
        proba = model.test_then_train_batch(table, labels)
        said = np.array(model.labels())[proba[1000:].argmax(axis=1)]
        right[model] = np.mean(said == np.array(labels[1000:]))
    bayes, tested, multiway = right.values()
    assert tested > bayes - 0.01
    assert multiway < bayes - 0.04


def test_a_group_of_values_is_told_in_words():
    model = HoeffdingTree(grace=50)
    for i in range(400):
        model.learn_one({"sky": "abcdefgh"[i % 8]}, "low" if i % 8 < 6 else "high")
    assert model.path({"sky": "c"}) == ("sky in {a, b, c, d, e and 1 more}",)
    assert model.path({"sky": "h"}) == ("sky in {g, h}",)
    assert '[label="sky in {g, h}"]' in model.dot()
    assert model.leaves == 2
    assert model.depth == 1
    assert model.predict_one({"sky": "never seen"}) == "low"  # where most rows went


def test_chance_does_not_split():
    """A hundred looks at columns that have nothing to do with the class."""
    grown = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = np.column_stack((rng.normal(size=(500, 2)), rng.integers(4, size=(500, 2))))
        names = {f"n{j}": [f"v{int(v)}" for v in X[:, j]] for j in (2, 3)}
        model = HoeffdingTree(grace=100, delta=0.01)
        model.learn_many({"a": X[:, 0], "b": X[:, 1], **names}, rng.choice(["u", "v", "w"], 500).tolist())
        grown += model.leaves > 1
    assert grown <= 3


@pytest.mark.parametrize("seed", range(2))
def test_cuts_of_quantiles_are_the_plain_ones_where_every_value_has_a_tuple(seed):
    rows = [({**x, "a": x["a"] and round(x["a"], 1)}, y, w) for x, y, w in mixed_rows(seed, 500)]
    plain = NaiveTree(grace=25, delta=0.3, tie=0.2, counted=True)
    model = HoeffdingTree(grace=25, delta=0.3, tie=0.2, split="gain", numeric=GKClass(tuples=500))
    proba = model.test_then_train_batch(
        [x for x, _, _ in rows], [y for _, y, _ in rows], [w for *_, w in rows]
    )
    for (x, y, w), mine in zip(rows, proba.tolist(), strict=True):
        theirs = plain.predict(x)
        assert mine == pytest.approx([theirs.get(label, 0.0) for label in model.labels()], abs=1e-7)
        plain.learn(x, y, w)
    assert model.leaves > 4


@pytest.mark.parametrize("cuts", [None, EqualWidth(bins=30), EqualFrequency(bins=30), FayyadIrani()])
def test_quantiles_see_stripes(cuts):
    """Both classes have the same mean, spread and range: to the moments they look alike."""
    x = np.random.default_rng(1).random((5000, 2))
    y = np.where(np.floor(8 * np.abs(x[:, 0] - 0.5)) % 2 == 0, "even", "odd")
    counted = HoeffdingTree(numeric="gk", split=InformationGain(cuts=cuts), tie=0.1, leaf="majority").fit(
        x, y
    )
    moments = HoeffdingTree(tie=0.1, split="gain", leaf="majority").fit(x, y)
    assert counted.score(x, y) > 0.95 > 0.9 > moments.score(x, y)


def test_what_leaves_cannot_keep_is_refused():
    for wrong in ("kernel", "histogram", GKClass(eps=0.1)):
        with pytest.raises(SchemaError):
            HoeffdingTree(numeric=wrong).learn_one({"x": 1.0}, "a")


@pytest.mark.parametrize("seed", range(3))
def test_binary_splits_are_the_plain_ones(seed):
    rows = list(mixed_rows(seed, 500, missing=0.0))
    plain = NaiveTree(grace=25, delta=0.3, tie=0.2, leaf="majority", binary=True)
    model = HoeffdingTree(grace=25, delta=0.3, tie=0.2, leaf="majority", split=InformationGain(binary=True))
    for x, y, w in rows:
        plain.learn(x, y, w)
        model.learn_one(x, y, w)
    assert model.leaves == 1 + len(plain.splits)
    for x, _, _ in rows[:50]:
        assert model.predict_proba_one(x) == pytest.approx(plain.predict(x) | dict.fromkeys(
            set(model.labels()) - set(plain.predict(x)), 0.0), abs=1e-9)  # fmt: skip


def test_before_the_first_split_it_is_naive_bayes():
    rows = list(mixed_rows(1, 150))
    tree, bayes = HoeffdingTree(grace=1e9, leaf="bayes"), NaiveBayes("gaussian")
    arguments = [x for x, _, _ in rows], [y for _, y, _ in rows], [w for *_, w in rows]
    mine, theirs = tree.test_then_train_batch(*arguments), bayes.test_then_train_batch(*arguments)
    # Up to rounding, since a leaf adds one logarithm per column; earlier, a class of equal values is read differently
    np.testing.assert_allclose(mine[30:], theirs[30:], rtol=1e-12, atol=1e-300)


def test_a_class_of_equal_values_does_not_become_a_spike():
    """10 rows of a class at exactly 0 say little about a column where the others lie around 0 as well."""
    model = HoeffdingTree(leaf="bayes")
    for i in range(100):
        model.learn_one({"x": [0.0, 0.5, -0.5, 0.0][i % 4]}, "common")
    for _ in range(10):
        model.learn_one({"x": 0.0}, "rare")
    assert model.predict_proba_one({"x": 0.0})["common"] > 0.8


def test_column_order_and_the_place_of_the_class_are_irrelevant():
    rows = list(mixed_rows(3, 800, missing=0.0))
    trees = []
    for names in (["a", "b", "sky", "wind"], ["wind", "sky", "b", "a"]):
        model = HoeffdingTree(grace=50, delta=0.1)
        for x, y, w in rows:
            model.learn_one({name: x[name] for name in names}, y, w)
        trees.append(model.text())
    assert trees[0] == trees[1]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_accuracy_stays_below_the_bayes_rate_wherever_the_class_stands(place):
    """MOA's tree read the class through a nominal split (MOA issue 175); here nothing can exceed 60 %."""
    rng = random.Random(7)
    model, right = HoeffdingTree(grace=50), 0
    for _ in range(6000):
        y = rng.choice("uv")
        values = {"n0": y if rng.random() < 0.6 else "uv"["vu".index(y)], "n1": rng.choice("pq")}
        names = list(values)
        names.insert(place, "class")
        x = {name: values[name] for name in names if name != "class"}
        right += model.predict_one(x) == y
        model.learn_one(x, y)
    assert right / 6000 < 0.60 + 3 * 0.0063
    assert model.leaves > 1


def test_new_classes_values_and_columns_after_a_split():
    model = HoeffdingTree(grace=20, delta=0.1)
    for i in range(100):
        model.learn_one({"sky": "ab"[i % 2], "x": i % 5}, "ab"[i % 2])
    assert model.leaves == 2
    for i in range(200):
        model.learn_one({"sky": "c", "x": 9, "wind": "wp"[i % 2], "t": float(i)}, "c")
    assert model.predict_one({"sky": "c", "x": 9}) == "c"
    assert model.predict_one({"sky": "b"}) == "b"
    assert set(model.predict_proba_one({})) == {"a", "b", "c"}


def test_missing_values_go_where_most_rows_went():
    model = HoeffdingTree(grace=20, delta=0.1, leaf="majority")
    for i in range(120):
        model.learn_one({"sky": "b" if i % 3 else "a"}, "often" if i % 3 else "seldom")
    assert model.leaves == 2
    assert model.predict_one({}) == model.predict_one({"sky": "never seen"}) == "often"


@pytest.mark.parametrize("seed", range(8))
def test_densities_of_the_classes_a_leaf_has_met_are_current(seed):
    rng = np.random.default_rng(seed)
    n = 400
    y = np.minimum(rng.geometric(0.5, n), 5)  # some classes come late, and to few leaves
    x = np.round(rng.normal(size=(n, 3)) + y[:, np.newaxis] * [0.0, 1.0, -1.0], 1)
    x[rng.random((n, 3)) < 0.3] = np.nan
    x[y == 2, 1] = 0.5  # a class of equal values leans on the others
    model = HoeffdingTree(grace=20, delta=0.9, memory=12_000)
    met = 0
    for start in range(0, n, 7):
        model.learn_many(x[start : start + 7], y[start : start + 7])
        (view,) = model.engine.parts().values()
        tree, kept = view.summary, view.summary.statistics
        read = copy.deepcopy(kept)
        read.read()
        for leaf in range(int(tree.nodes.used[0])):
            slot = tree.slot(leaf)
            if slot >= 0:
                possible = tree.nodes.weight[leaf] > 0
                met += possible.any() and not possible.all()
                assert np.array_equal(kept.tables[slot][:, possible], read.tables[slot][:, possible])
    assert met


def test_memory_limit_is_kept_and_the_promising_leaves_stay_active():
    limit = 12_000
    model = HoeffdingTree(grace=30, delta=0.5, tie=0.3, memory=limit)
    free = HoeffdingTree(grace=30, delta=0.5, tie=0.3, memory=None)
    for part in range(40):
        rows = list(mixed_rows(part, 200, missing=0.0))
        for each in (model, free):
            each.learn_many([x for x, _, _ in rows], [y for _, y, _ in rows])
        assert model.memory_bytes <= limit
    assert free.memory_bytes > 2 * limit
    tree = model.tree.summary
    assert 0 < tree.dormant < model.leaves
    assert model.leaves < free.leaves


def test_dormant_leaves_come_back():
    tree = HoeffdingTree(grace=30, delta=0.5, tie=0.3, memory=9_000)
    was, back = set(), set()
    for part in range(30):
        rows = list(mixed_rows(part, 200, missing=0.0))
        tree.learn_many([x for x, _, _ in rows], [y for _, y, _ in rows])
        active = set(tree.tree.summary.active().tolist())
        leaves = set(tree.tree.summary.nodes.leaves().tolist())
        back |= active & was
        was |= leaves - active
    assert back


def test_text_path_explanation_and_picture():
    model = HoeffdingTree(grace=20, delta=0.1, split=InformationGain(binary=True))
    for i in range(200):
        model.learn_one({"sky": "abc"[i % 3], "x": float(i % 7)}, "yes" if i % 3 == 1 else "no")
    assert model.text().splitlines()[0] == "root"
    assert "sky = b: naive Bayes, yes 100 %" in model.text()
    assert model.text(depth=0) == "root ..."
    assert model.path({"sky": "b", "x": 1.0}) == ("sky = b",)
    told = model.explain({"sky": "b", "x": 1.0})
    assert told.label == "yes"
    assert told.path == ("sky = b",)
    assert set(told.leaf) == {"yes"}
    assert told.base + sum(told.terms.values()) + told.together == pytest.approx(told.log_odds)
    assert "path" in str(told)
    assert '0 -> 1 [label="sky = b"]' in model.dot()


def test_starts_from_a_scikit_learn_tree():
    tree_module = pytest.importorskip("sklearn.tree")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] > 0.2, np.where(X[:, 1] > 0, "a", "b"), "c")
    theirs = tree_module.DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    mine = HoeffdingTree.from_tree(theirs, grace=50)
    fresh = rng.normal(size=(200, 3))
    assert mine.predict(fresh).tolist() == theirs.predict(fresh).tolist()
    assert mine.leaves == theirs.get_n_leaves()
    flipped = np.where(fresh[:, 2] > 0, "a", "b")
    for _ in range(20):
        mine.partial_fit(fresh, flipped)
    assert mine.leaves > theirs.get_n_leaves()
    assert mine.score(fresh, flipped) > 0.9


def test_starts_from_its_own_kind():
    grown = MODELS["eager, gini"]()
    rows = list(mixed_rows(1, 500))
    grown.learn_many([x for x, _, _ in rows], [y for _, y, _ in rows])
    again = HoeffdingTree.from_tree(grown, leaf="majority")
    assert again.leaves == grown.leaves
    assert again.text(1).split(":")[0] == grown.text(1).split(":")[0]
    with pytest.raises(BayouError, match="cannot start from"):
        HoeffdingTree.from_tree(NaiveBayes())


def test_wrong_parameters_are_refused():
    for wrong in ({"leaf": "oracle"}, {"split": "entropy"}, {"grace": 0}, {"delta": 0.0}, {"delta": 1.5}):
        with pytest.raises(SchemaError):
            HoeffdingTree(**wrong).learn_one({"x": 1.0}, "a")
    with pytest.raises(SchemaError):
        Gini(candidates=0)


def spoil(name, place, value):
    def change(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value
        return arrays

    return change


@pytest.mark.parametrize(
    "change",
    [
        spoil("tree.nodes", (0, 3), 99),  # children that do not exist
        spoil("tree.branches", slice(None), 0),  # no children at all
        spoil("tree.nodes", (0, 1), 77),  # a column that does not exist
        spoil("tree.nodes", (0, 5), 1000),
        spoil("tree.nodes", (1, 7), 500),  # a slot that does not exist
        spoil("tree.used", 0, 1000),
        spoil("tree.weight", (0, 0), -1.0),
        spoil("tree.cuts", 0, np.nan),
        spoil("tree.moments", (0, 0, 0, 0), -3.0),
    ],
)
def test_impossible_states_are_refused(change):
    model = MODELS["eager, gini"]()
    rows = list(mixed_rows(1, 300))
    model.learn_many([x for x, _, _ in rows], [y for _, y, _ in rows])
    assert model.leaves > 1
    twin = model.fresh()
    twin.restore(copy.deepcopy(dict(model.arrays())))
    with pytest.raises(ModelFileError):
        model.fresh().restore(change(dict(model.arrays())))


def test_the_column_of_a_split_is_not_forgotten_by_the_leaves():
    """A leaf that began it empty read it off its first few rows, and said the wrong class by 21 nats on hepatitis."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 4 == 3
    X = np.where(y, rng.normal(4.0, 1.5, 200), rng.normal(1.0, 0.6, 200))[:, None]
    model = HoeffdingTree(grace=200)
    model.partial_fit(X, y)
    assert model.leaves == 2
    tree = model.tree.summary
    cut, left = float(tree.nodes.cuts[0]), tree.slot(1)
    n, mean, m2, low, high = tree.statistics.moments[left, :, 0, 0]  # the class of the smaller values
    inside = X[~y & (X[:, 0] <= cut), 0]
    assert n == pytest.approx(len(inside), rel=0.05)
    assert mean == pytest.approx(inside.mean(), abs=0.1)
    assert np.sqrt(m2 / n) == pytest.approx(inside.std(), rel=0.1)
    assert low == inside.min()
    assert high <= cut
    for x in np.linspace(0.0, 2.0, 9):
        assert model.predict_one({"x0": x}) is False
