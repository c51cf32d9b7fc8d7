"""The standard array: against the vectors, and that it decodes to the nearest codeword."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bayou.codes import coset_leaders, is_linear, nearest, standard_array
from bayou.codes.bch import words
from bayou.errors import SchemaError

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "ecoc.json").read_text())
FIVE = [int(word, 2) for word in VECTORS["standard_array_5_2_3"]["code"]]


def integers(rows):
    return [int("".join(map(str, row)), 2) for row in rows.tolist()]


def test_the_array_of_the_vectors():
    told = VECTORS["standard_array_5_2_3"]
    array = standard_array(FIVE, 5)
    assert [[f"{word:05b}" for word in row] for row in array] == told["rows"]
    assert len(array) == told["number_of_cosets"]


@pytest.mark.parametrize(("code", "bits"), [(FIVE, 5), (integers(words(3)), 7), (integers(words(4)), 15)])
def test_taking_off_the_leader_is_the_nearest_codeword_on_all_words(code, bits):
    leader_of = {leader ^ word: leader for leader in coset_leaders(code, bits) for word in code}
    assert len(leader_of) == 1 << bits
    for received in range(1 << bits):
        decoded = code[nearest(code, received)]
        assert decoded == received ^ leader_of[received]
        assert (decoded ^ received).bit_count() == min((word ^ received).bit_count() for word in code)


def test_a_code_that_is_not_linear_has_no_array():
    toy = [int(row, 2) for row in VECTORS["seed_toy_matrix"]["rows"].values()]
    assert not is_linear(toy)
    assert is_linear(toy) == VECTORS["seed_toy_matrix"]["is_linear_code"]
    with pytest.raises(SchemaError, match="linear"):
        coset_leaders(toy, 5)
    with pytest.raises(SchemaError, match="20 bits"):
        coset_leaders([0], 21)
    assert np.all([is_linear(integers(words(m))) for m in (3, 4)])
