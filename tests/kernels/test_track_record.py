"""The record of several readings, and what it makes of them, against a slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.track_record import joined

from bayou.kernels.track_record import join_rows

SCORES = st.sampled_from([-np.inf, -40.0, -3.0, -1.5, -1.0, -0.25, 0.0])


@pytest.mark.parametrize("rates", [(0.0, 0.0), (0.5, 0.0), (0.0, 1.0), (0.3, 0.2)])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_readings_are_joined_by_their_record(rates, data):
    readings, rows, classes = (data.draw(st.integers(1, n)) for n in (3, 6, 3))
    cells = st.lists(SCORES, min_size=readings * rows * classes, max_size=readings * rows * classes)
    scores = np.array(data.draw(cells)).reshape(readings, rows, classes)
    scores[..., 0] = np.maximum(scores[..., 0], -60.0)  # one class is possible at least
    y = np.array(data.draw(st.lists(st.integers(-1, classes - 1), min_size=rows, max_size=rows)), np.int32)
    w = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=rows, max_size=rows)))
    learn = data.draw(st.booleans())
    record = np.array(
        [[float(r), float(data.draw(st.integers(0, 2))), 0.5 * r] for r in range(readings)]
    ).T.copy()
    before, out = record.copy(), np.zeros((rows, classes))
    join_rows(record, out, scores, y, w, *rates, learn)
    expected, after = joined(before.tolist(), scores.tolist(), y.tolist(), w.tolist(), *rates, learn)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(record, after, rtol=1e-12, atol=1e-12)


def test_rounding_does_not_decide_who_was_right():
    scores = np.log(np.array([[[0.25, 0.25 * (1 + 1e-14), 0.5]], [[0.4, 0.4 * (1 + 1e-14), 0.2]]]))
    for y, hits in ((0, [0.0, 0.5]), (1, [0.0, 0.5]), (2, [1.0, 0.0])):
        record = np.zeros((3, 2))
        join_rows(record, np.zeros((1, 3)), scores, np.array([y], np.int32), np.ones(1), 0.5, 0.0, True)
        assert record[1].tolist() == hits
