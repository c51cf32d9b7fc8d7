"""Heavy hitters: vectors, the slow twin, bounds on any stream and any merge, a budget that nothing breaks."""

from __future__ import annotations

import copy
import json
import os
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.sketches import SpaceSaving

from bayou.align import from_empty
from bayou.block import Block, Hashed
from bayou.encoding import Encoder
from bayou.errors import DataError, MergeError, ModelFileError, SchemaError
from bayou.hashing import digest
from bayou.laws import MergeLaw
from bayou.schema import Declared, Growth, Kind, Schema
from bayou.summaries.heavy_hitters import HeavyHitters
from bayou.testing import SUMMARY_CHECKS, laws

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "awe_oza_cms.json").read_text())
LONG = bool(os.environ.get("BAYOU_LONG"))


class Roomy(HeavyHitters):
    """While all values fit, the promise is that of exact counts."""

    law = MergeLaw.EXACT


@cache
def small(k):
    class Small(HeavyHitters):
        capacity = property(lambda self: k)

    return Small


class Texts(dict):
    def __missing__(self, key):
        return f"v{key}"


def block_of(rows, q=1):
    """Rows of (key, class, weight); the key stands in every column."""
    keys = np.array([[key] * q for key, _, _ in rows], dtype=np.int64).reshape(len(rows), q)
    return Block(
        np.empty((len(rows), 0)),
        np.zeros((len(rows), q), np.int32),
        (),
        np.array([c for _, c, _ in rows], dtype=np.int32),
        np.array([w for _, _, w in rows], dtype=np.float64),
        hashed=Hashed(keys, Texts()),
    )


def over(summary, classes=3, q=1):
    schema = Schema(Declared(hash_values=True))
    columns = [(f"u{j}", Kind.NOMINAL) for j in range(q)]
    schema.grow(Growth(classes=[f"c{i}" for i in range(classes)], columns=columns))
    summary.realign(from_empty(schema))
    return summary


def filled(k, rows, q=1):
    summary = over(small(k)(), q=q)
    summary.update(block_of(rows, q))
    return summary


def state(summary, column=0):
    keys, cells, _ = summary.columns[column].held()
    by_code = summary._by_class(cells[:, 2:])
    return {
        key: (cell[0], cell[1], tuple(hits))
        for key, cell, hits in zip(keys.tolist(), cells, by_code, strict=True)
    }


rows_of = st.lists(
    st.tuples(st.integers(1, 12), st.integers(-1, 2), st.sampled_from([0.0, 1.0, 1.0, 2.0])), max_size=80
)


def test_vector():
    v = VECTORS["space_saving_k3"]
    found = state(filled(3, [(x, 0, 1.0) for x in v["items"]]))
    assert {str(x): [count, error] for x, (count, error, _) in found.items()} == v["result"]


@settings(max_examples=150, deadline=None)
@given(rows=rows_of, k=st.integers(1, 6))
def test_slow_twin(rows, k):
    twin = SpaceSaving(k)
    for x, c, w in rows:
        if c >= 0 and w > 0:
            twin.add(x, c, w)
    fast = filled(k, rows)
    want = {x: (n, e, tuple(h.get(c, 0.0) for c in range(3))) for x, (n, e, h) in twin.kept.items()}
    assert state(fast) == want
    assert fast.columns[0].floor == twin.floor
    assert fast.table(0)[2].tolist() == [twin.rest.get(c, 0.0) for c in range(3)]


