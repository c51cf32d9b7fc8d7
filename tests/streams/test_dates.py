"""Which columns of a file are dates, what happens to a cell that is none, and where a date goes."""

from __future__ import annotations

import datetime as dt
import json
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from bayou import NaiveBayes, open_stream
from bayou.dates import parse_date, parse_dates
from bayou.errors import DataError, DateNote, OptionError
from bayou.streams import ColumnType
from bayou.streams.dates import DateText

FORMS = [
    "2026-11-16",
    "2026/11/16",
    "2026-11-16T21:12",
    "2026-11-16 21:12:13",
    "2026-11-16T21:12:13.5Z",
    "2026-11-16T21:12:13,123456789+05:30",
    "2026-11-16 21:12:13 UTC",
    "1712-02-29T00:00:00.000001-0330",
    "0001-01-02T00:00+14",
]
NO_DATES = [
    "",
    "mon",
    "20261116",
    "2026-11",
    "2026-13-01",
    "2026-02-30",
    "2025-02-29",
    "2026-11/16",
    "26-11-16",
    "2026-11-16T24:00",
    "2026-11-16T21:60",
    "2026-11-16T21:12:60",
    "2026-11-16T21:12+24:00",
    "2026-11-16T21:12:13.",
    "2026-11-16x",
    "2026-11-16T21:12:13.5Zx",
    "2026-11-16T21:12:13." + "0" * 60,
    "٢٠٢٦-11-16",
]


@pytest.mark.parametrize("text", FORMS)
def test_forms_of_dates(text: str) -> None:
    iso = text.replace("/", "-").replace(" UTC", "Z").replace(",123456789", ".123456")
    expected = dt.datetime.fromisoformat(iso)
    zone = expected.utcoffset() or dt.timedelta()
    found = parse_dates(pa.array([text, None]))
    assert found.known.tolist() == [True, False]
    assert found.timed.tolist() == [":" in text, False]
    seconds = (expected.replace(tzinfo=None) - zone - dt.datetime(1970, 1, 1)) / dt.timedelta(seconds=1)
    assert found.seconds()[0] == seconds
    assert parse_date(text) == (found.clock[0], found.ahead[0], ":" in text)


@pytest.mark.parametrize("text", NO_DATES)
def test_what_is_no_date(text: str) -> None:
    assert parse_date(text) is None
    assert not parse_dates(pa.array([text])).known.any()


def csv(path: Path, cells: list[str]) -> Path:
    path.write_text("when,y\n" + "".join(f"{cell},{'pq'[i % 2]}\n" for i, cell in enumerate(cells)))
    return path


