"""Parquet and Arrow: kinds from types and options, and damaged files."""

from __future__ import annotations

import decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.streams.drain import FORMATS, drain, outcome, plain, write

from bayou.errors import BayouError, DataError
from bayou.streams import limits, open_stream
from bayou.streams.columnar import STRIDE


def test_kinds_from_types(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table(
        {
            "i": pa.array([1, None], pa.int16()),
            "f": pa.array([0.5, float("nan")], pa.float32()),
            "d": pa.array([decimal.Decimal("1.5"), None]),
            "b": pa.array([True, None]),
            "s": pa.array(["u", None], pa.large_string()),
            "k": pa.array(["u", None]).dictionary_encode(),
            "y": pa.array([3, 4], pa.uint8()),
        }
    )
    pa.parquet.write_table(table, path)
    with open_stream(path, target="y") as stream:
        kinds = {name: column.kind for name, column in stream.columns.items()}
        assert kinds == dict.fromkeys("ifd", "numeric") | dict.fromkeys("bsk", "nominal")
        rows = stream.read(5)
        assert rows is not None
        assert {str(rows.columns[name].type) for name in "ifd"} == {"double"}
        assert rows.columns["d"].to_pylist() == [1.5, None]
        assert [rows.columns[name].to_pylist() for name in "bsk"] == [
            ["true", None],
            ["u", None],
            ["u", None],
        ]
        assert rows.labels.to_pylist() == [3, 4]
        assert str(rows.labels.type) == "int64"


@pytest.mark.parametrize("column", [[[1, 2]], [{"a": 1}], [b"raw"]])
def test_types_that_are_refused_unless_ignored(tmp_path: Path, column: list[Any]) -> None:
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table({"q": column, "x": [1.0], "y": ["a"]}), path)
    with pytest.raises(DataError, match=r"column 'q': columns of type .*ignore=\['q'\]"):
        open_stream(path, target="y")
    with open_stream(path, target="y", ignore=["q"]) as stream:
        assert len(drain(stream)) == 1


def test_numbers_written_as_text(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table({"x": ["1", " 2.5", "?", "abc"], "y": [1, 2, 3, 4]}), path)
    rows, error, _ = outcome(path, target="y", numeric=["x"])
    assert [row[1] for row in rows] == ["1.0", "2.5", "None"]
    assert "row 3, column 'x': not a number: 'abc'" in error
    assert len(outcome(path, target="y", numeric=["x"], policy="skip")[0]) == 3


def test_big_labels_and_repeated_names(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table({"x": [1.0, 2.0], "y": pa.array([1, 2**63], pa.uint64())}), path)
    assert "row 1, column 'y': a label beyond 2^63" in outcome(path, target="y")[1]
    pa.parquet.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"]), path)
    with pytest.raises(DataError, match="repeats a name"):
        open_stream(path, target="x")


def test_empty_tables(tmp_path: Path) -> None:
    for name in ("s.parquet", "s.arrow", "stream.ipc"):
        rows = [{"x": 1.0, "day": "mon", "z": 1.0, "y": "up"}]
        path = write(tmp_path, name, rows=rows)
        with open_stream(path, target="y") as stream:
            assert len(drain(stream)) == 1
    pa.parquet.write_table(pa.table({"x": pa.array([], pa.float64()), "y": pa.array([], pa.string())}), path)
    with open_stream(path, target="y", format="parquet") as stream:
        assert stream.read(1) is None


@pytest.mark.parametrize("name", ["s.parquet", "s.arrow", "stream.ipc"])
def test_damaged_files_give_our_error(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, name)
    good = path.read_bytes()
    r = np.random.default_rng(3)
    refused = 0
    for trial in range(60):
        data = bytearray(good)
        if trial % 3 == 0:
            data = data[: int(r.integers(len(data)))]
        else:
            for _ in range(int(r.integers(1, 6))):
                data[int(r.integers(len(data)))] = int(r.integers(256))
        path.write_bytes(bytes(data))
        try:
            with open_stream(path, **FORMATS[name]) as stream:
                drain(stream)
        except BayouError:
            refused += 1
    assert refused >= 15
    path.write_bytes(b"hello")
    with pytest.raises(DataError, match="cannot be read as"):
        open_stream(path, target="y")


@pytest.mark.parametrize("name", ["s.parquet", "s.arrow", "stream.ipc"])
@pytest.mark.parametrize("policy", ["strict", "skip"])
def test_places_that_count_older_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, policy: str
) -> None:
    """Checkpoints written when batches had another number of rows go on where they were."""
    monkeypatch.setattr(limits, "BATCH", 64)
    monkeypatch.setattr(limits, "OLDER_BATCH", 50)
    group, path = 150, tmp_path / name
    cells = [str(i) if i % 7 else "seven" for i in range(600)]
    data = pa.table({"x": cells if policy == "skip" else [*map(float, range(600))], "y": ["a", "b"] * 300})
    if name == "s.parquet":
        pa.parquet.write_table(data, path, row_group_size=group)
    else:
        new = pa.ipc.new_file if name == "s.arrow" else pa.ipc.new_stream
        with pa.OSFile(str(path), "wb") as file, new(file, data.schema) as writer:
            writer.write_table(data, max_chunksize=group)
    options: dict[str, Any] = {"target": "y", "policy": policy, "numeric": ["x"]}
    with open_stream(path, **options) as stream:
        whole = drain(stream, [1000])
        end, nothing_rejected = stream.position(), dict.fromkeys(stream.rejects.position(), 0)
    for number, batch, taken in ((0, 0, 37), (0, 1, 0), (0, 2, 33), (1, 1, 37), (2, 3, 0), (3, 2, 1)):
        record = number * group + batch * limits.OLDER_BATCH
        row = sum(1 for i in range(record) if policy == "strict" or i % 7)
        place = {"place": number * STRIDE + batch, "record": record, "row": row, "taken": taken}
        with open_stream(path, **options) as stream:
            stream.seek(place | nothing_rejected)
            read = stream.read(20)
            assert read is not None
            middle, share = plain(read), stream.progress()
            assert share is None or share == pytest.approx((record + taken + 20) / 600, abs=0.15)
            position = stream.position()
            rest = drain(stream, [33])
            assert middle + rest == whole[row + taken :]
            assert stream.position()["row"] + stream.position()["taken"] == end["row"] + end["taken"]
        with open_stream(path, **options) as stream:
            stream.seek(position)
            assert drain(stream, [1000]) == rest


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(["mon", "tue"])])
@pytest.mark.parametrize("written", ["write_ipc", "write_parquet"])
def test_files_of_polars_are_read_like_others(tmp_path: Path, kind: Any, written: str) -> None:
    rows = {"day": ["mon", None, "tue", "mon"], "x": [1.0, 2.0, None, 4.0], "y": ["p", "q", None, "p"]}
    path, other = tmp_path / "polars.arrow", tmp_path / "other.arrow"
    frame = pl.DataFrame(rows).with_columns(pl.col("day").cast(kind), pl.col("y").cast(pl.String))
    getattr(frame, written)(path)
    table = pa.table(rows)
    with pa.ipc.new_file(other, table.schema) as file:
        file.write_table(table)
    format = "arrow" if written == "write_ipc" else "parquet"
    assert outcome(path, target="y", format=format) == outcome(other, target="y")
