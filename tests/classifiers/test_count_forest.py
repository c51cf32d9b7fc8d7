"""Forests of counts: growth, counts and readings against slow twins, and what frozen trees promise."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import forest as naive

from bayou import CountForest, MergeLaw, fit_files, load, save
from bayou.errors import DataError, MergeError, SchemaError, UnsupportedError
from bayou.kernels.forest_growth import grow_tree
from bayou.readings.forest_structure import bag_of
from bayou.testing import CHECKS

COLUMNS = ("a", "b", "c", "sky", "wind")


def rows_of(seed, n, classes="xyz", missing=0.1):
    """Records of three numbers and two names, some missing, whose class depends on two of them together."""
    rng = np.random.default_rng(seed)
    records, labels = [], []
    for _ in range(n):
        a, b, c = rng.normal(size=3).round(1).tolist()
        sky, wind = str(rng.choice(list("pqrs"))), str(rng.choice(["n", "e"]))
        record = {"a": a, "b": b, "c": c, "sky": sky, "wind": wind}
        records.append({k: v for k, v in record.items() if rng.random() > missing})
        labels.append(classes[int((a * b > 0) + (sky in "pq" and wind == "n")) % len(classes)])
    return records, labels


def taught(records, labels, **params):
    model = CountForest(**({"trees": 6, "warm_up": 120} | params))
    model.learn_many(records, labels)
    return model


@pytest.mark.parametrize("params", [{"combine": "mean"}, {"trees": 5, "extra": 0}], ids=str)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(check, params):
    check(lambda: CountForest(**params), 3)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(10, 90), k=st.integers(2, 4), p=st.integers(0, 4))
def test_every_split_is_the_best_of_some_column_and_parts_rows_as_counted(seed, n, k, p):
    """Each node's rows are those of its parent that go its way, and no cut of its column gains more."""
    rng = np.random.default_rng(seed)
    d = 4
    cells = rng.integers(0, 6, (n, d)).astype(np.uint8)
    y, w = rng.integers(0, k, n).astype(np.int32), rng.integers(1, 4, n).astype(float)
    hashes = rng.integers(-(2**62), 2**62, n)
    room = 4 * n
    attribute, left = np.empty(room, np.int32), np.empty(room, np.int32)
    threshold = np.zeros(room, np.int64)
    size = grow_tree(attribute, threshold, left, cells, p, y, w, hashes, k, 7, 3, 0)
    drawn = [naive.bootstrap(7, 3, h, weight) for h, weight in zip(hashes, w, strict=True)]
    held = {0: [i for i in range(n) if drawn[i] > 0]}
    for v in range(size):
        rows, j = held[v], int(attribute[v])
        pure = len({int(y[i]) for i in rows}) < 2
        same = all(len({int(cells[i, c]) for i in rows}) < 2 for c in range(d))
        assert (j < 0) == (pure or same)
        if j < 0:
            continue
        gain, a, b = naive.gain_of(cells, y, drawn, rows, j, p, threshold[v], k)
        assert a
        assert b
        if j < p:
            others = [
                naive.gain_of(cells, y, drawn, rows, j, p, t, k)[0]
                for t in naive.numeric_splits(cells, j, rows)
            ]
            assert gain >= max(others) - 1e-9
        held[int(left[v])], held[int(left[v]) + 1] = a, b


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), classes=st.sampled_from(["xy", "xyz"]))
def test_counts_and_readings_are_those_of_the_twin(seed, classes):
    records, labels = rows_of(seed, 150, classes)
    model = taught(records, labels, combine="mean", warm_up=100)
    forest, block = model.engine.forest, model.encode(records)
    cells, place = forest.cells_of(block), {c: i for i, c in enumerate(model.schema_.classes.values)}
    counts = np.zeros_like(forest.counts)
    paths = []
    for i, label in enumerate(labels):
        paths.append(
            [
                naive.down(forest.attribute, forest.threshold, forest.left, r, len(forest.cuts), cells[i])
                for r in forest.roots
            ]
        )
        for path in paths[-1]:
            counts[path, place[label]] += 1
    assert np.array_equal(counts, forest.counts)
    joint = model.engine.joint_log_proba(block)
    for i, trees in enumerate(paths):
        said = np.mean([[naive.read(counts, path, c) for path in trees] for c in (0.1, 2.0)], axis=(0, 1))
        np.testing.assert_allclose(np.exp(joint[i]), said, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("combine", ["pool", "mean"])
@pytest.mark.parametrize("classes", ["xy", "xyz"])
@pytest.mark.parametrize("trees", [1, 4, 6])
def test_single_rows_have_the_bits_of_a_block(classes, trees, combine):
    """One row goes down several trees at once, a block goes down one tree after the other."""
    records, labels = rows_of(3, 300, classes)
    model = taught(records, labels, trees=trees, combine=combine)
    of_block = model.predict_proba_many(records)
    assert [model.predict_proba_one(record) for record in records] == of_block
    assert len({tuple(proba.values()) for proba in of_block}) > 20


def test_the_pool_follows_its_formulas():
    records, labels = rows_of(5, 260, "xyz")
    model = taught(records[:100], labels[:100], warm_up=100)
    engine = model.engine
    codes = {c: i for i, c in enumerate(model.schema_.classes.values)}
    twin = naive.Pool(2, 3, engine.pool.eta)
    pool = engine.pool
    twin.u, twin.u_mean, twin.u_squares = (a.copy() for a in pool.shared)
    twin.v, twin.v_mean, twin.v_squares = (a.copy() for a in pool.cells)
    twin.rows, twin.credit = int(pool.scalars[0]), pool.scalars[1:].copy()
    for record, label in zip(records[100:], labels[100:], strict=True):
        engine, block = model.engine, model.encode([record])  # with what `learn_one` was given last
        opinions, classes = engine.forest.read(block)[0], engine.forest.classes.copy()
        said = np.exp(engine.joint_log_proba(block)[0])
        np.testing.assert_allclose(said, twin.predict(opinions, classes)[3], rtol=1e-10)
        twin.learn(opinions, classes, codes[label], 1.0)
        model.learn_one(record, label)
    pool = model.engine.pool
    np.testing.assert_allclose(pool.shared[1], twin.u_mean, rtol=1e-9)
    np.testing.assert_allclose(pool.scalars[1:], twin.credit, rtol=1e-9)


def test_out_of_bag_rows_are_judged_by_trees_that_never_saw_them():
    """With pure noise the trees know their own rows by heart; told by the others, no class is surer than chance."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 4)), rng.integers(0, 2, 400)
    model = CountForest(trees=20).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.9
    assert model.engine.pool.scalars[1] > 0
    assert np.abs(model.engine.pool.shared[1]).max() < 0.5
    assert -np.log(model.predict_proba(rng.normal(size=(400, 4)))).mean() < 0.9


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_shards_of_one_forest_add_up_to_the_bit_in_any_order(seed):
    records, labels = rows_of(seed, 400)
    one = taught(records, labels, combine="mean")
    first = taught(records[:120], labels[:120], combine="mean")
    assert first.engine.forest.frames_are_frozen
    edges = np.sort(np.random.default_rng(seed).integers(120, 400, 6)).tolist()
    shards = []
    for a, b in zip([120, *edges], [*edges, 400], strict=True):
        shard = first.fresh()
        if b > a:
            shard.learn_many(records[a:b], labels[a:b])
        shards.append(shard)
    merged = copy.deepcopy(first)
    for i in np.random.default_rng(seed + 1).permutation(len(shards)):
        merged.merge(shards[i])
    assert merged.digest() == one.digest()
    backwards = shards[-1]
    for shard in shards[-2::-1]:
        backwards.merge(shard)
    assert backwards.merge(first).digest() == one.digest()


def test_64_shards_in_any_order_have_the_digest_of_one_pass():
    records, labels = rows_of(11, 2000)
    one = taught(records, labels, combine="mean")
    first = taught(records[:120], labels[:120], combine="mean")
    shards = []
    for k in range(64):
        shards.append(first.fresh())
        shards[-1].learn_many(records[120 + k :: 64], labels[120 + k :: 64])
    digests = set()
    for seed in range(3):
        merged = first.fresh()
        for k in np.random.default_rng(seed).permutation(65):
            merged.merge(copy.deepcopy(shards[k] if k < 64 else first))
        digests.add(merged.digest())
    assert digests == {one.digest()}


def test_a_tenth_of_the_rows_unlearned_was_never_seen():
    records, labels = rows_of(12, 2000)
    first = taught(records[:120], labels[:120], combine="mean").fresh()
    model, never = copy.deepcopy(first), copy.deepcopy(first)
    model.learn_many(records, labels)
    never.learn_many(
        *zip(*[pair for i, pair in enumerate(zip(records, labels, strict=True)) if i % 10], strict=True)
    )
    model.unlearn(records[::10], labels[::10])
    assert model.digest() == never.digest()


@pytest.mark.parametrize("warm_up", [300, 5000])
def test_two_processes_over_files_give_the_digest_of_one_pass(warm_up, tmp_path):
    records, labels = rows_of(2, 1200)
    paths = []
    for k, part in enumerate((slice(0, 700), slice(700, 1200))):
        paths.append(tmp_path / f"{k}.jsonl")
        rows = [r | {"class": y} for r, y in zip(records[part], labels[part], strict=True)]
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    forest = CountForest(trees=4, warm_up=warm_up, combine="mean")
    over_two = fit_files(paths, forest, target="class", jobs=2)
    one = forest.fresh()
    one.learn_many(records, labels)
    assert over_two.refresh().digest() == one.refresh().digest()
    assert over_two.engine.forest.frames_are_frozen == (warm_up == 300)


def test_shards_that_still_keep_their_rows_merge_into_what_one_pass_grows():
    records, labels = rows_of(1, 90)
    whole = taught(records, labels, combine="mean").refresh()
    parts = [taught(records[i::3], labels[i::3], combine="mean") for i in (2, 0, 1)]
    assert parts[0].merge(parts[1]).merge(parts[2]).refresh().digest() == whole.digest()
    assert CountForest(combine="mean").law is MergeLaw.EXACT
    assert CountForest().law is MergeLaw.AVERAGED


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_unlearned_rows_were_never_seen_on_the_trees_as_they_are(seed):
    records, labels = rows_of(seed, 300)
    model = taught(records, labels, combine="mean")
    never = model.fresh()
    never.learn_many(records[30:], labels[30:])
    model.unlearn(records[:30], labels[:30])
    assert model.digest() == never.digest()
    with pytest.raises(DataError, match="never learned"):
        model.unlearn(records[:30] * 9, labels[:30] * 9)
    with pytest.raises(UnsupportedError, match=r"combine='mean'"):
        taught(records, labels).unlearn(records[:3], labels[:3])


def test_other_trees_are_refused_with_the_way_out():
    records, labels = rows_of(3, 300)
    a, b = taught(records[:150], labels[:150]), taught(records[150:], labels[150:])
    before = a.digest()
    with pytest.raises(MergeError, match=r"fresh\(\)"):
        a.merge(b)
    assert a.digest() == before


def test_rows_kept_are_counted_on_the_trees_of_the_other_side():
    records, labels = rows_of(4, 260)
    frozen = taught(records[:160], labels[:160], combine="mean")
    one = copy.deepcopy(frozen)
    one.learn_many(records[160:], labels[160:])
    late = taught(records[160:], labels[160:], combine="mean")
    assert not late.engine.forest.frames_are_frozen
    assert copy.deepcopy(frozen).merge(late).digest() == one.digest() == late.merge(frozen).digest()


@pytest.mark.parametrize("combine", ["pool", "mean"])
def test_files_hold_trees_rows_and_pool(combine, tmp_path):
    records, labels = rows_of(6, 300)
    for n in (60, 119, 120, 200):
        model = taught(records[:n], labels[:n], combine=combine)
        save(model, tmp_path / "m.bayou")
        twin = load(tmp_path / "m.bayou")
        for each in (model, twin):
            each.learn_many(records[n:], labels[n:])
        assert twin.digest() == model.digest()


def test_later_classes_values_and_columns_find_their_place():
    records, labels = rows_of(7, 200, "xy")
    model = taught(records, labels)
    model.learn_many([{"a": 9.0, "sky": "green", "new": 1.0}] * 20, ["new"] * 20)
    proba = model.predict_proba_one({"a": 9.0, "sky": "green"})
    assert proba["new"] > 0.5
    assert abs(sum(proba.values()) - 1) < 1e-12
    assert model.predict_proba_one({})["new"] == pytest.approx(
        model.predict_proba_one({"sky": "never met"})["new"]
    )


def test_sorted_rows_cost_nothing_in_fit():
    records, labels = rows_of(8, 500)
    order = sorted(range(500), key=lambda i: labels[i])
    a = CountForest(trees=5, warm_up=200).fit(records, labels)
    b = CountForest(trees=5, warm_up=200).fit([records[i] for i in order], [labels[i] for i in order])
    assert len(set(a.predict_many(records))) == len(set(b.predict_many(records))) == 3
    right = [np.mean([p == y for p, y in zip(m.predict_many(records), labels, strict=True)]) for m in (a, b)]
    assert abs(right[0] - right[1]) < 0.05


def test_equal_rows_are_kept_once_and_hashes_tell_rows_apart():
    records, labels = rows_of(9, 40)
    model = taught(records * 3, labels * 3, combine="mean", warm_up=1000)
    bag = bag_of(model.engine.forest.kept, model.schema_)
    assert len(bag.hashes) == len(
        {(tuple(sorted(r.items())), y) for r, y in zip(records, labels, strict=True)}
    )
    assert bag.rows.w.sum() == 120


def test_memory_is_bounded():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 5)), rng.integers(0, 2, 4000)
    small, large = (CountForest(trees=10, max_bytes=m, warm_up=4000) for m in (1 << 18, 1 << 26))
    for model in (small, large):
        model.learn_many(X, y)
    assert small.memory_bytes < (1 << 18) + 5 * 8 * 253 + 4096 < large.memory_bytes
    assert small.engine.forest.frames_are_frozen


@pytest.mark.parametrize(
    "params", [{"trees": 0}, {"warm_up": 0}, {"combine": "median"}, {"extra": 9}], ids=str
)
def test_parameters_are_checked(params):
    with pytest.raises(SchemaError, match=next(iter(params))):
        CountForest(**params).fit([[1.0], [2.0]], [0, 1])


CHANGES = {
    "learned": lambda model, records, labels: model.learn_many(records, labels),
    "one": lambda model, records, labels: model.learn_one(records[0], labels[0]),
    "tested": lambda model, records, labels: model.test_then_train_batch(records, labels),
    "unlearned": lambda model, records, labels: model.unlearn(records[:50], labels[:50]),
    "decayed": lambda model, records, labels: model.decay(0.5),
    "merged": lambda model, records, labels: model.merge(taught_twin(model, records, labels)),
    "grown": lambda model, records, labels: model.grow(),
    "new class": lambda model, records, labels: model.learn_one(records[0], "never seen"),
}


def taught_twin(model, records, labels):
    twin = model.fresh()
    twin.learn_many(records, labels)
    return twin


@pytest.mark.parametrize("name", CHANGES)
def test_leaves_that_were_read_at_once_are_read_again_after_every_change(name, tmp_path):
    """Many rows are read from a table of leaves; a model that has just been loaded has no such table."""
    records, labels = rows_of(5, 600)
    needed = {"grown": {"reservoir": 200}, "unlearned": {"combine": "mean"}}
    model = taught(records, labels, **needed.get(name, {}))
    before = model.predict_proba(records)[:40].tolist()
    assert len(model.engine.parts()["forest"].summary._leaves) > 0  # else nothing could be out of date
    CHANGES[name](model, records, labels)
    save(model, tmp_path / "m.bayou")
    alone = [load(tmp_path / "m.bayou").predict_proba([record])[0].tolist() for record in records[:40]]
    assert model.predict_proba(records[:40]).tolist() == alone != before
