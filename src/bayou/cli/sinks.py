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
from bayou.errors import OptionError

_FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


class Sink(Protocol):
    """Takes columns of equal length, batch after batch."""

    def write(self, columns: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


@contextlib.contextmanager
def opened_sink(path: str, format: str | None = None, escape_formulas: bool = False) -> Iterator[Sink]:
    """A sink that leaves either the whole file or none: rows go to `FILE.part`, renamed at the end.

    `escape_formulas` concerns CSV and TSV alone: other formats say which cells are text.
    """
    chosen = format or _format_of(path)
    if path == "-":
        if chosen == "parquet":
            raise OptionError("Parquet does not go to standard output", remedy="give --out a file name")
        sink = _made(sys.stdout.buffer, chosen, escape_formulas)
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
            sink = _made(file, chosen, escape_formulas)
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
        raise OptionError(f"cannot tell the format of {path}", remedy=f"end it in {' '.join(_FORMATS)}")
    return _FORMATS[suffixes[-1]]


def _made(file: Any, format: str, escape_formulas: bool) -> Sink:
    if format == "jsonl":
        return _JsonLines(file)
    if format in ("csv", "tsv", "parquet"):
        return _ArrowWriter(file, format, escape_formulas and format != "parquet")
    raise OptionError("unknown format", value=format, remedy="csv, tsv, jsonl or parquet")


class _ArrowWriter:
    """CSV and Parquet by Arrow; the first batch decides on the columns."""

    def __init__(self, file: Any, format: str, escape_formulas: bool) -> None:
        self._file, self._format, self._escape = file, format, escape_formulas
        self._writer: Any = None

    def write(self, columns: Mapping[str, Any]) -> None:
        import pyarrow as pa

        arrays, names = [_plain(values) for values in columns.values()], pa.array(list(columns))
        if self._escape:
            arrays, names = [_escaped(array) for array in arrays], _escaped(names)
        batch = pa.RecordBatch.from_arrays(arrays, names=names.to_pylist())
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
            self._file.write(json.dumps(record, ensure_ascii=False, default=str).encode() + b"\n")

    def close(self) -> None:
        pass


def _plain(values: Any) -> Any:
    """An Arrow array of plain values: dictionaries are looked up, dates that were text are text again."""
    import pyarrow as pa

    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    array = getattr(array, "storage", array)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else cast(Any, array)


def _escaped(array: Any) -> Any:
    """Text that a spreadsheet would take for a formula, with an apostrophe before it; numbers stay as they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return array
    return pc.replace_substring_regex(
        array, pattern=r"^([=+\-@\t\r\n])", replacement=r"'\1", max_replacements=1
    )
