"""CSV and TSV, parsed chunk by chunk; a chunk with cells that do not fit is parsed again cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.csv

from bayou.errors import DataError
from bayou.streams import cells, limits
from bayou.streams.byte_reader import ByteReader
from bayou.streams.chunked import ChunkedSource, Outline
from bayou.streams.columns import height
from bayou.streams.dates import NO_DATE, dates, remedy, warn_of_dates
from bayou.streams.layout import Layout
from bayou.streams.number_formats import warn_of_number_formats
from bayou.streams.plain_cells import PlainCells
from bayou.streams.policy import Chunk, Draft, Misfit, flush
from bayou.streams.read_options import ReadOptions
from bayou.streams.records import Records, Spans, masked, split
from bayou.streams.sentences import warn_of_text
from bayou.streams.source import ColumnType


class DelimitedSource(ChunkedSource):
    """Rows of a CSV or TSV file with a header line. `?`, empty, NA and NaN are missing."""

    def __init__(self, reader: ByteReader, read_options: ReadOptions, delimiter: str | None = None) -> None:
        self._read_options = read_options
        self._records = Records(reader, (delimiter or ",").encode())
        head = self._records.peek()
        skip_mark(self._records, head)
        header = _first_record(self._records)
        if delimiter is None and (guess := delimiter_of(header)) != ",":
            self._records.delimiter = guess.encode()
        self._delimiter = (self._records.delimiter or b",").decode()
        self._names = header_names(header, self._delimiter, read_options)
        layout = delimited_layout(self._sample(), self._names, read_options)
        self._rows_of = DelimitedRows(layout, self._delimiter)
        super().__init__(Outline(layout.columns, layout.target), read_options.rejects(), self._records)

    def _load(self, record: int) -> Chunk | None:
        chunk = self._records.take()
        if not chunk:
            return None
        lines = self._records.lines_of(chunk)
        columns = self._rows_of.at_once(chunk)
        if columns is None:
            return flush(self._rows_of.draft(chunk), self._read_options.policy, record, lines)
        rows = height(columns)
        return Chunk(columns, rows, rows, lines=lines)

    def edges(self, every: int) -> Iterator[int]:
        """First bytes of records, at least `every` bytes apart; reads the stream to its end."""
        return self._records.edges(every)

    def _sample(self) -> cells.Sample:
        """The first rows that have the right number of cells."""
        chunk, width = self._records.peek(), len(self._names)
        spans = Spans.of(chunk, self._records.delimiter)
        fits = np.flatnonzero(spans.widths[: limits.SAMPLE] == width)
        rows = [chunk[spans.starts[i] : spans.ends[i]] for i in fits]
        return cells.Sample(bytes_of_cells(b"\n".join(rows), self._names, self._names, self._delimiter))


def header_names(header: bytes, delimiter: str, read_options: ReadOptions) -> list[str]:
    """The names of the columns in a header line."""
    mark = delimiter.encode()
    width = masked(header, mark).count(mark) + 1
    if width > limits.COLUMNS:
        raise DataError(f"more than {limits.COLUMNS:,} columns", remedy="is this another format?")
    try:
        table = pyarrow.csv.read_csv(
            arrow_buffer(header.rstrip(b"\r\n") + b"\n"),
            read_options=pyarrow.csv.ReadOptions(autogenerate_column_names=True, block_size=limits.LINE + 1),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={f"f{i}": pa.string() for i in range(width)}
            ),
        )
    except pa.ArrowInvalid as error:
        raise DataError(f"the header cannot be read: {error}", remedy="save it as UTF-8") from error
    names = [column[0].as_py() or f"column_{i + 1}" for i, column in enumerate(table.columns)]
    read_options.check(names)
    _, words = cells.numbers(pa.array(names), ())
    if not words.any() and names not in (_count(names, 0), _count(names, 1)):
        raise DataError(
            "the first line holds numbers, not names",
            value=names[0],
            remedy="put a header line before it",
        )
    return names


def delimited_layout(sample: cells.Sample, names: Sequence[str], read_options: ReadOptions) -> Layout:
    """Kinds of the columns `names`, from the first rows and the user's declarations."""
    target = read_options.choose_target(names)
    label = sample.label_type(target) if target is not None else "string"
    if target is not None and read_options.kind(target) is not None:
        label = "float64" if read_options.kind(target) == "numeric" else "string"
    kept = read_options.kept(names, target)
    types = {name: ColumnType(sample.kind(name)) for name in kept}
    guessed = [
        name for name, column in types.items() if column.kind == "nominal" and not read_options.kind(name)
    ]
    text = [name for name in guessed if sample.is_text(name)]
    types |= dict.fromkeys(text, ColumnType("text"))
    warn_of_text(text)
    warn_of_dates([name for name in guessed if sample.looks_like_dates(name)])
    warn_of_number_formats([name for name in guessed if sample.looks_like_numbers(name)])
    left_out = {name: sample.kind(name) for name in read_options.ignore}
    return Layout(read_options.typed(types), target, label, left_out, tuple(names))


