"""Weighted naive Bayes: the contract, naive Bayes as its start, what the weights are good for."""

from __future__ import annotations

import copy
import os

import numpy as np
import pytest
from reproduce.document_000 import (
    calibration_error,
    calibration_floor,
    holdout,
    is_large,
    mean_holdout,
    models,
    prequential,
    splits,
)
from reproduce.document_000_khiops import MISSING, PROGRAM, closed, compare
from reproduce.sets import DATA, SETS, load
from tests.seeds import seeds

from bayou import MEstimate, NaiveBayes
from bayou.classifiers.weighted import WeightedNB
from bayou.densities.binned import GKClass
from bayou.errors import SchemaError, UnsupportedError
from bayou.kernels.weights import RETURNS, RHO_SQUARES, SHIFT_SQUARES, TAU_SQUARES, WEIGHT
from bayou.laws import MergeLaw
from bayou.rates import (
    RATES,
    AdaGrad,
    Constant,
    Decaying,
    Experts,
    KunchevaPlumpton,
    MiniBatch,
    rate_recipe,
)
from bayou.schema import Declared
from bayou.summaries.weights import Weights
from bayou.testing import CHECKS, random_data

MODELS = {  # beside the default, on which the contract runs in test_contract.py
    "tied": lambda: WeightedNB(tied=True),
    "drift": lambda: WeightedNB(rate=Experts(forget=0.99, persistence=True, average=False)),
    "rule D": lambda: WeightedNB(rate=Experts(published=True), smoothing=MEstimate(2.0), prior="laplace"),
    "paper": lambda: WeightedNB(rate="paper"),
    "raw AdaGrad": lambda: WeightedNB(rate=AdaGrad(pmi=False)),
    "errors": lambda: WeightedNB(rate=KunchevaPlumpton(window=10)),
    "tied, decaying": lambda: WeightedNB(rate=Decaying(0.1, horizon=10), tied=True),
    "mini-batches": lambda: WeightedNB(rate=MiniBatch(rows=7)),
    "intervals": lambda: WeightedNB(GKClass(tuples=20)),
    "no smoothing": lambda: WeightedNB(smoothing=0.0),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_contract(name, check):
    for seed in seeds(name, check.__name__):
        check(MODELS[name], seed)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_rate_0_is_naive_bayes(seed, tied):
    """Up to rounding: it adds up what single columns say, naive Bayes takes one logarithm for all normal densities."""
    data = random_data(seed, 120)
    notes = ["be go up", "do so", "no be be", ""]
    records = [{**r, "note": notes[i % 4], "more": notes[i // 2 % 4]} for i, r in enumerate(data.records)]
    told = Declared(columns={"note": "text", "more": "text"})
    plain, weighted = (
        NaiveBayes("gaussian", schema=told),
        WeightedNB("gaussian", rate=Constant(0.0), tied=tied, schema=told),
    )
    for rows in (slice(0, 50), slice(50, 120)):
        expected = plain.test_then_train_batch(records[rows], data.labels[rows], data.weights[rows])
        found = weighted.test_then_train_batch(records[rows], data.labels[rows], data.weights[rows])
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
    for mine, theirs in zip(weighted.predict_proba_many(records), plain.predict_proba_many(records), strict=True):
        assert mine == pytest.approx(theirs, rel=1e-12)


def test_experts_that_never_learn_are_naive_bayes():
    data = random_data(3, 120)
    plain, weighted = NaiveBayes("gaussian"), WeightedNB("gaussian", rate=Experts(eta=0.0))
    for model in (plain, weighted):
        model.learn_many(data.records, data.labels, data.weights)
    for p, q in zip(
        plain.predict_proba_many(data.records), weighted.predict_proba_many(data.records), strict=True
    ):
        assert p == pytest.approx(q, abs=1e-12)


@pytest.mark.parametrize("view", ["numeric", "nominal", "words"])
@pytest.mark.parametrize("smoothing", [1.0, MEstimate(2.0)])
def test_terms_before_each_row_are_those_of_single_rows(view, smoothing):
    data = random_data(11, 100)
    records = [{**r, "note": f"w{i % 7} w{i % 3}"} for i, r in enumerate(data.records)]
    model = WeightedNB("gaussian", smoothing=smoothing, schema=Declared(columns={"note": "text"}))
    block = model.encode(records, data.labels, data.weights, learn=True)
    slow = copy.deepcopy(model.engine.views[view])
    units = np.zeros((block.n, block.numeric.shape[1]))
    found = model.engine.views[view].terms_then_update(block, units)
    for i in range(block.n):
        row = block.rows(i, i + 1)
        np.testing.assert_array_equal(found[i : i + 1], slow.column_terms(row))
        if view == "numeric":
            n, mean, m2 = slow.summary.n, slow.summary.mean, slow.summary.m2
            for j in range(units.shape[1]):
                total = n[:, j].sum()
                centre = (n[:, j] * mean[:, j]).sum() / max(total, 1.0)
                spread = (m2[:, j] + n[:, j] * (mean[:, j] - centre) ** 2).sum() / max(total, 1.0)
                expected = 0.5 * np.log(spread) if spread > 0 else 0.0
                assert units[i, j] == pytest.approx(expected, abs=1e-9)
        slow.update(row)


@pytest.mark.parametrize("rate", ["paper", "experts", AdaGrad(pmi=False)], ids=str)
def test_units_do_not_matter(rate):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    X = rng.normal(size=(400, 3)) + y[:, None] * [1.0, 0.5, 0.0]
    rate = Constant(0.05) if rate == "paper" else rate
    a, b = WeightedNB(rate=rate), WeightedNB(rate=rate)
    a.learn_many(X, y), b.learn_many(X * [1e-3, 1e4, 7.0], y)  # `fit` shuffles by what rows hold
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X * [1e-3, 1e4, 7.0]), atol=1e-9)
    assert not np.allclose(a.weights_, 1.0, atol=1e-4)


def test_copies_of_a_column_are_seen_through():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=4000)
    good = np.where(rng.random(4000) < 0.9, y, 1 - y)
    poor = np.where(rng.random(4000) < 0.7, y, 1 - y)
    rows = [
        {"good": str(g), **{f"copy {i}": str(p) for i in range(6)}} for g, p in zip(good, poor, strict=True)
    ]
    plain, weighted = NaiveBayes(), WeightedNB()
    for model in (plain, weighted):
        model.learn_many(rows[:3000], y[:3000])
    right = {m: np.mean(np.array(m.predict_many(rows[3000:])) == y[3000:]) for m in (plain, weighted)}
    assert right[weighted] > 0.88 > 0.75 > right[plain]


def test_persistence_follows_labels_that_hang_on():
    rng = np.random.default_rng(2)
    y = np.repeat(rng.integers(2, size=100), 20)
    X = rng.normal(size=(2000, 2)) + 0.5 * y[:, None]
    right = {}
    for persistence in (False, True):
        model = WeightedNB(rate=Experts(persistence=persistence))
        right[persistence] = np.mean(model.test_then_train_batch(X, y).argmax(axis=1) == y)
    assert right[True] > right[False] + 0.1


def test_new_classes_and_columns_start_as_the_others_stand():
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=500)
    rows = [{"a": str(v), "b": str(v), "c": str(v)} for v in np.where(rng.random(500) < 0.8, y, 1 - y)]
    model = WeightedNB()
    model.learn_many(rows, y)
    before = model.weights_
    assert before.max() < 1.0
    model.learn_one({"a": "9", "d": "x"}, 2)
    after = model.weights_
    assert after.shape == (4, 3)
    np.testing.assert_array_equal(after[:3, :2], before)
    shift = after[3, 0]
    assert shift < 1.0
    assert (after[3] == shift).all()


