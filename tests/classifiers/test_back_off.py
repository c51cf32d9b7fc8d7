"""Smoothing that backs off to fewer parents: the formula, who offers it, and the laws it keeps."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.naive.back_off import NaiveBackOff

from bayou import AODE, FAN, FANC, SPC, TAN, TC, RandomNetworks, load, save
from bayou.errors import SchemaError, UnsupportedError
from bayou.summaries.grid import Grid

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
OFFERED = [
    TAN(smoothing="back-off"),
    FAN(smoothing="back-off"),
    AODE(smoothing="back-off"),
    FANC(smoothing="back-off"),
    TC(smoothing="back-off"),
    RandomNetworks(networks=3, smoothing="back-off"),
]


def rows_of(seed, n, missing=0.1):
    """Names with gaps; the class is that of two columns together."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 4))
    X[:, 2] = np.where(rng.random(n) < 0.8, X[:, 1], X[:, 2])
    y = np.where(rng.random(n) < 0.9, (X[:, 0] + X[:, 1]) % 2, 1 - (X[:, 0] + X[:, 1]) % 2)
    gone = rng.random(X.shape) < missing
    records = [{f"c{j}": "abc"[v] for j, v in enumerate(row) if not gone[i, j]} for i, row in enumerate(X)]
    return records, ["xy"[v] for v in y]


@settings(max_examples=4, deadline=None, phases=QUICK)
@given(seed=st.integers(0, 10**6), missing=st.sampled_from([0.0, 0.15]))
def test_a_row_is_read_by_the_formula(seed, missing):
    records, labels = rows_of(seed, 40, missing)
    model = RandomNetworks(networks=2, smoothing="back-off")
    model.learn_many(records, labels)
    model.refresh()
    terms, names = model.engine.views["joint"].terms, model.engine.column_names()
    naive = NaiveBackOff(records, labels)
    for row in records[:4]:
        joint = []
        for c in "xy":
            total = np.log(labels.count(c) / len(labels))
            for i, name in enumerate(names):
                if name not in row:
                    continue
                mean, weight = 0.0, 0.0
                for (child, *parents), u in zip(terms.sets.tolist(), terms.u.tolist(), strict=True):
                    given_ = [names[p] for p in parents if p >= 0]
                    if child != i or any(p not in row for p in given_):
                        continue
                    order = naive.first(name, given_) if len(given_) == 2 else tuple(given_)
                    mean += u * naive.probability(name, order, row, c)
                    weight += u
                total += np.log(mean if weight else naive.probability(name, (), row, c))
            joint.append(total)
        expected = np.exp(joint) / np.exp(joint).sum()
        said = model.predict_proba_one(row)
        np.testing.assert_allclose([said["x"], said["y"]], expected, rtol=1e-9)


@settings(max_examples=3, deadline=None, phases=QUICK)
@given(seed=st.integers(0, 10**6))
def test_one_dependence_is_the_mean_over_parents(seed):
    records, labels = rows_of(seed, 30)
    model = AODE(smoothing="back-off")
    model.learn_many(records, labels)
    model.refresh()
    naive = NaiveBackOff(records, labels)
    for row in records[:4]:
        joint = []
        for c in "xy":
            answers = []
            for s in row:
                n = naive.rows(s, (), row, c).get(row[s], 0)
                met = [r for r in records if s in r]
                answer = (n + 1) / (len(met) + 2 * len({r[s] for r in met}))
                for i in row:
                    if i != s:
                        answer *= naive.probability(i, (s,), row, c)
                answers.append(answer)
            joint.append(np.mean(answers))
        said = model.predict_proba_one(row)
        np.testing.assert_allclose([said["x"], said["y"]], np.array(joint) / sum(joint), rtol=1e-9)


def late(seed, n):
    """Rows in which a column of numbers, values and a class come late."""
    records, labels = rows_of(seed, n)
    rng = np.random.default_rng(seed)
    for i, record in enumerate(records):
        record["size"] = float(rng.normal())
        if i > n // 2:
            record["late"] = "uvw"[i % 3]
            labels[i] = "new" if rng.random() < 0.2 else labels[i]
    return records, labels


@pytest.mark.parametrize("model", OFFERED, ids=lambda m: type(m).__name__)
def test_blocks_files_merges_and_unlearning_keep_their_laws(model, tmp_path):
    records, labels = late(1, 150)
    one, two = (copy.deepcopy(model).set_params(numeric=Grid(warm_up=40)) for _ in range(2))
    one.learn_many(records, labels)
    two.learn_many(records[:70], labels[:70])
    save(two, tmp_path / "half.bayou")
    two = load(tmp_path / "half.bayou")
    for record, label in zip(records[70:], labels[70:], strict=True):
        two.learn_one(record, label)
    assert two.digest() == one.digest()
    shards = [one.fresh() for _ in range(3)]
    for k, shard in enumerate(shards):
        shard.learn_many(records[k::3], labels[k::3])
    merged = shards[2].merge(shards[0]).merge(shards[1]).refresh()
    whole = one.fresh()
    whole.learn_many(records, labels)
    assert merged.digest() == whole.refresh().digest()
    more = copy.deepcopy(whole)
    more.learn_many(records[:20], labels[:20])
    more.unlearn(records[:20], labels[:20])
    assert more.refresh().digest() == whole.digest()


def test_few_rows_are_not_believed():
    """Pairs that say nothing beyond the class: back-off reads them as naive Bayes does, Laplace's rule as noise."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    records = [{f"c{j}": str(v) for j, v in enumerate(rng.integers(0, 8, 5) // (1 + label))} for label in y]
    loss = {}
    for smoothing in (1.0, "back-off"):
        model = AODE(smoothing=smoothing)
        model.learn_many(records[:200], y[:200].tolist())
        said = [
            model.predict_proba_one(r)[label]
            for r, label in zip(records[200:], y[200:].tolist(), strict=True)
        ]
        loss[smoothing] = -np.log(said).mean()
    assert loss["back-off"] < loss[1.0]


@pytest.mark.parametrize(
    "model",
    [
        SPC(smoothing="back-off"),
        TAN(smoothing="back-off", delta=0.1),
        RandomNetworks(smoothing="back-off", weighted=True),
        TAN(smoothing="laplace"),
    ],
    ids=repr,
)
def test_elsewhere_it_is_refused_with_the_way_out(model):
    with pytest.raises(SchemaError, match=r"pseudo-count >= 0, or 'back-off' for TAN"):
        model.fit([["a"], ["b"]], [0, 1])


def test_it_cannot_be_exported():
    model = TAN(smoothing="back-off").fit([["a", "b"], ["c", "d"]] * 5, [0, 1] * 5)
    with pytest.raises(UnsupportedError, match=r"export a model with smoothing=1\.0"):
        model.export("sql")