class DelimitedRows:
    """Parses delimited records into columns: all at once, or cell by cell where one does not fit."""

    def __init__(self, layout: Layout, delimiter: str) -> None:
        self.layout, self._delimiter = layout, delimiter
        self._types = {name: _ARROW[column.kind] for name, column in layout.columns.items()}
        if layout.target is not None:
            self._types[layout.target] = cells.NOMINAL
        self._plain = plain_cells(layout.names, self._types, delimiter)
        self._labels = cells.LabelReader(layout.label)

    def at_once(self, chunk: bytes) -> MutableMapping[str, pa.Array] | None:
        """The columns, None unless all cells fit."""
        layout = self.layout
        columns: MutableMapping[str, pa.Array] | None = None
        if self._plain is not None:
            columns = self._plain.read(chunk)
        try:
            columns = columns or parse(chunk, layout.names, self._types, self._delimiter)
        except pa.ArrowInvalid:
            return None
        if layout.target is not None:
            columns[layout.target], bad = self._labels.read(columns[layout.target])
            if bad.any():
                return None
        for name, column in layout.columns.items():
            if column.kind == "date":
                columns[name], bad = dates(columns[name])
                if bad.any():
                    return None
        return columns

    def draft(self, chunk: bytes) -> Draft:
        """The columns of a chunk and its misfits; cells are read as bytes first, so that no cell makes parsing fail."""
        spans = Spans.of(chunk, self._delimiter.encode())
        widths = spans.widths
        fits = widths == len(self.layout.names)

        def record(i: int) -> bytes:
            return chunk[spans.starts[i] : spans.ends[i]]

        draft = Draft({}, np.flatnonzero(fits), len(fits), record)
        for i in np.flatnonzero(~fits).tolist():
            draft.misfits.append(self._wrong_width(i, record(i), int(widths[i])))
        return self._fill(draft, chunk if fits.all() else b"\n".join(map(record, draft.records)))

    def draft_of(self, records: Sequence[bytes]) -> Draft:
        """The columns of separate messages and their misfits; each must be one record, with or without a line end."""
        plain = [record.rstrip(b"\r\n") for record in records]
        chunk = b"\n".join(plain)
        is_plain = all(plain) and b'"' not in chunk and b"\r" not in chunk and chunk.count(b"\n") < len(plain)
        if is_plain and (columns := self.at_once(chunk)) is not None:
            return Draft(columns, np.arange(len(plain), dtype=np.int64), len(plain), records.__getitem__)
        draft = Draft({}, np.zeros(0, np.int64), len(plain), records.__getitem__)
        fits = []
        for i, record in enumerate(plain):
            widths = Spans.of(record, self._delimiter.encode()).widths
            if len(widths) != 1:
                draft.misfits.append(Misfit(i, None, "not one row", f"{len(widths)} rows in one message"))
            elif widths[0] != len(self.layout.names):
                draft.misfits.append(self._wrong_width(i, record, int(widths[0])))
            else:
                fits.append(i)
        draft.records = np.array(fits, np.int64)
        return self._fill(draft, b"\n".join(plain[i] for i in fits))

    def _wrong_width(self, i: int, record: bytes, width: int) -> Misfit:
        names = len(self.layout.names)
        reason = "short row" if width < names else "long row"
        if record.count(b'"') % 2:
            reason = "a quote that is not closed"
        return Misfit(i, None, reason, f"{width} cells instead of {names}")

    def _fill(self, draft: Draft, chunk: bytes) -> Draft:
        """Fill the draft with the columns of records that all have the right number of cells."""
        layout = self.layout
        names = [*layout.columns, *([layout.target] if layout.target is not None else [])]
        raw = bytes_of_cells(chunk, names, layout.names, self._delimiter)
        for name in names:
            text, bad = cells.strings(raw[name])
            draft.mark(name, bad, "not UTF-8 text", raw[name], "save the file as UTF-8")
            if name == layout.target:
                draft.columns[name], bad = cells.labels(text, layout.label)
                draft.mark(name, bad, "not a number, as the labels before it", text, f"nominal=[{name!r}]")
            elif layout.columns[name].kind == "numeric":
                draft.columns[name], bad = _numbers(text)
                draft.mark(name, bad, "not a number", text, _remedy(name))
            elif layout.columns[name].kind == "date":
                draft.columns[name], bad = dates(text)
                draft.mark(name, bad, NO_DATE, text, remedy(name))
            else:
                draft.columns[name] = text.cast(_ARROW[layout.columns[name].kind])
        return draft