def test_merging_averages_by_rows():
    rng = np.random.default_rng(4)
    y = rng.integers(2, size=200)
    X = rng.normal(size=(200, 3)) + 0.5 * y[:, None]
    a, b = (WeightedNB(schema=Declared(classes=[0, 1])) for _ in range(2))
    a.learn_many(X[:150], y[:150]), b.learn_many(X[150:], y[150:])
    mine, theirs = (float(model.engine.weights.scalars[0]) for model in (a, b))
    expected = (a.weights_ * mine + b.weights_ * theirs) / (mine + theirs)
    merged = a.merge(b)
    np.testing.assert_allclose(merged.weights_, expected, rtol=1e-12)
    assert merged.law is MergeLaw.AVERAGED


@pytest.mark.parametrize("rate", [None, AdaGrad(0.1)], ids=repr)
@pytest.mark.parametrize("tied", [False, True])
def test_merging_adds_squared_gradients_and_rows(rate, tied):
    """Two models that have gone half the way each are as slow to move as one that has gone all of it."""
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=200)
    X = rng.normal(size=(200, 3)) + 0.5 * y[:, None]
    options = {"tied": tied} if rate is None else {"tied": tied, "rate": rate}
    a, b = (WeightedNB(schema=Declared(classes=[0, 1]), **options) for _ in range(2))
    a.learn_many(X[:150], y[:150]), b.learn_many(X[150:], y[150:])
    mine, theirs = ({k: v.copy() for k, v in m.engine.weights.arrays().items()} for m in (a, b))
    a.merge(b)
    merged = a.engine.weights.arrays()
    assert mine["squares"].any() or mine["columns"].any()
    for name, squares in (("squares", ...), ("bias", -1), ("columns", (slice(None), -1))):
        np.testing.assert_array_equal(merged[name][squares], mine[name][squares] + theirs[name][squares])
    for place in (WEIGHT, TAU_SQUARES, SHIFT_SQUARES, RHO_SQUARES, RETURNS):
        assert merged["scalars"][place] == mine["scalars"][place] + theirs["scalars"][place]


