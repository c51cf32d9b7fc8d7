"""Forests of counts that grow on after their warm-up: what grows, what adds up, and what is refused."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.classifiers.test_count_forest import rows_of
from tests.naive import forest as naive

from bayou import CountForest, load, save
from bayou.errors import DataError, MergeError, SchemaError, UnsupportedError
from bayou.testing import CHECKS


def taught(records, labels, **params):
    model = CountForest(**({"trees": 5, "warm_up": 60, "reservoir": 10_000, "combine": "mean"} | params))
    model.learn_many(records, labels)
    return model


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(check):
    check(lambda: CountForest(trees=5, combine="mean", reservoir=50), 3)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), classes=st.sampled_from(["xy", "xyz"]))
def test_where_all_rows_are_kept_every_node_has_counted_all_rows(seed, classes):
    records, labels = rows_of(seed, 300, classes)
    model = taught(records, labels)
    forest, block = model.engine.forest, model.encode(records)
    assert model.engine.sample.is_whole
    cells, place = forest.cells_of(block), {c: i for i, c in enumerate(model.schema_.classes.values)}
    counts = np.zeros_like(forest.counts)
    for i, label in enumerate(labels):
        for root in forest.roots:
            path = naive.down(
                forest.attribute, forest.threshold, forest.left, root, len(forest.cuts), cells[i]
            )
            counts[path, place[label]] += 1
    assert np.array_equal(counts, forest.counts)


def test_leaves_are_split_by_the_best_cut_of_some_column_and_nothing_else_changes():
    records, labels = rows_of(3, 239)
    model = taught(records, labels)  # has grown at 120 rows
    before = copy.deepcopy(model.engine.forest)
    model.grow()
    after, sample = model.engine.forest, model.engine.sample
    old, p = len(before.attribute), len(after.cuts)
    inner = before.attribute >= 0
    for name in ("attribute", "threshold", "left"):
        assert np.array_equal(getattr(before, name)[inner], getattr(after, name)[:old][inner])
    assert np.array_equal(before.counts, after.counts[:old])
    assert len(after.attribute) > old
    cells = sample.cells()
    for t, root in enumerate(after.roots):
        drawn = [naive.bootstrap(0, t, h, w) for h, w in zip(sample.hashes, sample.w, strict=True)]
        held: dict[int, list[int]] = {}
        for i in np.flatnonzero(drawn):
            for v in naive.down(after.attribute, after.threshold, after.left, root, p, cells[i]):
                held.setdefault(int(v), []).append(i)
        for v, rows in held.items():
            pure = len({int(sample.y[i]) for i in rows}) < 2
            same = all(len({int(cells[i, c]) for i in rows}) < 2 for c in range(cells.shape[1]))
            if after.attribute[v] < 0:
                assert pure or same
            elif v >= old or not inner[v]:
                j = int(after.attribute[v])
                gain, a, b = naive.gain_of(cells, sample.y, drawn, rows, j, p, after.threshold[v], 3)
                assert a
                assert b
                if j < p:
                    others = naive.numeric_splits(cells, j, rows)
                    gains = [naive.gain_of(cells, sample.y, drawn, rows, j, p, s, 3)[0] for s in others]
                    assert gain >= max(gains) - 1e-9


@settings(max_examples=6, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    combine=st.sampled_from(["mean", "pool"]),
    reservoir=st.sampled_from([40, 150, 9999]),
)
def test_the_same_bits_however_the_rows_are_cut(seed, combine, reservoir):
    records, labels = rows_of(seed, 500)
    one = taught(records, labels, combine=combine, reservoir=reservoir)
    cut = CountForest(trees=5, warm_up=60, combine=combine, reservoir=reservoir)
    edges = [0, *np.sort(np.random.default_rng(seed).integers(1, 500, 12)).tolist(), 500]
    for a, b in itertools.pairwise(edges):
        if b > a:
            cut.learn_many(records[a:b], labels[a:b])
    assert one.digest() == cut.digest()


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), reservoir=st.sampled_from([100, 9999]))
def test_between_two_growths_shards_add_up_and_grow_the_same_trees_in_any_order(seed, reservoir):
    records, labels = rows_of(seed, 480)
    first = taught(records[:239], labels[:239], reservoir=reservoir)
    one = copy.deepcopy(first)
    one.learn_many(records[239:], labels[239:])  # grows at 240 and 480 rows
    first.learn_many(records[239:240], labels[239:240])
    shards = []
    for k in range(8):
        shards.append(first.fresh())
        shards[-1].learn_many(records[240 + k :: 8], labels[240 + k :: 8])
    digests = set()
    for order in range(3):
        merged = first.fresh()
        for k in np.random.default_rng(order).permutation(9):
            merged.merge(copy.deepcopy(shards[k] if k < 8 else first))
        digests.add(merged.grow().digest())
    assert digests == {one.digest()}


def test_a_shard_never_grows_by_itself_and_strangers_are_refused_with_the_way_out():
    records, labels = rows_of(4, 900)
    first = taught(records[:60], labels[:60])
    shard = first.fresh()
    shard.learn_many(records[60:], labels[60:])
    assert np.array_equal(shard.engine.forest.attribute, first.engine.forest.attribute)
    grown = copy.deepcopy(first)
    grown.learn_many(records[60:150], labels[60:150])
    before = grown.digest()
    with pytest.raises(MergeError, match=r"has grown on.*fresh\(\)"):
        grown.merge(shard)
    assert grown.digest() == before
    with pytest.raises(UnsupportedError, match="reservoir"):
        taught(records[:80], labels[:80], reservoir=0).grow()


def test_kept_rows_of_a_younger_model_join_the_reservoir():
    records, labels = rows_of(5, 110)
    frozen, late = taught(records[:70], labels[:70]), taught(records[70:], labels[70:])
    one = taught(records[:70], labels[:70])
    one.learn_many(records[70:], labels[70:])
    assert copy.deepcopy(frozen).merge(late).digest() == one.digest()
    assert late.merge(frozen).grow().digest() == one.grow().digest()


def test_rows_unlearned_were_never_seen_unless_nodes_have_not_counted_them():
    records, labels = rows_of(6, 239)
    first = taught(records, labels).fresh()
    model, never = copy.deepcopy(first), copy.deepcopy(first)
    model.learn_many(records, labels)
    never.learn_many(records[30:], labels[30:])
    model.unlearn(records[:30], labels[:30])
    assert model.digest() == never.digest()
    assert model.grow().digest() == never.grow().digest()
    with pytest.raises(DataError, match="never learned"):
        model.unlearn(records[:30], labels[:30])
    with pytest.raises(UnsupportedError, match="sample of the rows"):
        taught(records, labels, reservoir=50).unlearn(records[:3], labels[:3])


@pytest.mark.parametrize("combine", ["pool", "mean"])
def test_files_hold_the_reservoir(combine, tmp_path):
    records, labels = rows_of(7, 400)
    for n in (50, 119, 130, 300):
        model = taught(records[:n], labels[:n], combine=combine, reservoir=80)
        save(model, tmp_path / "m.bayou")
        twin = load(tmp_path / "m.bayou")
        for each in (model, twin):
            each.learn_many(records[n:], labels[n:])
        assert twin.digest() == model.digest()


def test_later_classes_values_and_columns_find_their_place():
    records, labels = rows_of(8, 300, "xy")
    model = taught(records, labels)
    model.learn_many([{"a": 9.0, "sky": "green", "new": float(i % 3)} for i in range(200)], ["new"] * 200)
    assert model.predict_one({"a": 9.0, "sky": "green", "new": 1.0}) == "new"


def test_a_structure_that_grows_learns_what_a_frozen_one_cannot():
    """A board of 16 x 16 fields, of which 150 rows tell little."""
    rng = np.random.default_rng(0)
    X = rng.random((12_000, 2))
    y = ((16 * X[:, 0]).astype(int) + (16 * X[:, 1]).astype(int)) % 2
    right = {}
    for reservoir in (0, 1000, 20_000):
        model = CountForest(trees=10, warm_up=150, reservoir=reservoir)
        model.learn_many(X[:10_000], y[:10_000])
        right[reservoir] = (model.predict(X[10_000:]) == y[10_000:]).mean()
    assert right[0] < 0.65
    assert right[1000] > right[0] + 0.05
    assert right[20_000] > 0.85


def test_memory_is_bounded():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6000, 5)), rng.integers(0, 2, 6000)
    model = CountForest(trees=10, max_bytes=1 << 18, warm_up=500, reservoir=100_000)
    model.learn_many(X, y)
    assert model.memory_bytes < (1 << 18) + 5 * 8 * 253 + 4096
    assert not model.engine.sample.is_whole
    with pytest.raises(SchemaError, match="reservoir"):
        CountForest(reservoir=-1).fit([[1.0], [2.0]], [0, 1])
