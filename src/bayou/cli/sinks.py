"""Where rows go: CSV, JSON lines or Parquet, in a file or on standard output."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, cast

from bayou.cli.files import check_writable
from bayou.errors import DataError

_FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


class Sink(Protocol):
    """Takes columns of equal length, batch after batch."""

    def write(self, columns: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


@contextlib.contextmanager
def opened_sink(path: str, format: str | None = None) -> Iterator[Sink]:
    """A sink that leaves either the whole file or none: rows go to `FILE.part`, renamed at the end."""
    chosen = format or _format_of(path)
    if path == "-":
        if chosen == "parquet":
            raise DataError("Parquet does not go to standard output", remedy="give --out a file name")
        sink = _made(sys.stdout.buffer, chosen)
        yield sink
        sink.close()
        sys.stdout.flush()
        return
    check_writable(path)
    draft = f"{path}.part"
    import pyarrow as pa

    codec = {".gz": "gzip", ".zst": "zstd"}.get(Path(path).suffix.lower())
    try:
        with pa.output_stream(draft, compression=codec) as file:
            sink = _made(file, chosen)
            try:
                yield sink
            finally:
                sink.close()
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def _format_of(path: str) -> str:
    if path == "-":
        return "csv"
    suffixes = [s.lower() for s in Path(path).suffixes if s.lower() not in (".gz", ".zst")]
    if not suffixes or suffixes[-1] not in _FORMATS:
        raise DataError(f"cannot tell the format of {path}", remedy=f"end it in {' '.join(_FORMATS)}")
    return _FORMATS[suffixes[-1]]


def _made(file: Any, format: str) -> Sink:
    if format == "jsonl":
        return _JsonLines(file)
    if format in ("csv", "tsv", "parquet"):
        return _Arrow(file, format)
    raise DataError("unknown format", value=format, remedy="csv, tsv, jsonl or parquet")


class _Arrow:
    """CSV and Parquet by Arrow; the first batch says what the columns are."""

    def __init__(self, file: Any, format: str) -> None:
        self._file, self._format = file, format
        self._writer: Any = None

    def write(self, columns: Mapping[str, Any]) -> None:
        import pyarrow as pa

        batch = pa.RecordBatch.from_arrays(
            [_plain(values) for values in columns.values()], names=list(columns)
        )
        if self._writer is None:
            self._writer = self._open(batch.schema)
        self._writer.write(batch)

    def _open(self, schema: Any) -> Any:
        if self._format == "parquet":
            import pyarrow.parquet

            return pyarrow.parquet.ParquetWriter(self._file, schema)
        import pyarrow.csv

        options = pyarrow.csv.WriteOptions(
            delimiter="\t" if self._format == "tsv" else ",", quoting_style="needed"
        )
        return pyarrow.csv.CSVWriter(self._file, schema, write_options=options)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


class _JsonLines:
    """One JSON object a line; missing cells are null."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, columns: Mapping[str, Any]) -> None:
        lists = [_plain(values).to_pylist() for values in columns.values()]
        for cells in zip(*lists, strict=True):
            record = {
                name: None if isinstance(cell, float) and cell != cell else cell
                for name, cell in zip(columns, cells, strict=True)
            }
            self._file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")

    def close(self) -> None:
        pass


def _plain(values: Any) -> Any:
    """An Arrow array of plain values: dictionaries are looked up."""
    import pyarrow as pa

    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else cast(Any, array)
