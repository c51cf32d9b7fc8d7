"""The record of several readings, and what it makes of them, against a slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.track_record import joined

from bayou.kernels.track_record import join_rows

SCORES = st.sampled_from([-np.inf, -40.0, -3.0, -1.5, -1.0, -0.25, 0.0])


@pytest.mark.parametrize("mix", [False, True])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_readings_are_joined_by_their_record(mix, data):
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
    join_rows(record, out, scores, y, w, mix, learn)
    expected, after = joined(before.tolist(), scores.tolist(), y.tolist(), w.tolist(), mix, learn)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(record, after, rtol=1e-12, atol=1e-12)