def assert_bounds(summary, rows, k):
    """What is promised of every state, however it came about."""
    taught = [(x, c, w) for x, c, w in rows if c >= 0 and w > 0]
    total = sum(w for _, _, w in taught)
    true, by_class = Counter(), Counter()
    for x, c, w in taught:
        true[x] += w
        by_class[x, c] += w
    found = state(summary)
    assert len(found) <= k
    for x, n in true.items():
        if n > total / k:
            assert x in found
        if x not in found:
            assert n <= summary.columns[0].floor <= total / k
    for x, (count, error, hits) in found.items():
        assert count - error <= true[x] <= count
        assert error <= total / k
        assert all(hits[c] <= by_class[x, c] for c in range(3))
        assert sum(hits) == count - error
    kept, rest = summary.table(0)[1].sum(axis=0), summary.table(0)[2]
    assert (kept + rest).tolist() == [sum(w for _, c, w in taught if c == i) for i in range(3)]
    assert summary.error() == (summary.columns[0].floor / total if total else 0.0)


@settings(max_examples=150, deadline=None)
@given(rows=rows_of, k=st.integers(1, 6))
def test_every_heavy_value_is_kept(rows, k):
    assert_bounds(filled(k, rows), rows, k)


@settings(max_examples=150, deadline=None)
@given(
    shards=st.lists(rows_of, min_size=2, max_size=4),
    more=rows_of,
    k=st.integers(1, 6),
    seed=st.integers(0, 99),
)
def test_bounds_hold_after_any_merge(shards, more, k, seed):
    rng = np.random.default_rng(seed)
    parts = [filled(k, rows) for rows in shards]
    while len(parts) > 1:
        one = parts.pop(int(rng.integers(len(parts))))
        parts[int(rng.integers(len(parts)))].merge(one)
    rows = [row for shard in shards for row in shard]
    assert_bounds(parts[0], rows, k)
    parts[0].update(block_of(more))
    assert_bounds(parts[0], rows + more, k)


@settings(max_examples=60, deadline=None)
@given(rows=rows_of, cuts=st.lists(st.integers(0, 80)), k=st.integers(1, 6))
def test_same_bits_for_any_cut(rows, cuts, k):
    at_once, in_parts = filled(k, rows, q=2), over(small(k)(), q=2)
    for _, part in block_of(rows, 2).cut([c for c in cuts if c <= len(rows)]):
        in_parts.update(part)
    assert digest(at_once.arrays()) == digest(in_parts.arrays())


@settings(max_examples=60, deadline=None)
@given(rows=rows_of, more=rows_of, k=st.integers(1, 6))
def test_arrays_are_the_whole_state(rows, more, k):
    one = filled(k, rows)
    twin = one.fresh()
    one.check(one.arrays())
    twin.restore(copy.deepcopy(dict(one.arrays())))
    for summary in (one, twin):
        summary.update(block_of(more))
    assert digest(one.arrays()) == digest(twin.arrays())


@settings(max_examples=60, deadline=None)
@given(rows=rows_of, k=st.integers(1, 6))
def test_decay_scales_everything(rows, k):
    one, half = filled(k, rows), filled(k, rows)
    half.scale(0.5)
    want = {x: (n / 2, e / 2, tuple(h / 2 for h in hits)) for x, (n, e, hits) in state(one).items()}
    assert state(half) == want
    assert half.error() == one.error()


