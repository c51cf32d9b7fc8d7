"""Cells that wait for the next search while the weight in them follows the stream."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.summaries.columns import block_of, filled, plan

from bayou import GKClass, MODLGroups, NaiveBayes, open_stream, prequential
from bayou.errors import ModelFileError
from bayou.hashing import digest
from bayou.readings.categorical import CategoricalEstimator
from bayou.readings.equal import EqualFrequency
from bayou.readings.intervals import Intervals
from bayou.views.live_cells import LiveCells, without_live_counts
from bayou.views.view import Searched

DATA = Path(__file__).parents[2].parent / "shared" / "data"
SMOOTHING = CategoricalEstimator(0.0, 1.0)


def view_of(x, y, bins=None):
    view = LiveCells(
        filled(GKClass().summary(), x, y), Intervals(bins or EqualFrequency(4)), SMOOTHING
    )  # fmt: skip
    view.refresh()
    return view


def learned(n=600, p=3, k=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    x = rng.normal(size=(n, p)) + y[:, None]
    x[rng.random(x.shape) < 0.05] = np.nan
    return x, y, rng.choice([0.0, 1.0, 0.3, 2.0], n)


def naive_terms(partition, counts, row):
    """log P(i | c) of one value in one column, from weights kept in plain lists."""
    cell = int(np.searchsorted(partition.cuts, row, side="left"))
    total, parts = np.sum(counts, axis=0), len(counts)
    return [math.log(counts[cell][c] + 1 / parts) - math.log(total[c] + 1) for c in range(len(total))]


def test_weights_follow_and_intervals_wait():
    x, y, w = learned()
    view = view_of(x[:400], y[:400])
    parts = view.reading.partitions
    counts = [[list(row) for row in parts[j].counts] for j in range(3)]
    out = np.zeros((200, 2))
    view.predict_then_update(block_of(x[400:], y[400:], w[400:]), out)
    for i in range(200):
        expected = np.zeros(2)
        for j, value in enumerate(x[400 + i]):
            if np.isnan(value):
                continue
            expected += naive_terms(parts[j], counts[j], value)
            counts[j][int(np.searchsorted(parts[j].cuts, value, side="left"))][y[400 + i]] += w[400 + i]
        np.testing.assert_allclose(out[i], expected, atol=1e-12)
    assert np.array_equal(view.reading.partitions.cuts, parts.cuts)
    assert view.summary.cells(0)[1].sum() == pytest.approx(
        400 - np.isnan(x[:400, 0]).sum() + w[400:][~np.isnan(x[400:, 0])].sum()
    )


@pytest.mark.parametrize("step", [1, 7, 200])
def test_learning_in_any_blocks_leaves_the_same_bits(step):
    x, y, w = learned()
    tested, learnt = view_of(x[:400], y[:400]), view_of(x[:400], y[:400])
    whole, parts = np.zeros((200, 2)), np.zeros((200, 2))
    tested.predict_then_update(block_of(x[400:], y[400:], w[400:]), whole)
    for lo in range(400, 600, step):
        part = block_of(x[lo : lo + step], y[lo : lo + step], w[lo : lo + step])
        learnt.add_log_prob(part.rows(0, 1), parts[lo - 400 : lo - 399])
        learnt.update(part)
    assert digest(tested.arrays()) == digest(learnt.arrays())
    assert np.array_equal(parts[::step], whole[::step])
    one, many = np.zeros((600, 2)), np.zeros((600, 2))
    block = block_of(x, y)
    tested.add_log_prob(block, many)
    for i in range(600):
        tested.add_log_prob(block.rows(i, i + 1), one[i : i + 1])
    assert np.array_equal(one, many)
    np.testing.assert_allclose(tested.column_terms(block).sum(axis=1), many, atol=1e-12)


def test_one_interval_says_exactly_nothing():
    rng = np.random.default_rng(1)
    view = view_of(rng.normal(size=(300, 1)), rng.integers(0, 2, 300), EqualFrequency(1))
    out = np.zeros((100, 2))
    view.predict_then_update(block_of(rng.normal(size=100), rng.integers(0, 2, 100), rng.random(100)), out)
    assert not out.any()


def test_a_saved_view_goes_on_as_it_would_have():
    x, y, w = learned()
    view = view_of(x[:400], y[:400])
    view.update(block_of(x[400:500], y[400:500], w[400:500]))
    twin = view.fresh()
    twin.restore({name: a.copy() for name, a in view.arrays().items()})
    outs = [np.zeros((100, 2)), np.zeros((100, 2))]
    for v, out in zip((view, twin), outs, strict=True):
        v.predict_then_update(block_of(x[500:], y[500:], w[500:]), out)
    assert np.array_equal(*outs)
    assert digest(view.arrays()) == digest(twin.arrays())
    for name, wrong in (
        ("present", np.zeros((1, 2))),
        ("present", np.full((3, 2), -1.0)),
        ("own", np.ones((1, 2))),
    ):
        with pytest.raises(ModelFileError):
            twin.restore({**view.arrays(), f"reading.{name}": wrong})


def test_growing_moves_the_weights():
    x, y, w = learned()
    view, still = view_of(x[:400], y[:400]), view_of(x[:400], y[:400])
    for v in (view, still):
        v.update(block_of(x[400:500], y[400:500], w[400:500]))
    wider = plan(4, 3, 3, 2)
    wider.numeric.to[:] = [3, 0, 1]
    wider.classes.to[:] = [2, 0]
    view.realign(wider)
    moved = np.full((100, 4), np.nan)
    moved[:, [3, 0, 1]] = x[500:]
    out, kept = np.zeros((100, 3)), np.zeros((100, 2))
    view.predict_then_update(block_of(moved, np.array([2, 0])[y[500:]], w[500:]), out)
    still.predict_then_update(block_of(x[500:], y[500:], w[500:]), kept)
    np.testing.assert_allclose(out[:, [2, 0]], kept, atol=1e-12)


def test_a_new_value_is_a_group_of_its_own_until_the_next_search():
    rng = np.random.default_rng(5)
    model = NaiveBayes(groups=MODLGroups())
    y = rng.integers(0, 2, 640)
    values = [f"{'ab'[c]}{rng.integers(0, 3)}" for c in y]
    model.learn_many([{"v": v} for v in values], [f"c{c}" for c in y])
    view = model.engine.views["nominal"]
    groups = len(view.reading.counts)
    assert groups == 2
    assert model.predict_proba_one({"v": "new"})["c0"] == pytest.approx(np.mean(y == 0))
    for _ in range(5):
        model.learn_one({"v": "new"}, "c0")
    known = model.predict_proba_one({"v": "new"})
    assert known["c0"] > 0.8
    assert len(view.reading.counts) == groups  # no search since
    twin = NaiveBayes(groups=MODLGroups())
    twin.learn_many([{"v": v} for v in [*values, *["new"] * 5]], [*(f"c{c}" for c in y), *["c0"] * 5])
    assert digest(twin.arrays()) == digest(model.arrays())
    assert twin.predict_proba_one({"v": "new"}) == known
    model.learn_one({"v": "newer", "other": "x"}, "c1")  # a new column; the schema grows under the counts
    assert model.predict_proba_one({"v": "new"})["c0"] > 0.8
    model.refresh()
    assert sum(len(group) for group in view.reading.groups_of(0)) == 8


def test_weighted_models_keep_the_weights_of_the_search():
    x, y, _ = learned()
    view = view_of(x, y)
    assert type(without_live_counts(view)) is Searched
    assert without_live_counts(view).summary is view.summary
    live = NaiveBayes("gaussian").views()["numeric"]
    assert without_live_counts(live) is live


@pytest.mark.skipif(not DATA.exists(), reason="needs the shared data sets")
@pytest.mark.parametrize(
    ("name", "least"),
    [("uci/soybean.arff", 0.88), ("tabular/mushroom.arff.gz", 0.98)],
)
def test_groups_keep_up_with_values_on_a_stream(name, least):
    accuracy = []
    for model in (NaiveBayes(), NaiveBayes(groups=MODLGroups())):
        with open_stream(str(DATA / name)) as stream:
            accuracy.append(prequential(model, stream).accuracy)
    values, groups = accuracy
    assert groups >= max(values - 0.003, least)
