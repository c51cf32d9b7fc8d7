"""Random networks whose columns are weighed by what they and their parents were worth."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.classifiers.test_random_networks import rows_of
from tests.naive.network_levels import NaiveLevels

from bayou import RandomNetworks, load, save
from bayou.errors import UnsupportedError


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), parents=st.sampled_from([1, 2]), a=st.sampled_from([0.5, 1.0]))
def test_every_row_is_read_and_learned_by_the_formula(seed, parents, a):
    records, labels = rows_of(seed, 50, d=4)
    names, classes = sorted(records[0]), sorted(set(labels))
    model = RandomNetworks(networks=3, parents=parents, smoothing=a, weighted=True)
    model.learn_one(records[0], labels[0])
    naive = NaiveLevels(names, classes, a)
    naive.test_then_train(records[0], labels[0], model.engine.views["joint"].terms)
    for row, label in zip(records[1:], labels[1:], strict=True):
        said = model.predict_proba_one(row)  # draws the networks where it is time to
        order = [model.engine.column_names().index(name) for name in names]
        assert order == sorted(order)
        h = naive.test_then_train(row, label, model.engine.views["joint"].terms)
        known = [c for c in classes if c in said]
        counts = np.array([naive.labels[:-1].count(c) for c in known])
        joint = np.log(counts) + np.array([h[classes.index(c)] for c in known])
        expected = np.exp(joint - joint.max())
        np.testing.assert_allclose([said[c] for c in known], expected / expected.sum(), rtol=1e-7)
        model.learn_one(row, label)


def late(seed, n):
    """Rows with gaps, a column, values and a class that come late."""
    records, labels = rows_of(seed, n)
    rng = np.random.default_rng(seed)
    for i, record in enumerate(records):
        record["size"] = float(rng.normal())
        if i > n // 2:
            record["late"] = "uv"[i % 2]
        if rng.random() < 0.2:
            del record["c1"]
        if i > n // 2 and rng.random() < 0.2:
            labels[i] = "new"
    return records, labels


@settings(max_examples=5, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(seed=st.integers(0, 10**6), cut=st.integers(1, 199))
def test_blocks_and_files_change_nothing(tmp_path_factory, seed, cut):
    records, labels = late(seed, 200)
    one, two = (RandomNetworks(networks=3, weighted=True) for _ in range(2))
    one.learn_many(records, labels)
    two.learn_many(records[:cut], labels[:cut])
    path = tmp_path_factory.mktemp("weighted") / "half.bayou"
    save(two, path)
    two = load(path)
    for record, label in zip(records[cut:], labels[cut:], strict=True):
        two.learn_one(record, label)
    assert two.digest() == one.digest()


def test_shards_share_counts_exactly_and_weights_on_average():
    records, labels = rows_of(1, 400)
    one = RandomNetworks(networks=4, weighted=True)
    one.learn_many(records, labels)
    a, b = one.fresh(), one.fresh()
    a.learn_many(records[:300], labels[:300])
    b.learn_many(records[300:], labels[300:])
    weights = [shard.engine.views["joint"].weights for shard in (a, b)]
    mean = 0.75 * weights[0].cells[:2] + 0.25 * weights[1].cells[:2]
    squares = weights[0].cells[2] + weights[1].cells[2]
    merged = copy.deepcopy(a).merge(copy.deepcopy(b)).refresh()
    whole, part = one.refresh().arrays(), merged.arrays()
    for name in ("joint.singles", "joint.pairs", "joint.triples", "joint.labels", "joint.learned"):
        assert np.array_equal(whole[name], part[name]), name
    np.testing.assert_allclose(part["joint.cells"][:2], mean, rtol=1e-12)
    np.testing.assert_allclose(part["joint.cells"][2], squares, rtol=1e-12)
    assert merged.engine.law.name == "AVERAGED"


def test_a_column_that_repeats_another_is_weighed_down():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    flag = np.where(rng.random(3000) < 0.75, y, 1 - y)
    records = [{f"c{j}": "ab"[v] for j in range(8)} for v in flag]
    labels = y.tolist()
    said = {}
    for weighted in (False, True):
        model = RandomNetworks(networks=3, parents=1, weighted=weighted)
        model.learn_many(records, labels)
        said[weighted] = max(model.predict_proba_one(records[0]).values())
    assert abs(said[True] - 0.75) < 0.04
    assert abs(said[True] - 0.75) <= abs(said[False] - 0.75) + 0.01


def test_what_cannot_be_done_is_refused_with_the_way_out():
    records, labels = rows_of(2, 100)
    model = RandomNetworks(networks=3, weighted=True)
    model.learn_many(records, labels)
    with pytest.raises(UnsupportedError, match=r"RandomNetworks\(\) can unlearn"):
        model.unlearn(records[:3], labels[:3])
    with pytest.raises(UnsupportedError, match="weighs what its parents add"):
        model.export("sql")
