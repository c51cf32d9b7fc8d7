"""Targets that are quantities, columns that are dates or oddly written numbers: said, rather than read in silence."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from bayou.errors import DataError, NumberWarning, OptionError
from bayou.streams import open_stream
from bayou.streams.dates import DateWarning


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet", "libsvm"])
def test_a_quantity_is_refused_in_every_format(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"a.{format}"
    prices = [round(1.01 * i, 2) for i in range(500)]
    target, name = {"target": "y"}, "y"
    if format == "csv":
        path.write_text("x,y\n" + "".join(f"1,{y}\n" for y in prices))
    elif format == "jsonl":
        path.write_text("".join(json.dumps({"x": 1, "y": y}) + "\n" for y in prices))
    elif format == "parquet":
        pa.parquet.write_table(pa.table({"x": [1.0] * 500, "y": prices}), path)
    else:
        path.write_text("".join(f"{y} 1:1\n" for y in prices))
        target, name = {}, "label"
    with (
        open_stream(path, **target) as stream,
        pytest.raises(DataError, match="a quantity, not a class: 500"),
    ):
        stream.read(10)
    with open_stream(path, nominal=[name], **target) as stream:
        assert len(stream.read(600) or ()) == 500


@pytest.mark.parametrize("classes", [2, 26, 200])
def test_numbers_that_are_classes_are_not(tmp_path: Path, classes: int) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"1,{i % classes}\n" for i in range(2_000)))
    with open_stream(path, target="y") as stream:
        assert len(stream.read(3_000) or ()) == 2_000
    path.write_text("x,y\n" + "".join(f"1,{(i % 19) / 2}\n" for i in range(2_000)))
    with open_stream(path, target="y") as stream:
        assert len(stream.read(3_000) or ()) == 2_000


@pytest.mark.parametrize("date", ["16.11.2026", "11/16/2026 21:12", "2026.11.16", "16 Nov 2026"])
def test_dates_in_other_forms_are_told(tmp_path: Path, date: str) -> None:
    path, lines = tmp_path / "a.csv", tmp_path / "a.jsonl"
    path.write_text("when,y\n" + f"{date},p\n,q\n" * 5)
    lines.write_text(json.dumps({"when": date, "y": "p"}) + "\n")
    for file in (path, lines):
        with pytest.warns(DateWarning, match="column 'when' looks like dates.*ignore=\\['when'\\]"):
            open_stream(file, target="y").close()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            open_stream(file, target="y", nominal=["when"]).close()
            open_stream(file, target="y", ignore=["when"]).close()


def test_codes_and_names_are_no_dates(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b,y\n" + "1-2-3,mon,p\n2026-11,12:30,q\n" * 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_stream(path, target="y").close()


@pytest.mark.parametrize("number", ["{},5", "-1.{:03d},50", "1 {:03d}", "{} %", "${}.50", "€{}"])
def test_numbers_in_other_formats_are_told(tmp_path: Path, number: str) -> None:
    path, lines = tmp_path / "a.csv", tmp_path / "a.jsonl"
    cells = [number.format(i) for i in range(1, 40)]
    path.write_text("x;z;y\n" + "".join(f"{cell};{i};p\n" for i, cell in enumerate(cells)))
    lines.write_text("".join(json.dumps({"x": cell, "y": "p"}) + "\n" for cell in cells))
    for file in (path, lines):
        with pytest.warns(NumberWarning, match="column 'x' looks like numbers, and is read as names"):
            open_stream(file, target="y").close()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            open_stream(file, target="y", nominal=["x"]).close()
            open_stream(file, target="y", ignore=["x"]).close()


def test_numbers_beside_an_unusual_mark_for_missing_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{i / 7},p\nNULL,q\nNULL,q\n" for i in range(30)))
    with pytest.warns(NumberWarning, match="column 'x' looks like numbers"):
        open_stream(path, target="y").close()


def test_levels_codes_and_hours_are_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = (f"{10 * (i % 5)} %,{i}:30,a{i},{i}-{i + 1},p\n" for i in range(50))
    path.write_text("a,b,c,d,y\n" + "".join(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_stream(path, target="y").close()


def test_a_similar_column_is_offered(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("amount, hour,fraud\n1,2,no\n")
    for wrong, near in (("Fraud", "fraud"), ("frad", "fraud"), ("hour", " hour")):
        with pytest.raises(OptionError, match=f"no column '{wrong}' to be the target; did you mean '{near}'"):
            open_stream(path, target=wrong)
    with pytest.raises(OptionError, match="no column 'amounts'; did you mean 'amount'"):
        open_stream(path, target="fraud", ignore=["amounts"])
    with pytest.raises(OptionError, match="no column 'zzz'; the columns are 'amount', ' hour', 'fraud'"):
        open_stream(path, target="fraud", ignore=["zzz"])


def test_one_large_feature_number_costs_nothing(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "a.libsvm"
    path.write_text("p 9999999:1\n")
    tracemalloc.start()
    with pytest.raises(DataError, match="more than 10,000 columns: a feature has number 9,999,999"):
        open_stream(path)
    assert tracemalloc.get_traced_memory()[1] < 16 << 20
    tracemalloc.stop()
