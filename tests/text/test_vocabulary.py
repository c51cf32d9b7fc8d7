"""A vocabulary of the frequent words: bounded whatever the stream brings, and otherwise as any other."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.invoke import bayou as call
from tests.naive.frequent_words import FrequentWords
from tests.text.test_hostile import TEXTS

import bayou
from bayou import (
    AveragedNB,
    BernoulliNB,
    ComplementNB,
    Declared,
    EcocNB,
    Experts,
    MultinomialNB,
    NaiveBayes,
    Text,
    WeightedNB,
    files,
)
from bayou.errors import DataError, MergeError, SchemaError, UnsupportedError
from bayou.inspection.model_contents import contents
from bayou.inspection.words import word_tables
from bayou.laws import MergeLaw
from bayou.summaries.word_seats import filter_cells
from bayou.testing import CHECKS
from bayou.testing.laws import assert_within_error
from bayou.testing.promises import off_by
from bayou.text.documents import documents_of
from bayou.text.tokenizer import Tokenizer

WORDS = ["one", "two", "red", "sun", "sea", "sky", "fog", "ice"]
WEIGHTS = st.sampled_from([1.0, 2.0, 0.0, 0.3])
DOCUMENTS = st.lists(
    st.tuples(st.lists(st.sampled_from(WORDS), max_size=6), st.sampled_from("xyz"), WEIGHTS),
    min_size=2,
    max_size=16,
)
WHOLE = st.lists(  # weights that add up exactly
    st.tuples(st.lists(st.sampled_from(WORDS), max_size=6), st.sampled_from("xyz"), st.just(1.0)),
    min_size=2,
    max_size=16,
)
SEATS = st.integers(1, 6)


def codes(schema: Declared) -> EcocNB:
    return EcocNB(MultinomialNB(schema=schema), code="one-vs-one")


def codes_of_documents(schema: Declared) -> EcocNB:
    return EcocNB(BernoulliNB(schema=schema), code="one-vs-one")


def weighted(schema: Declared) -> WeightedNB:
    return WeightedNB(rate=Experts(words=False), schema=schema)


COUNTED = [MultinomialNB, ComplementNB, BernoulliNB, NaiveBayes, codes, codes_of_documents]
MODELS = [*COUNTED, weighted]


def made(model: Any, seats: int, **options: Any) -> Any:
    return model(schema=Declared(columns={"t": Text(vocabulary=seats, **options)}))


def rows_of(documents: Any) -> list[dict[str, str]]:
    return [{"t": " ".join(words)} for words, *_ in documents]


def taught(model: Any, documents: Any) -> Any:
    model.learn_many(rows_of(documents), [y for _, y, _ in documents], [w for *_, w in documents])
    return model


def id_of(word: str) -> int:
    return int(Tokenizer(Text(vocabulary=1)).tokens(documents_of([word])).words.ids[0])


IDS = {word: id_of(word) for word in WORDS}


def twin_of(documents: Any, seats: int, binary: bool = False) -> FrequentWords:
    twin = FrequentWords(seats, filter_cells(seats), binary)
    for words, y, w in documents:
        twin.learn(Counter(IDS[word] for word in words), y, w)
    return twin


def summary_of(model: Any) -> Any:
    return model.engine.views["words"].summary


@settings(max_examples=60, deadline=None)
@given(documents=DOCUMENTS, seats=SEATS)
@pytest.mark.parametrize("model", [MultinomialNB, BernoulliNB])
def test_the_counts_are_those_of_the_naive_twin(model: Any, documents: Any, seats: int) -> None:
    found = taught(made(model, seats), documents)
    twin = twin_of(documents, seats, model is BernoulliNB)
    text, classes = summary_of(found).texts[0], found.schema_.classes.values
    keys, cells, waiting, (weight,) = text.seats.state()
    kept = {key: cell for key, cell in zip(keys.tolist(), cells.tolist(), strict=True) if key >= 0}
    assert kept == twin.kept
    assert waiting.tolist() == twin.waiting
    assert weight == pytest.approx(twin.weight, rel=1e-12)
    for row, key in zip(*text.in_order(), strict=True):
        own = [twin.counts[key][c] for c in classes]
        assert text.counts[row].tolist() == pytest.approx(own, rel=1e-12)
    assert text.total.tolist() == pytest.approx([twin.total[c] for c in classes], rel=1e-12)
    assert text.width == len(twin.counts)


@settings(max_examples=40, deadline=None)
@given(documents=DOCUMENTS, seats=SEATS)
def test_readings_are_those_of_the_naive_twin(documents: Any, seats: int) -> None:
    many, once = taught(made(MultinomialNB, seats), documents), taught(made(BernoulliNB, seats), documents)
    twin, of_documents = twin_of(documents, seats), twin_of(documents, seats, True)
    for c, label in enumerate(many.schema_.classes.values):
        for word in WORDS:
            term = many.engine.views["words"].column_terms(many.encode([{"t": word}]))[0, 0, c]
            assert term == pytest.approx(twin.multinomial(IDS[word], label), rel=1e-12)
        for words, *_ in documents:
            term = once.engine.views["words"].column_terms(once.encode([{"t": " ".join(words)}]))[0, 0, c]
            own = {IDS[word] for word in words}
            assert term == pytest.approx(of_documents.bernoulli(own, label), rel=1e-9, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(documents=DOCUMENTS, seats=SEATS, least=st.integers(1, 3))
@pytest.mark.parametrize("model", MODELS)
def test_a_row_is_predicted_as_before_it_is_learned(
    model: Any, documents: Any, seats: int, least: int
) -> None:
    """In blocks and row by row, with the same bits."""
    whole, by_row = made(model, seats, min_count=least), made(model, seats, min_count=least)
    rows, labels, weights = rows_of(documents), [y for _, y, _ in documents], [w for *_, w in documents]
    block = whole.encode(rows, labels, weights, learn=True)
    found = whole.engine.test_then_train(block)
    by_row.encode(rows, labels, weights, learn=True)
    expected = []
    for i in range(block.n):
        before = by_row.digest()
        expected.append(by_row.engine.joint_log_proba(block.rows(i, i + 1))[0])
        assert by_row.digest() == before, "predicting changes nothing"
        by_row.learn(block.rows(i, i + 1))
    assert found.tobytes() == np.array(expected).tobytes()
    assert whole.digest() == by_row.digest()


@settings(max_examples=25, deadline=None)
@given(documents=DOCUMENTS, seats=SEATS, cut=st.integers(0, 16))
@pytest.mark.parametrize("model", COUNTED)
def test_a_file_goes_on_where_the_model_was(model: Any, documents: Any, seats: int, cut: int) -> None:
    """Rows of the table are numbered anew in a file, which no result may show."""
    rows = rows_of(documents)
    found = taught(made(model, seats), documents[:cut])
    loaded = files.loads(files.dumps(found)) if cut else made(model, seats)
    for each in (found, loaded):
        taught(each, documents[cut:])
    assert loaded.digest() == found.digest()
    assert loaded.predict_proba(rows).tobytes() == found.predict_proba(rows).tobytes()


@settings(max_examples=60, deadline=None)
@given(documents=DOCUMENTS, seats=SEATS)
def test_frequent_words_are_kept(documents: Any, seats: int) -> None:
    """Whoever has more than 1/N of the weight of all words has a place."""
    text = summary_of(taught(made(MultinomialNB, seats), documents)).texts[0]
    came: Counter[str] = Counter()
    for words, _, w in documents:
        for word in words:
            came[word] += w
    kept = set(text.seats.keys.tolist())
    assert len(kept) <= seats
    for word, weight in came.items():
        if weight > sum(came.values()) / seats * (1 + 1e-12):
            assert IDS[word] in kept


@pytest.mark.filterwarnings("ignore:the merged models have no class in common")
@settings(max_examples=60, deadline=None)
@given(documents=WHOLE, seats=SEATS, cuts=st.tuples(st.integers(0, 16), st.integers(0, 16)))
@pytest.mark.parametrize("model", [MultinomialNB, BernoulliNB])
def test_merging_is_within_the_bound(model: Any, documents: Any, seats: int, cuts: tuple[int, int]) -> None:
    origin = made(model, seats)
    origin.reset()
    a, b = sorted(cuts)
    shards = [taught(origin.fresh(), part) for part in (documents[:a], documents[a:b], documents[b:]) if part]
    whole, merged = taught(origin.fresh(), documents), shards[0]
    for shard in shards[1:]:
        merged.merge(shard)
    block = merged.encode(rows_of(documents), [y for _, y, _ in documents])
    assert_within_error(summary_of(merged), block)
    assert len(summary_of(merged).texts[0].seats.keys) <= seats
    if len({word for words, *_ in documents for word in words}) <= seats:
        assert merged.digest() == whole.digest()
        assert summary_of(merged).error() == 0.0
        assert off_by(summary_of(merged), block) == 0.0
    assert merged.law is MergeLaw.BOUNDED


@settings(max_examples=30, deadline=None)
@given(documents=WHOLE)
@pytest.mark.parametrize("model", MODELS)
def test_while_all_words_fit_it_is_as_if_all_were_kept(model: Any, documents: Any) -> None:
    bounded = taught(made(model, len(WORDS)), documents)
    plain = taught(model(schema=Declared(columns={"t": Text()})), documents)
    rows = rows_of(documents)
    np.testing.assert_allclose(bounded.predict_proba(rows), plain.predict_proba(rows), rtol=1e-9)


@settings(max_examples=20, deadline=None)
@given(documents=WHOLE, seats=SEATS)
@pytest.mark.parametrize("model", [MultinomialNB, BernoulliNB])
def test_what_fades_is_lighter(model: Any, documents: Any, seats: int) -> None:
    rows, more = rows_of(documents), documents[::-1]
    faded = taught(made(model, seats), documents).decay(0.5)
    lighter = taught(made(model, seats), [(words, y, w / 2) for words, y, w in documents])
    for each in (faded, lighter):
        taught(each, more)
    assert faded.predict_proba(rows).tobytes() == lighter.predict_proba(rows).tobytes()


@pytest.mark.parametrize("model", [MultinomialNB, BernoulliNB])
def test_memory_stays_while_words_never_end(model: Any) -> None:
    found, used = made(model, 100), set()
    for start in range(0, 20_000, 2_000):
        texts = [f"often {'spam' if i % 2 else 'ham'} w{start + i} v{start + i}" for i in range(2_000)]
        found.learn_many([{"t": t} for t in texts], ["ham", "spam"] * 1_000)
        used.add(summary_of(found).nbytes)
    assert len(used) == 1
    kept = set(summary_of(found).texts[0].seats.keys.tolist())
    assert kept > {id_of("often"), id_of("spam"), id_of("ham")}
    assert found.predict([{"t": "often spam"}, {"t": "often ham"}]).tolist() == ["spam", "ham"]
    assert found.predict_proba([{"t": "unheard"}]).tolist() == found.predict_proba([{"t": ""}]).tolist()


@pytest.mark.parametrize("model", MODELS)
def test_a_row_with_more_words_than_places(model: Any) -> None:
    found = made(model, 10)
    found.learn_many([{"t": "ham now"}, {"t": " ".join(f"w{i}" for i in range(5_000))}], ["a", "b"])
    found.learn_many([{"t": "ham now"}] * 3, ["a"] * 3)
    assert found.predict([{"t": "ham now"}]).tolist() == ["a"]
    assert np.isfinite(found.predict_proba([{"t": " ".join(f"w{i}" for i in range(5_000))}])).all()


@pytest.mark.parametrize(
    "options", [{}, {"ngrams": (1, 2), "osb": 5}, {"analyzer": "char_wb", "ngrams": (3, 4)}]
)
def test_odd_characters(options: Any) -> None:
    found = made(MultinomialNB, 20, **options)
    rows = [{"t": text} for text in TEXTS.values()] + [{"t": "plain words"}]
    found.learn_many(rows, [*["odd"] * len(TEXTS), "plain"])
    assert np.isfinite(found.predict_proba(rows)).all()
    for row in rows:
        assert str(found.explain(row)).startswith(("odd rather", "plain rather"))


@pytest.mark.parametrize(
    "check",
    [check for check in CHECKS if check.__name__ != "check_explain"],
    ids=lambda check: check.__name__,
)
def test_the_contract(check: Any) -> None:
    """All of it but that each column has one term: each word of a text has its own."""
    columns = {"sky": Text(vocabulary=2), "moon": Text(vocabulary=8, min_count=2)}
    check(lambda: NaiveBayes("gaussian", schema=Declared(columns=columns)), 0)


def test_what_words_say_adds_up_to_the_log_odds() -> None:
    """As the contract asks of columns, here of words: those with a seat, those without one, and none at all."""
    found = made(MultinomialNB, 4)
    found.learn_many([{"t": f"{WORDS[i % 8]} {WORDS[i % 3]}"} for i in range(60)], ["x", "y", "y"] * 20)
    for row in ({"t": " ".join(WORDS)}, {"t": "never met"}, {"t": ""}, {}):
        explained = found.explain(row)
        parts = [explained.base, *explained.terms.values(), explained.together]
        assert np.isfinite(parts).all()
        assert abs(sum(parts) - explained.log_odds) <= 1e-9 * (1.0 + sum(map(abs, parts)))


def test_a_sample_of_rows_keeps_hashes() -> None:
    """AveragedNB keeps rows, whose words are hashes that lie beyond the number of places."""
    found = AveragedNB(rows=30, schema=Declared(columns={"t": Text(vocabulary=4)}))
    found.learn_many([{"t": f"{WORDS[i % 8]} {WORDS[i % 3]}"} for i in range(60)], ["x", "y"] * 30)
    loaded = files.loads(files.dumps(found))
    assert loaded.digest() == found.digest()
    loaded.learn_many([{"t": "new words"}], ["z"])
    assert loaded.predict_proba([{"t": "new words"}]).shape == (1, 3)


def test_words_are_shown(tmp_path: Path) -> None:
    texts = ["cheap pills", "cheap loans cheap", "see you", "you again"] * 4
    found = made(MultinomialNB, 3)
    found.learn_many([{"t": t} for t in texts], ["spam", "spam", "ham", "ham"] * 4)
    told = found.explain({"t": "cheap for you"})
    assert {"t: cheap", "t: you"} <= set(told.values)
    (table,) = word_tables(contents(found))
    assert {"cheap", "you"} <= set(table.words)
    assert len(table.words) <= 3
    found.save(tmp_path / "m.bayou")
    shown = call("inspect", tmp_path / "m.bayou").output
    assert "3 of at most 3, the frequent ones" in shown
    assert "cheap" in shown
    drawn = found.sample(5, seed=1)
    assert bayou.load(tmp_path / "m.bayou").sample(5, seed=1) == drawn


def test_what_it_cannot_do_is_said() -> None:
    found = made(MultinomialNB, 3)
    found.learn_many([{"t": "some words"}, {"t": "more words"}], ["a", "b"])
    before = found.digest()
    with pytest.raises(UnsupportedError, match=r"cannot unlearn: .* Text\(buckets=...\)"):
        found.unlearn([{"t": "some words"}], ["a"])
    assert found.digest() == before
    with pytest.raises(UnsupportedError, match=r"Text\(vocabulary=None\) exports"):
        found.export("json")
    with pytest.raises(UnsupportedError, match=r"Text\(buckets=...\).*words=False"):
        made(WeightedNB, 3).learn_one({"t": "some words"}, "a")
    other = made(MultinomialNB, 4)
    other.learn_one({"t": "some words"}, "a")
    with pytest.raises(MergeError, match="vocabulary"):
        found.merge(other)
    counts = MultinomialNB(schema=Declared(columns={"words": Text(vocabulary=3)}))
    with pytest.raises(DataError, match="hashed"):
        counts.learn_many([{"one": 1}, {"two": 2}], ["a", "b"])


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "20", 2**25])
def test_a_number_of_words_is_wanted(wrong: Any) -> None:
    with pytest.raises(SchemaError, match="vocabulary"):
        Text(vocabulary=wrong)


def test_buckets_or_a_vocabulary() -> None:
    with pytest.raises(SchemaError, match="not both"):
        Text(vocabulary=100, buckets=2**10)