def test_refusals_give_reasons():
    model = WeightedNB().fit([[1.0], [2.0], [3.0]], [0, 1, 0])
    with pytest.raises(UnsupportedError, match="cannot unlearn"):
        model.unlearn([[1.0]], [0])
    with pytest.raises(UnsupportedError, match="cannot sample"):
        model.sample(3)
    with pytest.raises(SchemaError, match="rate='quick'"):
        WeightedNB(rate="quick").fit([[1.0]], [0])
    with pytest.raises(SchemaError, match="numeric='quick'"):
        WeightedNB("quick").fit([[1.0]], [0])
    for bad in (
        lambda: Constant(-1.0), lambda: Decaying(horizon=0.0), lambda: Experts(forget=0.0),
        lambda: KunchevaPlumpton(start=1.0), lambda: MiniBatch(rows=0),
        lambda: AdaGrad(float("nan")),
    ):  # fmt: skip
        with pytest.raises(SchemaError):
            bad()
    assert {type(rate_recipe(name)) for name in RATES} == set(RATES.values())


def test_nested_parameters():
    model = WeightedNB(numeric="gk").set_params(rate__eta=0.1, numeric__tuples=50, bins__method="greedy")
    assert model.rate == Experts(eta=0.1)
    assert model.numeric == GKClass(tuples=50)


def test_memory_of_two_thousand_columns():
    """Weights, tables, summaries and buffers within 24 MB."""
    model = WeightedNB("gk")
    rng = np.random.default_rng(0)
    for _ in range(3):
        X = rng.normal(size=(500, 2000))
        model.learn_many(X, rng.integers(2, size=500))
    assert model.memory_bytes <= 24e6


@pytest.mark.skipif(not DATA.exists(), reason="the shared data sets are not beside the project")
@pytest.mark.parametrize("numeric", ["gaussian", "gk"])
def test_better_than_naive_bayes_on_real_sets(numeric):
    make = {name: new for name, new in models(numeric).items() if name in ("NB", "WNB")}
    gains = []
    for name in ("kr-vs-kp", "segment", "spambase", "nursery", "mushroom"):
        found = holdout(load(name), make, seed=1)
        gains.append(found["WNB"]["accuracy"] - found["NB"]["accuracy"])
        assert gains[-1] >= -0.15, name
        assert found["WNB"]["log_loss"] <= found["NB"]["log_loss"] + 0.001, name
        assert found["WNB"]["ece"] <= found["NB"]["ece"] + 0.002, name
    assert np.mean(gains) >= 1.8


@pytest.mark.skipif(not DATA.exists(), reason="the shared data sets are not beside the project")
@pytest.mark.parametrize("numeric", ["gaussian", "gk"])
def test_no_worse_than_naive_bayes_on_small_sets(numeric):
    """Over 25 splits: little accuracy lost, no log-loss, and what it says is calibrated better."""
    make = {name: new for name, new in models(numeric).items() if name in ("NB", "WNB")}
    for name in ("breast-cancer", "heart-c", "labor"):
        plain, found = mean_holdout(load(name), make, 25).values()
        assert found["accuracy"] >= plain["accuracy"] - 0.6, name
        assert found["log_loss"] <= plain["log_loss"] + 0.001, name
        assert found["ece"] <= plain["ece"], name


@pytest.mark.skipif(not DATA.exists(), reason="the shared data sets are not beside the project")
@pytest.mark.parametrize("numeric", ["gaussian", "gk"])
@pytest.mark.parametrize("name", ["labor", "iris", "banana"])
def test_no_log_loss_above_naive_bayes_from_the_first_row(name, numeric):
    """Predicting, then learning: 57 rows are too few to find out which of six experts is the best one."""
    make = {name: new for name, new in models(numeric).items() if name in ("NB", "WNB")}
    found = prequential(load(name), make)
    assert found["WNB"]["log_loss"] <= found["NB"]["log_loss"] + 0.001


