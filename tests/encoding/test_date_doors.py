"""Dates give equal columns and one digest through every door: frames, records and files."""

from __future__ import annotations

import csv
import datetime as dt
import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.seeds import LONG

from bayou import NaiveBayes, WeightedNB, open_stream
from bayou.errors import DateNote
from bayou.training import Learning
from bayou.training.loop import feed

BERLIN = dt.timezone(dt.timedelta(hours=1))
MOMENTS = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))
NEAR = st.datetimes(dt.datetime(1969, 12, 31, 23, 59), dt.datetime(1970, 1, 1, 0, 1))
DAYS = st.dates(dt.date(1700, 1, 1), dt.date(2200, 1, 1))


@st.composite
def columns(draw):
    """Points in time without a zone, with one, and days; each may be missing, but for the first."""
    n = draw(st.integers(1, 12))
    cells = {
        "plain": MOMENTS | NEAR,
        "zoned": (MOMENTS | NEAR).map(lambda when: when.replace(tzinfo=BERLIN)),
        "day": DAYS,
    }
    rows = {
        name: [draw(cell), *draw(st.lists(st.none() | cell, min_size=n - 1, max_size=n - 1))]
        for name, cell in cells.items()
    }
    return rows, draw(st.lists(st.sampled_from(["p", "q"]), min_size=n, max_size=n))


TYPES = {
    "us": {"plain": pa.timestamp("us"), "zoned": pa.timestamp("us", "+01:00"), "day": pa.date32()},
    "ns": {"plain": pa.timestamp("ns"), "zoned": pa.timestamp("ns", "Etc/GMT-1"), "day": pa.date64()},
}


def arrow(rows, unit):
    return pa.table({name: pa.array(cells, TYPES[unit][name]) for name, cells in rows.items()})


def records(rows):
    return [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]


FRAMES = {
    "records": records,
    "NumPy": lambda rows: {
        "plain": np.array(rows["plain"], "M8[us]"),
        "zoned": rows["zoned"],
        "day": np.array(rows["day"], "M8[D]"),
    },
    "pandas": lambda rows: pd.DataFrame(
        {
            "plain": pd.Series(rows["plain"]).astype("datetime64[us]"),
            "zoned": pd.Series(rows["zoned"], dtype=pd.DatetimeTZDtype("us", BERLIN)),
            "day": pd.Series(rows["day"], dtype=object),
        }
    ),
    "polars": lambda rows: pl.DataFrame(
        {
            "plain": rows["plain"],
            "zoned": pl.Series(rows["zoned"], dtype=pl.Datetime("us", "UTC")).dt.convert_time_zone(
                "Etc/GMT-1"
            ),
            "day": rows["day"],
        }
    ),
    "Arrow us": lambda rows: arrow(rows, "us"),
    "Arrow ns": lambda rows: arrow(rows, "ns"),
}


def text(when):
    return (
        ""
        if when is None
        else when.isoformat(" " if when.microsecond % 2 else "T")
        if isinstance(when, dt.datetime)
        else when.isoformat()
    )


def write_csv(path, rows, labels):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*rows, "y"])
        writer.writerows(zip(*([text(v) for v in cells] for cells in rows.values()), labels, strict=True))


def write_jsonl(path, rows, labels):
    lines = [
        {name: text(v) or None for name, v in row.items()} | {"y": y}
        for row, y in zip(records(rows), labels, strict=True)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def write_parquet(path, rows, labels, unit="us"):
    pa.parquet.write_table(arrow(rows, unit).append_column("y", pa.array(labels)), path)


def write_ipc(path, rows, labels):
    table = arrow(rows, "ns").append_column("y", pa.array(labels))
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def write_arff(path, rows, labels):
    head = '@attribute plain date "dd.MM.yyyy HH:mm:ss.SSSSSS"\n@attribute zoned date\n@attribute day date yyyy-MM-dd\n'
    cells = [
        [
            "?" if v is None else f'"{v.strftime("%d.%m.")}{v.year:04}{v.strftime(" %H:%M:%S.%f")}"'
            for v in rows["plain"]
        ],
        [f'"{text(v)}"' if v else "?" for v in rows["zoned"]],
        [f"'{text(v)}'" if v else "?" for v in rows["day"]],
    ]
    lines = "".join(",".join(row) + "\n" for row in zip(*cells, labels, strict=True))
    path.write_text(f"@relation r\n{head}@attribute y {{p,q}}\n@data\n{lines}")


FILES = {
    ".csv": write_csv,
    ".jsonl": write_jsonl,
    ".parquet": write_parquet,
    ".arrow": write_ipc,
    ".arff": write_arff,
}


def from_file(model, path, block):
    with open_stream(path, target="y") as stream:
        work = Learning(model)
        work.declare_columns(stream)
        feed(stream, work.step, pace=block)
    return model


def learned_columns(model):
    return sorted((name, str(kind)) for name, (kind, _) in model.schema_.place.items())


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=100 if LONG else 8)
@given(columns(), st.integers(1, 12))
def test_every_door_gives_the_same_model(found, block):
    rows, labels = found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DateNote)
        reference = NaiveBayes()
        for record, label in zip(records(rows), labels, strict=True):
            reference.learn_one(record, label)
        models = {}
        for door, made in FRAMES.items():
            models[door] = NaiveBayes()
            models[door].learn_many(made(rows), labels)
        with tempfile.TemporaryDirectory() as home:
            for suffix, write in FILES.items():
                path = Path(home) / f"rows{suffix}"
                write(path, rows, labels)
                models[suffix] = from_file(NaiveBayes(), path, block)
    for door, model in models.items():
        assert learned_columns(model) == learned_columns(reference), door
        assert model.schema_.dates == {"plain", "zoned", "day"}, door
        assert model.digest() == reference.digest(), door


@pytest.mark.parametrize("suffix", FILES)
def test_text_is_a_date_to_a_model_that_learned_dates(tmp_path, suffix):
    when = [dt.datetime(2026, 11, 16, hour, tzinfo=BERLIN) for hour in range(24)]
    rows = {"plain": [w.replace(tzinfo=None) for w in when], "zoned": when, "day": [w.date() for w in when]}
    labels = ["p" if w.hour < 12 else "q" for w in when]
    path = tmp_path / f"rows{suffix}"
    FILES[suffix](path, rows, labels)
    with pytest.warns(DateNote) as told:
        model = from_file(WeightedNB(), path, 7)
    assert len(told) == 1
    model.save(tmp_path / "m.bayou")
    from bayou import load

    model = load(tmp_path / "m.bayou")
    assert model.schema_.dates == {"plain", "zoned", "day"}
    row = {"plain": "2026-11-16T03:00:00", "zoned": "2026-11-16 03:00+01:00", "day": "2026/11/16"}
    objects = {name: cells[3] for name, cells in rows.items()}
    assert model.predict_proba_one(row) == model.predict_proba_one(objects)
    with open_stream(path, target="y") as stream:
        assert model.predict_many(stream.read(100)) == model.predict_many(records(rows))
