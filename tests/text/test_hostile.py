"""Text that nobody would write by accident. With BAYOU_LONG=1 a line of 50 MB and a million different words."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from bayou import Declared, MultinomialNB, Text, WeightedNB
from bayou.errors import DataError
from bayou.text.documents import documents_of
from bayou.text.tokenizer import NAMES, Tokenizer

LONG = bool(os.environ.get("BAYOU_LONG"))
LINE = 50_000_000 if LONG else 500_000
DISTINCT = 1_000_000 if LONG else 20_000
RECIPES = [
    Text(),
    Text(ngrams=(1, 2), osb=5, strip_accents=True),
    Text(buckets=2**16),
    Text("char_wb", (3, 4), buckets=2**16),
]
TEXTS = {
    "nothing": "",
    "zeros": "\x00" * 1000 + "word\x00word\x00",
    "directions": "\u202eevil\u202c \u200frtl\u200e \u2066iso\u2069 word",
    "halves of pairs": "a\ud800b \udfff word",
    "spaces": " \u3000\u00a0\t\n" * 1000,
    "one letter": "x" * 10_000,
    "accents": "e" + "\u0301" * 10_000 + " word",
    "ligatures": "\ufdfa" * 3_000,
    "sigmas": "Σ" * 10_000 + "'" * 10_000 + "ΑΣ'Σ",
    "private": "\ue000\U0010ffff\ufffe word",
}


@pytest.mark.parametrize("classifier", [MultinomialNB, WeightedNB])
@pytest.mark.parametrize("recipe", RECIPES, ids=repr)
def test_odd_characters_are_learned_and_predicted(recipe: Text, classifier: type) -> None:
    model = classifier(schema=Declared(columns={"t": recipe}))
    rows = [{"t": text} for text in TEXTS.values()] + [{"t": "plain words"}]
    model.learn_many(rows, [*["odd"] * len(TEXTS), "plain"])
    proba = model.predict_proba(rows)
    assert np.isfinite(proba).all()
    assert np.allclose(proba.sum(axis=1), 1.0)
    for row in rows:
        assert str(model.explain(row)).startswith(("odd rather", "plain rather"))


@pytest.mark.parametrize("recipe", RECIPES, ids=repr)
def test_a_long_line(recipe: Text) -> None:
    line = ("free lunch at noon, " * (LINE // 20 + 1))[:LINE]
    found = Tokenizer(recipe).tokens(documents_of([line, "free"]))
    assert len(found.words.indptr) == 3
    assert found.words.counts.sum() >= LINE // 20 * 4


def test_many_different_words_in_a_row() -> None:
    text = " ".join(f"w{i}" for i in range(DISTINCT))
    exact = Tokenizer(Text()).tokens(documents_of([text]))
    assert exact.words.ids.tolist() == list(range(DISTINCT))
    assert exact.new[::1000] == [f"w{i}" for i in range(0, DISTINCT, 1000)]
    model = MultinomialNB(schema=Declared(columns={"t": Text(buckets=2**12)}))
    model.learn_many([{"t": text}, {"t": "other"}], ["many", "few"])
    assert model.memory_bytes < 2**12 * 2 * 8 + 1000
    capped = MultinomialNB(schema=Declared(columns={"t": Text()}, max_words=100))
    capped.learn_many([{"t": text}, {"t": "other"}], ["many", "few"])
    assert capped.schema_.vocabularies["t"].size == 101
    weighed = WeightedNB(schema=Declared(columns={"t": Text(buckets=2**12)}))
    weighed.learn_many([{"t": text}, {"t": "other"}] * 2, ["many", "few"] * 2)
    assert weighed.memory_bytes < 3 * 2**12 * 2 * 8 + 2000
    assert np.isfinite(weighed.predict_proba([{"t": text}, {"t": "other w1"}])).all()


def test_few_names_of_a_long_document_are_noted() -> None:
    """Names of hashed words are a help to the reader: those of a line of 50 MB would be a list of millions."""
    words = " ".join(f"w{i}" for i in range(20_000))
    for recipe in (Text(buckets=2**16), Text("char_wb", (3, 4), buckets=2**16)):
        found = Tokenizer(recipe).tokens(documents_of([words, "lamp words"]))
        assert len(found.new) == len(found.noted) <= NAMES + 100
        assert "lamp" in found.new
        assert len(found.words.ids) > 2 * NAMES


def test_memory_is_fixed_over_an_endless_vocabulary() -> None:
    for classifier in (MultinomialNB, WeightedNB):
        model = classifier(schema=Declared(columns={"t": Text(buckets=2**10)}))
        sizes = []
        for part in range(6):
            rows = [{"t": f"new{part}x{i} new{i}x{part} again"} for i in range(500)]
            model.learn_many(rows, ["a", "b"] * 250)
            sizes.append(model.memory_bytes)
        assert len(set(sizes)) == 1


def test_bytes_that_are_no_text() -> None:
    """Arrow does not look at what it is told to be text: a stray byte separates words, and nothing else happens."""
    raw = pa.array([b"free \xff\xfe lunch", b"\xc3", b"no\xe2\x82on"], pa.binary())
    column = pa.Array.from_buffers(pa.string(), 3, raw.buffers())
    model = MultinomialNB()
    model.learn_many(pa.table({"t": column}), ["a", "b", "b"])
    assert model.schema_.vocabularies["t"].values == ["free", "lunch", "no", "on"]


def test_offsets_outside_of_the_bytes_are_refused() -> None:
    ends = pa.py_buffer(np.array([0, 9, 5, 11], np.int32))  # Arrow looks at the first and the last only
    column = pa.Array.from_buffers(pa.string(), 3, [None, ends, pa.py_buffer(b"hello world")])
    with pytest.raises(DataError, match="damaged"):
        documents_of(column)


def test_what_is_no_text_is_named() -> None:
    model = MultinomialNB(schema=Declared(columns={"t": Text()}))
    with pytest.raises(DataError, match=r"row 1.*not text"):
        model.learn_many({"t": ["words", 7]}, ["a", "b"])


def test_a_part_of_an_arrow_column_and_its_missing_cells() -> None:
    whole = pa.chunked_array([["one two", None], ["three"], ["two four", None]])
    wanted = [["one", "two"], [], ["three"], ["two", "four"], []]
    for column in (whole, whole.cast(pa.large_string()), whole.combine_chunks(), whole.dictionary_encode()):
        for lo in range(5):
            found = Tokenizer(Text()).tokens(documents_of(column.slice(lo, 4)))
            edges = found.words.indptr.tolist()
            named = [[found.new[i] for i in found.words.ids[a:b]] for a, b in pairwise(edges)]
            assert [set(row) for row in named] == [set(row) for row in wanted[lo : lo + 4]]
