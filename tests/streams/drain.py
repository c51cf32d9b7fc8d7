"""Small streams in every format, and what comes out of them as plain Python."""

from __future__ import annotations

import gzip
import itertools
import json
import random
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from bayou.errors import BayouError
from bayou.streams import Rows, Source, open_stream


def plain(rows: Rows) -> list[tuple[Any, ...]]:
    """One tuple per row: number, cells, label, words. NaN becomes text, so that rows compare."""
    columns = [column.to_pylist() for column in rows.columns.values()]
    labels = rows.labels.to_pylist() if rows.labels is not None else [None] * len(rows)
    words: list[Any] = [None] * len(rows)
    if rows.words is not None:
        w = rows.words
        assert len(w) == len(rows)
        spans = list(itertools.pairwise(w.indptr.tolist()))
        words = [tuple(zip(w.ids[a:b].tolist(), w.counts[a:b].tolist(), strict=True)) for a, b in spans]
    cells = list(zip(*columns, strict=True)) if columns else [()] * len(rows)
    assert len(cells) == len(rows)
    return [
        (rows.start + i, *(repr(cell) for cell in cells[i]), labels[i], words[i]) for i in range(len(rows))
    ]


def drain(source: Source, sizes: Iterable[int] = (1000,)) -> list[tuple[Any, ...]]:
    """All remaining rows, read in the given sizes in turn."""
    out = []
    for size in itertools.cycle(sizes):
        rows = source.read(size)
        if rows is None:
            return out
        assert 0 < len(rows) <= size
        out += plain(rows)
    raise AssertionError


def outcome(path: Path, sizes: Iterable[int] = (1000,), **options: Any) -> tuple[list[Any], str, Any]:
    """Rows until the end or the first error of ours, the error's message, and the rejects."""
    out: list[Any] = []
    try:
        with open_stream(path, **options) as source:
            try:
                for size in itertools.cycle(sizes):
                    rows = source.read(size)
                    if rows is None:
                        break
                    out += plain(rows)
            except BayouError as error:
                return out, str(error), source.rejects.counts
            return out, "", source.rejects.counts
    except BayouError as error:
        return out, str(error), None


def records(n: int = 700) -> list[dict[str, Any]]:
    """Rows of mixed kinds with missing cells, from a fixed seed."""
    r = random.Random(5)
    out = []
    for i in range(n):
        row = {
            "x": round(r.gauss(0, 1), 3),
            "day": r.choice(["mon", "tue", "it's", "a b"]),
            "z": float(r.randrange(100)),
            "y": r.choice(["up", "down"]),
        }
        if i % 7 == 3:
            row["x"] = None
        if i % 11 == 4:
            row["day"] = None
        out.append(row)
    return out


def _csv(rows: list[dict[str, Any]], delimiter: str) -> str:
    def cell(value: Any) -> str:
        return "?" if value is None else f'"{value}"' if value == "it's" else str(value)

    lines = [delimiter.join(rows[0])] + [delimiter.join(map(cell, row.values())) for row in rows]
    return "\n".join(lines) + "\n"


def _arff(rows: list[dict[str, Any]]) -> str:
    head = "@relation r\n@attribute x real\n@attribute day {mon, tue, 'it\\'s', 'a b'}\n"
    head += "@attribute z numeric\n@attribute y {up, down}\n@data\n"
    quoted = {"it's": "'it\\'s'", "a b": "'a b'", None: "?"}
    return head + "".join(",".join(str(quoted.get(v, v)) for v in row.values()) + "\n" for row in rows)


def _sparse(rows: list[dict[str, Any]]) -> str:
    head = "@relation r\n" + "".join(f"@attribute w{i} numeric\n" for i in range(100))
    head += "@attribute y {up, down}\n@data\n"
    lines = []
    for i, row in enumerate(rows):
        cells = [f"{i % 50} {row['z'] + 1}", f"{50 + i % 50} 2"]
        lines.append("{" + ", ".join(cells + (["100 down"] if row["y"] == "down" else [])) + "}\n")
    return head + "".join(lines)


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows)


def _arrow(path: Path, table: pa.Table, opener: Callable[..., Any]) -> None:
    with pa.OSFile(str(path), "wb") as file, opener(file, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=150):
            writer.write_batch(batch)


FORMATS: Mapping[str, dict[str, Any]] = {
    "s.csv": {"target": "y"},
    "s.tsv": {"target": "y"},
    "s.arff": {},
    "sparse.arff": {},
    "s.jsonl": {"target": "y"},
    "s.parquet": {"target": "y"},
    "s.arrow": {"target": "y"},
    "stream.ipc": {"target": "y"},
    "s.txt": {},
    "s.libsvm": {},
}


def write(folder: Path, name: str, pack: str = "", rows: list[dict[str, Any]] | None = None) -> Path:
    """The file `name`, with `pack` one of "", ".gz", ".zst"."""
    rows = records() if rows is None else rows
    path = folder / name
    if name == "s.parquet":
        pa.parquet.write_table(_table(rows), path, row_group_size=250)
    elif name == "s.arrow":
        _arrow(path, _table(rows), pa.ipc.new_file)
    elif name == "stream.ipc":
        _arrow(path, _table(rows), pa.ipc.new_stream)
    else:
        text = {
            "s.csv": lambda: _csv(rows, ","),
            "s.tsv": lambda: _csv(rows, "\t"),
            "s.arff": lambda: _arff(rows),
            "sparse.arff": lambda: _sparse(rows),
            "s.jsonl": lambda: "".join(json.dumps(row) + "\n" for row in rows),
            "s.txt": lambda: "".join(f'{row["y"]}\t{row["day"]} "{row["z"]}\tend\n' for row in rows),
            "s.libsvm": lambda: "".join(f"{i % 3} 1:{row['z']} 3:0.5\n" for i, row in enumerate(rows)),
        }[name]()
        path.write_text(text)
    if not pack:
        return path
    packed = Path(f"{path}{pack}")
    if pack == ".gz":
        packed.write_bytes(gzip.compress(path.read_bytes()))
    else:
        with pa.CompressedOutputStream(str(packed), "zstd") as out:
            out.write(path.read_bytes())
    path.unlink()
    return packed
