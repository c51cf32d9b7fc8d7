"""Dates are learned alike through every door: seconds, hour, weekday and month."""

from __future__ import annotations

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayou import Declared, NaiveBayes
from bayou.errors import DateNote
from bayou.schema import Kind
from bayou.testing.contract import fingerprint

WHEN = [dt.datetime(2026, 11, 16, 21, 12, 13, 500_000) + dt.timedelta(hours=7 * i) for i in range(40)]
WHEN[3] = None
LABELS = ["x" if when and when.hour < 12 else "y" for when in WHEN]
DOORS = {
    "records": [{"when": when} for when in WHEN],
    "columns": {"when": WHEN},
    "pandas": pd.DataFrame({"when": pd.Series(WHEN)}),
    "pandas ns": pd.DataFrame({"when": pd.Series(WHEN).astype("datetime64[ns]")}),
    "pandas objects": pd.DataFrame({"when": pd.Series(list(pd.Series(WHEN)), dtype=object)}),
    "polars": pl.DataFrame({"when": WHEN}),
    "Arrow": pa.table({"when": pa.array(WHEN, pa.timestamp("ns"))}),
    "NumPy": {"when": np.array(WHEN, dtype="M8[us]")},
}


def learned(rows, labels=LABELS):
    model = NaiveBayes()
    with pytest.warns(DateNote, match="dates in 'when' are learned as seconds"):
        model.learn_many(rows, labels)
    return model


@pytest.mark.parametrize("door", DOORS)
def test_every_door_learns_the_same(door):
    model = learned(DOORS[door])
    assert model.schema_.names(Kind.NUMERIC) == ["when"]
    assert model.schema_.names(Kind.NOMINAL) == ["when.hour", "when.weekday", "when.month"]
    assert fingerprint(model) == fingerprint(learned(DOORS["records"]))
    assert model.predict_one({"when": dt.datetime(2026, 11, 30, 4)}) == "x"
    assert model.explain({"when": dt.datetime(2026, 11, 30, 4)}).label == "x"
    assert model.predict_many(DOORS[door]) == model.predict_many(DOORS["records"])


def test_it_is_said_once_and_one_by_one_is_the_same():
    model = NaiveBayes()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for record, label in zip(DOORS["records"], LABELS, strict=True):
            model.learn_one(record, label)
            model.predict_one(record)
    assert [w.category for w in caught] == [DateNote]
    assert fingerprint(model) == fingerprint(learned(DOORS["records"]))


def test_hours_are_those_of_the_clock_and_seconds_those_of_the_world():
    zone = dt.timezone(dt.timedelta(hours=2))
    when = dt.datetime(2026, 1, 1, 1, tzinfo=zone)
    for rows in ({"when": [when]}, pa.table({"when": pa.array([when], pa.timestamp("us", "+02:00"))})):
        model = learned(rows, ["x"])
        assert model.schema_.vocabularies["when.hour"].values == ["01"]
        assert model.engine.views["numeric"].summary.mean.ravel().tolist() == [when.timestamp()]


def test_days_have_no_hour_and_spans_are_seconds():
    model = learned(pd.DataFrame({"when": [dt.date(2026, 11, 16)]}), ["x"])
    assert model.schema_.names(Kind.NOMINAL) == ["when.weekday", "when.month"]
    model = learned(pl.DataFrame({"when": [dt.timedelta(minutes=1)]}), ["x"])
    assert list(model.schema_.place) == ["when"]


def test_declared_as_names_dates_stay_names():
    model = NaiveBayes(schema=Declared(columns={"when": "nominal"}))
    model.learn_many([{"when": dt.date(2026, 11, 16)}], ["x"])
    assert model.schema_.vocabularies["when"].values == ["2026-11-16"]


def test_a_frame_keeps_its_own_names_in_scikit_learns_dialect():
    frame = pd.DataFrame({"when": pd.Series(WHEN), "when.hour": 1.0})
    with pytest.warns(DateNote):
        model = NaiveBayes().fit(frame, LABELS)
    assert list(model.feature_names_in_) == ["when", "when.hour"]
    assert model.schema_.kind("when.hour") is Kind.NUMERIC
    assert model.predict(frame).shape == (40,)
