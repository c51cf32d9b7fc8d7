"""A classifier written in one file passes the whole contract, and exercises views and refresh points."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayou.testing import CHECKS, SUMMARY_CHECKS, random_data
from bayou.views.view import next_point
from tests import toy
from tests.toy import BinnedNB, ExponentCounts


def test_is_one_file_under_a_hundred_lines_of_code():
    lines = Path(toy.__file__).read_text().splitlines()
    assert len([line for line in lines if line.strip()]) < 100


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_contract(check, seed):
    check(BinnedNB, seed)


@pytest.mark.parametrize("check", SUMMARY_CHECKS, ids=lambda check: check.__name__)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_laws(check, seed):
    check(ExponentCounts, seed, False)


def taught(rows):
    data = random_data(3, rows, odd=False)
    model = BinnedNB()
    model.learn_many(data.records, data.labels)
    return model


def table(model):
    return model.engine.views["bins"].reading.table.copy()


def test_reading_changes_only_at_refresh_points():
    data = random_data(1, 200, odd=False)
    model, changed = BinnedNB(), []
    for i, (x, y) in enumerate(zip(data.records, data.labels, strict=True)):
        before = None if i == 0 else table(model)
        model.learn_one(x, y)
        model.predict_one(x)
        now = table(model)
        if before is None or before.shape != now.shape or not np.array_equal(before, now):
            changed.append(i + 1)
    points, point = set(), 0
    while point < 200:
        point = next_point(point)
        points.add(point)
    arrivals = {i + 1 for i in range(200) if _brings_something_new(data, i)}
    assert set(changed) <= points | arrivals | {a + 1 for a in arrivals}
    assert points - set(changed) - {p for p in points if p > 200} == set()


def _brings_something_new(data, i):
    known = {k for r in data.records[:i] for k in r}
    return data.labels[i] not in data.labels[:i] or not set(data.records[i]) <= known


@pytest.mark.parametrize(
    "act",
    [
        lambda m: m.merge(taught(30)),
        lambda m: m.unlearn(
            random_data(3, 90, odd=False).records[:5], random_data(3, 90, odd=False).labels[:5]
        ),
        lambda m: m.decay(0.5),
    ],
    ids=["merge", "unlearn", "decay"],
)
def test_merge_unlearn_and_decay_leave_the_reading_stale(act):
    model = taught(90).refresh()
    assert not model.engine.views["bins"].stale
    act(model)
    assert model.engine.views["bins"].stale
    rows = random_data(5, 5).records
    lazily = model.predict_proba_many(rows)
    assert not model.engine.views["bins"].stale
    assert lazily == copy.deepcopy(model).refresh().predict_proba_many(rows)


def test_refresh_reads_now_and_partial_fit_does_not():
    x = np.random.default_rng(0).normal(size=(100, 2))
    y = (x[:, 0] > 0).astype(int)
    model = BinnedNB().partial_fit(x, y)
    assert model.engine.views["bins"].stale
    assert not BinnedNB().fit(x, y).engine.views["bins"].stale
    before = table(model)
    assert not np.array_equal(before, table(model.refresh()))


def test_a_saved_reading_is_state():
    model = taught(97)  # between two refresh points: the reading is older than the counts
    arrays = dict(model.arrays())
    fresh_reading = copy.deepcopy(model).refresh().arrays()["bins.reading.table"]
    assert not np.array_equal(arrays["bins.reading.table"], fresh_reading)
    twin = model.fresh()
    twin.restore(arrays)
    assert np.array_equal(table(twin), arrays["bins.reading.table"])
