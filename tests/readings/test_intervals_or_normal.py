"""Which columns are read as normal, and what follows from it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.summaries.columns import filled, plan

from bayou import AutoDensity, AveragedNB, NaiveBayes
from bayou.errors import BayouError
from bayou.readings.intervals import Intervals
from bayou.readings.intervals_or_normal import IntervalsOrNormal
from bayou.readings.modl import MODL


def read(x, y, reader=None):
    return (reader or IntervalsOrNormal(MODL())).read(filled(AutoDensity().summary(), x, y))


def shifted(n, rng):
    y = rng.integers(0, 2, n)
    return rng.normal(size=n) + y, y


def banded(n, rng):
    x = rng.normal(size=n)
    return x, ((np.abs(x) < 0.4) ^ (rng.random(n) < 0.05)).astype(int)


@pytest.mark.parametrize("seed", range(5))
def test_few_rows_of_normal_classes_are_read_as_normal_and_a_band_as_intervals(seed):
    rng = np.random.default_rng(seed)
    smooth, band = read(*shifted(150, rng)), read(*banded(1000, rng))
    assert smooth.normal.tolist() == [1]
    assert band.normal.tolist() == [0]


def test_intervals_are_those_of_intervals_alone():
    x, y = banded(1000, np.random.default_rng(1))
    one, other = read(x, y), read(x, y, Intervals(MODL()))
    assert {name: a.tolist() for name, a in other.arrays().items()} == {
        name: a.tolist() for name, a in one.arrays().items() if name != "normal"
    }


def test_a_normal_column_has_two_parameters_and_intervals_one_less_than_there_are():
    rng = np.random.default_rng(2)
    assert read(*shifted(150, rng)).free_parameters().tolist() == [2.0]
    band = read(*banded(1000, rng))
    assert band.free_parameters().tolist() == [len(band.counts) - 1.0]


def test_a_reading_grows_with_the_schema_and_comes_back_from_its_arrays():
    x, y = shifted(150, np.random.default_rng(3))
    summary = filled(AutoDensity().summary(), x, y)
    reader = IntervalsOrNormal(MODL())
    found = reader.read(summary)
    grown = found.realign(plan(3, 4, 1, 2))
    assert grown.normal.tolist() == [1, 0, 0]
    assert grown.shape == (3, 4)
    again = reader.restore(found.arrays(), summary)
    assert all(np.array_equal(again.arrays()[name], a) for name, a in found.arrays().items())


@pytest.mark.parametrize("normal", [[2], [0, 1], [-1]])
def test_a_file_with_other_flags_is_refused(normal):
    x, y = shifted(150, np.random.default_rng(4))
    summary = filled(AutoDensity().summary(), x, y)
    reader = IntervalsOrNormal(MODL())
    arrays = {**reader.read(summary).arrays(), "normal": np.array(normal)}
    with pytest.raises((BayouError, ValueError)):
        reader.restore(arrays, summary)


def test_people_are_shown_a_few_intervals_of_a_normal_column():
    found = read(*shifted(150, np.random.default_rng(8)))
    (shown,) = found
    assert shown.n_parts == 10 < len(found.counts)
    assert shown.counts.sum(axis=0) == pytest.approx(found.counts.sum(axis=0))
    assert shown.level == found.partitions.levels[0]


def test_columns_read_as_normal_are_not_counted_between_searches_and_others_are():
    rng = np.random.default_rng(7)
    (x, y), band = shifted(400, rng), rng.normal(size=400)
    band[y == 1] = np.where(rng.random(np.sum(y)) < 0.5, 3.0, -3.0) + rng.normal(size=np.sum(y)) / 4
    model = NaiveBayes().fit(np.column_stack([x, band]), y)
    view = model.engine.views["numeric"]
    assert view.reading.normal.tolist() == [1, 0]
    before = view.current().counts
    model.partial_fit([[0.3, 3.0]] * 20, [1] * 20)  # 400 rows: the next refresh point is far
    parts, grown = view.reading.parts, view.current().counts - before
    assert grown[parts[0] : parts[1]].sum() == 0
    assert grown[parts[1] : parts[2]].sum() == 20


@pytest.mark.parametrize("seed", range(3))
def test_the_first_rows_of_a_smooth_stream_are_read_about_as_well_as_by_moments(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=300)
    x = rng.normal(size=(300, 4)) + y[:, np.newaxis] * [1.0, 0.5, 0.0, 0.7]
    right = {}
    for numeric in ("auto", "gaussian", "gk"):
        model = NaiveBayes(numeric)
        said = model.test_then_train_batch(x, y).argmax(axis=1)
        right[numeric] = np.mean(np.array(model.labels())[said] == y)
    assert right["auto"] > right["gaussian"] - 0.03
    assert right["auto"] > right["gk"]


def test_balance_scale_is_read_as_well_as_by_normal_densities():
    """Five values per column, smooth, and too few rows for intervals: MODL alone gets 79 %, moments 91 %."""
    rows = np.array(np.meshgrid(*[np.arange(1.0, 6.0)] * 4)).reshape(4, -1).T
    left, right = rows[:, 0] * rows[:, 1], rows[:, 2] * rows[:, 3]
    y = np.where(left == right, "B", np.where(left > right, "L", "R"))
    fold = np.random.default_rng(0).permutation(len(rows)) % 5
    right = {"auto": 0, "gk": 0, "gaussian": 0}
    for numeric in right:
        for k in range(5):
            model = NaiveBayes(numeric).fit(rows[fold != k], y[fold != k])
            right[numeric] += int(np.sum(model.predict(rows[fold == k]) == y[fold == k]))
    assert right["auto"] >= right["gaussian"] - 0.005 * len(rows)
    assert right["auto"] > right["gk"] + 0.05 * len(rows)


def test_averaged_naive_bayes_keeps_a_normal_column():
    x, y = shifted(300, np.random.default_rng(5))
    assert AveragedNB().fit(x[:, np.newaxis], y).weights_[0] > 0.5  # not charged for each of its many cells