def bytes_of_cells(
    chunk: bytes, columns: Sequence[str], names: Sequence[str], delimiter: str
) -> dict[str, pa.Array]:
    """These columns of a chunk, as bytes; all its records must have the right number of cells."""
    if not chunk.strip(b"\r\n"):
        return {name: pa.array([], pa.binary()) for name in columns}
    try:
        return parse(chunk, names, dict.fromkeys(columns, pa.binary()), delimiter)
    except pa.ArrowInvalid as error:
        raise DataError(f"these records cannot be read: {error}", remedy="check the quotes") from error


_ARROW = {"numeric": pa.float64(), "nominal": cells.NOMINAL, "text": pa.string(), "date": pa.string()}


def parse(
    chunk: bytes,
    names: Sequence[str],
    types: Mapping[str, pa.DataType],
    delimiter: str = ",",
    missing: Sequence[str] = cells.MISSING,
    quote: bool = True,
) -> dict[str, pa.Array]:
    """Columns `types` of a chunk of delimited records; raises ArrowInvalid if one does not fit."""
    csv = pyarrow.csv
    table = csv.read_csv(
        arrow_buffer(chunk),
        read_options=csv.ReadOptions(column_names=names, block_size=len(chunk) + 1),
        parse_options=csv.ParseOptions(
            delimiter=delimiter,
            quote_char='"' if quote else False,
            # One block holds the chunk, so only a last line without its end needs Arrow to look for quotes.
            newlines_in_values=quote and b'"' in chunk and not chunk.endswith(b"\n"),
        ),
        convert_options=csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            strings_can_be_null=True,
            null_values=missing,
        ),
    )
    return {name: joined(table.column(name)) for name in types}


def plain_cells(
    names: Sequence[str],
    types: Mapping[str, pa.DataType],
    delimiter: str = ",",
    missing: Sequence[str] = cells.MISSING,
    fits: Mapping[str, Callable[[str], bool]] = MappingProxyType({}),
) -> PlainCells | None:
    """A reader of the columns `types` without Arrow, if all are numbers or nominal; `fits` checks nominal values."""
    if not types or any(kind not in (pa.float64(), cells.NOMINAL) for kind in types.values()):
        return None
    checks = {name: None if kind == pa.float64() else fits.get(name, _any) for name, kind in types.items()}
    return PlainCells(names, checks, delimiter, missing)


def _any(name: str) -> bool:
    return True


def arrow_buffer(data: bytes) -> pa.Buffer:
    """A copy of the bytes in Arrow's own memory.

    A thread of Arrow may be the last to release the bytes while the process exits; releasing an object of Python then
    would crash the process.
    """
    buffer = pa.allocate_buffer(len(data))
    np.frombuffer(buffer, dtype=np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)
    return buffer


def _numbers(text: pa.Array) -> tuple[pa.Array, cells.Marks]:
    # Missing cells are null already; Arrow reads a NaN among blanks as NaN, and so must this.
    try:
        return text.cast(pa.float64()), np.zeros(len(text), np.bool_)
    except pa.ArrowInvalid:
        return cells.numbers(text, cells.BLANK)


def joined(column: pa.ChunkedArray) -> pa.Array:
    """The column as one array; copied only if it has several chunks."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def skip_mark(records: Records, head: bytes) -> None:
    """Skip a byte order mark; raises DataError for UTF-16 and for an empty stream."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError("the file is UTF-16", remedy="save it as UTF-8")
    if head.startswith(b"\xef\xbb\xbf"):
        records.skip(3)
        head = head[3:]
    if not head.strip():
        raise DataError(f"{records.reader.path} is empty", remedy="a stream starts with a header")


def _first_record(records: Records) -> bytes:
    chunk = records.peek()
    record = split(chunk, records.delimiter, 1)[0]
    records.skip(chunk.index(record) + len(record))
    return record


def delimiter_of(header: bytes) -> str:
    """The character that separates the names of a header line."""
    if b"," in masked(header, b","):
        return ","
    return max(",;\t|", key=lambda mark: header.count(mark.encode()))


def _count(names: Sequence[str], start: int) -> list[str]:
    return [str(i) for i in range(start, start + len(names))]


def _remedy(name: str) -> str:
    return f'declare it: nominal=[{name!r}]; or policy="skip" or policy="missing"'
