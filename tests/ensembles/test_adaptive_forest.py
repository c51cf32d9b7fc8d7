"""AdaptiveForest: its plain twin, the columns it draws, drift, many values, files, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import bayou
from bayou import AdaptiveForest
from bayou.ensembles.bagging import cumulative
from bayou.ensembles.drift import AdaptiveWindow
from bayou.errors import MergeError, ModelFileError, SchemaError, UnsupportedError
from bayou.kernels.poisson import poisson_weights
from bayou.kernels.splits import draw_columns
from bayou.testing.data import random_data


def drifting(rows: int, seed: int = 0):
    """Two columns that tell the class at first, and more and more often the opposite; and one that tells nothing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    label = (x[:, 0] + x[:, 1] > 0) ^ (rng.random(rows) < np.linspace(-1.0, 2.0, rows))
    records = [{"a": a, "b": b, "c": "low" if c < 0 else "high"} for a, b, c in x.tolist()]
    return records, ["yes" if one else "no" for one in label]


class PlainForest:
    """The forest row by row: trees, windows and votes as the docstring tells them."""

    def __init__(self, model: AdaptiveForest) -> None:
        self.model, size = model, model.trees
        self.engine = model.engine
        self.trees = [self.engine.new_member(m) for m in range(size)]
        self.behind: list = [None] * size
        self.windows = [(AdaptiveWindow(model.warning), AdaptiveWindow(model.drift)) for _ in range(size)]
        self.lately = np.full(size, 0.5)
        self.rows, self.replaced, self.warned = 0, 0, 0

    def weighted(self, row, m):
        out = np.empty(1)
        poisson_weights(row.y, row.w, cumulative(self.model.rate), self.model.seed, m, self.rows, out)
        twin = row.rows(0, 1)
        twin.w = out
        return twin

    def step(self, row):
        said = []
        for m in range(len(self.trees)):
            mine = self.weighted(row, m)
            joint = self.trees[m].joint_log_proba(mine)[0]
            self.trees[m].learn(mine)
            said.append(joint)
            wrong = np.array([float(not (np.isfinite(joint).any() and joint.argmax() == row.y[0]))])
            alarms = [window.watch(wrong) >= 0 for window in self.windows[m]]
            if self.behind[m] is not None:
                self.behind[m].learn(mine)
            if alarms[1]:
                self.replaced += 1
                self.trees[m] = self.behind[m] or self.begun(m, mine)
                self.behind[m] = None
                for window in self.windows[m]:
                    window.clear()
            elif alarms[0]:
                self.warned += 1
                self.behind[m] = self.begun(m, mine)
        votes = np.zeros(self.engine.n_classes)
        for m, joint in enumerate(said):
            if np.isfinite(joint).any():
                share = np.exp(joint - joint.max())
                votes += self.lately[m] ** 4 * share / share.sum()
            right = np.isfinite(joint).any() and joint.argmax() == row.y[0]
            self.lately[m] = 0.95 * self.lately[m] + 0.05 * right
        self.rows += 1
        return votes

    def begun(self, m, row):
        tree = self.engine.new_member(m)
        tree.learn(row)
        return tree


def test_the_plain_twin_says_the_same():
    """Warnings, background trees and replacements come at the same rows: predictions and counts are equal."""
    records, labels = drifting(900)
    declared = bayou.Declared(columns={"a": "numeric", "b": "numeric", "c": "nominal"}, classes=["no", "yes"])
    model = AdaptiveForest(trees=3, warning=0.3, drift=1e-3, schema=declared)
    model.learn_many(records[:1], labels[:1], [0.0])
    plain = PlainForest(model)
    order = {label: code for code, label in enumerate(model.schema_.classes.values)}
    block = model.encode(records)
    block.y = np.array([order[label] for label in labels], dtype=np.int32)
    block.w = np.ones(len(labels))
    found = model.engine.test_then_train(block)
    for i in range(block.n):
        votes = plain.step(block.rows(i, i + 1))
        if votes.any():
            np.testing.assert_allclose(np.exp(found[i]), votes, rtol=1e-9, err_msg=f"row {i}")
    assert (model.replaced, model.warned) == (plain.replaced, plain.warned)
    assert plain.replaced > 0
    assert plain.warned > plain.replaced


