"""Averaged naive Bayes: published weights, Khiops' scores, the sample, the contract."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from tests.naive.weights import fractional_weights, fractional_weights_cost
from tests.seeds import seeds

from bayou import Kernel, NaiveBayes, RoundedNormal, WeightedNB
from bayou.classifiers.averaged import AveragedNB
from bayou.errors import SchemaError, UnsupportedError
from bayou.readings.averaging import (
    SEARCHES,
    Evidence,
    bma,
    compression,
    direct,
    fractional,
    fractional_score,
    ones,
    selected,
    selection_cost,
    visited,
)
from bayou.schema import Declared
from bayou.summaries.kept_rows import stack, take
from bayou.summaries.reservoir import Reservoir, row_hashes
from bayou.testing import CHECKS, random_data
from bayou.testing.laws import check_cuts, check_empty, check_round_trip, check_weights

VECTORS = Path(__file__).parents[1] / "vectors"
AVERAGING = json.loads((VECTORS / "nb_averaging.json").read_text())
KHIOPS = json.loads((VECTORS / "snb_khiops.json").read_text())
UNIVARIATE = json.loads((VECTORS / "modl_khiops_comparison.json").read_text())
NAMES = ["Outlook", "Temperature", "Humidity", "Wind"]
TENNIS = """Sunny Hot High Weak No|Sunny Hot High Strong No|Overcast Hot High Weak Yes|Rain Mild High Weak Yes
Rain Cool Normal Weak Yes|Rain Cool Normal Strong No|Overcast Cool Normal Strong Yes|Sunny Mild High Weak No
Sunny Cool Normal Weak Yes|Rain Mild Normal Weak Yes|Sunny Mild Normal Strong Yes|Overcast Mild High Strong Yes
Overcast Hot Normal Weak Yes|Rain Mild High Strong No"""
ROWS = [row.split() for row in TENNIS.replace("\n", "|").split("|")]

MODELS = {kind: lambda kind=kind: AveragedNB(kind, rows=40) for kind in SEARCHES} | {
    "intervals": lambda: AveragedNB("fractional", rows=500, numeric="gk", bins="equal-frequency")
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_contract(name, check):
    for seed in seeds(name, check.__name__):
        check(MODELS[name], seed)


def tennis(kind):
    model = AveragedNB(kind)
    model.learn_many([dict(zip(NAMES, row[:4], strict=True)) for row in ROWS], [row[4] for row in ROWS])
    return model.refresh()


@pytest.mark.parametrize("kind", ["compression", "bma"])
def test_play_tennis_weights(kind):
    model = tennis(kind)
    expected = [AVERAGING[f"{kind}_weights"][name] for name in NAMES]
    np.testing.assert_allclose(model.weights_, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("kind", "named"), [("compression", "compression"), ("bma", "bma"), ("selected", "map"), ("ones", "all")]
)
def test_play_tennis_posterior(kind, named):
    found = tennis(kind).predict_proba_one(dict(zip(NAMES, AVERAGING["query"], strict=True)))
    np.testing.assert_allclose([found["Yes"], found["No"]], AVERAGING["posterior"][named], rtol=1e-9)


def test_play_tennis_costs():
    values = [sorted({row[j] for row in ROWS}) for j in range(4)]
    y = np.array([int(row[4] == "No") for row in ROWS], dtype=np.int32)
    columns = []
    for j in range(4):
        codes = np.array([values[j].index(row[j]) for row in ROWS])
        counts = np.ones((len(values[j]), 2))
        np.add.at(counts, (codes, y), 1)
        columns.append(np.log(counts / counts.sum(axis=0))[codes])
    evidence = Evidence(np.array(columns), np.log(np.bincount(y) / 14), y, np.ones(14), np.zeros(4))
    costs = visited(evidence)
    assert len(costs) == 16
    for model in AVERAGING["models"]:
        chosen = np.array([name in model["selection"] for name in NAMES])
        assert costs[chosen.tobytes()] == pytest.approx(model["cost"], rel=1e-9)
        loss = fractional_weights_cost(evidence.columns.tolist(), evidence.prior.tolist(), y, chosen.tolist())
        assert selection_cost(evidence, int(chosen.sum()), loss) == pytest.approx(model["cost"], rel=1e-9)
    assert selected(evidence).tolist() == [1.0, 0.0, 1.0, 0.0]
    assert ones(evidence).tolist() == [1.0] * 4
    assert compression(evidence)[0] == 1.0 > bma(evidence)[0]


def khiops_evidence(name, values, y):
    """Columns as Khiops cut them: cells, their smoothed probabilities, their costs."""
    n, used, columns, costs = len(y), [], [], []
    for told in UNIVARIATE[name]["variables"]:
        khiops, column = told["khiops"], values[told["variable"]]
        if khiops["parts"] < 2:
            continue
        table = np.array(khiops["table"], dtype=float)
        cell = np.searchsorted(khiops["cuts"], column, side="left")
        counted = np.zeros_like(table)
        np.add.at(counted, (cell, y), 1.0)
        assert counted.tolist() == table.tolist()
        e = 1.0 / (n + 1)
        columns.append(np.log((table + e) / (table.sum(axis=0) + len(table) * e))[cell])
        costs.append(khiops["constr"] - np.log(2.0) + khiops["prep"])
        used.append(told["variable"])
    prior = np.log(np.bincount(y) / n)
    return Evidence(np.array(columns), prior, y.astype(np.int32), np.ones(n), np.array(costs)), used


def khiops_data(name):
    if name == "adultlike":
        rows = list(csv.DictReader((VECTORS / "adultlike_5000.csv").read_text().splitlines()))
        labels = sorted({row["cls"] for row in rows}, key=[row["cls"] for row in rows].index)
        y = np.array([labels.index(row["cls"]) for row in rows])
        return {k: np.array([float(row[k]) for row in rows]) for k in rows[0] if k != "cls"}, y
    from sklearn.datasets import load_iris, load_wine

    found = {"iris": load_iris, "wine": load_wine}[name]()
    names = ["SL", "SW", "PL", "PW"] if name == "iris" else [f"f{i}" for i in range(13)]
    return dict(zip(names, found.data.T, strict=True)), found.target


@pytest.mark.parametrize("name", ["iris", "wine", "adultlike"])
def test_khiops_selective_naive_bayes(name):
    values, y = khiops_data(name)
    try:
        evidence, used = khiops_evidence(name, values, y)
    except AssertionError:
        evidence, used = khiops_evidence(name, values, 1 - y)  # the classes in Khiops' order
    told = KHIOPS[name]

    def score(weights):
        loss = evidence.loss(evidence.scores(weights), khiops=True)
        return fractional_score(evidence, weights, loss)

    theirs = np.array([told["khiops_weights"].get(variable, 0.0) for variable in used])
    assert score(theirs) == pytest.approx(told["score_of_khiops_weights"], rel=1e-9)
    assert score(np.zeros(len(used))) == pytest.approx(told["score_empty"], rel=1e-8)
    assert score(np.ones(len(used))) == pytest.approx(told["score_all_ones"], rel=1e-9)
    mine = fractional(evidence)
    assert score(mine) <= told["score_of_khiops_weights"] * 1.01
    if len(used) <= 4:
        np.testing.assert_allclose(mine, theirs, atol=5e-4 if name == "adultlike" else 1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_fractional_weights_are_those_of_the_slow_twin(seed):
    """Columns that tell the class, copies of them, and noise; few rows, where smoothing matters."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(8, 40)), int(rng.integers(2, 4))
    y = rng.integers(0, k, n).astype(np.int32)
    y[:k] = np.arange(k)
    columns = rng.normal(size=(5, n, k))
    columns[:3] += rng.uniform(0.2, 1.5, size=(3, 1, 1)) * np.eye(k)[y]
    columns[3] = columns[0] + 0.01 * columns[3]
    columns -= np.log(np.exp(columns).sum(axis=2, keepdims=True))
    costs, prior = rng.uniform(0.5, 30.0, 5), np.log(np.bincount(y) / n)
    found = fractional(Evidence(columns, prior, y, np.ones(n), costs))
    want = fractional_weights(columns.tolist(), prior.tolist(), y.tolist(), costs.tolist())
    assert found.tolist() == want


