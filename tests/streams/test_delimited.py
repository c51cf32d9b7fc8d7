"""CSV and TSV: what is missing, what is a number, quotes, and files that are hardly files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.seeds import LONG
from tests.streams.drain import drain, outcome

from bayou.errors import DataError
from bayou.streams import ColumnType, limits, open_stream
from bayou.streams.cells import BLANK, numbers
from bayou.streams.delimited import DelimitedSource, _numbers, parse
from bayou.streams.records import masked, outside


def read(tmp_path: Path, data: bytes | str, **options: Any) -> dict[str, list[Any]]:
    path = tmp_path / "a.csv"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    with open_stream(path, **({"target": "y"} | options)) as stream:
        rows = stream.read(1000)
        if rows is None:
            return {}
        assert stream.read(1) is None
        found = {name: column.to_pylist() for name, column in rows.columns.items()}
        return found | ({"y": rows.labels.to_pylist()} if rows.labels is not None else {})


def test_missing_cells(tmp_path: Path) -> None:
    got = read(tmp_path, "x,n,y\n?,?,?\n,,\nNA,NA,NA\nNaN,NaN,NaN\n1,a,u\n")
    assert got == {"x": [None] * 4 + [1.0], "n": [None] * 4 + ["a"], "y": [None] * 4 + ["u"]}


def test_quotes(tmp_path: Path) -> None:
    got = read(tmp_path, 'n,m,y\n"a,b","say ""hi""",u\n5" pipe,"two\nlines",v\n"x"y,z"",w\n')
    assert got["n"] == ["a,b", '5" pipe', "xy"]
    assert got["m"] == ['say "hi"', "two\nlines", 'z""']
    assert got["y"] == ["u", "v", "w"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_blank_lines(tmp_path: Path, end: str) -> None:
    assert read(tmp_path, end.join(["x,y", "", "1,a", "", "", "2,b"])) == {"x": [1.0, 2.0], "y": ["a", "b"]}


def test_byte_order_marks(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfx,y\n1,a\n") == {"x": [1.0], "y": ["a"]}
    with pytest.raises(DataError, match="UTF-16"):
        read(tmp_path, "x,y\n1,a\n".encode("utf-16"))


@pytest.mark.parametrize(
    ("label", "want"), [("1 0 1", [1, 0, 1]), ("1 0.5 2", [1.0, 0.5, 2.0]), ("1 b 2", ["1", "b", "2"])]
)
def test_labels_keep_their_type(tmp_path: Path, label: str, want: list[Any]) -> None:
    got = read(tmp_path, "x,y\n" + "".join(f"0,{cell}\n" for cell in label.split()))["y"]
    assert got == want
    assert [type(value) for value in got] == [type(value) for value in want]


def test_kinds_follow_the_majority(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b,c,d,y\n" + "1,x,1,?,u\n" * 5 + "oops,1,x,?,v\n")
    with open_stream(path, target="y") as stream:
        assert [column.kind for column in stream.columns.values()] == [
            "numeric",
            "nominal",
            "numeric",
            "numeric",
        ]
    rows, error, _ = outcome(path, target="y")
    assert len(rows) == 5
    assert "row 5, column 'a': not a number: 'oops'" in error


@pytest.mark.parametrize("delimiter", [";", "|", "\t"])
def test_other_delimiters_are_seen_in_the_header(tmp_path: Path, delimiter: str) -> None:
    data = "x,n,y\n1,a,u\n".replace(",", delimiter)
    assert read(tmp_path, data) == {"x": [1.0], "n": ["a"], "y": ["u"]}


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"", "is empty"),
        (b"\n\n  \n", "is empty"),
        (b"x,x,y\n1,2,3\n", "repeats a name"),
        (b"5.1,3.5,a\n" * 0 + b"5.1,3.5,1\n4.9,3.0,1\n", "numbers, not names"),
        (b"x,\xff,y\n1,2,3\n", "header cannot be read"),
    ],
)
def test_headers_that_are_refused(tmp_path: Path, data: bytes, match: str) -> None:
    with pytest.raises(DataError, match=match):
        read(tmp_path, data)


def test_numbered_and_unnamed_columns(tmp_path: Path) -> None:
    assert read(tmp_path, "0,1,2\n5,6,7\n", target="2") == {"0": [5.0], "1": [6.0], "y": [7]}
    assert read(tmp_path, ",y\n5,a\n") == {"column_1": [5.0], "y": ["a"]}


