"""Parquet and Arrow IPC (file and stream), read batch by batch; kinds of columns follow from their types."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import BinaryIO, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from bayou.dates import is_text, names_of_dates, read_arrow
from bayou.errors import DataError
from bayou.plain_text import SENTENCES, are_sentences
from bayou.streams import cells, limits
from bayou.streams import compute as pc
from bayou.streams.byte_reader import ByteReader
from bayou.streams.cells import Label
from bayou.streams.chunked import ChunkedSource, Feed, Outline
from bayou.streams.columns import Columns, NumberColumns
from bayou.streams.dates import NO_DATE, dates, remedy
from bayou.streams.layout import Layout
from bayou.streams.policy import Chunk, Draft, flush
from bayou.streams.read_options import ReadOptions
from bayou.streams.sentences import warn_of_nominal_sentences
from bayou.streams.source import ColumnType
from bayou.streams.string_views import without_views

STRIDE = 1 << 32  # a place is the number of a row group or record batch, times this, plus a batch within it
# added to the numbers of batches of `limits.BATCH` rows; smaller numbers are those of older checkpoints
NUMBERED = 1 << 31
_TROUBLE = (pa.ArrowException, OSError, ValueError, TypeError, KeyError, IndexError, OverflowError)


class BatchFeed(Feed, Protocol):
    """A sequence of record batches of one schema, of which only the columns `names` are read."""

    schema: pa.Schema
    names: list[str]

    def take(self) -> pa.RecordBatch | None:
        """The next batch, or None at the end."""


class ColumnarSource(ChunkedSource):
    """Rows of record batches; kinds of columns follow from their types."""

    def __init__(self, batches: BatchFeed, read_options: ReadOptions) -> None:
        self._read_options = read_options
        self._batches = batches
        self._layout = batch_layout(batches.schema, read_options)
        outline = Outline(self._layout.columns, self._layout.target)
        super().__init__(outline, read_options.rejects(), self._batches)
        self._batches.names = [*self.columns, *([self.target] if self.target is not None else [])]

    def _load(self, record: int) -> Chunk | None:
        batch = self._batches.take()
        if batch is None:
            return None
        batch = without_views(batch)
        if record == 0:
            warn_of_nominal_sentences(
                [name for name in self.columns if self._sentences(name, batch.column(name))]
            )

        draft = fill_from_batch(batch, self._layout)
        return flush(draft, self._read_options.policy, record)

    def _sentences(self, name: str, values: pa.Array) -> bool:
        """Whether a nominal column that is not declared holds sentences."""
        if self.columns[name].kind != "nominal" or self._read_options.kind(name) is not None:
            return False
        return are_sentences(
            values.slice(0, limits.SAMPLE).drop_null().unique().slice(0, SENTENCES).to_pylist()
        )


def batch_layout(schema: pa.Schema, read_options: ReadOptions) -> Layout:
    """Kinds of the columns of record batches, from their types and the user's declarations."""
    read_options.check(schema.names)
    target = read_options.choose_target(schema.names)
    types = {name: _kind(schema.field(name)) for name in read_options.kept(schema.names, target)}
    label: Label = _label(schema.field(target)) if target is not None else "string"
    if target is not None and read_options.kind(target) is not None:
        label = "float64" if read_options.kind(target) == "numeric" else "string"
    return Layout(read_options.typed(types), target, label, {}, tuple(schema.names))


def fill_from_batch(batch: pa.RecordBatch, layout: Layout) -> Draft:
    """The rows of a batch as columns of the layout's kinds, and the cells that do not fit."""

    def raw(i: int) -> bytes:
        return repr(batch.slice(i, 1).to_pylist()[0]).encode()

    def number(name: str) -> pa.Array:
        return source_columns[name].cast(pa.float64(), safe=False)

    names = [*layout.columns, *([layout.target] if layout.target is not None else [])]
    # a dictionary, since to get each column by its name takes twice as long
    source_columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    numbers = _numbers(
        {name: source_columns[name] for name, column in layout.columns.items() if column.kind == "numeric"}
    )
    columns = Columns(names, number, numbers)
    draft = Draft(columns, np.arange(batch.num_rows, dtype=np.int64), batch.num_rows, raw)
    for name in names:
        if numbers is None or name not in numbers.names:
            kind = layout.label if name == layout.target else layout.columns[name].kind
            kind = "numeric" if kind == "float64" else kind
            columns[name] = _fitted(draft, name, kind, source_columns[name])
    return draft


