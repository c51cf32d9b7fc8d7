"""What readers of words say of each text column."""

from __future__ import annotations

import numpy as np
import pytest

from bayou.readings.words import Bernoulli, Complement, Multinomial
from bayou.summaries.word_counts import WordCounts
from bayou.testing.data import random_data
from bayou.testing.laws import encoded, filled


@pytest.mark.parametrize(
    "reader", [Multinomial(1.0), Complement(1.0), Bernoulli(1.0)], ids=lambda r: type(r).__name__
)
def test_terms_of_text_columns_add_up_to_the_whole(reader) -> None:
    block, schema = encoded(random_data(1, 30, words=True), True)
    summary = filled(lambda: WordCounts(binary=isinstance(reader, Bernoulli)), block, schema)
    whole = np.zeros((block.n, schema.classes.size))
    reader.add_log_prob(summary, block, whole)
    terms = reader.terms(summary, block)
    assert terms.shape == (block.n, len(block.words), schema.classes.size)
    assert len(block.words) >= 1
    np.testing.assert_allclose(terms.sum(axis=1), whole, rtol=1e-12)
