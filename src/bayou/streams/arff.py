"""ARFF files, dense and sparse, in all the variants found in practice."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence

import numpy as np
import pyarrow as pa

from bayou.errors import DataError
from bayou.streams import cells
from bayou.streams import compute as pc
from bayou.streams.arff_cells import dense_row, sparse_row, without_comment
from bayou.streams.arff_dates import DEFAULT, EPOCH, iso_writer
from bayou.streams.arff_header import ArffAttribute, read_header
from bayou.streams.byte_reader import ByteReader
from bayou.streams.chunked import ChunkedSource, Outline
from bayou.streams.columns import height
from bayou.streams.dates import NO_DATE, dates
from bayou.streams.delimited import parse, plain_cells
from bayou.streams.policy import Chunk, Draft, Misfit, flush
from bayou.streams.read_options import ReadOptions
from bayou.streams.records import Records, Spans, split
from bayou.streams.source import ColumnType, DocumentTermMatrix

_SPECIAL = (b"'", b'"', b"%", b"{", b"\\")
_ARROW = {"numeric": pa.float64(), "nominal": cells.NOMINAL, "text": pa.string(), "date": pa.string()}
Row = Sequence[str | None] | Mapping[int, str | None]


class ArffSource(ChunkedSource):
    """Rows of an ARFF file. A bare ? is missing, a quoted '?' is a value like any other.

    In sparse rows an attribute left out is 0, or the first declared value. A sparse file whose attributes,
    target aside, are all numeric is a stream of words; a count given as ? is left out.
    """

    def __init__(self, reader: ByteReader, read_options: ReadOptions) -> None:
        self._read_options = read_options
        self._records = Records(reader)
        self._attributes = read_header(self._records)
        self._names = [attribute.name for attribute in self._attributes]
        read_options.check(self._names)
        target = read_options.choose_target(self._names, self._names[-1])
        kept = read_options.kept(self._names, target)
        types = {
            a.name: _kind(a) if read_options.kind(a.name) is None else a.kind or ColumnType("nominal")
            for a in self._attributes
            if a.name in kept or a.name == target
        }
        columns = read_options.typed(types)
        formats = {a.name: a.format or DEFAULT for a in self._attributes}
        dated = [name for name, column in columns.items() if column.kind == "date" and name != target]
        self._iso = {name: iso_writer(formats[name]) or _unchanged for name in dated}
        self._label = columns.pop(target) if target is not None else None
        classes = self._label.values if self._label is not None else None
        numeric = bool(columns) and all(column.kind == "numeric" for column in columns.values())
        sparse = numeric and self._begins_sparse()
        self._words = {self._names.index(name): i for i, name in enumerate(columns)} if sparse else None
        outline = (
            Outline({}, target, classes, tuple(columns)) if sparse else Outline(columns, target, classes)
        )
        super().__init__(outline, read_options.rejects(), self._records)
        kinds = self._kinds()
        self._types = {name: _ARROW[kind.kind] for name, kind in kinds.items()}
        fits = {
            name: _trimmed if k.values is None else frozenset(k.values).__contains__
            for name, k in kinds.items()
        }
        self._plain = plain_cells(self._names, self._types, missing=["?"], fits=fits)

    def _begins_sparse(self) -> bool:
        lines = (line.strip() for line in self._records.peek().splitlines())
        return next((line for line in lines if line and not line.startswith(b"%")), b"").startswith(b"{")

    def _kinds(self) -> dict[str, ColumnType]:
        kinds = dict(self.columns)
        if self.target is not None and self._label is not None:
            kinds[self.target] = self._label
        return kinds

    def _load(self, record: int) -> Chunk | None:
        chunk = self._records.take()
        if not chunk:
            return None
        if self._words is None and not any(mark in chunk for mark in _SPECIAL):
            columns = self._simple(chunk)
            if columns is not None:
                rows = height(columns)
                coded = None
                if self.target is not None and self._types[self.target] == cells.NOMINAL:
                    coded = columns[self.target]
                    columns[self.target] = cells.decoded(coded)
                return Chunk(columns, rows, rows, lines=self._records.lines_of(chunk), coded=coded)
        # A comment is a line of the file but no record.
        starts = [
            start
            for start, line in zip(Spans.of(chunk).starts.tolist(), split(chunk), strict=True)
            if (bare := line.strip()) and not bare.startswith(b"%")
        ]
        line_of = self._records.bytes_to_lines(chunk)
        return flush(self._careful(chunk), self._read_options.policy, record, lambda i: line_of(starts[i]))

    def _simple(self, chunk: bytes) -> MutableMapping[str, pa.Array] | None:
        """The columns of a chunk without quotes, comments and sparse rows, read as CSV; None if that fails."""
        columns = self._plain.read(chunk) if self._plain is not None else self._by_arrow(chunk)
        return self._by_arrow(chunk) if columns is None else columns

    def _by_arrow(self, chunk: bytes) -> dict[str, pa.Array] | None:
        if not self._types:
            return None
        try:
            columns = parse(chunk, self._names, self._types, missing=["?"], quote=False)
        except pa.ArrowInvalid:
            return None
        for name, kind in self._kinds().items():
            column = columns[name]
            if kind.kind == "nominal":
                values = column.dictionary
                if kind.values is not None:
                    codes = pc.index_in(values, pa.array(kind.values))
                    if codes.null_count:
                        return None
                    columns[name] = pa.DictionaryArray.from_arrays(
                        codes.take(column.indices), list(kind.values)
                    )
                elif not pc.ascii_trim(values, " \t").equals(values):
                    return None
            elif name in self._iso:
                columns[name], bad = self._dates(name, column)
                if bad.any():
                    return None
            elif kind.kind == "text" and not pc.ascii_trim(column, " \t").equals(column):
                return None
        return columns

    def _careful(self, chunk: bytes) -> Draft:
        """Parse a chunk line by line, with all of ARFF's syntax; what does not fit becomes a misfit."""
        lines: list[bytes] = []
        misfits: list[Misfit] = []
        rows: list[Row] = []
        records: list[int] = []
        for line in split(chunk):
            bare = line.strip()
            if not bare or bare.startswith(b"%"):
                continue
            row = self._row_of(bare)
            if isinstance(row, str):
                misfits.append(Misfit(len(lines), None, row, bare[:60].decode("utf-8", "backslashreplace")))
            else:
                rows.append(row)
                records.append(len(lines))
            lines.append(line)
        draft = Draft({}, np.array(records, np.int64), len(lines), lines.__getitem__, misfits)
        for name, kind in self._kinds().items():
            number = self._names.index(name)
            default = kind.values[0] if kind.values else EPOCH if name in self._iso else "0"
            column = [row.get(number, default) if isinstance(row, Mapping) else row[number] for row in rows]
            draft.columns[name] = self._fitted(name, kind, pa.array(column, pa.string()), draft)
        if self._words is not None:
            draft.words = self._counted(self._words, rows, draft)
        return draft

    def _row_of(self, line: bytes) -> Row | str:
        """The cells of a line, or what is wrong with it."""
        try:
            text = without_comment(line.decode()).strip()
        except UnicodeDecodeError:
            return "not UTF-8 text"
        width = len(self._attributes)
        return sparse_row(text, width) if text.startswith("{") else dense_row(text, width)

    def _fitted(self, name: str, kind: ColumnType, column: pa.Array, draft: Draft) -> pa.Array:
        if kind.kind == "numeric":
            values, bad = cells.numbers(column, ())
            draft.mark(name, bad, "not a number", column)
            return values
        if name in self._iso:
            parsed, bad = self._dates(name, column)
            draft.mark(name, bad, NO_DATE, column)
            return parsed
        if kind.values is None:
            return column.cast(_ARROW[kind.kind]) if name != self.target else column
        codes = pc.index_in(column, pa.array(kind.values), skip_nulls=True)
        bad = pc.and_(codes.is_null(), column.is_valid()).to_numpy(zero_copy_only=False)
        draft.mark(name, bad, "not one of the declared values", column)
        coded = pa.DictionaryArray.from_arrays(codes, list(kind.values))
        return coded.cast(pa.string()) if name == self.target else coded

    def _dates(self, name: str, column: pa.Array) -> tuple[pa.Array, cells.Marks]:
        """Dates in the declared format or in ISO 8601, and a mark where a cell is neither."""
        text = pc.coalesce(self._iso[name](column), column)
        return dates(text, ())

    def _counted(self, ids: Mapping[int, int], rows: Sequence[Row], draft: Draft) -> DocumentTermMatrix:
        indptr = [0]
        words: list[int] = []
        texts: list[str] = []
        for row in rows:
            pairs = row.items() if isinstance(row, Mapping) else enumerate(row)
            present = sorted((ids[i], cell) for i, cell in pairs if i in ids and cell is not None)
            words.extend(word for word, _ in present)
            texts.extend(cell for _, cell in present)
            indptr.append(len(words))
        column = pa.array(texts, pa.string())
        counts, bad = cells.numbers(column, ())
        for at in np.flatnonzero(bad):
            row_number = int(draft.records[np.searchsorted(indptr, at, side="right") - 1])
            name = self._names[next(i for i, word in ids.items() if word == words[at])]
            draft.misfits.append(Misfit(row_number, name, "not a number", texts[at]))
        values = counts.fill_null(0.0).to_numpy(zero_copy_only=False)
        keep = values != 0.0
        ends = np.concatenate([[0], np.cumsum(keep)])[np.array(indptr, np.int64)]
        names = self.vocabulary or ()
        return DocumentTermMatrix(ends.astype(np.int64), np.array(words, np.int32)[keep], values[keep], names)


def _trimmed(name: str) -> bool:
    return name == name.strip(" \t")


def _unchanged(cells: pa.Array) -> pa.Array:
    return cells


def _kind(attribute: ArffAttribute) -> ColumnType:
    if attribute.kind is None:
        raise DataError(
            f"attributes of type {attribute.declared} are not supported",
            column=attribute.name,
            remedy=f"leave it out: ignore=[{attribute.name!r}]; or read it as names: nominal=[{attribute.name!r}]",
        )
    return attribute.kind
