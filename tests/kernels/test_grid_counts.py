"""PiD and cPiD against their known states and a slow twin."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.naive.pid import Grid

from bayou.kernels import grid_counts as kernels

PID = json.loads((Path(__file__).parents[1] / "vectors" / "pid.json").read_text())


class Column:
    """One column's arrays, fed value by value."""

    def __init__(self, low, high, intervals, room, k=2):
        self.breaks = np.full(room, np.inf)
        self.breaks[: intervals + 1] = np.linspace(low, high, intervals + 1)
        self.slack, self.counts = np.zeros(room), np.zeros((room, k))
        self.size, self.sums = np.array([intervals + 2]), np.array([0.0, -np.inf])
        self.step = (high - low) / intervals

    def add(self, x, y, w, alpha, wait, cells, joins):
        kernels.count_values(
            self.breaks, self.slack, self.counts, self.size, self.sums, np.array(x, float), np.array(y, np.int32),
            np.array(w, float), alpha, wait, self.step, cells, joins,
        )  # fmt: skip

    def state(self):
        m = int(self.size[0])
        return self.breaks[: m - 1].tolist(), self.counts[:m].tolist()


@pytest.mark.parametrize("name", ["PiD", "cPiD"])
def test_known_states(name):
    known = PID[name]
    start = known["lo"], known["hi"], known["initial_intervals"]
    column, twin = Column(*start, 64), Grid(*start, known["alpha"], 2, name == "cPiD")
    for (x, c), state in zip(known["sequence"], known["states"], strict=True):
        column.add([x], [c], [1.0], known["alpha"], 0.0, 60, name == "cPiD")
        twin.add(x, c)
        assert column.state() == (state["breaks"], state["counts"])
        assert (twin.breaks, twin.counts) == (state["breaks"], state["counts"])


@pytest.mark.parametrize("joins", [False, True])
@pytest.mark.parametrize("wait", [0.0, 100.0])
def test_random_values_against_the_twin(joins, wait):
    rng = np.random.default_rng(0)
    n = 3000
    x, y, w = rng.normal(size=n), rng.integers(0, 3, n), rng.integers(1, 3, n).astype(float)
    column, twin = Column(-1.0, 1.0, 16, 64, 3), Grid(-1.0, 1.0, 16, 0.125, 3, joins, 40, wait)
    column.add(x, y, w, 0.125, wait, 40, joins)
    for row in zip(x.tolist(), y.tolist(), w.tolist(), strict=True):
        twin.add(*row)
    breaks, counts = column.state()
    np.testing.assert_allclose(breaks, twin.breaks, rtol=0, atol=1e-15)
    assert counts == twin.counts
    assert column.sums.tolist() == [w.sum(), x.max()]


def test_missing_unlabelled_and_weightless_values_do_not_count():
    column = Column(0.0, 1.0, 4, 16)
    column.add([np.nan, 0.5, 0.5], [0, -1, 0], [1.0, 1.0, 0.0], 0.5, 0.0, 10, True)
    assert column.sums[0] == 0.0
    assert not column.counts.any()


def test_a_spike_divides_until_no_number_lies_between():
    column = Column(0.0, 1.0, 4, 256)
    column.add(np.full(5000, 0.3), np.zeros(5000), np.ones(5000), 0.1, 0.0, 200, False)
    assert column.size[0] < 200
    assert np.all(np.diff(column.breaks[: column.size[0] - 1]) > 0)
    assert column.counts.sum() == 5000


def test_refining_spreads_by_width_inside_and_by_halves_outside():
    breaks, counts = np.array([0.0, 4.0]), np.array([[8.0], [8.0], [8.0]])
    finer = np.array([-2.0, -1.0, 0.0, 1.0, 4.0, 5.0, 6.0])
    slack, spread = np.zeros(7), np.zeros((8, 1))
    kernels.refine_column(slack, spread, breaks, np.array([0.0, 1.0]), counts, finer)
    assert spread[:, 0].tolist() == [2, 2, 4, 2, 6, 4, 2, 2]
    # a new break can be off by the larger side of its cell plus that side's slack; an old one by its own
    assert slack.tolist() == [6, 4, 0, 7, 1, 5, 7]


def test_warming_up_stops_at_the_last_place():
    values, labels, weights = np.zeros((1, 3)), np.zeros((1, 3), np.int32), np.zeros((1, 3))
    filled, first = np.array([1]), np.zeros(1, np.int64)
    numeric = np.array([[np.nan], [1.0], [2.0], [3.0], [4.0]])
    y, w = np.array([0, -1, 0, 0, 0], np.int32), np.ones(5)
    kernels.warm_up(values, labels, weights, filled, np.array([False]), numeric, y, w, first)
    assert values.tolist() == [[0.0, 2.0, 3.0]]
    assert (filled[0], first[0]) == (3, 4)
