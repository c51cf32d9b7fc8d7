"""How far a stream is: by the rows handed out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from bayou.streams import open_stream


@pytest.mark.parametrize("name", ["csv", "csv.gz", "jsonl", "arff", "parquet", "arrow"])
def test_progress_is_that_of_the_rows_handed_out(tmp_path: Path, name: str) -> None:
    """A file that is read in one piece is not done when it is read."""
    path, rows = tmp_path / f"a.{name}", 40_000
    table = pa.table({"x": [float(i % 7) for i in range(rows)], "y": ["p", "q"] * (rows // 2)})
    if name == "parquet":
        pa.parquet.write_table(table, path)
    elif name == "arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        lines = [f"{x},{y}" for x, y in zip(table["x"].to_pylist(), table["y"].to_pylist(), strict=True)]
        text = "x,y\n" + "\n".join(lines) + "\n"
        if name == "arff":
            text = text.replace("x,y\n", "@relation r\n@attribute x numeric\n@attribute y {p,q}\n@data\n", 1)
        if name == "jsonl":
            text = "".join(f'{{"x": {i % 7}, "y": "{"pq"[i % 2]}"}}\n' for i in range(rows))
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    with open_stream(path, target="y") as source:
        for done in range(4_000, rows + 1, 4_000):
            source.read(4_000)
            assert source.progress() == pytest.approx(done / rows, abs=0.02)