def test_header_only_and_no_final_newline(tmp_path: Path) -> None:
    assert read(tmp_path, "x,y\n") == {}
    assert read(tmp_path, "x,y") == {}
    assert read(tmp_path, "x,y\n1,a") == {"x": [1.0], "y": ["a"]}


def test_nul_and_invalid_utf8(tmp_path: Path) -> None:
    assert read(tmp_path, b"n,y\na\0b,u\n")["n"] == ["a\0b"]
    path = tmp_path / "b.csv"
    path.write_bytes(b"n,y\na,u\n\xff,v\n\xff\n")
    rows, error, _ = outcome(path, target="y")
    assert len(rows) == 1
    assert error.startswith("line 3, row 1, column 'n': not UTF-8 text: '\\\\xff'")
    assert outcome(path, target="y", policy="skip")[2] == {"not UTF-8 text": 1, "short row": 1}


_part = st.sampled_from(
    ["NaN", "nan", "inf", "NA", "?", " ", "\t", "1", "25", "+", "-", ".", "e", "E9", "0x", "\0", "é"]
)


@settings(max_examples=500 if LONG else 100, deadline=None)
@given(st.lists(_part, max_size=5).map("".join))
@example(" NaN")
@example("+1.5 ")
@example("nAn")
def test_both_ways_of_reading_a_number_agree(cell: str) -> None:
    data = cell.encode() + b",1\n"
    try:
        fast = parse(data, ["a", "b"], {"a": pa.float64()})["a"].to_pylist()
    except pa.ArrowInvalid:
        return
    text = parse(data, ["a", "b"], {"a": pa.string()})["a"]
    for careful in (_numbers, lambda cells: numbers(cells, BLANK)):
        value, bad = careful(text)
        assert not bad.any()
        assert repr(value.to_pylist()) == repr(fast)


_cell = st.text(st.sampled_from('ab,"\n\r?1.5 é'), max_size=6)


@settings(
    max_examples=200 if LONG else 100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.tuples(_cell, _cell), min_size=1, max_size=30), st.integers(64, 300))
def test_quoted_cells_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: Any, chunk: int
) -> None:
    path = tmp_path / "a.csv"
    lines = ['"' + '","'.join(cell.replace('"', '""') for cell in row) + '"\n' for row in cells]
    path.write_bytes(("n,y\n" + "".join(lines)).encode())
    monkeypatch.setattr(limits, "CHUNK", chunk)
    with open_stream(path, target="y", nominal=["n", "y"]) as stream:
        got = [(row[1], row[2]) for row in drain(stream, [4])]
    missing = ("", "?")
    assert got == [(repr(a if a not in missing else None), b if b not in missing else None) for a, b in cells]


def test_careful_reading_gives_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,n,y\n" + '1.5,"a,b",0\n?, c ,1\n-2e3,"""",0\n' * 20)
    fast = outcome(path, target="y")
    monkeypatch.setattr("bayou.streams.delimited.parse", _only_bytes)
    assert outcome(path, target="y") == fast
    assert len(fast[0]) == 60


def _only_bytes(chunk: bytes, names: Any, types: Any, *rest: Any, **more: Any) -> Any:
    if any(kind != pa.binary() for kind in types.values()):
        raise pa.ArrowInvalid("fast reading switched off")
    return parse(chunk, names, types, *rest, **more)


def test_the_source_is_what_the_file_says(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,n,y\n1,a,u\n")
    with open_stream(path, target="y") as stream:
        assert isinstance(stream, DelimitedSource)
        assert stream.columns == {"x": ColumnType("numeric"), "n": ColumnType("nominal")}
        assert (stream.target, stream.classes, stream.vocabulary) == ("y", None, None)


_quoted_part = st.sampled_from([b'"', b'""', b",", b"\n", b"\r", b"a", b"5", b'",', b',"', b'"\n'])


@settings(max_examples=500 if LONG else 100, deadline=None)
@given(st.lists(_quoted_part, max_size=14).map(b"".join))
def test_both_ways_of_finding_quotes_agree(chunk: bytes) -> None:
    blotted = masked(chunk, b",")
    for marks in (b"\n", b"\r\n", b","):
        found = outside(chunk, b",", marks).tolist()
        assert found == [i for i, byte in enumerate(blotted) if byte in marks]


def test_a_quote_that_is_not_closed_is_named(tmp_path: Path) -> None:
    """It takes the lines after it into one cell, which once was called a short row."""
    path = tmp_path / "open.csv"
    path.write_text('a,b,y\n1,x,u\n2,"y,v\n3,z,u\n')
    rows, error, _ = outcome(path, target="y")
    assert len(rows) == 1
    assert error.startswith("line 3, row 1: a quote that is not closed")
