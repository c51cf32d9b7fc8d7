"""Parquet files that several readers decode: nobody can tell, but by the clock."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.streams.drain import drain

from bayou import NaiveBayes, open_stream
from bayou.errors import DataError
from bayou.streams import limits
from bayou.streams.columnar import NUMBERED, STRIDE
from bayou.threads import limited
from bayou.training import Learning, Run

ROWS, GROUP = 700, 300


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BATCH", 32)


def written(path: Path, missing: float = 0.0, **options: Any) -> Path:
    """A file of 24 columns of several types, wide enough for several readers."""
    random = np.random.default_rng(5)
    columns: dict[str, pa.Array] = {}
    for i in range(6):
        gaps = random.random((4, ROWS)) < missing
        columns[f"whole {i}"] = pa.array(random.integers(0, 99, ROWS), mask=gaps[0])
        columns[f"broken {i}"] = pa.array(random.normal(size=ROWS), mask=gaps[1])
        columns[f"small {i}"] = pa.array(random.integers(0, 9, ROWS), pa.int8(), mask=gaps[2])
        columns[f"name {i}"] = pa.array(random.choice(["u", "v", "w"], ROWS), mask=gaps[3])
    columns = dict(sorted(columns.items())) | {"y": pa.array(random.choice(["a", "b"], ROWS))}
    pa.parquet.write_table(pa.table(columns), path, row_group_size=GROUP, **options)
    return path


def digest(path: Path, threads: int, ignore: list[str]) -> str:
    model = NaiveBayes("gaussian")
    with limited(threads), open_stream(path, target="y", ignore=ignore) as source:
        Run(Learning(model), source, None).to_the_end()
    return model.digest()


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("left_out", ["-", "name", "small", "broken"])
def test_any_number_of_readers_teaches_the_same(tmp_path: Path, missing: float, left_out: str) -> None:
    path = written(tmp_path / "a.parquet", missing)
    ignore = [name for name in pa.parquet.read_schema(path).names if name.startswith(left_out)]
    assert digest(path, 2, ignore) == digest(path, 1, ignore) == digest(path, 3, ignore)


@pytest.mark.parametrize("threads", [1, 2])
def test_every_position_can_be_resumed(tmp_path: Path, threads: int) -> None:
    path = written(tmp_path / "a.parquet", 0.1)
    with limited(threads):
        with open_stream(path, target="y") as stream:
            whole = drain(stream, [1000])
        with open_stream(path, target="y") as stream:
            while (rows := stream.read(53)) is not None:
                end, position = rows.start + len(rows), stream.position()
                with open_stream(path, target="y") as again:
                    again.seek(position)
                    assert drain(again, [1000]) == whole[end:]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("group", "number"), [(0, 1), (0, 4), (1, 2), (1, 3), (1, 10), (2, 1)])
def test_places_of_batches(tmp_path: Path, threads: int, group: int, number: int) -> None:
    path = written(tmp_path / "a.parquet")
    row = group * GROUP + min(GROUP, number * limits.BATCH)
    with limited(threads), open_stream(path, target="y") as stream:
        whole = drain(stream, [1000])
        nothing = dict.fromkeys(stream.rejects.position(), 0)
        stream.seek(
            {"place": group * STRIDE + NUMBERED + number, "record": row, "row": row, "taken": 0} | nothing
        )
        assert drain(stream, [41]) == whole[row:]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_damaged_page_gives_an_error_that_names_the_file(tmp_path: Path, threads: int) -> None:
    path = written(tmp_path / "a.parquet", compression="snappy", use_dictionary=False)
    chunk = pa.parquet.read_metadata(path).row_group(1).column(7)
    data = bytearray(path.read_bytes())
    data[chunk.data_page_offset : chunk.data_page_offset + chunk.total_compressed_size] = bytes(
        chunk.total_compressed_size
    )
    path.write_bytes(bytes(data))
    with limited(threads), open_stream(path, target="y") as stream:
        assert stream.read(GROUP) is not None
        with pytest.raises(DataError, match=r"a\.parquet cannot be read as Parquet"):
            drain(stream, [50])


def test_readers_that_disagree_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels read columns by addresses, so that all must have the same number of rows."""
    plain = pa.parquet.ParquetFile.iter_batches

    def short(file: Any, *args: Any, **options: Any) -> Iterator[pa.RecordBatch]:
        for batch in plain(file, *args, **options):
            yield batch.slice(1) if "whole 3" in batch.schema.names else batch

    monkeypatch.setattr(pa.parquet.ParquetFile, "iter_batches", short)
    with limited(2), open_stream(written(tmp_path / "a.parquet"), target="y") as stream:
        with pytest.raises(DataError, match="different lengths"):
            stream.read(10)


def test_a_rejected_row_keeps_all_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    cells = {f"x{i}": pa.array([1.0, 2.0]) for i in range(20)} | {"bad": pa.array(["3", "three"])}
    pa.parquet.write_table(pa.table(cells | {"y": pa.array(["a", "b"])}), path)
    letters = []
    for threads in (1, 2):
        to = tmp_path / f"{threads}.jsonl"
        with (
            limited(threads),
            open_stream(path, target="y", numeric=["bad"], policy="skip", dead_letters=to) as stream,
        ):
            assert len(drain(stream, [10])) == 1
        letters.append(to.read_text())
    assert letters[0] == letters[1]
    assert "three" in letters[0]
