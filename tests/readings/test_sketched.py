"""Tables of values without end: equal to plain tables while values fit, and whole under the contract when not."""

from __future__ import annotations

import numpy as np
import pytest
from tests.readings.sketching import SketchedNB
from tests.seeds import seeds

from bayou.align import from_empty
from bayou.encoding import Encoder
from bayou.errors import DataError
from bayou.persist.kinds import Kinds
from bayou.persist.model_file import dumps, loads
from bayou.readings.categorical import CategoricalEstimator, MEstimate
from bayou.readings.modl_groups import MODLGroups
from bayou.readings.sketched import Sketch, SketchedTable
from bayou.schema import Declared, Schema
from bayou.summaries.value_counts import ValueCounts
from bayou.testing import check_classifier
from bayou.testing.data import random_data


@pytest.mark.parametrize("nominal", ["sketch", "tight", "count-min"])
def test_contract(nominal):
    check_classifier(lambda: SketchedNB(nominal), seeds=seeds("sketched", nominal))


@pytest.mark.parametrize(
    ("nominal", "groups"),
    [
        ("sketch", None),
        ("tight", None),
        ("count-min", None),
        ("sketch", MODLGroups()),
        ("tight", MODLGroups()),
    ],
    ids=["sketch", "tight", "count-min", "sketched groups", "tight groups"],
)
def test_files(nominal, groups):
    kinds = Kinds({"SketchedNB": SketchedNB}, {"Declared": Declared, "MODLGroups": MODLGroups})
    data = random_data(7, 100)
    model = SketchedNB(nominal, groups)
    model.learn_many(data.records[:70], data.labels[:70], data.weights[:70])
    again = loads(dumps(model, kinds), kinds)
    for one in (model, again):
        one.learn_many(data.records[70:], data.labels[70:], data.weights[70:])
    assert again.predict_proba_many(data.records) == model.predict_proba_many(data.records)
    assert again.digest() == model.digest()


def encoded(data, hashed):
    schema = Schema(Declared(hash_values=hashed))
    block, growth = Encoder(schema).encode(data.records, data.labels, data.weights, learn=True)
    schema.grow(growth)
    return block, schema


@pytest.mark.parametrize(
    "table", [CategoricalEstimator(), CategoricalEstimator(0.5), MEstimate(1.0).table()], ids=repr
)
@pytest.mark.parametrize("seed", range(4))
def test_same_bits_as_plain_counts_while_values_fit(table, seed):
    data = random_data(seed, 150)
    (block, schema), (plain, plain_schema) = encoded(data, True), encoded(data, False)
    sketch, counts = Sketch().summary(), ValueCounts()
    sketch.realign(from_empty(schema)), counts.realign(from_empty(plain_schema))
    reader = SketchedTable.like(table)
    for act in ("predict_then_update", "add_log_prob"):
        found, want = np.zeros((block.n, 3)), np.zeros((block.n, 3))
        getattr(reader, act)(sketch, block, found)
        getattr(table, act)(counts, plain, want)
        assert np.array_equal(found, want)
    assert np.array_equal(reader.terms(sketch, block), table.terms(counts, plain))


def test_a_model_with_a_vocabulary_and_one_without_agree():
    data = random_data(5, 120)
    with_words, without = SketchedNB("counts"), SketchedNB("sketch")
    for model in (with_words, without):
        model.learn_many(data.records, data.labels, data.weights)
    assert with_words.predict_proba_many(data.records) == without.predict_proba_many(data.records)
    assert all(v.values == [] for v in without.schema_.vocabularies.values())
    one = {"sky": "blue", "flag": True}
    assert with_words.predict_proba_one(one) == without.predict_proba_one(one)
    for model in (with_words, without):
        model.learn_one({"sky": "green", "wide": 3.0}, "a")
        model.learn_one({"sky": "blue", "wide": None}, "b")
    assert with_words.predict_proba_one(one) == without.predict_proba_one(one)


def test_values_that_are_not_kept_are_the_garbage_value():
    model = SketchedNB("tight")
    rows = [("ann", "buys")] * 6 + [("bob", "leaves")] * 6
    rows += [(f"new{i}", "buys" if i % 4 else "leaves") for i in range(40)]
    rows += [("ann", "buys")] * 40 + [("bob", "leaves")] * 40
    model.learn_many([{"u": u} for u, _ in rows], [y for _, y in rows])
    column = model.engine.views["nominal"].summary.columns[0]
    assert column.size == 2
    p = model.predict_proba_one
    assert p({"u": "ann"})["buys"] > 0.8 > 0.2 > p({"u": "bob"})["buys"]
    assert p({"u": "new3"}) == p({"u": "never met"})
    n, met, v = column.rest, column.present, 3
    odds = (n[0] + 1) / (met[0] + v) * met[0] / ((n[1] + 1) / (met[1] + v) * met[1])
    buys = model.labels().index("buys") == model.schema_.classes.code("buys")
    assert buys
    assert p({"u": "never met"})["buys"] == pytest.approx(odds / (1 + odds), rel=1e-12)


def test_frequent_values_predict_as_if_they_were_alone():
    """30,000 values met once, among 30 regulars: what is predicted for a regular hardly changes."""
    rng = np.random.default_rng(0)
    regulars = rng.integers(0, 30, 30_000)
    y = (rng.random(30_000) < (regulars + 1) / 32).astype(int)
    noise = rng.random(30_000) < 0.5
    values = np.where(noise, [f"once{i}" for i in range(30_000)], [f"regular{r}" for r in regulars])

    class Small(SketchedNB):
        def views(self):
            views = dict(super().views())
            views["nominal"].summary = Sketch(max_bytes=1 << 15).summary()
            return views

    small, exact = Small(), SketchedNB(schema=Declared())
    for model in (small, exact):
        model.learn_many({"u": values}, y)
    assert small.engine.views["nominal"].summary.error() > 0
    assert small.engine.views["nominal"].summary.nbytes <= 1 << 15
    at = [{"u": f"regular{r}"} for r in range(30)]
    found = np.array([row[1] for row in small.predict_proba_many(at)])
    want = np.array([row[1] for row in exact.predict_proba_many(at)])
    assert np.abs(found - want).max() < 0.02


def test_refusals():
    with pytest.raises(DataError, match="at least 4096"):
        Sketch(max_bytes=10)
