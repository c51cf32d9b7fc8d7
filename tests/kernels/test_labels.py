"""Integer labels by table, against a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bayou.encoding.labels import IntegerClasses
from bayou.kernels.labels import code_labels
from bayou.schema import Vocabulary

EDGES = [-(1 << 63), (1 << 63) - 1, (1 << 62) + 3]


@settings(max_examples=60, deadline=None)
@given(
    table=st.lists(st.integers(-1, 5), min_size=1, max_size=6),
    labels=st.lists(st.integers(-9, 9) | st.sampled_from(EDGES), max_size=8),
    low=st.integers(-8, 8),
)
def test_labels_are_looked_up_one_by_one(table, labels, low):
    known = {low + i: code for i, code in enumerate(table) if code >= 0}
    codes = np.full(len(labels), 7, dtype=np.int32)
    found = code_labels(codes, np.array(table, dtype=np.int32), np.array(labels, dtype=np.int64), low)
    assert found == all(label in known for label in labels)
    if found:
        assert codes.tolist() == [known[label] for label in labels]


def test_unsigned_labels_beyond_all_signed_ones_are_not_taken_for_negative_ones():
    classes = IntegerClasses(Vocabulary([-3, 1]))
    assert classes.codes(np.array([1, (1 << 64) - 3], dtype=np.uint64)) is None
    assert classes.codes(np.array([1, 1], dtype=np.uint64)).tolist() == [1, 1]
