"""Small tables with every kind of column, as files of every format."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from bayou.streams import open_stream
from bayou.training.loop import declare_columns


def table(rows: int = 3_000, seed: int = 0) -> pa.Table:
    """Two numbers (one of them often missing), a nominal column whose values come and go, and a class that does."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    y[: rows // 3] = rng.integers(0, 2, rows // 3)  # the third class is not in the first part
    x = rng.normal(size=rows) + y
    z = np.where(rng.random(rows) < 0.3, np.nan, rng.normal(size=rows) * (1 + y))
    era = np.arange(rows) * 5 // rows  # values that no two fifths share
    day = [f"{'mtw'[d]}{e}" for d, e in zip(rng.integers(0, 3, rows), era, strict=True)]
    return pa.table(
        {"x": x, "z": pa.array(z, from_pandas=True), "day": day, "move": [f"c{label}" for label in y]}
    )


def write_csv(found: pa.Table, path: Path) -> Path:
    pa.csv.write_csv(found, path, pa.csv.WriteOptions(quoting_style="none"))
    return path


def write_jsonl(found: pa.Table, path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in found.to_pylist()))
    return path


def write_arff(found: pa.Table, path: Path) -> Path:
    values = {name: sorted(set(found[name].to_pylist())) for name in ("day", "move")}
    kinds = {"x": "numeric", "z": "numeric", **{n: "{" + ",".join(v) + "}" for n, v in values.items()}}
    head = ["@relation moves", *(f"@attribute {n} {kinds[n]}" for n in found.column_names), "@data"]
    rows = [
        ",".join("?" if cell is None else str(cell) for cell in row.values()) for row in found.to_pylist()
    ]
    path.write_text("\n".join([*head, *rows]) + "\n")
    return path


def write_parquet(found: pa.Table, path: Path) -> Path:
    pa.parquet.write_table(found, path, row_group_size=200)
    return path


def write_arrow(found: pa.Table, path: Path) -> Path:
    with pa.ipc.new_file(path, found.schema) as file:
        file.write_table(found, max_chunksize=200)
    return path


WRITERS: Mapping[str, Callable[[pa.Table, Path], Path]] = {
    "csv": write_csv,
    "jsonl": write_jsonl,
    "arff": write_arff,
    "parquet": write_parquet,
    "arrow": write_arrow,
}


def one_pass(model: Any, *paths: Path, **options: Any) -> Any:
    """The model after all rows of the files, in order, in this process."""
    for path in paths:
        with open_stream(path, **options) as source:
            declare_columns(model, source)
            while (rows := source.read(8_192)) is not None:
                model.learn_batch(rows, rows.labels)
    return model.refresh()
