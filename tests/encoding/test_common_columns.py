"""Rows that lack what the model learned are answered with the prior, and the user is told."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from bayou import MultinomialNB, NaiveBayes
from bayou.errors import ColumnWarning

ROWS = [{"a": 1.0, "b": "u"}, {"a": 2.0, "b": "v"}] * 5
LABELS = ["x", "y"] * 5


def learned():
    model = NaiveBayes()
    model.learn_many(ROWS, LABELS)
    return model


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: m.predict_proba_one({"zzz": 3}),
        lambda m: m.predict_one({"zzz": 3}),
        lambda m: m.predict_proba_many([{"zzz": 3}]),
        lambda m: m.predict_proba_many(pd.DataFrame({"zzz": [1.0]})),
        lambda m: m.predict(np.array([[1.0]])),
        lambda m: m.explain({"zzz": 3}),
    ],
)
def test_rows_without_any_known_column_are_warned_of(ask):
    with pytest.warns(ColumnWarning, match="none of the columns the model learned.*'a', 'b'.*have '"):
        ask(learned())


def test_it_is_said_once_for_each_set_of_columns_at_the_line_that_asked():
    model = learned()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            model.predict_proba_one({"zzz": 3})
            model.predict_proba_one({"other": 3})
    assert [w.category for w in caught] == [ColumnWarning] * 2
    assert {w.filename for w in caught} == {__file__}


def test_a_table_that_lacks_many_columns_is_warned_of():
    with pytest.warns(ColumnWarning, match="1 of the 2 columns the model learned are not in the rows.*: 'a'"):
        learned().predict_proba_many(pd.DataFrame({"b": ["u"]}))
    with pytest.warns(ColumnWarning, match="1 of the 2 columns"):
        learned().predict_proba_one({"A": 1.0, "b": "u"})


@pytest.mark.parametrize(
    "rows",
    [
        [{}],
        [{"b": "u"}],
        [{"a": None, "zzz": 3, "b": None}],
        [{"a": 1.0, "b": "u", "zzz": 3}],
        pd.DataFrame({"a": [1.0], "b": ["u"], "c": [3]}),
        pd.DataFrame({"zzz": []}),
    ],
)
def test_records_may_leave_out_what_they_do_not_know(rows):
    learned().predict_proba_many(rows)


def test_words_that_are_new_are_ordinary_but_not_all_columns_of_a_table():
    model = MultinomialNB()
    model.learn_many([{"cheap": 2, "meeting": 0}, {"cheap": 0, "meeting": 1}], ["spam", "ham"])
    model.predict_proba_one({"lottery": 1})
    with pytest.warns(ColumnWarning, match="none of the words"):
        model.predict_proba_many(pd.DataFrame({"lottery": [1]}))
    text = MultinomialNB()
    text.learn_many({"text": ["cheap pills", "a meeting"]}, ["spam", "ham"])
    with pytest.warns(ColumnWarning, match="none of the columns"):
        text.predict_proba_many({"txt": ["cheap pills"]})
