"""Parquet and Arrow IPC (file and stream), read batch by batch; kinds of columns follow from their types."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import BinaryIO, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from bayou.dates import is_text
from bayou.errors import DataError
from bayou.plain_text import SENTENCES, are_sentences
from bayou.streams import limits
from bayou.streams.batch_rows import BatchRows
from bayou.streams.byte_reader import ByteReader
from bayou.streams.cells import Label
from bayou.streams.chunked import ChunkedSource, Feed, Outline
from bayou.streams.layout import Layout
from bayou.streams.policy import Chunk, flush
from bayou.streams.read_options import ReadOptions
from bayou.streams.sentences import warn_of_nominal_sentences
from bayou.streams.source import ColumnType
from bayou.streams.string_views import without_views
from bayou.threads import over_pieces, ranges

STRIDE = 1 << 32  # a place is the number of a row group or record batch, times this, plus a batch within it
# added to the numbers of batches of `limits.BATCH` rows; smaller numbers are those of older checkpoints
NUMBERED = 1 << 31
_TROUBLE = (pa.ArrowException, OSError, ValueError, TypeError, KeyError, IndexError, OverflowError)


class BatchFeed(Feed, Protocol):
    """A sequence of record batches of one schema, of which only the columns `names` are read."""

    schema: pa.Schema
    names: list[str]

    def take(self) -> Sequence[pa.RecordBatch] | None:
        """The next batches, which have the same rows and a part of the columns each; None at the end."""


class ColumnarSource(ChunkedSource):
    """Rows of record batches; kinds of columns follow from their types."""

    def __init__(self, batches: BatchFeed, read_options: ReadOptions) -> None:
        self._read_options = read_options
        self._batches = batches
        layout = batch_layout(batches.schema, read_options)
        outline = Outline(layout.columns, layout.target)
        super().__init__(outline, read_options.rejects(), self._batches)
        self._batch_rows = BatchRows(layout)
        self._batches.names = [*self.columns, *([self.target] if self.target is not None else [])]

    def _load(self, record: int) -> Chunk | None:
        batches = self._batches.take()
        if batches is None:
            return None
        batches = [without_views(batch) for batch in batches]
        if record == 0:
            first = {name: batch for batch in batches for name in batch.schema.names}
            warn_of_nominal_sentences(
                [name for name in self.columns if self._sentences(name, first[name].column(name))]
            )
        return flush(self._batch_rows.draft(*batches), self._read_options.policy, record)

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


class HandedBatches:
    """Record batches from an iterator, which can be read once: a partition of a distributed table."""

    def __init__(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch], name: str) -> None:
        self.schema, self.names, self.place = schema, list(schema.names), 0
        self._batches, self._name = iter(batches), name

    def take(self) -> Sequence[pa.RecordBatch] | None:
        """The next batch, or None at the end."""
        batch = next(self._batches, None)
        if batch is None:
            return None
        self.place += 1
        return [batch.select(self.names)]

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
        self._iterator: Iterator[tuple[int, Sequence[pa.RecordBatch]]] | None = None
        try:
            self._reader = _reader(self._file, format)
            self.schema = self._reader.schema
        except _TROUBLE as error:
            raise self._damage(error) from error

    def take(self) -> Sequence[pa.RecordBatch] | None:
        """The next batches, which have the same rows and a part of the columns each; None at the end."""
        try:
            if self._iterator is None:
                self._iterator = self._reader.batches(self.place, self.names, self.limit)
            item = next(self._iterator, None)
            if item is None:
                return None
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

    def batches(
        self, place: int, names: list[str], limit: int
    ) -> Iterator[tuple[int, Sequence[pa.RecordBatch]]]:
        """Validated batches from a place on, each with the place after it, up to the group at `limit`."""

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
    """A Parquet file, decoded by several readers of a part of the columns each, so that threads can share the work.

    Arrow's own threads share the columns of every batch anew, which takes half as much time again for batches as small
    as these.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._bytes = pa.PythonFile(file, mode="r")  # Arrow locks it while a reader is using it
        self._files = [pa.parquet.ParquetFile(self._bytes, pre_buffer=False)]
        self._metadata, self.schema = self._files[0].metadata, self._files[0].schema_arrow

    def batches(
        self, place: int, names: list[str], limit: int
    ) -> Iterator[tuple[int, Sequence[pa.RecordBatch]]]:
        first, last = divmod(place, STRIDE)
        for group in range(first, min(limit // STRIDE, self._metadata.num_row_groups)):
            cut = _Batches.at(last)
            readers = self._readers(group, names, cut.rows)
            for number, batches in enumerate(_side_by_side(readers), cut.base + 1):
                if number > last:
                    yield group * STRIDE + number, batches
            last = 0

    def _readers(self, group: int, names: list[str], rows: int) -> list[Iterator[pa.RecordBatch]]:
        """Readers of a row group in batches of `rows`: two for each thread, since columns differ in what they cost."""
        threads = len(ranges(len(names), 2 * limits.COLUMNS_OF_A_READER))
        parts = 2 * threads if threads > 1 else 1
        while len(self._files) < parts:
            another = pa.parquet.ParquetFile(self._bytes, metadata=self._metadata, pre_buffer=False)
            self._files.append(another)
        return [
            self._files[i].iter_batches(rows, [group], columns=names[i::parts], use_threads=False)
            for i in range(parts)
        ]

    @cached_property
    def _rows_up_to(self) -> list[int]:
        """Rows before each row group, and at last of all."""
        meta = self._metadata
        return [*accumulate((meta.row_group(i).num_rows for i in range(meta.num_row_groups)), initial=0)]

    def share(self, place: int) -> float | None:
        (group, last), up_to = divmod(place, STRIDE), self._rows_up_to
        group = min(group, len(up_to) - 1)
        rows = min(up_to[group] + _Batches.at(last).before(last), up_to[min(group + 1, len(up_to) - 1)])
        return rows / up_to[-1] if up_to[-1] > 0 else None


def _side_by_side(readers: Sequence[Iterator[pa.RecordBatch]]) -> Iterator[Sequence[pa.RecordBatch]]:
    """The batches of readers that have the same rows, read by as many threads as there are."""
    while True:
        batches: list[pa.RecordBatch | None] = [None] * len(readers)

        def read(lo: int, hi: int, batches: list[pa.RecordBatch | None] = batches) -> None:
            for i in range(lo, hi):
                batch = batches[i] = next(readers[i], None)
                if batch is not None:
                    batch.validate(full=True)

        over_pieces(read, len(readers), 1)
        heights = {None if batch is None else batch.num_rows for batch in batches}
        if len(heights) > 1:  # kernels that read by addresses do not check bounds
            raise pa.ArrowInvalid("columns of different lengths")
        if None in heights:
            return
        yield batches


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

    def batches(
        self, place: int, names: list[str], limit: int
    ) -> Iterator[tuple[int, Sequence[pa.RecordBatch]]]:
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
                    part = batch.select(names).slice(start, cut.rows)
                    part.validate(full=True)
                    yield i * STRIDE + number, [part]
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
