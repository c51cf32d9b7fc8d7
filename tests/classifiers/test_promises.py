"""Promises that once did not hold: what merging, unlearning and cutting may not change."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from bayou import AODE, FAN, TAN, Grid, NaiveBayes, Sketch, Window
from bayou.testing import random_data
from bayou.testing.contract import fingerprint, taught


def dependent_rows(seed, n):
    """Nominal rows of two classes in which columns depend on each other, so that there is a structure to find."""
    rng = np.random.default_rng(seed)
    rows = [{f"x{j}": str(rng.integers(0, 3)) for j in range(5)} for _ in range(n)]
    for row in rows:
        row["x1"] = row["x0"] if rng.random() < 0.7 else row["x1"]
    labels = ["a" if (row["x0"] == row["x2"]) != (rng.random() < 0.2) else "b" for row in rows]
    return rows, labels


@pytest.mark.parametrize("kind", [TAN, FAN])
@pytest.mark.parametrize("seed", range(10))
def test_merging_an_empty_model_keeps_the_structure(kind, seed):
    rows, labels = dependent_rows(seed, 50)  # between two refresh points: a search now would find another one
    model = kind()
    model.learn_many(rows, labels)
    before = model.digest()
    for empty in (kind(), model.fresh()):
        assert copy.deepcopy(model).merge(empty).digest() == before


@pytest.mark.parametrize("kind", [TAN, FAN])
@pytest.mark.parametrize("seed", range(10))
def test_merged_and_unlearned_structures_are_those_of_one_pass_once_refreshed(kind, seed):
    rows, labels = dependent_rows(seed, 50)
    whole, first, second = kind(), kind(), kind()
    whole.learn_many(rows, labels)
    first.learn_many(rows[:30], labels[:30])
    second.learn_many(rows[30:], labels[30:])
    without = copy.deepcopy(whole).unlearn(rows[30:], labels[30:])
    assert without.refresh().digest() == copy.deepcopy(first).refresh().digest()
    assert first.merge(second).refresh().digest() == whole.refresh().digest()


def test_a_grid_stays_as_it_was_frozen_when_rows_are_unlearned():
    data = random_data(4, 60, odd=False)
    model = taught(lambda: AODE(numeric=Grid(warm_up=20)), data)
    shard = model.fresh()
    shard.learn_many(data[:15].records, data[:15].labels, data[:15].weights)
    rest = data[15:]
    model.unlearn(rest.records, rest.labels, rest.weights)
    assert model.refresh().digest() == shard.refresh().digest()


@pytest.mark.parametrize("numeric", ["pid", "cpid", "gk", "kernel", "rounded-normal", "gaussian"])
def test_a_negative_zero_keeps_its_bits_when_a_column_arrives(numeric):
    rows = [{"a": -0.0}, {"a": 1.0}, {"a": -0.0, "b": -0.0}, {"a": 2.0, "c": 1.0}]
    labels = ["p", "q", "p", "q"]
    at_once, by_rows = NaiveBayes(numeric=numeric), NaiveBayes(numeric=numeric)
    at_once.learn_many(rows, labels)
    for row, label in zip(rows, labels, strict=True):
        by_rows.learn_many([row], [label])
    assert fingerprint(at_once) == fingerprint(by_rows)


@pytest.mark.parametrize(
    "options",
    [
        {"numeric": "rounded-normal"},
        {"numeric": "kernel"},
        {"numeric": "gk"},
        {"numeric": "cpid", "bins": "equal-frequency"},
        {"groups": "modl"},
        {"groups": "modl", "nominal": "sketch"},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(4))
def test_a_pane_filled_before_a_class_or_column_came_has_the_reading_of_one_pass(options, seed):
    data = random_data(seed, 90)[: 34 + 6 * seed]  # classes come from row 30, columns from row 45 on
    factory = lambda: Window(NaiveBayes(**options), rows=20, panes=4)  # noqa: E731
    at_once, by_rows = taught(factory, data), factory()
    for x, y, w in zip(data.records, data.labels, data.weights, strict=True):
        by_rows.learn_many([x], [y], [w])
    assert fingerprint(at_once) == fingerprint(by_rows)


@pytest.mark.parametrize("groups", ["modl", None])
def test_an_unlabelled_first_row_teaches_heavy_hitters_nothing(groups):
    model, thin = (NaiveBayes(nominal=Sketch(), groups=groups) for _ in range(2))
    model.learn_one({"a": "x"}, None)
    for each in (model, thin):
        each.learn_many([{"a": "x"}, {"a": "y"}, {"a": "x"}], ["p", "q", None])
    assert model.predict_proba_one({"a": "x"}) == thin.predict_proba_one({"a": "x"})
