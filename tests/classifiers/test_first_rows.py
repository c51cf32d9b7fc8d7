"""A stream that begins badly: rows without label, without any value, before there is a class or a column."""

from __future__ import annotations

import copy

import pytest

import bayou.classifiers as classifiers
import bayou.ensembles as ensembles
from bayou import BernoulliNB, ComplementNB, Declared, MajorityClass, MultinomialNB, NaiveBayes
from bayou.errors import DataError
from bayou.testing.contract import fingerprint

EXPORTED = {name: getattr(home, name) for home in (classifiers, ensembles) for name in home.__all__}
BEGINNING = [
    ({}, None),
    ({"x": 2}, None),
    ({}, "a"),
    ({"y": 1, "x": 3}, None),
    ({"x": 1}, "b"),
    ({}, "b"),
    ({"z": 4}, "a"),
]


@pytest.mark.parametrize("name", EXPORTED)
def test_rows_without_label_or_value_may_come_first(name):
    rows, labels = zip(*BEGINNING, strict=True)
    whole, single, last = EXPORTED[name](), EXPORTED[name](), EXPORTED[name]()
    whole.learn_many(list(rows), list(labels))
    for x, y in BEGINNING:
        single.learn_one(x, y)
    last.learn_many(list(rows[:3]), list(labels[:3]))
    last.learn_many(list(rows[3:]), list(labels[3:]))
    assert fingerprint(whole) == fingerprint(single) == fingerprint(last)


@pytest.mark.parametrize("numeric", ["gk", "kernel", "rounded-normal", "pid", "cpid"])
def test_buffers_do_not_know_rows_that_came_before_there_were_columns(numeric):
    whole, single = (NaiveBayes(numeric=numeric) for _ in range(2))
    rows = [{"s": "u"}, {"s": "v"}, {"x": 1.0}, {"x": 2.0, "z": 3.0}, {}]
    whole.learn_many(rows, list("abaab"))
    for x, y in zip(rows, "abaab", strict=True):
        single.learn_one(x, y)
    assert fingerprint(whole) == fingerprint(single)


def test_documents_without_a_word_are_documents_before_there_are_words_too():
    early, late = BernoulliNB(), BernoulliNB()
    early.learn_many([{}, {}, {"up": 1}, {"go": 1}], ["a", "a", "a", "b"])
    late.learn_many([{"go": 1}, {"up": 1}, {}, {}], ["b", "a", "a", "a"])
    assert early.digest() == late.digest()
    shards = BernoulliNB(), BernoulliNB()
    shards[0].learn_many([{}, {}], ["a", "a"])
    shards[1].learn_many([{"up": 1}, {"go": 1}], ["a", "b"])
    assert shards[0].merge(shards[1]).digest() == early.digest()


@pytest.mark.parametrize("model", [MultinomialNB, ComplementNB, BernoulliNB])
def test_counts_beside_text_take_their_place_where_they_are_first_met(model):
    rows = [{}, {"t": "red"}, {"w": 2, "u": "sea", "t": "red hot"}, {"v": 1, "t": "hot"}]
    columns = {
        "u": [None, None, "sea", None],
        "w": [None, None, 2, None],
        "t": [None, "red", "red hot", "hot"],
    }
    for batch, one in ((rows, rows), (columns, [{k: [v[i]] for k, v in columns.items()} for i in range(4)])):
        whole, single = model(), model()
        whole.learn_many(batch, list("abab"))
        for x, y in zip(one, "abab", strict=True):
            single.learn_many([x] if x in rows else x, [y])
        assert list(whole.schema_.place) == list(single.schema_.place)
        assert fingerprint(whole) == fingerprint(single)


@pytest.mark.parametrize(
    "make",
    [
        lambda: NaiveBayes(prior={"b": 0.3, "a": 0.7}),
        lambda: NaiveBayes(prior="laplace", schema=Declared(classes=["a", "b"])),
        lambda: NaiveBayes(schema=Declared(classes=["a", "b"])),
        lambda: BernoulliNB(prior="laplace", schema=Declared(classes=["b", "a", "c"])),
    ],
)
def test_the_first_row_is_predicted_alike_by_the_loop_and_the_block(make):
    rows, labels = [{"x": 1}, {"x": 2}, {"x": 3}, {}], ["a", "b", "b", "a"]
    loop, block, expected = make(), make(), []
    assert loop.predict_proba_many(rows[:1]) == [loop.predict_proba_one(rows[0])]
    assert not loop.started
    for x, y in zip(rows, labels, strict=True):
        expected.append(loop.predict_proba_one(x) or dict.fromkeys(block.declared().classes, 0.0))
        loop.learn_one(x, y)
    told = block.test_then_train_batch(rows, labels).tolist()
    assert [dict(zip(block.labels(), row, strict=True)) for row in told] == expected


def test_one_row_and_many_agree_that_nothing_is_learned_yet():
    model = NaiveBayes()
    model.learn_many([{"x": 1.0}, {"x": 2.0}], ["a", "b"], [0, 0])
    assert model.predict_proba_many([{"x": 1.0}]) == [model.predict_proba_one({"x": 1.0})] == [{}]
    assert model.predict_many([{"x": 1.0}]) == [model.predict_one({"x": 1.0})] == [None]


@pytest.mark.parametrize("model", [MajorityClass, NaiveBayes, MultinomialNB, BernoulliNB])
def test_what_was_never_learned_cannot_be_unlearned(model):
    taught = model()
    taught.learn_many([{"x": 1}, {"x": 2}], ["a", "b"])
    before = fingerprint(taught)
    with pytest.raises(DataError, match="never learned"):
        taught.unlearn([{"x": 1}] * 3, ["a"] * 3)
    assert fingerprint(taught) == before


@pytest.mark.parametrize("new", [{"z": 1}, {"c": "new"}])
def test_rows_with_values_or_columns_never_met_cannot_be_unlearned(new):
    taught = NaiveBayes()
    taught.learn_many([{"x": 1, "c": "u"}, {"x": 2, "c": "v"}], ["a", "b"])
    before, places = fingerprint(taught), dict(taught.schema_.place)
    with pytest.raises(DataError, match="never learned"):
        taught.unlearn([{"x": 1, **new}], ["a"])
    assert (fingerprint(taught), taught.schema_.place) == (before, places)
    full = NaiveBayes(schema=Declared(max_values=1))
    full.learn_many([{"c": "u"}, {"c": "v"}, {"c": "w"}], ["a", "b", "b"])
    assert full.unlearn([{"c": "w"}], ["b"]).predict_one({"c": "v"}) == "b"


@pytest.mark.parametrize("model", [MajorityClass, NaiveBayes, MultinomialNB, BernoulliNB])
def test_what_rounding_leaves_behind_is_not_a_value_that_was_seen(model):
    """0.1 + 0.2 - 0.2 - 0.1 is not 0: no class, word or value may be said to exist for its sake."""
    kept, both = model(), model()
    words = model().numbers_are_words
    rare = {"rare": 1} if words else {"s": "rare"}
    for each in (kept, both):
        each.learn_many([{"u": 1} if words else {"s": "u"}] * 2, ["a", "b"])
    both.learn_many([rare] * 2, ["c", "c"], [0.1, 0.2])
    both.unlearn([rare], ["c"], [0.2])
    both.unlearn([rare], ["c"], [0.1])
    query = {"u": 1} if words else {"s": "u"}
    assert {k: p for k, p in both.predict_proba_one(query).items() if p} == kept.predict_proba_one(query)
    again = copy.deepcopy(both)
    again.learn_one(rare, "c")
    assert "c" in again.predict_proba_one(rare)
