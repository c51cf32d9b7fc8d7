"""Equal width and equal frequency."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayou.errors import DataError
from bayou.readings.equal import EqualFrequency, EqualWidth
from bayou.readings.kmeans_bins import KMeansBins

VECTOR = json.loads((Path(__file__).parent.parent / "vectors" / "fayyad_irani.json").read_text())


def test_equal_width_vector():
    case = VECTOR["eqwidth"]
    upper = np.arange(float(case["min"]), case["max"] + 1.0)
    for midpoints in (False, True):
        found = EqualWidth(case["k"]).partition(upper, np.ones((len(upper), 2)), midpoints=midpoints)
        assert found.cuts == pytest.approx(case["cuts"])
        assert found.counts.sum(axis=1).tolist() == [8.0, 6.0, 6.0]


def test_equal_frequency_vector():
    case = VECTOR["eqfreq"]
    counts = np.array(case["g"], dtype=float)[:, None]
    found = EqualFrequency(case["k"]).partition(np.array(case["values"], float), counts, midpoints=True)
    assert found.cuts.tolist() == case["cuts"]


def test_equal_width_leaves_empty_intervals_out_and_respects_cells():
    upper = np.array([0.0, 1.0, 100.0])
    exact = EqualWidth(10).partition(upper, np.ones((3, 1)), midpoints=True)
    assert exact.cuts.tolist() == [10.0]
    assert exact.counts.tolist() == [[2.0], [1.0]]
    assert EqualWidth(10).partition(upper, np.ones((3, 1))).cuts.tolist() == [1.0]


def test_a_heavy_cell_swallows_intervals():
    found = EqualFrequency(4).partition(np.arange(3.0), np.array([[1.0], [8.0], [1.0]]))
    assert found.cuts.tolist() == [1.0]


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=2), min_size=0, max_size=12),
    st.integers(1, 8),
    st.sampled_from([EqualWidth, EqualFrequency, KMeansBins]),
    st.booleans(),
)
def test_laws_of_unsupervised_intervals(cells, bins, kind, midpoints):
    counts = np.array(cells, dtype=float).reshape(-1, 2)
    upper = np.arange(float(len(counts))) ** 2
    found = kind(bins).partition(upper, counts, midpoints=midpoints)
    assert found.n_parts <= bins
    assert len(found.cuts) == found.n_parts - 1
    assert found.counts.sum(axis=0).tolist() == counts.sum(axis=0).tolist()
    if found.informative:
        assert (found.counts.sum(axis=1) > 0).all()
    again = np.zeros_like(found.counts)
    np.add.at(again, found.cell_of(upper), counts)
    assert again.tolist() == found.counts.tolist()
    assert 0 <= found.level < 1


@pytest.mark.parametrize("kind", [EqualWidth, EqualFrequency, KMeansBins])
def test_bins_must_be_positive(kind):
    with pytest.raises(DataError, match="at least 1: 0"):
        kind(0)
    assert kind(3).get_params() == {"bins": 3}
