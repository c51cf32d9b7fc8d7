"""Label and text, and libsvm lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.streams.drain import outcome

from bayou.errors import DataError
from bayou.streams import ColumnType, open_stream


def test_label_tab_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b'ham\tOk "lar"\tgo\r\n\nspam\tFree, entry\n\tno label\n')
    with open_stream(path) as stream:
        assert stream.columns == {"text": ColumnType("text")}
        assert stream.target == "label"
        rows = stream.read(10)
        assert rows is not None
        assert rows.columns["text"].to_pylist() == ['Ok "lar"\tgo', "Free, entry", "no label"]
        assert rows.labels.to_pylist() == ["ham", "spam", None]


def test_lines_without_tab_or_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b"a\tx\nno tab here\nb\t\xff\nc\ty\n")
    rows, error, _ = outcome(path, format="text")
    assert (len(rows), error[:35]) == (1, "line 2, row 1: a line without a tab")
    rows, error, counts = outcome(path, format="text", policy="skip")
    assert (len(rows), counts) == (2, {"a line without a tab": 1, "not UTF-8 text": 1})


def test_libsvm(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("-1 1:0.5 2:-1\n1 2:3 # remark\n-1\n")
    with open_stream(path) as stream:
        assert list(stream.columns) == ["1", "2"]
        rows = stream.read(10)
        assert rows is not None
        assert [column.to_pylist() for column in rows.columns.values()] == [[0.5, 0.0, 0.0], [-1.0, 3.0, 0.0]]
        assert rows.labels.to_pylist() == [-1, 1, -1]


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("1 1:x", "row 1, column '1': not a number: 'x'"),
        ("1 9:1", "row 1: a feature number beyond"),
        ("1 1:1 1:2", "row 1: a feature number is repeated"),
        ("1 a:1", "row 1: not a pair"),
        ("# only", "row 1: a line without a label"),
        ("x 1:1", "row 1, column 'label': not a number"),
    ],
)
def test_libsvm_lines_that_do_not_fit(tmp_path: Path, line: str, match: str) -> None:
    path = tmp_path / "a.libsvm"
    good = "1 1:1 2:2\n"
    path.write_text(good + line + "\n" + good * 1000)
    if "beyond" in match or "label" in match:
        path.write_text(good + good * 1000 + line + "\n")
        match = match.replace("row 1", "row 1001")
    assert match in outcome(path)[1]


def test_unknown_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("hello world\n")
    with pytest.raises(DataError, match="cannot tell what the lines"):
        open_stream(path)
    with pytest.raises(DataError, match="not libsvm"):
        open_stream(path, format="libsvm")
