"""Parent sets of any size, and SPC without the triples it does not read: brute force, the dense form, the contract."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import collections as naive
from tests.naive import joint
from tests.seeds import seeds

from bayou import SPC, Collection, Grid
from bayou.errors import SchemaError
from bayou.summaries.set_counts import SetCounts
from bayou.testing import check_classifier, random_data

NAMES = [f"c{j}" for j in range(5)]


def rows_of(seed, n=40, missing=0.1):
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random((n, 5)) < missing, -1, rng.integers(3, size=(n, 5)))
    records = [{c: f"v{v}" for c, v in zip(NAMES, row, strict=True) if v >= 0} for row in codes.tolist()]
    return codes, records, rng.integers(2, size=n)


def sets_of(seed):
    """Random parent sets among earlier columns, up to all of them, with weights; child -> (parents, weight)."""
    rng = np.random.default_rng(seed)
    out = {}
    for i in range(5):
        every = [pa for size in range(i + 1) for pa in combinations(range(i), size)]
        chosen = rng.choice(len(every), size=min(len(every), 4), replace=False)
        out[i] = [(every[t], int(rng.integers(1, 4))) for t in sorted(chosen.tolist())]
    out[4].append(((0, 1, 2, 3), 2)) if ((0, 1, 2, 3)) not in [pa for pa, _ in out[4]] else None
    return out


@given(seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_any_parent_sets_against_exact_fractions(seed):
    codes, records, y = rows_of(seed)
    sets = sets_of(seed)
    model = Collection(
        {NAMES[i]: [([NAMES[p] for p in pa], float(u)) for pa, u in listed] for i, listed in sets.items()},
        prior="laplace",
    )
    model.learn_many(records, y.tolist())
    assert isinstance(model.engine.counts, SetCounts)
    names = model.engine.column_names()
    place = [NAMES.index(name) for name in names]
    value = [
        [
            int(model.schema_.vocabularies[name].name(c)[1:])
            for c in range(len(model.schema_.vocabularies[name].values))
        ]
        for name in names
    ]
    counts = joint.count(codes.tolist(), y.tolist(), [1.0] * len(y), 5)
    world = naive.World(counts, [3] * 5, 2)
    assert sorted(place) == list(range(5))
    assert all(len(set(v)) == len(v) for v in value)
    asked, queries, _ = rows_of(seed + 1, 8)
    for row, record in zip(asked.tolist(), queries, strict=True):
        scores = [world.closed_form(row, sets, c) for c in range(2)]
        got = model.predict_proba_one(record)
        assert [got[0], got[1]] == pytest.approx(naive.normalised(scores), rel=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_lean_spc_is_spc(seed):
    _, records, y = rows_of(seed, 120)
    _, queries, _ = rows_of(seed + 50, 30)
    for name in ("c0", "c3"):
        dense, lean = SPC(name), SPC(name, lean=True)
        for model in (dense, lean):
            model.learn_many(records, y.tolist())
        assert lean.predict_proba(queries) == pytest.approx(dense.predict_proba(queries), rel=1e-11)
        assert not len(lean.engine.counts.triples)


def test_lean_spc_of_numbers_across_the_freezing_of_grids():
    data = random_data(5, 120, odd=False)
    for rows in (10, 40, 119):
        models = [SPC("wide", numeric=Grid(warm_up=30), lean=lean) for lean in (False, True)]
        for model in models:
            model.learn_many(data.records[:rows], data.labels[:rows])
        a, b = (model.predict_proba(data.records) for model in models)
        assert b == pytest.approx(a, rel=1e-10)


def test_lean_spc_grows_with_the_square_of_the_columns():
    """O(m^2 a^3): the triples with one column, instead of all of them."""
    for m in (6, 12):
        model = SPC("x0", lean=True).fit(np.random.default_rng(0).choice(list("abc"), (200, m)), [0, 1] * 100)
        assert len(model.engine.counts.wide) == 27 * (m - 1) * (m - 2) // 2
        dense = SPC("x0").fit(np.random.default_rng(0).choice(list("abc"), (200, m)), [0, 1] * 100)
        assert len(dense.engine.counts.triples) == 27 * m * (m - 1) * (m - 2) // 6


def test_bytes_bound_the_sets_and_a_refusal_changes_nothing():
    rows = [{f"x{j}": f"v{i % (j + 2)}" for j in range(6)} for i in range(60)]
    model = Collection({"x5": [[f"x{j}" for j in range(5)]]}, max_bytes=100_000)
    model.learn_many(rows[:20], [0, 1] * 10)
    before = model.digest()
    with pytest.raises(SchemaError, match="max_bytes"):
        model.learn_many([{f"x{j}": f"w{i}" for j in range(6)} for i in range(30)], [0] * 30)
    assert model.digest() == before
    with pytest.raises(SchemaError, match="super_parent"):
        SPC(lean=True).learn_one({"a": "x"}, 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SPC("wide", lean=True),
        lambda: Collection(
            {"wide": [[], ["sky", "fine", "moon"], (["sky"], 2.0)], "moon": [["sky", "flag"]]}
        ),
    ],
    ids=["lean SPC", "three parents"],
)
def test_contract(make):
    check_classifier(make, seeds=seeds(repr(make())))