def _numbers(columns: Mapping[str, pa.Array]) -> NumberColumns | None:
    """The numeric columns, if every value of their types is a number, so that none can be a misfit."""
    types = {column.type for column in columns.values()}
    if not types or not all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in types):
        return None
    return NumberColumns(tuple(columns), list(columns.values()))


class HandedBatches:
    """Record batches from an iterator, which can be read once: a partition of a distributed table."""

    def __init__(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch], name: str) -> None:
        self.schema, self.names, self.place = schema, list(schema.names), 0
        self._batches, self._name = iter(batches), name

    def take(self) -> pa.RecordBatch | None:
        """The next batch, or None at the end."""
        batch = next(self._batches, None)
        if batch is not None:
            self.place += 1
            batch = batch.select(self.names)
        return batch

    def seek(self, place: int) -> None:
        """Raise DataError: batches can be read only once."""
        raise DataError(f"{self._name} cannot be read from another place", remedy="read it from the start")

    def confine(self, limit: int, at_record: bool = False) -> None:
        """Raise DataError: batches cannot be divided."""
        self.seek(limit)

    def identity(self) -> dict[str, str | int]:
        """The name of the batches."""
        return {"path": self._name, "size": -1}

    def share(self) -> float | None:
        """None: the number of batches is not known."""
        return None

    def close(self) -> None:
        """Do nothing: the iterator belongs to the caller."""


class Batches:
    """Record batches of a Parquet or Arrow IPC file by number; a compressed file is first decompressed."""

    def __init__(self, reader: ByteReader, format: str) -> None:
        self._bytes, self._format = reader, format
        self._file = reader.aside()
        self.place, self.limit = 0, sys.maxsize
        self.names: list[str] = []
        self._iterator: Iterator[tuple[int, pa.RecordBatch]] | None = None
        try:
            self._reader = _reader(self._file, format)
            self.schema = self._reader.schema
        except _TROUBLE as error:
            raise self._damage(error) from error

    def take(self) -> pa.RecordBatch | None:
        """The next batch, or None at the end."""
        try:
            if self._iterator is None:
                self._iterator = self._reader.batches(self.place, self.names, self.limit)
            item = next(self._iterator, None)
            if item is None:
                return None
            item[1].validate(full=True)
        except _TROUBLE as error:
            raise self._damage(error) from error
        self.place = item[0]
        return item[1]

    def seek(self, place: int) -> None:
        """Go to the batch at a place."""
        self.place, self._iterator = place, None

    def confine(self, limit: int, at_record: bool = False) -> None:
        """End before the row group or record batch with this place."""
        self.limit = limit

    def identity(self) -> dict[str, str | int]:
        """The identity of the stream, for checkpoints."""
        return self._bytes.identity()

    def share(self) -> float | None:
        """Share of the rows read so far, if the file has their number."""
        return self._reader.share(self.place)

    def close(self) -> None:
        """Close the file."""
        self._bytes.close()

    def _damage(self, error: Exception) -> DataError:
        kind = "Parquet" if self._format == "parquet" else "Arrow"
        problem = f"{self._bytes.path} cannot be read as {kind}: {str(error)[:200]}"
        return DataError(problem, remedy="check that the file is complete")


