"""Random networks: what is drawn, and that a column is read as the mean over the networks."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayou import CountForest, NaiveBayes, Pool, RandomNetworks, load, save
from bayou.errors import SchemaError
from bayou.readings.random_networks import class_information, gumbel, pair_information


def rows_of(seed, n, d=5):
    """Names whose class is that of two of them together; one column repeats another, the last is noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, d))
    X[:, 2] = np.where(rng.random(n) < 0.9, X[:, 1], X[:, 2])
    y = (X[:, 0] + X[:, 1]) % 3
    records = [{f"c{j}": "abc"[v] for j, v in enumerate(row)} for row in X]
    return records, ["xyz"[v] for v in y]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), parents=st.sampled_from([1, 2]), a=st.sampled_from([0.5, 1.0]))
def test_a_row_is_read_by_the_formula(seed, parents, a):
    """log P(c) + sum over columns of log of the mean over networks of (n(x, pa, c) + a) / (n(pa, c) + a |X|)."""
    records, labels = rows_of(seed, 60)
    model = RandomNetworks(networks=4, parents=parents, smoothing=a)
    model.learn_many(records, labels)
    model.refresh()
    terms, names = model.engine.views["joint"].terms, model.engine.column_names()
    assert np.isclose([terms.u[terms.sets[:, 0] == i].sum() for i in range(len(names))], 1.0).all()
    classes = sorted(set(labels))
    row, joint = records[7], []
    for c in classes:
        total = np.log(labels.count(c) / len(labels))
        for i, name in enumerate(names):
            mean = 0.0
            for (child, p, q), u in zip(terms.sets.tolist(), terms.u, strict=True):
                if child == i:
                    given_ = [names[j] for j in (p, q) if j >= 0]
                    same = [
                        r
                        for r, label in zip(records, labels, strict=True)
                        if label == c and all(r[g] == row[g] for g in given_)
                    ]
                    values = len({r[name] for r in records})
                    mean += u * (sum(r[name] == row[name] for r in same) + a) / (len(same) + a * values)
            total += np.log(mean)
        joint.append(total)
    expected = np.exp(joint) / np.exp(joint).sum()
    said = model.predict_proba_one(row)
    np.testing.assert_allclose([said[c] for c in classes], expected, rtol=1e-9)


def test_parents_come_earlier_and_tell_something():
    records, labels = rows_of(1, 600)
    model = RandomNetworks(networks=30)
    model.learn_many(records, labels)
    counts, terms = model.engine.counts, model.engine.views["joint"].terms
    told = pair_information(counts)
    for child, p, q in terms.sets.tolist():
        assert all(told[child, j] > 0 for j in (p, q) if j >= 0)
    names = model.engine.column_names()
    drawn = {(names[i], names[p]) for i, p, _ in terms.sets.tolist() if p >= 0}
    assert ("c1", "c0") in drawn
    assert ("c0", "c1") in drawn
    assert class_information(counts)[names.index("c4")] < 0.01


def test_information_of_a_column_by_hand():
    """Two values, two classes, never apart: log 2, less (2 - 1)(2 - 1) / (2 · 8)."""
    model = RandomNetworks()
    model.learn_many([{"a": "u"}, {"a": "v"}] * 4, ["x", "y"] * 4)
    assert class_information(model.engine.counts)[0] == pytest.approx(np.log(2) - 1 / 16)


def test_draws_are_those_of_gumbel():
    drawn = gumbel(3, 1, 300)
    assert drawn.mean() == pytest.approx(0.5772, abs=0.02)
    assert drawn.std() == pytest.approx(np.pi / 6**0.5, abs=0.02)
    assert not np.array_equal(drawn, gumbel(3, 2, 300))
    assert np.array_equal(drawn, gumbel(3, 1, 300))


def test_shards_merge_and_rows_unlearn_to_the_digest_of_one_pass():
    records, labels = rows_of(2, 300)
    one = RandomNetworks(networks=5)
    one.learn_many(records, labels)
    shards = [RandomNetworks(networks=5) for _ in range(4)]
    for k, shard in enumerate(shards):
        shard.learn_many(records[k::4], labels[k::4])
    merged = shards[2].merge(shards[0]).merge(shards[3]).merge(shards[1])
    assert merged.refresh().digest() == one.refresh().digest()
    more = copy.deepcopy(one)
    more.learn_many(records[:50], labels[:50])
    more.unlearn(records[:50], labels[:50])
    assert more.refresh().digest() == one.digest()


def test_it_sees_what_naive_bayes_cannot(tmp_path):
    records, labels = rows_of(3, 900)
    right = {}
    for model in (NaiveBayes(), RandomNetworks(), Pool([CountForest(trees=5), RandomNetworks()])):
        model.learn_many(records[:600], labels[:600])
        said = model.predict_many(records[600:])
        right[type(model).__name__] = np.mean([a == b for a, b in zip(said, labels[600:], strict=True)])
    assert right["NaiveBayes"] < 0.5
    assert right["RandomNetworks"] > 0.9
    assert right["Pool"] > 0.9
    save(model, tmp_path / "both.bayou")
    assert load(tmp_path / "both.bayou").digest() == model.digest()


@pytest.mark.parametrize("params", [{"networks": 0}, {"networks": 10**6}, {"parents": 3}], ids=str)
def test_parameters_are_checked(params):
    with pytest.raises(SchemaError, match=next(iter(params))):
        RandomNetworks(**params).fit([["a"], ["b"]], [0, 1])
