"""Adaptive windows against a plain twin and River's, and starting again."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from tests.naive.ensembles import NaiveWindow

from bayou import NaiveBayes, prequential
from bayou.ensembles import ResetOnDrift
from bayou.ensembles.drift import AdaptiveWindow
from bayou.errors import BayouError, ModelFileError
from bayou.files import dumps, loads


def losses(seed, parts):
    rng = np.random.default_rng(seed)
    return np.concatenate([(rng.random(n) < p).astype(float) for n, p in parts])


def alarms(window, values):
    at, found = 0, []
    while at < len(values):
        place = window.watch(values[at:])
        if place < 0:
            break
        at += place + 1
        found.append(at)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_alarms_and_widths_are_the_plain_ones(seed):
    values = losses(seed, [(700, 0.2), (500, 0.5), (900, 0.1), (600, 0.6)])
    plain, mine = NaiveWindow(), AdaptiveWindow()
    expected = [i for i, v in enumerate(values, 1) if plain.push(v)]
    assert alarms(mine, values) == expected
    assert mine.width == sum(b[0] for b in plain.buckets)


@pytest.mark.parametrize(("before", "after"), [(0.1, 0.5), (0.2, 0.4), (0.3, 0.9)])
def test_finds_what_river_finds_at_about_the_same_time(before, after):
    drift = pytest.importorskip("river.drift")
    for seed in range(5):
        values = losses(seed, [(1500, before), (1500, after)])
        theirs = drift.ADWIN()
        found = None
        for i, v in enumerate(values, 1):
            theirs.update(v)
            if theirs.drift_detected and found is None:
                found = i
        mine = alarms(AdaptiveWindow(), values)
        assert mine
        assert mine[0] > 1500
        assert abs(mine[0] - found) <= 96


def test_few_false_alarms():
    raised = sum(len(alarms(AdaptiveWindow(), losses(seed, [(5000, 0.3)]))) for seed in range(40))
    assert raised <= 2


def test_a_fall_is_no_alarm_but_shortens_the_window():
    window = AdaptiveWindow()
    assert alarms(window, losses(0, [(2000, 0.6), (2000, 0.1)])) == []
    assert window.width < 3000


def test_window_over_many_values_stays_small():
    window = AdaptiveWindow()
    before = sum(a.nbytes for a in window.arrays().values())
    window.watch(losses(0, [(300_000, 0.3)]))
    assert sum(a.nbytes for a in window.arrays().values()) == before
    assert window.width > 100_000


def test_restoring_what_is_no_window_is_refused():
    window = AdaptiveWindow()
    with pytest.raises(ModelFileError, match="room for one more"):
        window.restore({**window.arrays(), "filled": np.full(48, 7)})


def test_starts_again_and_recovers():
    rng = np.random.default_rng(1)
    x = rng.normal(size=6000)
    y = np.where((x > 0) == (np.arange(6000) < 3000), "up", "down")
    rows = [{"x": float(v)} for v in x]
    plain, model = NaiveBayes(), ResetOnDrift()
    right = {}
    for each in (plain, model):
        proba = each.test_then_train_batch(rows, y)
        chosen = np.array(each.labels())[proba.argmax(axis=1)]
        right[each] = np.mean(chosen[3000:] == y[3000:])
    assert model.drifts >= 1
    assert right[model] > 0.95 > 0.6 > right[plain]


def test_never_without_an_answer_once_it_has_learned():
    rng = np.random.default_rng(1)
    model = ResetOnDrift(delta=0.5, clock=4)
    for i in range(800):
        x = float(rng.normal())
        model.learn_one({"x": x}, (x > 0) == (i // 200 % 2 == 0))
        assert model.predict_one({"x": 0.0}) is not None, i
    assert model.drifts > 1


def test_the_rows_of_drifts_are_numbers_of_the_stream_whatever_the_batches():
    rng = np.random.default_rng(3)
    x = rng.normal(size=3000)
    y = ((x > 0) == (np.arange(3000) // 700 % 2 == 0)).tolist()
    rows = [{"x": float(v)} for v in x]
    found = set()
    for size in (1, 64, 777, 3000):
        model = ResetOnDrift(delta=0.01)
        for lo in range(0, 3000, size):
            if size == 1:
                model.learn_one(rows[lo], y[lo])
            else:
                model.learn_many(rows[lo : lo + size], y[lo : lo + size])
        found.add(tuple(model.drift_rows))
        for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), loads(dumps(model))):
            assert twin.drift_rows == model.drift_rows
    (told,) = found
    assert len(told) == 4
    assert all(700 * (i + 1) <= row < 700 * (i + 1) + 200 for i, row in enumerate(told))
    assert model.fresh().drift_rows == []
    begun = ResetOnDrift(delta=0.01)
    begun.learn_many(rows[:500], y[:500])
    result = prequential({"reset": begun}, (rows[500:], y[500:]))["reset"]
    assert [row + 500 for row in result.drift_rows] == list(told)
    assert result.to_dict()["drift_rows"] == list(result.drift_rows)


def test_rows_of_drifts_that_cannot_be_are_refused():
    model = ResetOnDrift(delta=0.01)
    model.learn_many([{"x": i % 2} for i in range(2000)], [(i % 2 == 0) == (i < 1000) for i in range(2000)])
    assert model.drifts
    for rows in (np.array([-1]), np.zeros(0, np.int64), np.array([0.5]), np.array([7, 8])):
        with pytest.raises(BayouError, match="rows of drifts"):
            model.restore({**model.arrays(), "drift_rows": rows}, model.position)
