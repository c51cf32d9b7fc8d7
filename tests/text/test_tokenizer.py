"""The tokenizer says what `re`, `str.lower` and scikit-learn say, on any text, in any pieces."""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from tests.naive import text as naive
from tests.seeds import LONG

from bayou.text import unicode_data
from bayou.text.documents import Documents, documents_of
from bayou.text.recipe import Text
from bayou.text.string_table import StringTable
from bayou.text.tokenizer import Tokenizer, Tokens

CHARACTERS = "aAbZz_09 \t\n.,'-éÉßİıΣσςΑαǅΐﬁ①½٣中文한글\u0301\u0345\u200f\u2028\u3000\x00\x1a\ud800𝔸🎈℡ﷺªʰ"
KNOWN = sys.maxunicode if unicode_data.VERSION == unicodedata.unidata_version else 0x2FF
CHOICES = [
    Text(),
    Text(ngrams=(1, 2)),
    Text(ngrams=(2, 3), stop_words=("aa", "éé", "ab")),
    Text(osb=4),
    Text(ngrams=(1, 2), osb=8, binary=True),
    Text(lowercase=False),
    Text(strip_accents=True),
    Text("char", ngrams=(1, 3)),
    Text("char", ngrams=(2, 8), strip_accents=True),
    Text("char_wb", ngrams=(2, 4)),
    Text("char_wb", ngrams=(1, 8), lowercase=False, binary=True),
]
texts = st.lists(
    st.text(st.sampled_from(CHARACTERS), max_size=30)
    | st.text(st.characters(max_codepoint=KNOWN, exclude_categories=()), max_size=12),
    max_size=8,
)


def counted(found: Tokens, names: list[str]) -> list[Counter[str]]:
    """The features of each document by name."""
    words = found.words
    rows = zip(words.indptr[:-1].tolist(), words.indptr[1:].tolist(), strict=True)
    return [
        Counter({names[i]: int(n) for i, n in zip(words.ids[a:b], words.counts[a:b], strict=True)})
        for a, b in rows
    ]


@pytest.mark.parametrize(
    "recipe",
    [Text(), Text(ngrams=(1, 2)), Text(ngrams=(2, 3)), Text(buckets=2**20), Text(buckets=2**26)],
    ids=repr,
)
def test_words_that_lie_across_64_bytes(recipe: Text) -> None:
    """Words of one byte per character are found 64 bytes at a time, and a few hundred words at once."""
    rng = np.random.default_rng(0)
    letters = np.array(list("aB_9 .-\n"))
    documents = ["".join(rng.choice(letters, n)) for n in range(260)]
    documents += ["x" * before + "y" * n + " end" for before in (62, 63, 64) for n in (0, 1, 64, 65, 128)]
    documents += [
        " ".join(f"w{i % 300}" for i in range(n)) for n in (16, 17, 20, 21, 128, 129, 511, 512, 545, 2000)
    ]
    documents += ["é" + document for document in documents[60:70]]
    documents += ["ab " * 16 + "ab", "ab " * 12] * 30 + [
        "",
        "x",
        "ab",
        "é",
    ] * 20  # short ones are read together
    found = Tokenizer(recipe).tokens(documents_of(documents), start=10_001)
    wanted = [naive.features(text, recipe) for text in documents]
    if recipe.buckets is None:
        assert counted(found, found.new) == wanted
        known = StringTable().with_values(found.new)
        again = Tokenizer(recipe).tokens(documents_of(documents), known, learn=False)
        assert counted(again, found.new) == wanted
        return
    rows = zip(found.words.indptr[:-1].tolist(), found.words.indptr[1:].tolist(), wanted, strict=True)
    for a, b, features in rows:  # hashes: as many words as often, but for the few that share a bucket
        assert found.words.counts[a:b].sum() == features.total()
        assert (np.diff(found.words.ids[a:b]) > 0).all()
        assert len(features) - 2 <= b - a <= len(features)


@settings(max_examples=150 if LONG else 100, deadline=None)
@given(texts, st.sampled_from(CHOICES))
def test_is_the_naive_twin(documents: list[str], recipe: Text) -> None:
    found = Tokenizer(recipe).tokens(documents_of(documents))
    assert counted(found, found.new) == [naive.features(text, recipe) for text in documents]
    for a, b in zip(found.words.indptr[:-1], found.words.indptr[1:], strict=True):
        assert (np.diff(found.words.ids[a:b]) > 0).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=20) | st.binary(max_size=6).map(lambda b: "éΣ".encode() + b), max_size=5))
def test_reads_bytes_that_are_no_text(raw: list[bytes]) -> None:
    """A byte that belongs to no character separates words, and nothing is read outside the document."""
    ends = np.cumsum([0, *map(len, raw)], dtype=np.int64)
    data = np.frombuffer(b"".join(raw), np.uint8)
    ends.flags.writeable = False
    recipe = Text("char", ngrams=(1, 2))
    found = Tokenizer(recipe).tokens(Documents(ends, data, np.frombuffer(b"", np.uint8), 0))
    assert counted(found, found.new) == [naive.features(naive.read(text), recipe) for text in raw]