class _Reader(Protocol):
    schema: pa.Schema

    def batches(self, place: int, names: list[str], limit: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Batches from a place on, each with the place after it, up to the group at `limit`."""

    def share(self, place: int) -> float | None: ...


class _Batches(NamedTuple):
    """The division of a row group into batches: rows per batch, and an offset of their numbers, which count from 1."""

    rows: int
    base: int

    @staticmethod
    def at(number: int) -> _Batches:
        """The division that was in use when a checkpoint gave this number to a batch."""
        older = 0 < number < NUMBERED
        return _Batches(limits.OLDER_BATCH, 0) if older else _Batches(limits.BATCH, NUMBERED)

    def before(self, number: int) -> int:
        """Rows in the batches up to this number, if the last one is full."""
        return max(0, number - self.base) * self.rows


class _ParquetFile:
    def __init__(self, file: BinaryIO) -> None:
        self._file = pa.parquet.ParquetFile(file, pre_buffer=False)
        self.schema = self._file.schema_arrow

    def batches(self, place: int, names: list[str], limit: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        first, last = divmod(place, STRIDE)
        for group in range(first, min(limit // STRIDE, self._file.metadata.num_row_groups)):
            cut = _Batches.at(last)
            batches = self._file.iter_batches(cut.rows, [group], columns=names, use_threads=False)
            for number, batch in enumerate(batches, cut.base + 1):
                if number > last:
                    yield group * STRIDE + number, batch
            last = 0

    def share(self, place: int) -> float | None:
        meta, (group, last) = self._file.metadata, divmod(place, STRIDE)
        sizes = [meta.row_group(i).num_rows for i in range(min(group + 1, meta.num_row_groups))]
        rows = sum(sizes[:group]) + min(_Batches.at(last).before(last), sum(sizes[group:]))
        return rows / meta.num_rows if meta.num_rows > 0 else None


class _ArrowFile:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._random = file.read(6) == b"ARROW1"
        reader = self._open()
        self.schema = reader.schema
        self._count = reader.num_record_batches if self._random else 0
        self._rows = 1  # rows of the record batch read last

    def _open(self) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
        self._file.seek(0)
        return pa.ipc.open_file(self._file) if self._random else pa.ipc.open_stream(self._file)

    def batches(self, place: int, names: list[str], limit: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        reader = self._open()
        first, last = divmod(place, STRIDE)
        if self._random:
            groups = ((i, reader.get_batch(i)) for i in range(first, min(limit // STRIDE, self._count)))
        else:
            groups = ((i, batch) for i, batch in enumerate(reader) if first <= i < limit // STRIDE)
        for i, batch in groups:
            self._rows = max(1, batch.num_rows)
            cut = _Batches.at(last)
            for number, start in enumerate(range(0, batch.num_rows, cut.rows), cut.base + 1):
                if number > last:
                    yield i * STRIDE + number, batch.select(names).slice(start, cut.rows)
            last = 0

    def share(self, place: int) -> float | None:
        group, last = divmod(place, STRIDE)
        return (
            min(1.0, (group + min(1.0, _Batches.at(last).before(last) / self._rows)) / self._count)
            if self._count
            else None
        )


def _reader(file: BinaryIO, format: str) -> _Reader:
    return _ParquetFile(file) if format == "parquet" else _ArrowFile(file)


def _kind(field: pa.Field) -> ColumnType:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if _is_number(kind) or pa.types.is_null(kind):
        return ColumnType("numeric")
    if is_text(kind) or pa.types.is_boolean(kind):
        return ColumnType("nominal")
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return ColumnType("date")
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        return ColumnType("numeric")
    raise DataError(
        f"columns of type {kind} are not supported",
        column=field.name,
        remedy=f"leave it out: ignore=[{field.name!r}], or turn it into numbers or text",
    )


def _label(field: pa.Field) -> Label:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_integer(kind):
        return "int64"
    if pa.types.is_temporal(kind):
        raise DataError(
            f"a target of type {kind} is a quantity, not a class",
            column=field.name,
            remedy="cut it into ranges first",
        )
    return "float64" if _kind(field).kind == "numeric" else "string"


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _fitted(draft: Draft, name: str, kind: str, column: pa.Array) -> pa.Array:
    """The column as float64, dictionary, string, dates or labels; cells that do not fit are marked in the draft."""
    if pa.types.is_dictionary(column.type):
        plain = column.type == cells.NOMINAL and kind == "nominal"
        column = column if plain else column.cast(column.type.value_type)
    if kind == "bool":
        return column
    if kind == "int64":
        large = pa.types.is_uint64(column.type) and (pc.max(column).as_py() or 0) >= 2**63
        if large:
            bad = pc.greater_equal(column, pa.scalar(2**63, pa.uint64())).fill_null(False)
            draft.mark(name, bad.to_numpy(zero_copy_only=False), "a label beyond 2^63", column)
            column = pc.if_else(bad, pa.scalar(None, pa.uint64()), column)
        return column.cast(pa.int64())
    if pa.types.is_temporal(column.type):
        return column if kind == "date" else _undated(column, kind)
    if kind == "date":
        text = column.cast(pa.string())
        column, marks = dates(text)
        draft.mark(name, marks, NO_DATE, text, remedy(name))
        return column
    if kind == "numeric":
        if is_text(column.type):
            text = column.cast(pa.string())
            values, marks = cells.numbers(text)
            draft.mark(name, marks, "not a number", text)
            return values
        return column.cast(pa.float64(), safe=False)
    text = column if column.type == cells.NOMINAL else column.cast(pa.string())
    return text.dictionary_encode() if kind == "nominal" and text.type != cells.NOMINAL else text


def _undated(column: pa.Array, kind: str) -> pa.Array:
    """Dates, times of day and spans as seconds or, if they are to be nominal or text, as names."""
    dates, seconds = read_arrow(column)
    if kind == "numeric":
        return pa.array(seconds, pa.float64(), mask=seconds != seconds)
    text = pa.array(names_of_dates(dates, seconds), pa.string())
    return text.dictionary_encode() if kind == "nominal" else text
