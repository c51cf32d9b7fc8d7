"""The door: formats by suffix or by name, standard input, targets and kinds."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from tests.streams.drain import drain, write

from bayou.errors import DataError, SchemaError
from bayou.streams import ColumnType, open_stream


def test_import_stays_light() -> None:
    code = "import sys, bayou.streams; print({'pyarrow', 'numba', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_csv_without_target_lists_the_columns_and_guesses(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,Class,b\n1,x,2\n")
    with pytest.raises(DataError, match=r"'a', 'Class', 'b' \(perhaps target='Class'"):
        open_stream(path)
    with pytest.raises(SchemaError, match="no column 'nope'"):
        open_stream(path, target="nope")


def test_no_target_on_request(tmp_path: Path) -> None:
    for name in ("s.csv", "s.arff", "s.jsonl", "s.parquet"):
        with open_stream(write(tmp_path, name), target="") as stream:
            rows = stream.read(3)
            assert rows is not None
            assert rows.labels is None
            assert stream.target is None
            assert list(rows.columns) == ["x", "day", "z", "y"]


def test_options_override_kinds(tmp_path: Path) -> None:
    for name in ("s.csv", "s.arff", "s.jsonl", "s.parquet"):
        options = {"target": "y", "nominal": ["z"], "text": ["day"], "ignore": ["x"]}
        with open_stream(write(tmp_path, name), **options) as stream:
            assert stream.columns == {"day": ColumnType("text"), "z": ColumnType("nominal")}
            rows = stream.read(2)
            assert rows is not None
            assert all(isinstance(value, str) for value in rows.columns["z"].to_pylist())


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"nominal": ["q"]}, "no column 'q'"),
        ({"nominal": ["x"], "numeric": ["x"]}, "two kinds"),
        ({"nominal": ["x"], "ignore": ["x"]}, "two kinds"),
        ({"ignore": ["y"]}, "both the target and ignored"),
    ],
)
def test_contradictory_options(tmp_path: Path, options: dict[str, list[str]], match: str) -> None:
    with pytest.raises(SchemaError, match=match):
        open_stream(write(tmp_path, "s.csv"), target="y", **options)


def test_unknown_format_policy_and_path(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot open .*a\.xyz: No such file"):
        open_stream(tmp_path / "a.xyz", target="t")
    (tmp_path / "a.xyz").touch()
    with pytest.raises(DataError, match="cannot tell the format"):
        open_stream(tmp_path / "a.xyz")
    with pytest.raises(DataError, match="unknown format"):
        open_stream(write(tmp_path, "s.csv"), format="xyz")
    with pytest.raises(DataError, match="unknown policy"):
        open_stream(tmp_path / "a.csv", policy="lax")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="No such file"):
        open_stream(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="directory"):
        open_stream(tmp_path, format="csv")
    with pytest.raises(DataError, match="cannot open"):
        open_stream("a\0b.csv")


@pytest.mark.parametrize("pack", ["", ".gz", ".zst"])
@pytest.mark.parametrize("name", ["s.csv", "s.parquet", "s.jsonl"])
def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, pack: str) -> None:
    path = write(tmp_path, name, pack)
    form = name.removeprefix("s.")
    with open_stream(path, target="y") as stream:
        whole = drain(stream)

    def feed() -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))

    feed()
    with open_stream("-", target="y", format=form) as stream:
        stream.read(300)
        position = stream.position()
        assert stream.progress() is None or form == "parquet"
        assert drain(stream) == whole[300:]
    feed()
    with open_stream("-", target="y", format=form) as stream:
        stream.seek(position)  # the same bytes piped again: read and skipped
        assert drain(stream) == whole[300:]


def test_a_pipe_cannot_go_back(tmp_path: Path) -> None:
    code = (
        "from bayou.streams import open_stream\n"
        "s = open_stream('-', target='y'); p = s.position(); n = 0\n"
        "while (r := s.read(1000)) is not None: n += len(r)\n"
        "print(n)\n"
        "try: s.seek(p)\n"
        "except ValueError as e: print(e)\n"
    )
    rows = "x,y\n" + "1.5,a\n" * 400_000
    done = subprocess.run(
        [sys.executable, "-c", code], input=rows, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[0] == "400000"
    assert "cannot go back" in done.stdout
    assert done.stderr == ""


def test_something_must_be_left_to_read(tmp_path: Path) -> None:
    for name in ("s.csv", "s.arff", "s.parquet"):
        with pytest.raises(SchemaError, match="nothing is left"):
            open_stream(write(tmp_path, name), target="", ignore=["x", "day", "z", "y"])
        with open_stream(write(tmp_path, name), target="y", ignore=["x", "day", "z"]) as stream:
            assert len(drain(stream, [99])) == 700  # labels alone are enough for a majority
