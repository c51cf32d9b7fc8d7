"""Decoding of messages into columns: JSON objects, CSV rows, Arrow IPC streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from bayou.errors import DataError, OptionError
from bayou.streams import cells
from bayou.streams.columnar import batch_layout, fill_from_batch
from bayou.streams.delimited import DelimitedRows, bytes_of_cells, delimited_layout
from bayou.streams.jsonl import JsonObjects, json_layout
from bayou.streams.layout import Layout
from bayou.streams.policy import Draft, Misfit
from bayou.streams.read_options import ReadOptions
from bayou.streams.records import Spans
from bayou.streams.string_views import without_views

FORMATS = ("json", "csv", "arrow")
_TROUBLE = (pa.ArrowException, OSError, ValueError, TypeError, KeyError, IndexError)


class Decoder(Protocol):
    """Decodes messages of one format into columns.

    With `one_row`, each message is a row; else it may hold many, and messages are decoded one at a time.
    """

    one_row: bool

    def draft(self, messages: Sequence[bytes]) -> Draft:
        """The rows of the messages, and the misfits; records are numbered by message."""


def layout_of(
    format: str,
    sample: Sequence[bytes],
    read_options: ReadOptions,
    names: Sequence[str] | None,
    delimiter: str = ",",
) -> Layout:
    """The layout of messages, from the first of them and the user's declarations."""
    if format == "json":
        return json_layout([_one_line(message) for message in sample], read_options)
    if format == "csv":
        return _csv_layout(sample, read_options, names, delimiter)
    for message in sample:
        try:
            with pyarrow.ipc.open_stream(message) as reader:
                return batch_layout(reader.schema, read_options)
        except _TROUBLE as problem:
            if isinstance(problem, DataError):
                raise
    raise DataError("none of the first messages is an Arrow IPC stream", remedy="format=json or csv?")


def decoder_of(format: str, layout: Layout, delimiter: str = ",") -> Decoder:
    """The decoder of messages with this layout."""
    if format == "json":
        return _Json(layout)
    return _Csv(layout, delimiter) if format == "csv" else _Arrow(layout)


def check_format(format: str) -> str:
    """The format of messages by its name; `jsonl` is JSON."""
    chosen = "json" if format in ("jsonl", "ndjson") else format
    if chosen not in FORMATS:
        raise OptionError("unknown format of messages", value=format, remedy=" ".join(FORMATS))
    return chosen


class _Json:
    one_row = True

    def __init__(self, layout: Layout) -> None:
        self._objects = JsonObjects(layout)

    def draft(self, messages: Sequence[bytes]) -> Draft:
        lines = b"\n".join(messages)
        if lines.count(b"\n") < len(messages) and b"\r" not in lines:
            return self._objects.draft(messages, lines)
        draft = self._objects.draft([_one_line(message) for message in messages])
        draft.raw = messages.__getitem__
        return draft


class _Csv:
    one_row = True

    def __init__(self, layout: Layout, delimiter: str) -> None:
        self._rows = DelimitedRows(layout, delimiter)

    def draft(self, messages: Sequence[bytes]) -> Draft:
        return self._rows.draft_of(messages)


class _Arrow:
    one_row = False

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def draft(self, messages: Sequence[bytes]) -> Draft:
        (message,) = messages
        try:
            with pyarrow.ipc.open_stream(message) as reader:
                table = reader.read_all().combine_chunks()
            table.validate(full=True)
            (batch,) = table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
            return fill_from_batch(without_views(batch), self._layout)
        except _TROUBLE as problem:
            no_columns = {name: pa.array([], pa.string()) for name in self._names()}
            misfit = Misfit(0, None, "not an Arrow IPC stream of these columns", str(problem)[:60])
            return Draft(no_columns, np.zeros(0, np.int64), 1, messages.__getitem__, [misfit])

    def _names(self) -> list[str]:
        target = self._layout.target
        return [*self._layout.columns, *([target] if target is not None else [])]


def _one_line(message: bytes) -> bytes:
    """JSON without line ends, which are errors inside a string and have no meaning elsewhere."""
    if b"\n" in message or b"\r" in message:
        return message.replace(b"\n", b" ").replace(b"\r", b" ")
    return message


def _csv_layout(
    sample: Sequence[bytes], read_options: ReadOptions, names: Sequence[str] | None, delimiter: str
) -> Layout:
    if not names:
        raise OptionError(
            "rows of CSV in messages have no header", remedy="name their cells in the address: ?columns=a,b,c"
        )
    read_options.check(names)
    rows = [message.rstrip(b"\r\n") for message in sample]
    complete = [row for row in rows if Spans.of(row, delimiter.encode()).widths.tolist() == [len(names)]]
    cell_sample = cells.Sample(bytes_of_cells(b"\n".join(complete), names, names, delimiter))
    return delimited_layout(cell_sample, names, read_options)
