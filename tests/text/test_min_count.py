"""Words that were met too seldom say nothing, and everything else stays as it is."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.invoke import bayou as call
from tests.naive import counts as naive

import bayou
from bayou import BernoulliNB, ComplementNB, Declared, EcocNB, MultinomialNB, NaiveBayes, Text, WeightedNB
from bayou.codes import OneVsOne
from bayou.errors import MergeError, SchemaError
from bayou.inspection.model_contents import contents
from bayou.inspection.words import word_tables

WORDS = ["one", "two", "red", "sun", "sea"]
DOCUMENTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), max_size=6), st.sampled_from("xyz"), st.sampled_from([1.0, 2.0, 0.0])
    ),
    min_size=2,
    max_size=14,
)
RECIPES = st.builds(Text, min_count=st.integers(2, 5), buckets=st.sampled_from([None, 2**16]))


def codes(schema: Declared) -> EcocNB:
    return EcocNB(MultinomialNB(schema=schema), code=OneVsOne())


def codes_of_documents(schema: Declared) -> EcocNB:
    return EcocNB(BernoulliNB(schema=schema), code=OneVsOne())


PLAIN = [MultinomialNB, ComplementNB, NaiveBayes, codes]
MODELS = [*PLAIN, BernoulliNB, codes_of_documents, WeightedNB]


def made(model: Any, recipe: Text) -> Any:
    return model(schema=Declared(columns={"t": recipe}))


def rows_of(documents: Any) -> list[dict[str, str]]:
    return [{"t": " ".join(words)} for words, *_ in documents]


def taught(model: Any, documents: Any) -> Any:
    weights = [w for *_, w in documents]
    model.learn_many(rows_of(documents), [y for _, y, _ in documents], weights)
    return model


def met(documents: Any, word: str, once: bool) -> float:
    """How often a word was met; with `once`, in how many documents."""
    return sum(w * (word in words if once else words.count(word)) for words, _, w in documents)


def of_documents(model: Any) -> bool:
    return model in (BernoulliNB, codes_of_documents)


def without_rare(model: Any, documents: Any, recipe: Text) -> list[dict[str, str]]:
    """The documents without the words that were met too seldom in them all."""
    heard = [w for w in WORDS if met(documents, w, of_documents(model)) >= recipe.min_count]
    return [{"t": " ".join(w for w in words if w in heard)} for words, *_ in documents]


@settings(max_examples=40, deadline=None)
@given(documents=DOCUMENTS, recipe=RECIPES)
@pytest.mark.parametrize("model", MODELS)
def test_a_document_says_what_it_says_without_its_rare_words(
    model: Any, documents: Any, recipe: Text
) -> None:
    found = taught(made(model, recipe), documents)
    if len(found.labels()) < 2:
        return
    spoken = without_rare(model, documents, recipe)
    assert found.predict_proba(rows_of(documents)).tolist() == found.predict_proba(spoken).tolist()


@settings(max_examples=40, deadline=None)
@given(documents=DOCUMENTS, recipe=RECIPES)
@pytest.mark.parametrize("model", PLAIN)
def test_other_words_say_what_they_say_without_the_rule(model: Any, documents: Any, recipe: Text) -> None:
    found = taught(made(model, recipe), documents)
    if len(found.labels()) < 2:
        return
    plain = taught(made(model, Text(buckets=recipe.buckets)), documents)
    spoken = plain.predict_proba(without_rare(model, documents, recipe))
    np.testing.assert_allclose(found.predict_proba(rows_of(documents)), spoken, rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(documents=DOCUMENTS, recipe=RECIPES)
def test_multinomial_is_the_naive_twin(documents: Any, recipe: Text) -> None:
    model = taught(made(MultinomialNB, recipe), documents)
    counted = [{w: words.count(w) for w in words} for words, *_ in documents]
    labels, weights = [y for _, y, _ in documents], [w for *_, w in documents]
    for word in WORDS:
        block = model.encode([{"t": word}])
        terms = model.engine.views["words"].column_terms(block)[0, 0]
        for y, term in zip(model.schema_.classes.values, terms.tolist(), strict=True):
            p = naive.word_probability(counted, labels, weights, word, y, min_count=recipe.min_count)
            assert term == pytest.approx(0.0 if p is None else math.log(p), rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(documents=DOCUMENTS, recipe=RECIPES)
def test_bernoulli_is_the_naive_twin(documents: Any, recipe: Text) -> None:
    """A rare word says nothing where it is absent, either."""
    model = taught(made(BernoulliNB, recipe), documents)
    heard = [w for w in WORDS if met(documents, w, True) >= recipe.min_count]
    total = sum(w for *_, w in documents)
    for words, *_ in documents:
        joint = model.joint_log_proba(model.encode([{"t": " ".join(words)}]))[0].tolist()
        for y, found in zip(model.schema_.classes.values, joint, strict=True):
            own = [d for d in documents if d[1] == y]
            size = sum(w for *_, w in own)
            if size == 0:
                continue
            expected = math.log(size / total)
            for word in heard:
                p = (met(own, word, True) + 1) / (size + 2)
                expected += math.log(p if word in words else 1 - p)
            assert found == pytest.approx(expected, rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(
    documents=DOCUMENTS,
    weights=st.lists(st.sampled_from([1.0, 0.3, 100.0, 0.0]), min_size=14, max_size=14),
    recipe=RECIPES,
)
@pytest.mark.parametrize("model", MODELS)
def test_a_row_is_predicted_as_before_it_is_learned(
    model: Any, documents: Any, weights: list[float], recipe: Text
) -> None:
    """In blocks and row by row: a word is heard from the row on that makes it as frequent."""
    rows, labels = rows_of(documents), [y for _, y, _ in documents]
    whole, by_row = made(model, recipe), made(model, recipe)
    block = whole.encode(rows, labels, weights[: len(labels)], learn=True)
    found = whole.engine.test_then_train(block)
    by_row.encode(rows, labels, weights[: len(labels)], learn=True)
    expected = []
    for i in range(block.n):
        expected.append(by_row.engine.joint_log_proba(block.rows(i, i + 1))[0])
        by_row.learn(block.rows(i, i + 1))
    assert found.tobytes() == np.array(expected).tobytes()
    assert whole.digest() == by_row.digest()


@pytest.mark.filterwarnings("ignore:the merged models have no class in common")
@settings(max_examples=30, deadline=None)
@given(documents=DOCUMENTS, cut=st.integers(0, 14), recipe=RECIPES)
@pytest.mark.parametrize("model", [MultinomialNB, ComplementNB, BernoulliNB, codes])
def test_merging_unlearning_and_fading_keep_the_bits(
    model: Any, documents: Any, cut: int, recipe: Text
) -> None:
    """A word that neither half has met often enough is heard in both together."""
    origin = made(model, recipe)
    origin.reset()
    whole, left, right = (origin.fresh() for _ in range(3))
    taught(whole, documents), taught(left, documents[:cut]), taught(right, documents[cut:])
    rows = rows_of(documents)
    assert left.merge(right).digest() == whole.digest()
    if len(whole.labels()) < 2:
        return
    assert left.predict_proba(rows).tolist() == whole.predict_proba(rows).tolist()
    rest = documents[cut:]
    if rest and {y for _, y, _ in documents[:cut]} == {y for _, y, _ in documents}:
        left.unlearn(rows_of(rest), [y for _, y, _ in rest], [w for *_, w in rest])
        kept = taught(origin.fresh(), documents[:cut])
        assert left.predict_proba(rows).tolist() == kept.predict_proba(rows).tolist()
    lighter = taught(origin.fresh(), [(words, y, w / 2) for words, y, w in documents])
    whole.decay(0.5)
    assert whole.predict_proba(rows).tolist() == lighter.predict_proba(rows).tolist()


def test_tenths_of_rows_add_up() -> None:
    """Ten tenths are one, though not to the last bit: .1 added ten times is less."""
    model = made(MultinomialNB, Text(min_count=2))
    model.learn_many([{"t": "rain"}, {"t": "sun"}] * 20, ["a", "b"] * 20, [0.1] * 40)
    assert sum([0.1] * 20) != 2.0
    assert model.predict_proba([{"t": "rain"}])[0, 0] > 0.6


@pytest.mark.parametrize("buckets", [None, 2**10])
@pytest.mark.parametrize("model", MODELS)
def test_nothing_is_shown_of_rare_words(model: Any, buckets: int | None, tmp_path: Path) -> None:
    texts = ["cheap pills", "cheap loans cheap", "see you", "you again"] * 2 + ["cheap once"]
    found = made(model, Text(min_count=3, buckets=buckets))
    found.learn_many([{"t": t} for t in texts], ["spam", "spam", "ham", "ham"] * 2 + ["spam"])
    message = {"t": "cheap loans for you once again"}
    told = found.explain(message)
    assert set(told.values) == {"t: cheap", "t: you"}
    tables = list(word_tables(contents(found)))
    assert all(set(table.words) == {"cheap", "you"} for table in tables)
    found.save(tmp_path / "m.bayou")
    loaded = bayou.load(tmp_path / "m.bayou")
    assert loaded.digest() == found.digest()
    assert loaded.schema_.text_recipe("t").min_count == 3
    assert loaded.predict_proba([message]).tolist() == found.predict_proba([message]).tolist()
    assert str(loaded.explain(message)) == str(told)


def test_other_rules_do_not_merge() -> None:
    left, right = made(MultinomialNB, Text(min_count=2)), made(MultinomialNB, Text(min_count=3))
    for model in (left, right):
        model.learn_one({"t": "some words"}, "a")
    with pytest.raises(MergeError, match="min_count"):
        left.merge(right)


@pytest.mark.parametrize("wrong", [0, 1.5, True, "2", None])
def test_a_number_of_times_is_wanted(wrong: Any) -> None:
    with pytest.raises(SchemaError, match="min_count"):
        Text(min_count=wrong)


def test_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "m.csv"
    file.write_text('body,label\n"win cash",spam\n"win now",spam\n"lunch now",ham\n"lunch then",ham\n')
    out, spec = tmp_path / "m.bayou", "mnb(schema=Declared(columns={'body': Text(min_count=2)}))"
    call("learn", file, "--target", "label", "--text", "body", "--model", spec, "--out", out)
    shown = call("inspect", out).output
    assert "win" in shown
    assert "3, met at least 2 times" in shown
    assert "cash" not in shown
