"""Test-then-train of whole counts by look-ups, against the kernel for all weights, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from tests.seeds import seeds

from bayou.kernels.value_counts import fill_logs, table_predict_then_update
from bayou.kernels.whole_counts import whole_predict_then_update


def _rows(rng, n, sizes, classes, missing):
    """Codes, labels with missing ones, weights 0 and 1; values come later and later, none new in the last rows."""
    late = np.arange(n)[:, None] / n
    codes = np.floor(rng.random((n, len(sizes))) * np.array(sizes) * np.minimum(1.0, 0.3 + 2.0 * late))
    codes[rng.random(codes.shape) < missing] = -1
    y = rng.integers(-1, classes, n).astype(np.int32)
    return np.ascontiguousarray(codes, dtype=np.int32), y, (rng.random(n) < 0.9).astype(float)


def _empty(sizes, classes, declared):
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    counts, present = np.zeros((offsets[-1], classes)), np.zeros((len(sizes), classes))
    return counts, present, np.zeros(len(sizes), np.int64), np.array(declared, np.int64), offsets


def _logs(size):
    logs = np.empty(size)
    fill_logs(logs, 0)
    return logs


@pytest.mark.parametrize("seed", seeds("whole counts", "bits"))
@pytest.mark.parametrize("classes", [1, 2, 3, 7])
@pytest.mark.parametrize("columns", [1, 3, 64, 70])
@pytest.mark.parametrize(("missing", "known_logs"), [(0.0, 2048), (0.002, 2048), (0.1, 2048), (0.002, 20)])
def test_the_bits_are_those_of_the_kernel_for_all_weights(seed, classes, columns, missing, known_logs):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, columns)
    declared = np.where(rng.random(columns) < 0.5, 0, sizes)
    ours, theirs = (_empty(sizes, classes, declared) for _ in range(2))
    logs = _logs(known_logs)  # counts may exceed the table
    for n in (200, 1, 300):  # the second call begins with what the first has counted
        rows = _rows(rng, n, sizes, classes, missing)
        out, expected = np.ones((n, classes)), np.ones((n, classes))
        counts, present, seen, about, offsets = ours
        assert whole_predict_then_update(counts, present, seen, out, about, offsets, *rows, logs, 1.0)
        counts, present, seen, about, offsets = theirs
        table_predict_then_update(counts, present, seen, expected, about, offsets, *rows, logs, 1.0, 0.0)
        assert out.tobytes() == expected.tobytes()
        assert [a.tobytes() for a in ours] == [a.tobytes() for a in theirs]


@pytest.mark.parametrize("what", ["weight", "count", "present", "alpha", "large"])
def test_what_is_not_whole_is_left_alone(what):
    state = _empty([2, 2], 2, [0, 0])
    codes, y, w = np.zeros((80, 2), np.int32), np.zeros(80, np.int32), np.ones(80)
    state[0][0, 0] = 0.5 if what == "count" else 3.0
    state[1][:, 0] = {"present": 0.5, "large": 2.0**53}.get(what, 3.0)
    state[2][:] = 1
    w[7] = 0.5 if what == "weight" else 1.0
    logs, alpha = _logs(256), 0.5 if what == "alpha" else 1.0
    before = [array.copy() for array in state]
    out = np.zeros((80, 2))
    counts, present, seen, declared, offsets = state
    assert not whole_predict_then_update(
        counts, present, seen, out, declared, offsets, codes, y, w, logs, alpha
    )
    assert [a.tobytes() for a in state] == [a.tobytes() for a in before]
    assert not out.any()
