"""A column of sentences that nobody declared is told, once, whatever the batches; names are not."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayou import NaiveBayes, WeightedNB, cross_validate, holdout, prequential
from bayou.errors import TextWarning
from bayou.schema import Declared

SENTENCES = [
    "win a great prize now by calling this number", "shall we meet for lunch at noon today",
    "free entry in a weekly competition to win tickets", "I will be home late, do not wait for me",
]  # fmt: skip
LABELS = ["spam", "ham", "spam", "ham"]


def told(teach):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        teach()
    return [str(each.message) for each in caught if issubclass(each.category, TextWarning)]


@pytest.mark.parametrize(
    "rows", [[{"note": s} for s in SENTENCES], {"note": SENTENCES}, pa.table({"note": SENTENCES})]
)
def test_a_batch_of_sentences_is_told(rows):
    (message,) = told(lambda: NaiveBayes().learn_many(rows, LABELS))
    assert "column 'note' holds sentences, such as 'win a great prize" in message
    assert "schema=Declared(columns={'note': 'text'})" in message


DOORS = {
    "columns": {"note": SENTENCES},
    "objects": {"note": np.array(SENTENCES, dtype=object)},
    "NumPy's strings": {"note": np.array(SENTENCES)},
    "bytes": {"note": [s.encode() for s in SENTENCES]},
    "pandas": pd.DataFrame({"note": SENTENCES}),
    "pandas, categories": pd.DataFrame({"note": SENTENCES}).astype("category"),
    "polars": pl.DataFrame({"note": SENTENCES}),
    "polars, categories": pl.DataFrame({"note": SENTENCES}).with_columns(pl.col("note").cast(pl.Categorical)),
    "Arrow": pa.table({"note": SENTENCES}),
    "Arrow, a dictionary": pa.table({"note": pa.array(SENTENCES).dictionary_encode()}),
    "Arrow, bytes": pa.table({"note": [s.encode() for s in SENTENCES]}),
    "records": [{"note": s} for s in SENTENCES],
    "a matrix": np.array(SENTENCES, dtype=object)[:, None],
    "lists": [[s] for s in SENTENCES],
    "strings": SENTENCES,
    "a series": pd.Series(SENTENCES),
}


@pytest.mark.parametrize("nominal", ["counts", "sketch"])
@pytest.mark.parametrize("door", DOORS)
def test_no_door_is_silent(door, nominal):
    """A model that hashes its values took sentences without a word, and so did all for bytes."""
    rows = DOORS[door]
    for make in (NaiveBayes, WeightedNB):
        assert len(told(lambda make=make: make(nominal=nominal).fit(rows, LABELS))) == 1
        assert len(told(lambda make=make: make(nominal=nominal).partial_fit(rows, LABELS))) == 1


def test_no_evaluation_is_silent():
    data = (pd.DataFrame({"note": SENTENCES}), np.array(LABELS))
    assert told(lambda: cross_validate(NaiveBayes(), *data, folds=2))
    assert told(lambda: holdout(NaiveBayes(), data, data))
    assert told(lambda: prequential(NaiveBayes(), data))


def test_hashed_sentences_that_come_one_by_one_are_told_once():
    model = NaiveBayes(nominal="sketch")
    learn = [
        lambda i=i, s=s: model.learn_one({"note": f"{s} {i}"}, i % 2) for i, s in enumerate(SENTENCES * 8)
    ]
    assert [i for i, each in enumerate(learn) if told(each)] == [1]


def test_a_stream_of_sentences_is_told_once_at_the_second():
    model = NaiveBayes()
    assert told(lambda: model.learn_one({"note": SENTENCES[0]}, "spam")) == []
    assert len(told(lambda: model.learn_one({"note": SENTENCES[1]}, "ham"))) == 1
    assert (
        told(lambda: [model.learn_one({"note": f"{s} {i}"}, "ham") for i, s in enumerate(SENTENCES * 10)])
        == []
    )


def test_short_messages_are_told_once_there_are_twenty():
    model = NaiveBayes()
    learn = [lambda i=i: model.learn_one({"note": f"call me {i}"}, i % 2) for i in range(30)]
    assert [i for i, each in enumerate(learn) if told(each)] == [19]


@pytest.mark.parametrize("kind", ["text", "nominal"])
def test_what_is_declared_is_not_told(kind):
    model = NaiveBayes(schema=Declared(columns={"note": kind}))
    assert told(lambda: model.learn_many({"note": SENTENCES}, LABELS)) == []


def test_names_are_not_told():
    names = ["New York", "Rio de Janeiro", "Some college, no degree", "Paris"] * 10
    assert (
        told(
            lambda: NaiveBayes().learn_many(
                {"place": [f"{n} {i}" for i, n in enumerate(names)][:12]}, names[:12]
            )
        )
        == []
    )


def test_what_is_learned_does_not_change():
    model, quiet = NaiveBayes(), NaiveBayes(schema=Declared(columns={"note": "nominal"}))
    told(lambda: model.learn_many({"note": SENTENCES}, LABELS))
    quiet.learn_many({"note": SENTENCES}, LABELS)
    assert model.predict_proba_one({"note": SENTENCES[0]}) == quiet.predict_proba_one({"note": SENTENCES[0]})
