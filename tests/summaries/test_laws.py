"""Every law on every summary of counts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.last_label import LastLabel
from bayou.summaries.met_columns import MetColumns
from bayou.summaries.moments import Moments
from bayou.summaries.sections import Sections
from bayou.summaries.value_counts import ValueCounts
from bayou.summaries.word_counts import WordCounts
from bayou.testing import SUMMARY_CHECKS

SUMMARIES = {
    "ClassCounts": (ClassCounts, False),
    "LastLabel": (LastLabel, False),
    "MetColumns": (MetColumns, True),
    "Sections": (Sections, False),
    "ValueCounts": (ValueCounts, False),
    "Moments": (Moments, False),
    "WordCounts": (WordCounts, True),
    "WordCounts, binary": (lambda: WordCounts(binary=True), True),
}


@pytest.mark.parametrize("check", SUMMARY_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", SUMMARIES)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_law(name, check, seed):
    make, words = SUMMARIES[name]
    check(make, seed, words)