@pytest.mark.parametrize("check", SUMMARY_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", [Roomy, lambda: Roomy(4096)])
def test_laws_are_exact_while_values_fit(make, check):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(laws, "Schema", lambda: Schema(Declared(hash_values=True)))
        for seed in range(8):
            check(make, seed, False)


def test_capacity_shrinks_with_the_classes_met_not_with_those_to_come():
    rows = [(1 + i % 50, 0, 1.0 + (i % 50 == 7)) for i in range(200)] + [(7, c, 1.0) for c in range(1, 40)]
    at_once, by_rows = over(HeavyHitters(4096), classes=40), over(HeavyHitters(4096), classes=40)
    at_once.update(block_of(rows))
    for i in range(len(rows)):
        by_rows.update(block_of(rows[i : i + 1]))
        assert by_rows.nbytes <= 2 * 4096  # the index and small parts double at most
    assert at_once.capacity == 4096 // (96 + 8 * 40) == 9
    assert digest(at_once.arrays()) == digest(by_rows.arrays())
    assert 7 in state(at_once)


def test_texts_of_values_are_kept_short():
    schema = Schema(Declared(hash_values=True))
    values = ["a" * 100, "é" * 60, 3.0, True, "x", b"raw"]
    block, growth = Encoder(schema).encode([{"u": v} for v in values], ["y"] * 6, learn=True)
    schema.grow(growth)
    summary = HeavyHitters()
    summary.realign(from_empty(schema))
    summary.update(block)
    texts = {text for text, *_ in summary.kept(0)}
    assert {"3", "True", "x", "raw"} <= texts
    assert all(len(text.encode()) <= 40 for text in texts)
    assert any(text.startswith("aaa") and "…" in text for text in texts)


def test_refusals():
    with pytest.raises(DataError, match="at least 4096"):
        HeavyHitters(max_bytes=100)
    with pytest.raises(MergeError, match="max_bytes"):
        over(HeavyHitters(4096)).merge(over(HeavyHitters(8192)))
    plain = Block(np.empty((1, 0)), np.zeros((1, 1), np.int32), (), np.zeros(1, np.int32), np.ones(1))
    with pytest.raises(SchemaError, match="hash_values"):
        over(HeavyHitters()).update(plain)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("classes", lambda a: a + 5),
        ("classes", lambda a: a * 0),
        ("sizes", lambda a: a + 1),
        ("keys", lambda a: a[::-1]),
        ("keys", lambda a: a * 0),
        ("cells", lambda a: a * np.nan),
        ("cells", lambda a: a[:, :-1]),
        ("rest", lambda a: a - 10.0),
        ("texts", lambda a: a[:, :3]),
        ("declared", lambda a: a + 1),
        ("declared_classes", lambda a: a + 1),
    ],
)
def test_damaged_arrays_are_refused(name, damage):
    summary = over(HeavyHitters())
    summary.update(block_of([(x, x % 3, 1.0) for x in range(1, 9)]))
    arrays = dict(summary.arrays())
    summary.check(arrays)
    with pytest.raises(ModelFileError):
        summary.check({**arrays, name: damage(arrays[name])})


def test_more_values_than_the_bytes_allow_are_refused():
    roomy, tight = over(HeavyHitters()), over(HeavyHitters(4096))
    roomy.update(block_of([(x, 0, 1.0) for x in range(1, 200)]))
    with pytest.raises(ModelFileError, match="bytes"):
        tight.check(roomy.arrays())


def test_new_values_without_end_stay_within_the_budget():
    """Ten million values in the long form, 300,000 in the short one; frequent values are counted as if alone."""
    n = 10_000_000 if LONG else 300_000
    schema = Schema(Declared(hash_values=True))
    encoder = Encoder(schema)
    budget, step = 1 << 18, 20_000
    summary = HeavyHitters(budget)
    rng = np.random.default_rng(0)
    regulars = [f"regular{i}" for i in range(20)]
    taught = Counter()
    for start in range(0, n, step):
        values = [f"visitor{start + i}" for i in range(step)]
        for i in rng.choice(step, step // 10, replace=False):
            values[i] = regulars[i % 20]
        labels = rng.integers(0, 2, step)
        taught.update((v, int(c)) for v, c in zip(values, labels, strict=True) if v.startswith("r"))
        block, growth = encoder.encode({"u": values}, labels, learn=True)
        if growth:
            schema.grow(growth)
            summary.realign(from_empty(schema))
        summary.update(block)
        assert summary.nbytes <= budget
    assert schema.vocabularies["u"].values == []
    assert sum(a.nbytes for a in summary.arrays().values()) <= budget
    kept = {text: hits for text, _, _, hits in summary.kept(0)}
    for value in regulars:
        for c in range(2):
            lost = taught[value, c] - kept[value][schema.classes.code(c)]
            assert 0 <= lost <= summary.error() * n
            assert lost <= 0.02 * taught[value, c]
