"""Columns of text as they are declared: what they promise, and what is said when they cannot be."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.invoke import bayou as call

import bayou
from bayou import BernoulliNB, ComplementNB, Declared, MultinomialNB, NaiveBayes, Text
from bayou.cli.columns import words_of
from bayou.cli.inspect import facts_of
from bayou.errors import DataError, MergeError, SchemaError
from bayou.inspection.model_contents import contents
from bayou.inspection.words import hashed_columns
from bayou.vocabulary import NAMED, HashedVocabulary

MESSAGES = [
    ("win a free prize now", "spam"),
    ("free entry, win cash", "spam"),
    ("are we still on for lunch", "ham"),
    ("see you at lunch tomorrow", "ham"),
    ("cash prize waiting, reply now", "spam"),
    ("call me when you are home", "ham"),
]
ROWS, LABELS = [{"body": text} for text, _ in MESSAGES], [label for _, label in MESSAGES]
HASHED = Text(ngrams=(1, 2), buckets=2**12)


def declared(recipe: Text | str = HASHED) -> Declared:
    return Declared(columns={"body": recipe})


def taught(model: Any, rows: Any = ROWS, labels: Any = LABELS) -> Any:
    model.learn_many(rows, labels)
    return model


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(range(len(ROWS))), max_size=12), st.integers(0, 12), st.booleans())
@pytest.mark.parametrize("model", [MultinomialNB, ComplementNB, BernoulliNB, NaiveBayes])
def test_hashed_models_add_up_and_unlearn_bit_for_bit(
    model: Any, drawn: list[int], cut: int, twice: bool
) -> None:
    rows, labels = [ROWS[i] for i in drawn], [LABELS[i] for i in drawn]
    origin = model(schema=declared())
    origin.reset()
    whole, left, right = (origin.fresh() for _ in range(3))
    (
        taught(whole, rows, labels),
        taught(left, rows[:cut], labels[:cut]),
        taught(right, rows[cut:], labels[cut:]),
    )
    before = left.digest()
    assert left.merge(right).digest() == whole.digest()
    if rows[cut:]:
        left.unlearn(rows[cut:], labels[cut:])
        kept = origin.fresh()
        taught(kept, rows[:cut], labels[:cut])
        if len(set(labels[:cut])) == len(set(labels)):
            assert left.digest() == before == kept.digest()


def test_hashed_words_predict_as_words_do_while_none_share_a_bucket() -> None:
    exact = taught(MultinomialNB(schema=declared(Text(ngrams=(1, 2)))))
    hashed = taught(MultinomialNB(schema=declared(Text(ngrams=(1, 2), buckets=2**20))))
    (found,) = hashed_columns(contents(hashed))
    assert found.used == exact.schema_.vocabularies["body"].size
    assert np.allclose(hashed.predict_proba(ROWS), exact.predict_proba(ROWS), rtol=0, atol=1e-12)


def test_memory_is_fixed_however_many_words_come() -> None:
    model = MultinomialNB(schema=declared(Text(buckets=2**8)))
    sizes = set()
    for start in range(0, 20_000, 2_000):
        words = [" ".join(f"w{start + 10 * i + j}" for j in range(10)) for i in range(200)]
        model.learn_many([{"body": text} for text in words], ["a", "b"] * 100)
        sizes.add(model.memory_bytes)
        assert len(model.schema_.vocabularies["body"].tallies) <= min(NAMED, 2**8)
    assert len(sizes) == 1
    (found,) = hashed_columns(contents(model))
    assert found.used == 2**8
    assert found.collisions > 0


def test_the_number_of_words_in_buckets_is_told() -> None:
    """3,000 words in 4,096 buckets: some 850 of them share a bucket, as many as chance has it."""
    model = MultinomialNB(schema=declared(Text(buckets=2**12)))
    model.learn_many([{"body": f"word{i}"} for i in range(3_000)], ["a", "b"] * 1_500)
    (found,) = hashed_columns(contents(model))
    assert abs(found.words - 3_000) < 100
    assert "4,096 buckets" in str(facts_of(model)["words of body"])


def test_names_survive_saving_and_merging(tmp_path: Path) -> None:
    model = taught(MultinomialNB(schema=declared()))
    model.save(tmp_path / "m.bayou")
    loaded = bayou.load(tmp_path / "m.bayou")
    assert loaded.digest() == model.digest()
    assert loaded.schema_.vocabularies["body"].tallies == model.schema_.vocabularies["body"].tallies
    assert words_of(contents(loaded)) == words_of(contents(model))
    assert "lunch" in words_of(contents(model))["body"]["ham"]
    left, right = (taught(model.fresh(), ROWS[i::2], LABELS[i::2]) for i in range(2))
    left.merge(right)
    assert set(left.schema_.vocabularies["body"].tallies) == set(model.schema_.vocabularies["body"].tallies)
    assert pickle.loads(pickle.dumps(model)).digest() == model.digest()


def test_the_heaviest_names_are_kept() -> None:
    vocabulary = HashedVocabulary(2**20)
    rng = np.random.default_rng(0)
    drawn = np.minimum(rng.zipf(1.3, 60_000), 2**20 - 1)
    vocabulary.note(drawn.tolist(), [f"w{i}" for i in drawn])
    assert len(vocabulary.tallies) <= NAMED
    found, times = np.unique(drawn, return_counts=True)
    assert all(vocabulary.name(i) == f"w{i}" for i in found[times > len(drawn) / NAMED].tolist())


@pytest.mark.parametrize("recipe", ["text", HASHED])
def test_an_explanation_tells_words(recipe: Text | str) -> None:
    model = taught(MultinomialNB(schema=declared(recipe)))
    found = model.explain({"body": "Free free lunch"})
    assert found.values["body: free"] == 2
    assert found.terms["body: free"] > 0 > found.terms["body: lunch"]
    assert abs(found.together) < 1e-9
    assert "body: free = 2" in str(found)


def test_an_explanation_of_a_long_text_ends() -> None:
    model = taught(MultinomialNB(schema=declared()))
    found = model.explain({"body": " ".join(f"lunch{i}" for i in range(5_000)) + " free"})
    assert len(found.terms) == 301
    assert abs(found.log_odds - found.base - sum(found.terms.values()) - found.together) < 1e-9


def test_columns_that_are_read_in_two_ways_do_not_merge() -> None:
    plain = taught(MultinomialNB())
    with pytest.raises(MergeError):
        plain.merge(taught(MultinomialNB(schema=declared())))


def test_what_was_never_learned_cannot_be_unlearned() -> None:
    model = taught(MultinomialNB(schema=declared()))
    before = model.digest()
    with pytest.raises(DataError, match="never learned"):
        model.unlearn([{"body": "words that nobody met"}], ["ham"])
    assert model.digest() == before


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"analyzer": "letters"}, "analyzer"),
        ({"ngrams": (0, 1)}, "ngrams"),
        ({"ngrams": (1, 9)}, "ngrams"),
        ({"ngrams": 2}, "ngrams"),
        ({"osb": 9}, "osb"),
        ({"osb": 3, "analyzer": "char"}, "osb"),
        ({"stop_words": "the"}, "stop_words"),
        ({"stop_words": ("the",), "analyzer": "char"}, "stop_words"),
        ({"buckets": 1000}, "power of two"),
        ({"buckets": 2**40}, "power of two"),
    ],
)
def test_a_recipe_says_what_is_wrong_with_it(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        Text(**wrong)


def test_another_recipe_is_no_column() -> None:
    with pytest.raises(SchemaError, match="Text"):
        MultinomialNB(schema=Declared(columns={"body": bayou.MODL()})).learn_one({"body": "a text"}, "ham")  # type: ignore[dict-item]


def test_counts_by_name_do_not_go_into_buckets() -> None:
    model = MultinomialNB(schema=Declared(columns={"words": Text(buckets=2**8)}))
    with pytest.raises(DataError, match="hashed"):
        model.learn_one({"free": 2, "lunch": 1}, "ham")


def test_a_recipe_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "m.csv"
    file.write_text("body,label\n" + "".join(f'"{text}",{label}\n' for text, label in MESSAGES))
    out = tmp_path / "m.bayou"
    spec = "mnb(schema=Declared(columns={'body': Text(ngrams=(1, 2), buckets=4096)}))"
    call("learn", file, "--target", "label", "--text", "body", "--model", spec, "--out", out)
    model = bayou.load(out)
    assert model.schema_.vocabularies["body"].size == 4096
    assert model.predict_one({"body": "free cash prize"}) == "spam"
    assert "of 4,096 buckets" in call("inspect", out).output
