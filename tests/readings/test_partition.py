"""Partitions: where values fall, and the ragged form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import modl as naive

from bayou.readings.equal import EqualFrequency
from bayou.readings.modl import MODL
from bayou.readings.partition import Partition, Partitions, with_level


def test_a_value_equal_to_a_cut_goes_left():
    halves = Partition(np.array([1.0, 2.0]), np.ones((3, 2)), 0.5)
    assert halves.cell_of([0.0, 1.0, 1.5, 2.0, 3.0, np.nan, np.inf, -np.inf]).tolist() == [
        0, 0, 1, 1, 2, -1, 2, 0,
    ]  # fmt: skip
    assert halves.cell_of([]).tolist() == []
    assert halves.n_parts == 3
    assert halves.informative


def test_one_interval_takes_everything():
    whole = Partition(np.empty(0), np.ones((1, 2)), 0.0)
    assert not whole.informative
    assert whole.cell_of([-1e300, 0, 1e300, np.nan]).tolist() == [0, 0, 0, -1]


def test_a_partition_is_frozen():
    with pytest.raises(AttributeError):
        Partition(np.empty(0), np.ones((1, 2)), 0.0).level = 1.0


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 20), min_size=2, max_size=2), min_size=1, max_size=6))
def test_the_level_of_given_intervals_is_that_of_the_criterion(cells):
    counts = np.array(cells, dtype=float)
    found = with_level(Partition(np.arange(len(counts) - 1.0), counts, 0.0), 2)
    if counts.sum() > 1:
        cuts = range(1, len(cells))
        assert found.level == pytest.approx(naive.level(counts.tolist(), cuts, 2), abs=1e-9)
    assert 0 <= found.level < 1


def test_every_cell_falls_into_its_own_interval():
    rng = np.random.default_rng(0)
    upper = np.sort(rng.normal(size=60))
    counts = rng.poisson(2.0, size=(60, 3)).astype(float)
    counts[:30, 0] += 20
    for midpoints in (False, True):
        found = MODL().partition(upper, counts, midpoints=midpoints)
        again = np.zeros_like(found.counts)
        np.add.at(again, found.cell_of(upper), counts)
        assert again.tolist() == found.counts.tolist()


def test_the_ragged_form_of_a_reader_without_its_own_batch():
    offsets = np.array([0, 4, 4, 10])
    upper = np.concatenate([np.arange(4.0), np.arange(6.0)])
    many = EqualFrequency(bins=2).partitions(offsets, upper, np.ones((10, 2)))
    assert isinstance(many, Partitions)
    assert [part.cuts.tolist() for part in many] == [[1.0], [], [2.0]]
    assert many.offsets.tolist() == [0, 2, 3, 5]
    assert np.isinf(many.cuts[[1, 2, 4]]).all()
    assert len(EqualFrequency().partitions(np.array([0]), np.empty(0), np.empty((0, 2)))) == 0
    with pytest.raises(IndexError):
        many[3]
