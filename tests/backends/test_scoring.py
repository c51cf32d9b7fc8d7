"""Which columns of a table a model knows."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from bayou import MultinomialNB, NaiveBayes
from bayou.backends.spark.scoring import _kinds
from bayou.errors import DataError, DateNote


def test_columns_of_numbers_are_the_words_of_a_model_of_words() -> None:
    model = MultinomialNB()
    model.learn_batch([{"a": 1, "b": 2}, {"b": 1}], ["x", "y"])
    fields = [("a", pa.int64()), ("b", pa.float64()), ("other", pa.string())]
    assert _kinds(model, pa.schema(fields)) == {"a": "numeric", "b": "numeric"}
    with pytest.raises(DataError, match="none of the columns"):
        _kinds(model, pa.schema(fields[2:]))


def test_columns_are_read_as_the_model_learned_them() -> None:
    model = NaiveBayes()
    model.learn_batch([{"a": 1, "n": "u"}, {"a": 2, "n": "v"}], ["x", "y"])
    assert _kinds(model, pa.schema([("n", pa.int64()), ("a", pa.float64())])) == {
        "n": "nominal",
        "a": "numeric",
    }


def test_dates_stay_dates() -> None:
    model = NaiveBayes()
    with pytest.warns(DateNote):
        model.learn_batch(
            [{"when": dt.datetime(2026, 11, 16, 3)}, {"when": dt.datetime(2026, 11, 17, 15)}], ["x", "y"]
        )
    table = pa.schema([("when", pa.timestamp("us", "UTC")), ("other", pa.int64())])
    assert _kinds(model, table) == {"when": "date"}