def jsonl(path: Path, cells: list[str]) -> Path:
    rows = [{"when": cell or None, "y": "pq"[i % 2]} for i, cell in enumerate(cells)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("write", [csv, jsonl])
def test_a_column_is_of_dates_if_most_of_the_first_cells_are(tmp_path: Path, write) -> None:
    def kind(cells: list[str], **wishes: object) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with open_stream(
                write(tmp_path / "a.csv", cells), target="y", format=write.__name__, **wishes
            ) as stream:
                return stream.columns["when"].kind

    assert kind(["2026-11-16", "", "never", "2026-11-16T12:00"]) == "date"
    assert kind(["2026-11-16", "never", "sometimes"]) == "nominal"
    assert kind(["", ""]) == "numeric"
    assert kind(["", ""], date=["when"]) == "date"
    assert kind(["2026-11-16"], nominal=["when"]) == "nominal"
    assert kind(["mon"] * 1000 + ["2026-11-16"] * 3000) == "nominal"  # by the first 1,000 rows, as all kinds


@pytest.mark.parametrize("write", [csv, jsonl])
@pytest.mark.parametrize("block", [1, 3, 100])
def test_a_later_cell_that_is_no_date_does_not_fit(tmp_path: Path, write, block: int) -> None:
    cells = ["2026-11-16"] * 30 + ["soon", "2026-11-31", "", "2026-11-17T10:00"]
    path = write(tmp_path / "a", cells)
    line = 32 if write is csv else 31

    def read(policy: str) -> tuple[list[str | None], dict[str, int]]:
        found: list[str | None] = []
        with open_stream(path, target="y", format=write.__name__, policy=policy) as stream:
            while (rows := stream.read(block)) is not None:
                assert rows.columns["when"].type == DateText()
                found += rows.columns["when"].to_pylist()
            return found, stream.rejects.counts

    with pytest.raises(DataError, match=f"line {line}, row 30, column 'when': not a date: 'soon'"):
        read("strict")
    assert read("skip") == ([*cells[:30], None, cells[-1]], {"not a date": 2})
    assert read("missing") == ([*cells[:30], None, None, None, cells[-1]], {"not a date": 2})


def test_reading_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = csv(tmp_path / "a.csv", [f"2026-11-16T21:12:{i % 60:02}" for i in range(100)])
    with open_stream(path, target="y") as stream:
        stream.read(37)
        place = stream.position()
        rest = stream.read(100).columns["when"]
    with open_stream(path, target="y") as stream:
        stream.seek(place)
        assert stream.read(100).columns["when"].equals(rest)


WHEN = [dt.datetime(1969, 12, 31, 23, 59, 59, 999_999), None, dt.datetime(2026, 11, 16, 21, 12, 13)]


def columns(tmp_path: Path, column: pa.Array, **wishes: object) -> list[object]:
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table({"when": column, "y": ["p"] * len(column)}), path)
    with open_stream(path, target="y", **wishes) as stream:
        return stream.read(100).columns["when"].to_pylist()


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_typed_dates_are_handed_out_as_asked(tmp_path: Path, unit: str) -> None:
    column = pa.array(WHEN, pa.timestamp("us")).cast(pa.timestamp(unit), safe=False)
    last = "" if unit == "ms" else ".999999"
    seconds = 0.0 if unit == "ms" else -1e-6
    assert columns(tmp_path, column, numeric=["when"]) == [seconds, None, 1794863533.0]
    first = "1970-01-01 00:00:00" if unit == "ms" else f"1969-12-31 23:59:59{last}"
    for word in ("nominal", "text"):
        assert columns(tmp_path, column, **{word: ["when"]}) == [first, None, "2026-11-16 21:12:13"]


def test_times_of_day_and_spans_are_seconds(tmp_path: Path) -> None:
    assert columns(tmp_path, pa.array([dt.time(1, 0, 0, 500_000), None])) == [3600.5, None]
    assert columns(tmp_path, pa.array([dt.timedelta(days=-1, microseconds=1)])) == [-86399.999999]


def test_names_in_parquet_are_dates_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table({"when": ["2026-11-16", "x"], "y": ["p", "q"]}), path)
    with open_stream(path, target="y", date=["when"], policy="missing") as stream:
        assert stream.columns == {"when": ColumnType("date")}
        assert stream.read(9).columns["when"].to_pylist() == ["2026-11-16", None]


def test_a_target_of_dates_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table({"x": [1.0], "y": [dt.date(2026, 11, 16)]}), path)
    with pytest.raises(DataError, match=r"column 'y': a target of type date32.* is a quantity, not a class"):
        open_stream(path, target="y")


def test_lines_without_columns_hold_no_dates(tmp_path: Path) -> None:
    path = tmp_path / "a.libsvm"
    path.write_text("p 1:1\n")
    with pytest.raises(OptionError, match="hold no dates"):
        open_stream(path, date=["1"])


def test_a_started_model_takes_a_new_column_of_dates(tmp_path: Path) -> None:
    model = NaiveBayes()
    model.learn_many([{"a": 1.0}, {"a": 2.0}], ["p", "q"])
    with open_stream(csv(tmp_path / "a.csv", ["2026-11-16T10:00"] * 4), target="y") as stream:
        rows = stream.read(9)
    with pytest.warns(DateNote):
        model.learn_many(rows, rows.labels)
    assert model.schema_.dates == {"when"}
    assert "when.hour" in model.schema_.place