@pytest.mark.skipif("BAYOU_LONG" not in os.environ, reason="long; run with BAYOU_LONG=1")
@pytest.mark.skipif(not DATA.exists(), reason="the shared data sets are not beside the project")
@pytest.mark.parametrize(("numeric", "gain"), [("gaussian", 4.0), ("gk", 1.7)])
def test_all_real_sets(numeric, gain):
    make = {name: new for name, new in models(numeric).items() if name in ("NB", "WNB")}
    found = {}
    for name in SETS:
        data = load(name, 100_000)
        plain, weighted = mean_holdout(data, make, splits(data)).values()
        found[name] = plain, weighted
        assert weighted["accuracy"] >= plain["accuracy"] - (0.15 if is_large(data) else 0.6), name
        assert weighted["log_loss"] <= plain["log_loss"] + 0.001, name
        rows = prequential(data, make)
        assert rows["WNB"]["log_loss"] <= rows["NB"]["log_loss"] + 0.001, name
    means = {key: np.mean([weighted[key] for _, weighted in found.values()]) for key in ("ece", "debiased")}
    assert max(means.values()) <= 0.03
    assert np.mean([weighted["accuracy"] - plain["accuracy"] for plain, weighted in found.values()]) >= gain


def test_few_rows_cannot_show_a_small_calibration_error():
    """What a perfectly calibrated model shows on 50 rows is far above the .03 it would show on many."""
    sure = np.random.default_rng(0).uniform(0.5, 1.0, 50)
    assert calibration_floor(sure) > 0.06
    many = np.tile(sure, 1000)
    assert calibration_floor(many, draws=3) < 0.005
    assert calibration_error(np.full(10, 0.8), np.arange(10) < 5) == pytest.approx(0.3)


@pytest.mark.skipif("BAYOU_LONG" not in os.environ, reason="long; run with BAYOU_LONG=1")
@pytest.mark.skipif(not DATA.exists(), reason="the shared data sets are not beside the project")
@pytest.mark.skipif(PROGRAM is None, reason=MISSING)
def test_one_pass_closes_the_gap_to_offline_khiops():
    assert closed([compare(name, small_splits=2) for name in SETS]) >= 0.9


@pytest.mark.skipif(not DATA.exists(), reason="the shared data sets are not beside the project")
def test_drift_options_help_on_electricity():
    make = {
        "plain": WeightedNB,
        "forget": lambda: WeightedNB(rate=Experts(forget=0.999)),
        "both": lambda: WeightedNB(rate=Experts(forget=0.999, persistence=True)),
    }
    found = {name: run["accuracy"] for name, run in prequential(load("elec", 20_000), make).items()}
    assert found["both"] > found["forget"] > found["plain"]


@pytest.mark.parametrize("tied", [False, True])
def test_columns_that_no_row_has_change_no_bit(tied: bool) -> None:
    """A row costs what it holds: the steps of columns without a value are left out, and would be 0."""
    data = random_data(5, 200)
    absent = Declared(columns={f"absent {i}": "numeric" for i in range(70)})
    lonely, beside = WeightedNB(tied=tied), WeightedNB(tied=tied, schema=absent)
    for model in (lonely, beside):
        model.learn_many(data.records, data.labels, data.weights)
    assert len(beside.schema_.place) == 70 + len(lonely.schema_.place)
    assert lonely.predict_proba_many(data.records) == beside.predict_proba_many(data.records)


@pytest.mark.parametrize("eta", [0.0, 0.2])
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("persistence", [True, False])
@pytest.mark.parametrize("published", [True, False])
def test_experts_begin_with_what_their_recipe_says(eta, average, persistence, published):
    """Naive Bayes alone where nothing is learned; all even in the study's rule; else 95 % for naive Bayes."""
    rate = Experts(eta, average=average, persistence=persistence, published=published)
    found = Weights(rate).mixture_weights
    present = [
        True,
        eta > 0,
        eta > 0,
        average and eta > 0,
        persistence and eta > 0,
        *[not published and eta > 0] * 2,
    ]
    n = sum(present)
    first = 1.0 if n == 1 else 1 / n if published else 0.95
    rest = 0.0 if n == 1 else (1.0 - first) / (n - 1)
    np.testing.assert_allclose(found, [first, *(rest * p for p in present[1:])], rtol=1e-12)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    ("rate", "mean", "squares", "columns", "bias"),
    [
        (Experts(), True, True, True, 3),
        (Experts(average=False), False, True, True, 3),
        (AdaGrad(), False, True, False, 2),
        (Constant(), False, False, False, 2),
    ],
    ids=repr,
)
def test_a_rate_keeps_the_arrays_that_its_memory_is_told_of(rate, mean, squares, columns, bias, tied):
    model = WeightedNB("gaussian", rate=rate, tied=tied)
    model.learn_many([{"a": float(i), "b": float(i % 3)} for i in range(12)], [i % 4 for i in range(12)])
    found, k = model.engine.weights, 1 if tied else 4
    assert found.weights.shape == (2, k)
    assert found.mean.shape == ((2, k) if mean else (0, 0))
    assert found.squares.shape == ((2, k) if squares else (0, 0))
    assert found.columns.shape == (2 if columns and not tied else 0, 3)
    assert found.bias.shape == (bias, 4)
