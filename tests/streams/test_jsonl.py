"""JSON lines: kinds, types, and lines that are no objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.streams.drain import outcome

from bayou.errors import DataError
from bayou.streams import open_stream


def lines(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_kinds_and_missing(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        {"x": 1, "b": True, "n": "a", "y": 1},
        {"x": None, "n": 5, "y": 2},
        {"x": float("nan"), "b": False, "n": "é", "y": None, "z": 3},
        {"x": 10**400, "b": None, "y": 1},
    )
    with open_stream(path, target="y") as stream:
        kinds = {name: column.kind for name, column in stream.columns.items()}
        assert kinds == {"x": "numeric", "b": "nominal", "n": "nominal", "z": "numeric"}
        rows = stream.read(10)
        assert rows is not None
        got = {name: column.to_pylist() for name, column in rows.columns.items()}
        assert got == {
            "x": [1.0, None, None, float("inf")],
            "b": ["true", None, "false", None],
            "n": ["a", "5", "é", None],
            "z": [None, None, 3.0, None],
        }
        assert rows.labels.to_pylist() == [1, 2, None, 1]


@pytest.mark.parametrize(
    ("labels", "kind"),
    [([True, False], "bool"), ([1, 2], "int64"), ([1, 2.5], "double"), (["a", 1], "string")],
)
def test_labels_keep_their_type(tmp_path: Path, labels: list[Any], kind: str) -> None:
    with open_stream(lines(tmp_path, *({"x": 1, "y": label} for label in labels)), target="y") as stream:
        rows = stream.read(5)
        assert rows is not None
        assert str(rows.labels.type) == kind


@pytest.mark.parametrize(
    ("row", "match"),
    [
        ({"x": "abc", "y": 1}, "row 2, column 'x': not a number: '\"abc\"'"),
        ({"x": [1], "y": 1}, "row 2, column 'x': not a number"),
        ({"n": {"a": 1}, "y": 1}, "row 2, column 'n': not a text or a number"),
        ({"n": "\ud800", "y": 1}, "row 2, column 'n': not a text or a number"),
        ("[1, 2]", "row 2: not a JSON object"),
        ('{"x": 1,', "row 2: not JSON"),
        ('{"x": 1, "x": 2}', "row 2: key 'x' is repeated"),
        ("[" * 40 + "]" * 40, "row 2: nested deeper than 32 levels"),
        ('{"x": ' + "9" * 5000 + "}", "row 2: not JSON"),
    ],
)
def test_rows_that_do_not_fit(tmp_path: Path, row: Any, match: str) -> None:
    good = {"x": 1, "n": "a", "y": 1}
    path = lines(tmp_path, good, good, row, good)
    rows, error, _ = outcome(path, target="y")
    assert len(rows) == 2
    assert match in error
    rows, error, counts = outcome(path, target="y", policy="skip")
    assert (len(rows), error, sum(counts.values())) == (3, "", 1)


def test_a_late_column(tmp_path: Path) -> None:
    path = lines(tmp_path, *[{"x": 1, "y": 1}] * 1000, {"x": 2, "late": 5, "y": 1}, {"x": 3, "y": 2})
    rows, error, _ = outcome(path, target="y")
    assert len(rows) == 1000
    assert "column 'late'" in error
    assert "ignore=['late']" in error
    assert len(outcome(path, target="y", ignore=["late"])[0]) == 1002
    rows, error, _ = outcome(path, target="y", numeric=["late"])
    assert rows[1000][2] == "5.0"
    rows, error, counts = outcome(path, target="y", policy="missing")
    assert (len(rows), counts) == (1002, {"a column not seen in the first rows": 1})


def test_nothing_usable(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no JSON object"):
        open_stream(lines(tmp_path, "x,y", "1,2"), target="y")
    with pytest.raises(DataError, match="which column is the target"):
        open_stream(lines(tmp_path, {"x": 1}))
    with pytest.raises(DataError, match="no target 'y'"):
        open_stream(lines(tmp_path, {"x": 1}), target="y")