def look(keys, leaf=0, rows=10.0, numeric=9, constant=()):
    moments = np.zeros((5, 2, numeric))
    moments[0], moments[4] = 5.0, 1.0
    for j in constant:
        moments[4, :, j] = 0.0
    tried = np.empty(numeric, dtype=np.bool_)
    nothing = np.zeros((0, 2))
    draw_columns(keys, leaf, rows, moments, nothing, nothing, np.zeros(1, dtype=np.int64), tried)
    return tried


def test_a_look_tries_some_columns_and_every_look_others():
    keys = np.random.default_rng(0).integers(1 << 60, size=9)
    assert look(np.zeros(0, dtype=np.int64)).all()
    looks = np.array([look(keys, rows=float(i)) for i in range(400)])
    assert (looks.sum(axis=1) == 4).all()  # sqrt(9) + 1
    assert np.abs(looks.mean(axis=0) - 4 / 9).max() < 0.1
    assert not np.array_equal(look(keys, leaf=1), look(keys, leaf=2))


def test_only_columns_that_vary_are_drawn():
    keys = np.random.default_rng(0).integers(1 << 60, size=9)
    for i in range(50):
        assert look(keys, rows=float(i), constant=range(6)).nonzero()[0].tolist() == [6, 7, 8]


def test_it_follows_drift():
    records, labels = drifting(6000)
    model = AdaptiveForest(trees=5)
    result = bayou.prequential(model, (records, labels), block=1000)
    assert result.accuracy > 0.7
    assert 1 <= model.replaced
    late = model.predict_many(records[5000:])
    assert np.mean([a == b for a, b in zip(late, labels[5000:], strict=True)]) > 0.9


def test_many_values_stay_within_bounds():
    rng = np.random.default_rng(1)
    airports = rng.integers(800, size=3000)
    records = [
        {"from": f"F{a}", "to": f"T{b}"} for a, b in zip(airports, rng.permutation(airports), strict=True)
    ]
    labels = [bool(a % 2) for a in airports]
    small, usual = AdaptiveForest(trees=2, max_bytes=1 << 20), AdaptiveForest(trees=2)
    for model in (small, usual):
        model.learn_many(records, labels)
        for member in model.engine.members:
            assert member.views["tree"].summary.memory_bytes <= model.max_bytes
    assert np.mean([a == b for a, b in zip(usual.predict_many(records), labels, strict=True)]) > 0.99


def test_a_file_keeps_the_trees_in_the_background(tmp_path):
    records, labels = drifting(1200)
    model, whole = (AdaptiveForest(trees=3, warning=0.5, drift=1e-6) for _ in range(2))
    model.learn_many(records[:600], labels[:600])
    assert model.engine.growing.any()
    model.save(tmp_path / "m.bayou")
    again = bayou.load(tmp_path / "m.bayou")
    again.learn_many(records[600:], labels[600:])
    whole.learn_many(records, labels)
    assert again.digest() == whole.digest()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("growing", np.zeros(2, dtype=np.bool_)),
        ("record", np.full(3, 2.0)),
        ("replaced", np.array([1, 2, -1])),
    ],
)
def test_a_state_that_cannot_be_is_refused(name, value):
    data = random_data(1, 60)
    model = AdaptiveForest(trees=3)
    model.learn_many(data.records, data.labels, data.weights)
    with pytest.raises(ModelFileError):
        model.engine.restore({**model.engine.arrays(), name: value})


@pytest.mark.parametrize(
    "params",
    [
        {"trees": 0},
        {"rate": 0},
        {"delta": 1},
        {"grace": 0},
        {"warning": 0},
        {"drift": 1},
        {"seed": -1},
        {"max_bytes": 0},
    ],
)
def test_parameters_that_make_no_sense(params):
    with pytest.raises(
        SchemaError, match=next(iter(params)) if params.keys() - {"warning", "drift"} else "delta"
    ):
        AdaptiveForest(**params).learn_one({"x": 1.0}, "a")


def test_what_it_cannot():
    model = AdaptiveForest(trees=2)
    model.learn_one({"x": 1.0}, "a")
    with pytest.raises(MergeError):
        model.merge(AdaptiveForest(trees=2))
    with pytest.raises(UnsupportedError, match="replacing its trees"):
        model.decay(0.5)
    with pytest.raises(UnsupportedError):
        model.unlearn([{"x": 1.0}], ["a"])
