"""Code books: against the vectors, and the promises every code makes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayou.codes import BCH, GivenCode, OneVsAll, OneVsOne, RandomCode, code_recipe, distances
from bayou.codes.bch import PRIMITIVE, generator, times, words
from bayou.errors import SchemaError

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "ecoc.json").read_text())
BOOKS = list(VECTORS["bch"].values())


def text(rows):
    return ["".join(map(str, row)) for row in rows.tolist()]


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: str(book["n"]))
def test_bch_generators_and_weight_distributions(book):
    g = generator(book["m"])
    assert f"{PRIMITIVE[book['m']]:b}" == book["primitive_poly_binary"]
    assert f"{g:b}" == book["generator_binary_high_to_low"]
    assert f"{g:o}" == book["generator_octal"]
    all_words = words(book["m"])
    assert all_words.shape == (1 << book["k"], book["n"])
    weights = Counter(int(weight) for weight in all_words.sum(axis=1))
    assert weights == {int(w): count for w, count in book["weight_distribution"].items()}


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: str(book["n"]))
def test_bch_code_books_word_by_word(book):
    found = text(words(book["m"]))
    listed = book["nonsystematic_u_times_g"]
    assert found[: len(listed)] == listed
    assert set(book["systematic_rows"]) <= set(found)


@pytest.mark.parametrize("m", PRIMITIVE)
def test_the_primitive_polynomials_are_primitive(m):
    element, order = 2, 1
    while element != 1:
        element <<= 1
        element ^= PRIMITIVE[m] if element >> m else 0
        order += 1
    assert order == (1 << m) - 1


@pytest.mark.parametrize("m", range(3, 9))
def test_generators_divide_x_to_the_n_plus_1(m):
    remainder, g = (1 << ((1 << m) - 1)) | 1, generator(m)
    while remainder.bit_length() >= g.bit_length():
        remainder ^= g << (remainder.bit_length() - g.bit_length())
    assert remainder == 0
    assert g.bit_length() - 1 == (1 << m) - 1 - (m + 1)


@given(st.integers(0, 1 << 40), st.integers(0, 1 << 40), st.integers(0, 1 << 40))
def test_polynomials_over_gf2_are_a_ring(a, b, c):
    assert times(a, b) == times(b, a)
    assert times(a, b ^ c) == times(a, b) ^ times(a, c)
    assert times(times(a, b), c) == times(a, times(b, c))


@given(st.sampled_from([7, 15, 31, 63, 127]), st.integers(0, 50), st.integers(2, 20))
def test_bch_rows_are_words_of_the_code_evenly_apart(bits, seed, k):
    rows = BCH(bits, seed).rows(k)
    m = (rows.shape[1] + 1).bit_length() - 1
    assert set(text((rows + 1) // 2)) <= set(text(words(m)))
    if k <= 1 << m:
        half = (rows.shape[1] + 1) // 2
        assert set(distances(rows)) <= {half - 1, half}
    assert np.array_equal(BCH(bits, seed).rows(k - 1), rows[: k - 1]) or k - 1 <= 2 * (bits + 1) < k


def test_bch_seeds_draw_other_words():
    assert not np.array_equal(BCH(31, 0).rows(10), BCH(31, 1).rows(10))


def test_bch_grows_to_the_next_length_when_classes_outnumber_its_words():
    assert [BCH(15).rows(k).shape[1] for k in (1, 32, 33, 64, 65)] == [15, 15, 31, 31, 63]
    with pytest.raises(SchemaError, match="2\\^m - 1"):
        BCH(20)


@given(st.integers(1, 70), st.integers(0, 9), st.integers(1, 40))
@settings(deadline=None)
def test_random_rows_are_distinct_and_no_complements(bits, seed, k):
    rows = RandomCode(bits, seed).rows(k)
    apart = distances(rows)
    assert len(rows) == k
    assert rows.shape[1] >= bits
    assert ((0 < apart) & (apart < rows.shape[1])).all()
    assert RandomCode(bits, seed).min_distance(k) == (apart.min() if k > 1 else 0.0)


def test_random_rows_are_fair_coins():
    assert abs(RandomCode(127, 5).rows(200).mean()) < 0.02


def test_decompositions_are_those_of_the_vectors():
    assert OneVsAll().rows(4).tolist() == VECTORS["ova4"]
    assert OneVsOne().rows(4).tolist() == VECTORS["ovo4"]


def test_given_code_keeps_its_rows_and_wants_one_per_class():
    toy = VECTORS["seed_toy_matrix"]
    code = GivenCode([[2 * int(bit) - 1 for bit in row] for row in toy["rows"].values()])
    assert distances(code.rows(4)).tolist() == list(toy["distances"].values())
    assert code == GivenCode(np.array(code.matrix))
    assert hash(code) == hash(GivenCode(code.matrix))
    with pytest.raises(SchemaError, match="4 rows and 5 classes"):
        code.rows(5)
    for wrong in ([], [[1], [1, 1]], [[2]]):
        with pytest.raises(SchemaError, match="rows of one length"):
            GivenCode(wrong)


def test_short_names():
    assert code_recipe("one-vs-one") == OneVsOne()
    assert code_recipe(BCH(15)) == BCH(15)
    with pytest.raises(SchemaError, match="one-vs-all"):
        code_recipe("hadamard")
