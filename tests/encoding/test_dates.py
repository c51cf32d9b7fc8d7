"""Dates are learned alike through every door: seconds, hour, weekday and month."""

from __future__ import annotations

import copy
import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayou import Declared, NaiveBayes, load
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
        model = NaiveBayes(numeric="gaussian")
        with pytest.warns(DateNote):
            model.learn_many(rows, ["x"])
        assert model.schema_.vocabularies["when.hour"].values == ["01"]
        assert model.engine.views["numeric"].summary.mean.ravel().tolist() == [when.timestamp()]


def test_days_have_no_hour_and_spans_are_seconds():
    model = learned(pd.DataFrame({"when": [dt.date(2026, 11, 16)]}), ["x"])
    assert model.schema_.names(Kind.NOMINAL) == ["when.weekday", "when.month"]
    model = NaiveBayes()
    model.learn_many(pl.DataFrame({"when": [dt.timedelta(minutes=1)]}), ["x"])
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


def test_what_is_finer_than_a_microsecond_is_cut_off_alike():
    """Also before 1970, where Arrow and Python round to different sides."""
    ticks = [-1, -999, -1000, -1001, 1, 999, None]
    doors = {
        "Arrow": pa.table({"when": pa.array(ticks, pa.timestamp("ns"))}),
        "pandas": pd.DataFrame({"when": pd.Series(pd.to_datetime(ticks, unit="ns"))}),
        "objects": {"when": [None if t is None else pd.Timestamp(t, unit="ns") for t in ticks]},
        "NumPy": {"when": np.array([t if t is not None else "NaT" for t in ticks], "M8[ns]")},
        "scalars": [{"when": None if t is None else np.datetime64(t, "ns")} for t in ticks],
        "polars": pl.DataFrame({"when": pl.Series(ticks, dtype=pl.Datetime("ns"))}),
    }
    found = {door: learned(rows, ["x"] * 7) for door, rows in doors.items()}
    assert {model.schema_.vocabularies["when.month"].values[0] for model in found.values()} == {"Dec"}
    assert len({model.digest() for model in found.values()}) == 1


def test_what_cannot_be_counted_is_missing_and_tallied():
    far = np.array([0, 2**40, -(2**40)], "M8[D]")
    doors = {
        "NumPy": {"when": far},
        "Arrow": pa.table({"when": pa.array([0, 2**53, -(2**53)], pa.timestamp("s"))}),
    }
    for rows in doors.values():
        model = learned(rows, ["x"] * 3)
        assert model.predict_many(rows) == ["x"] * 3
        assert model.schema_.vocabularies["when.month"].values == ["Jan"]


def test_text_is_dates_where_it_is_declared():
    model = NaiveBayes(schema=Declared(columns={"when": "date"}))
    text = ["2026-11-16T21:12:13.5", None, "2026-11-17 04:12:13.5"]
    doors = [
        {"when": text},
        pd.DataFrame({"when": text}),
        pa.table({"when": pa.array(text).dictionary_encode()}),
        [{"when": t} for t in text] * 10,
    ]
    dates = learned([{"when": t and dt.datetime.fromisoformat(t)} for t in text], ["x", "y", "x"])
    for rows in doors[:3]:
        twin = model.fresh()
        with pytest.warns(DateNote):
            twin.learn_many(rows, ["x", "y", "x"])
        assert twin.digest() == dates.digest()
    with pytest.warns(DateNote):
        model.learn_many(doors[3], ["x", "y", "x"] * 10)
    before = fingerprint(model)
    with pytest.raises(ValueError, match=r"row 31, column 'when': not a date: 'never'.*'nominal'"):
        model.learn_many({"when": ["2026-11-16", "never"]}, ["x", "y"])
    with pytest.raises(ValueError, match="row 30, column 'when': not a date: 'soon'"):
        model.learn_one({"when": "soon"}, "x")
    assert fingerprint(model) == before


def test_declared_numeric_dates_are_a_trend_alone():
    model = NaiveBayes(schema=Declared(columns={"when": "numeric"}))
    model.learn_many(DOORS["pandas"], LABELS)
    assert list(model.schema_.place) == ["when"]


def test_names_of_dates_are_the_same_through_every_door():
    names = []
    for rows in DOORS.values():
        model = NaiveBayes(schema=Declared(columns={"when": "nominal"}))
        model.learn_many(rows, LABELS)
        names.append(model.schema_.vocabularies["when"].values)
    assert names[0][:2] == ["2026-11-16 21:12:13.500000", "2026-11-17 04:12:13.500000"]
    assert all(found == names[0] for found in names)


def test_merged_and_saved_models_know_their_dates(tmp_path):
    one, other = learned(DOORS["records"]), NaiveBayes()
    other.learn_many([{"a": 1.0, "when": 5.0}], ["x"])
    other.merge(one)
    assert other.schema_.dates == {"when"}
    other.save(tmp_path / "m.bayou")
    twin = load(tmp_path / "m.bayou")
    assert twin.schema_.dates == {"when"}
    assert twin.predict_proba_one({"when": "2026-11-16"}) == other.predict_proba_one({"when": "2026-11-16"})
    assert copy.deepcopy(twin).schema_.dates == {"when"}