def test_kept_rows_that_stand_for_three_times_as_many_make_columns_three_times_as_cheap():
    """What it costs to describe a column is paid once, whatever share of the rows is kept."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 80).astype(np.int32)
    columns = rng.normal(size=(4, 80, 2)) + np.array([0.0, 0.3, 0.8, 1.5])[:, None, None] * np.eye(2)[y]
    prior, costs = np.log(np.bincount(y) / 80), np.array([3.0, 20.0, 40.0, 60.0])
    once = direct(Evidence(columns, prior, y, np.ones(80), costs))
    thrice = direct(Evidence(columns, prior, y, np.full(80, 3.0), 3.0 * costs))
    np.testing.assert_allclose(thrice, once, rtol=1e-9)
    cheap = direct(Evidence(columns, prior, y, np.full(80, 3.0), costs))
    assert (cheap >= once - 1e-9).all()
    assert (cheap > once + 1e-3).any()


def test_direct_optimisation_lowers_the_cost():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=1000).astype(np.int32)
    good = np.where(rng.random(1000) < 0.8, y, 1 - y)
    table = np.log([[0.8, 0.2], [0.2, 0.8]])
    columns = np.array([table[good]] * 4)
    evidence = Evidence(columns, np.log([0.5, 0.5]), y, np.ones(1000), np.zeros(4))
    found = direct(evidence)
    assert evidence.loss(evidence.scores(found)) < 0.8 * evidence.loss(evidence.scores(np.ones(4)))
    assert found.sum() == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_weights_of_one_are_naive_bayes(seed):
    """Up to rounding: it adds up what single columns say, naive Bayes takes one logarithm for all normal densities."""
    data = random_data(seed, 120)
    records = [{**r, "note": f"w{i % 7} w{i % 3}"} for i, r in enumerate(data.records)]
    told = Declared(columns={"note": "text"})
    plain, averaged = NaiveBayes("gaussian", schema=told), AveragedNB("ones", numeric="gaussian", schema=told)
    expected = plain.test_then_train_batch(records, data.labels, data.weights)
    found = averaged.test_then_train_batch(records, data.labels, data.weights)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
    for mine, theirs in zip(
        averaged.predict_proba_many(records), plain.predict_proba_many(records), strict=True
    ):
        assert mine == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("numeric", [Kernel(), Kernel(shape="epanechnikov"), RoundedNormal(floor=1e-75)])
def test_weights_over_kernels(numeric):
    """Densities read off quantile tuples: there are no moments whose rows could be counted."""
    data = random_data(1, 80)
    plain, ones = NaiveBayes(numeric), AveragedNB("ones", numeric=numeric)
    for model in (plain, ones):
        model.learn_many(data.records, data.labels)
    assert ones.predict_proba_many(data.records) == plain.predict_proba_many(data.records)
    for model in (AveragedNB("compression", numeric=numeric), WeightedNB(numeric)):
        model.learn_many(data.records, data.labels)
        proba = np.array([list(p.values()) for p in model.predict_proba_many(data.records)])
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_many_columns_are_searched_not_enumerated():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=500)
    X = rng.normal(size=(500, 12))
    X[:, 3] += 2.0 * y
    for kind in ("selected", "compression", "bma", "fractional"):
        model = AveragedNB(kind).fit(X, y)
        assert model.weights_.argmax() == 3, kind
        assert model.score(X, y) > 0.8


def test_the_sample_is_uniform_and_does_not_depend_on_the_cut():
    data = random_data(0, 60)
    model = AveragedNB(rows=10)
    kept = []
    for seed in range(200):
        block = model.encode(data.records, data.labels, np.ones(60), learn=True)
        whole, pieces = Reservoir(10, seed), Reservoir(10, seed)
        whole.kept = pieces.kept = take(block, np.zeros(0, dtype=np.int64))
        whole.update(block)
        for start in range(0, 60, 7):
            pieces.update(block.rows(start, min(60, start + 7)))
        assert {k: a.tobytes() for k, a in whole.arrays().items()} == {
            k: a.tobytes() for k, a in pieces.arrays().items()
        }
        kept.append(np.sort(np.argsort(row_hashes(seed, 0, 60))[:10]))
    times = np.bincount(np.concatenate(kept), minlength=60)
    assert abs(times - 200 / 6).max() < 4.5 * np.sqrt(200 / 6)


@pytest.mark.parametrize("check", [check_empty, check_cuts, check_weights, check_round_trip])
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_laws_of_the_sample(check, words, seed):
    check(lambda: Reservoir(30), seed, words)


def test_a_merged_sample_is_that_of_all_rows_seen():
    """Rows go on being numbered after all that either part has seen, or new ones would be drawn too often."""
    data = random_data(1, 60)
    model = AveragedNB(rows=10)
    block = model.encode(data.records, data.labels, np.ones(60), learn=True)
    parts = Reservoir(10), Reservoir(10)
    for part, (start, stop) in zip(parts, ((0, 25), (25, 60)), strict=True):
        part.kept = take(block, np.zeros(0, dtype=np.int64))
        part.update(block.rows(start, stop))
    taught = [int(part.seen[0]) for part in parts]
    assert min(taught) > 0
    parts[0].merge(parts[1])
    assert parts[0].seen.tolist() == [sum(taught)]
    assert parts[1].seen.tolist() == [taught[1]]


def test_rows_are_stacked_with_their_words():
    model = AveragedNB(schema=Declared(columns={"note": "text"}))
    block = model.encode([{"note": t} for t in ("aa bb", "", "bb cc cc")], ["x", "y", "x"], learn=True)
    twice = stack(take(block, np.array([2, 0])), block)
    assert twice.words[0].indptr.tolist() == [0, 2, 4, 6, 6, 8]
    assert twice.words[0].counts.tolist() == [1, 2, 1, 1, 1, 1, 1, 2]
    assert twice.y.tolist() == [0, 0, 0, 1, 0]


def test_refusals_give_reasons():
    model = AveragedNB().fit([[1.0], [2.0], [3.0]], [0, 1, 0])
    with pytest.raises(UnsupportedError, match="cannot unlearn"):
        model.unlearn([[1.0]], [0])
    with pytest.raises(UnsupportedError, match="cannot sample"):
        model.sample(3)
    with pytest.raises(SchemaError, match="weights='best'"):
        AveragedNB("best").fit([[1.0]], [0])
    with pytest.raises(SchemaError, match="rows=0"):
        AveragedNB(rows=0).fit([[1.0]], [0])
