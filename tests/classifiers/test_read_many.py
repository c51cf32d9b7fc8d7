"""Learn once, read many: every reading is its classifier bit for bit, and the record follows the best."""

from __future__ import annotations

import os

import numpy as np
import pytest

from bayou import AODE, FAN, FANC, SPC, TAN, TC, Collection, ReadMany
from bayou.block import Block
from bayou.errors import SchemaError, UnsupportedError
from bayou.schema import Declared
from bayou.streams.generators.networks import RandomNetwork
from bayou.testing.contract import check_weights

CLASSIFIERS = {"nb": Collection, "tan": TAN, "fan": FAN, "aode": AODE, "fanc": FANC, "spc": SPC, "tc": TC}
LONG = bool(os.environ.get("BAYOU_LONG"))


def mixed(seed, n=160):
    """Nominal and numeric columns with gaps, three classes, real weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = [
        {
            "a": f"v{(y[i] + rng.integers(0, 2)) % 4}",
            "b": "uvw"[rng.integers(0, 3)],
            "c": float(y[i] + rng.normal()),
        }
        for i in range(n)
    ]
    for row in X:
        for name in [name for name in row if rng.random() < 0.1]:
            row[name] = None
    return X, [f"c{c}" for c in y], rng.integers(0, 3, n).astype(float)


def drawn(source, rows):
    """Rows of a random network as columns of values and labels."""
    codes, y = (
        np.concatenate(part) for part in zip(*(source.codes(i) for i in range(-(-rows // 4096))), strict=True)
    )
    return np.array(["v0", "v1"], dtype=object)[codes[:rows]], y[:rows]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_reading_is_its_classifier_bit_for_bit(name):
    """Nothing is new to either, for a classifier alone also reads when a class or column appears."""
    X, y, w = mixed(1)
    known = Declared(columns={"a": "nominal", "b": "nominal", "c": "numeric"}, classes=sorted(set(y)))
    alone, one = CLASSIFIERS[name](schema=known), ReadMany([name], combine="best", schema=known)
    np.testing.assert_array_equal(one.test_then_train_batch(X, y, w), alone.test_then_train_batch(X, y, w))
    np.testing.assert_array_equal(one.predict_proba_one(X[0]), alone.predict_proba_one(X[0]))
    for size in (3, len(X)):
        np.testing.assert_array_equal(one.proba(one.encode(X[:size])), alone.proba(alone.encode(X[:size])))


def test_the_record_is_that_of_the_classifiers():
    X, y, w = mixed(2)
    many, seen = ReadMany(list(CLASSIFIERS)), set()
    many.learn_batch(X, y, w)
    known = []
    for label, weight in zip(y, w, strict=True):
        known.append(label in seen and weight > 0)
        seen |= {label} if weight > 0 else set()
    for name, make in CLASSIFIERS.items():
        model = make()
        proba, labels = model.test_then_train_batch(X, y, w), model.labels()
        truth = np.array([labels.index(label) for label in y])
        p = proba[np.arange(len(y)), truth]
        hits = (proba.argmax(axis=1) == truth) * w
        record = many.record_[name]
        # Ties go to the class that came first
        assert record["right"] == pytest.approx(hits[known].sum(), abs=2)
        assert record["log_loss"] == pytest.approx(-(np.log(p[known]) * w[known]).sum(), rel=1e-9)
    assert many.best_ == max(many.record_, key=lambda name: many.record_[name]["right"])


@pytest.mark.parametrize("graph", ["nb", "tan", "ban"])
def test_the_readings_cost_a_tenth_of_a_point_at_most_and_their_mix_log_five_nats(graph):
    rows = 400_000 if LONG else 24_000
    X, y = drawn(RandomNetwork(graph, attributes=12, edges=32, seed=3), rows)
    models = [ReadMany(combine=combine) for combine in ("hits", "best", "loss")]
    both = int(np.argmax(y != y[0])) + 1  # rows before both classes were met tell nothing
    accuracy, loss = {}, {}
    for model in models:
        proba = np.concatenate(
            [model.test_then_train_batch(X[lo : lo + 8192], y[lo : lo + 8192]) for lo in range(0, rows, 8192)]
        )
        accuracy[model.combine] = np.mean(proba.argmax(axis=1) == y)
        loss[model.combine] = -np.log(proba[np.arange(rows), y][both:]).sum()
    record = models[0].record_
    members = {name: kept["right"] / rows for name, kept in record.items()}
    assert min(accuracy["hits"], accuracy["best"]) > max(members.values()) - 0.001
    least = min(kept["log_loss"] for kept in record.values())
    assert loss["loss"] <= least + np.log(5) + 1e-6
    assert all(model.record_ == record for model in models)


def test_records_add_up_in_a_merge_and_fade():
    X, y, w = mixed(3)
    model = ReadMany(["nb", "fanc"])
    model.learn_batch(X[:80], y[:80], w[:80])
    other = model.fresh()
    other.learn_batch(X[80:], y[80:], w[80:])
    a, b = model.record_, other.record_
    model.merge(other)
    for name in ("nb", "fanc"):
        assert model.record_[name]["right"] == a[name]["right"] + b[name]["right"]
    model.decay(0.5)
    assert model.record_["nb"]["right"] == (a["nb"]["right"] + b["nb"]["right"]) / 2
    with pytest.raises(UnsupportedError, match="track record"):
        model.unlearn(X[:1], y[:1])


def test_pairs_suffice_without_two_parents():
    model = ReadMany(["nb", "tan", "aode", "fanc"]).fit([["a", "b"], ["c", "d"]], [0, 1])
    assert model.engine.views["joint"].summary.interaction_order == 2
    assert (
        ReadMany().fit([["a", "b"], ["c", "d"]], [0, 1]).engine.views["joint"].summary.interaction_order == 3
    )


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ({"readings": ["nb", "gauss"]}, "name some of nb, tan"),
        ({"readings": []}, "each once"),
        ({"readings": ["nb", "nb"]}, "each once"),
        ({"combine": "all"}, "'hits', 'best', 'loss'"),
        ({"smoothing": -1}, "pseudo-count"),
    ],
)
def test_what_makes_no_sense_is_refused(told, problem):
    with pytest.raises(SchemaError, match=problem):
        ReadMany(**told).learn_one({"a": "x"}, 0)


def test_predicting_changes_nothing():
    X, y, w = mixed(4)
    model = ReadMany()
    model.learn_batch(X, y, w)
    before = model.digest()
    block = model.encode(X)
    assert isinstance(block, Block)
    model.proba(block)
    assert model.best_ in model.readings
    assert model.digest() == before


def test_a_row_of_weight_zero_that_brings_a_column_leaves_no_mark():
    check_weights(ReadMany, 2171)