def test_every_character_has_its_own_case_and_kind() -> None:
    """Every code point alone, between letters, and before and behind a capital sigma.

    Most have no case and no parts, and neighbours of their own kind: two of every 64 of these, or all if there is time.
    """
    kinds = [None, *(unicodedata.category(chr(p)) for p in range(KNOWN + 1)), None]
    points = []
    for p, (before, kind, behind) in enumerate(zip(kinds, kinds[1:], kinds[2:], strict=False)):
        plain = kind in ("Cn", "Co", "Lo") and chr(p).lower() == chr(p) == unicodedata.normalize(
            "NFKD", chr(p)
        )
        if LONG or p % 64 in (0, 63) or not plain or not before == kind == behind:
            points.append(chr(p))
    documents = [
        " ".join(f"x{c}y {c}Σ aΣ{c} bΣ{c}c" for c in points[row : row + 4096])
        for row in range(0, len(points), 4096)
    ]
    for recipe in (Text("char"), Text(), Text(strip_accents=True)):
        found = Tokenizer(recipe).tokens(documents_of(documents))
        assert counted(found, found.new) == [naive.features(text, recipe) for text in documents]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(st.sampled_from("aAbé Σ.0_\n\u00a0"), max_size=25), min_size=1, max_size=5))
@pytest.mark.parametrize(
    "recipe",
    [
        Text(),
        Text(ngrams=(1, 3)),
        Text("char", (2, 3)),
        Text("char_wb", (1, 4)),
        Text(strip_accents=True, binary=True),
    ],
)
def test_is_scikit_learns(recipe: Text, documents: list[str]) -> None:
    theirs = CountVectorizer(
        analyzer=recipe.analyzer,
        ngram_range=tuple(recipe.ngrams),
        strip_accents="unicode" if recipe.strip_accents else None,
        binary=recipe.binary,
    )
    ours = Tokenizer(recipe).tokens(documents_of(documents))
    analyze = theirs.build_analyzer()
    if not any(map(analyze, documents)):
        assert ours.new == []
        return
    counts = theirs.fit_transform(documents)
    names = theirs.get_feature_names_out()
    rows = [Counter({names[j]: int(row[0, j]) for j in row.indices}) for row in counts]
    assert counted(ours, ours.new) == rows


@settings(max_examples=60, deadline=None)
@given(texts, st.sampled_from(CHOICES), st.integers(0, 6), st.integers(0, 12))
def test_codes_do_not_depend_on_how_documents_are_cut(
    documents: list[str], recipe: Text, cut: int, limit: int
) -> None:
    """What is known before has its code; what is new the next one; beyond the limit all share one."""
    tokenizer = Tokenizer(recipe)
    whole = tokenizer.tokens(documents_of(documents), limit=limit)
    first = tokenizer.tokens(documents_of(documents[:cut]), limit=limit)
    kept = first.new[:limit]
    known = StringTable().with_values(kept)
    overflowed = len(first.new) > limit
    second = tokenizer.tokens(documents_of(documents[cut:]), known, limit=limit, overflowed=overflowed)
    assert [*first.words.ids, *second.words.ids] == whole.words.ids.tolist()
    assert [*first.words.counts, *second.words.counts] == whole.words.counts.tolist()
    assert (first.new if overflowed else [*first.new, *second.new]) == whole.new
    again = tokenizer.tokens(
        documents_of(documents[:cut]), known, limit=limit, overflowed=overflowed, learn=False
    )
    assert again.words.ids.tolist() == first.words.ids.tolist()
    assert again.new == []


def test_unknown_words_have_no_code_while_predicting() -> None:
    found = Tokenizer(Text()).tokens(
        documents_of(["some words"]), StringTable().with_values(["words"]), learn=False
    )
    assert found.words.ids.tolist() == [0]


@settings(max_examples=60, deadline=None)
@given(
    texts,
    st.sampled_from([Text(buckets=16), Text(ngrams=(1, 2), osb=3, buckets=2**10), Text("char", buckets=64)]),
)
def test_hashed_features_are_those_by_name(documents: list[str], recipe: Text) -> None:
    """A feature has one bucket wherever it stands; the first thousand documents tell the names."""
    plain = Text(**{**recipe.get_params(), "buckets": None})
    exact, hashed = (Tokenizer(r).tokens(documents_of(documents)) for r in (plain, recipe))
    bucket = dict(zip(hashed.new, hashed.noted, strict=True))
    assert bucket.keys() == set(exact.new)
    for row, named in enumerate(counted(exact, exact.new)):
        a, b = hashed.words.indptr[row : row + 2]
        wanted: Counter[int] = Counter()
        for name, times in named.items():
            wanted[bucket[name]] += times
        assert (
            dict(zip(hashed.words.ids[a:b].tolist(), hashed.words.counts[a:b].tolist(), strict=True))
            == wanted
        )


def test_the_hash_is_the_same_for_ever() -> None:
    """Models of hashed words in files depend on it."""
    found = Tokenizer(Text(buckets=2**20)).tokens(documents_of(["to be or not to be that is the question"]))
    assert dict(zip(found.new, found.noted, strict=True)) == {
        "to": 168478,
        "be": 505463,
        "or": 523315,
        "not": 618544,
        "that": 931467,
        "is": 382154,
        "the": 379688,
        "question": 981750,
    }
