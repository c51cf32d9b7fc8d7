"""Files of lines without a header: a label, a tab and a text; or a label and numbered features (libsvm)."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from bayou.errors import DataError, OptionError
from bayou.streams import cells, limits
from bayou.streams.byte_reader import ByteReader
from bayou.streams.chunked import ChunkedSource, Outline
from bayou.streams.delimited import skip_mark
from bayou.streams.policy import Chunk, Draft, Misfit, flush
from bayou.streams.read_options import ReadOptions
from bayou.streams.records import Records, split
from bayou.streams.source import ColumnType, Source

_LIBSVM = re.compile(rb"\s*[^\s:]+(?:\s+\d+:[^\s:]+)+\s*(?:#.*)?")


def lines_source(reader: ByteReader, read_options: ReadOptions, format: str) -> Source:
    """The source for format "text", "libsvm", or "txt": whichever of the two the first line looks like."""
    if "date" in (read_options.kinds or {}).values():
        raise OptionError("lines of labels with text or numbers hold no dates", remedy="leave date= away")
    records = Records(reader)
    skip_mark(records, records.peek())
    first = split(records.peek(), most=1)[0]
    if format == "libsvm" or (format == "txt" and _LIBSVM.fullmatch(first)):
        return LibsvmSource(records, read_options)
    if format == "txt" and b"\t" not in first:
        raise OptionError(
            f"cannot tell what the lines of {reader.path} hold",
            value=first[:60].decode("utf-8", "replace"),
            remedy='say format=: "text" is a label, a tab and a text; or "csv", "tsv", "libsvm"',
        )
    return TextSource(records, read_options)


class TextSource(ChunkedSource):
    """Lines of a label, a tab and a text; no header, no quoting. An empty label means unlabelled."""

    def __init__(self, records: Records, read_options: ReadOptions) -> None:
        self._records, self._read_options = records, read_options
        names = ("label", "text")
        read_options.check(names)
        target = read_options.choose_target(names, "label")
        types = {name: ColumnType("text" if name == "text" else "nominal") for name in names}
        kept = read_options.kept(names, target)
        columns = read_options.typed({name: types[name] for name in kept})
        super().__init__(Outline(columns, target), read_options.rejects(), records)

    def _load(self, record: int) -> Chunk | None:
        chunk = self._records.take()
        if not chunk:
            return None
        lines = split(chunk)
        pairs = [line.rstrip(b"\r\n").split(b"\t", 1) for line in lines]
        rows = [i for i, pair in enumerate(pairs) if len(pair) == 2]
        short = [
            Misfit(i, None, "a line without a tab", pair[0][:60].decode("utf-8", "backslashreplace"))
            for i, pair in enumerate(pairs)
            if len(pair) < 2
        ]
        draft = Draft({}, np.array(rows, np.int64), len(lines), lines.__getitem__, short)
        for name, j in (("label", 0), ("text", 1)):
            if name not in self.columns and name != self.target:
                continue
            raw = pa.array([pairs[i][j] or None if j == 0 else pairs[i][j] for i in rows], pa.binary())
            column, bad = cells.strings(raw)
            draft.mark(name, bad, "not UTF-8 text", raw, "save the file as UTF-8")
            if name in self.columns and self.columns[name].kind == "numeric":
                text = column
                column, bad = cells.numbers(text)
                draft.mark(name, bad, "not a number", text)
            draft.columns[name] = column
        return flush(draft, self._read_options.policy, record, self._records.lines_of(chunk))


class LibsvmSource(ChunkedSource):
    """Lines of a label and `number:value` pairs; a feature left out is 0.

    The features are numbered from 1, up to the largest number in the first 1,000 rows.
    """

    def __init__(self, records: Records, read_options: ReadOptions) -> None:
        self._records, self._read_options = records, read_options
        sample = [features(line) for line in split(records.peek(), most=limits.SAMPLE)]
        rows = [row for row in sample if not isinstance(row, str)]
        if not rows:
            raise DataError("the first lines are not libsvm", remedy="label number:value number:value")
        width = max((max(row[1], default=0) for row in rows), default=0)
        if width > limits.COLUMNS:
            raise DataError(
                f"more than {limits.COLUMNS:,} columns: a feature has number {width:,}",
                remedy="is this another format?",
            )
        names = [str(i + 1) for i in range(width)]
        read_options.check(["label", *names])
        target = read_options.choose_target(["label", *names], "label")
        if target not in (None, "label"):
            raise OptionError(
                "the target of libsvm lines is their label", value=target, remedy="leave target away"
            )
        self._label = cells.label_type(pa.array([row[0] for row in rows]))
        if read_options.kind("label") is not None:
            self._label = "float64" if read_options.kind("label") == "numeric" else "string"
        kept = read_options.kept(names, target)
        self._width = width
        columns = read_options.typed({name: ColumnType("numeric") for name in kept})
        if any(column.kind != "numeric" for column in columns.values()):
            raise OptionError("features of libsvm lines are numeric", remedy="leave nominal= and text= away")
        super().__init__(Outline(columns, target), read_options.rejects(), records)

    def _load(self, record: int) -> Chunk | None:
        chunk = self._records.take()
        if not chunk:
            return None
        lines = split(chunk)
        rows: list[tuple[str, Mapping[int, str]]] = []
        records: list[int] = []
        misfits: list[Misfit] = []
        for i, line in enumerate(lines):
            row = features(line)
            if not isinstance(row, str) and max(row[1], default=0) > self._width:
                row = "a feature number beyond those of the first rows"
            if isinstance(row, str):
                misfits.append(Misfit(i, None, row, line[:60].decode("utf-8", "backslashreplace")))
            else:
                rows.append(row)
                records.append(i)
        draft = Draft({}, np.array(records, np.int64), len(lines), lines.__getitem__, misfits)
        for name in self.columns:
            text = pa.array([row.get(int(name), "0") for _, row in rows], pa.string())
            draft.columns[name], bad = cells.numbers(text, ())
            draft.mark(name, bad, "not a number", text)
        if self.target is not None:
            text = pa.array([label for label, _ in rows], pa.string())
            draft.columns[self.target], bad = cells.labels(text, self._label)
            draft.mark(self.target, bad, "not a number, as the labels before it", text)
        return flush(draft, self._read_options.policy, record, self._records.lines_of(chunk))


def features(line: bytes) -> tuple[str, Mapping[int, str]] | str:
    """Label and features of a line, or what is wrong with it.

    Examples
    --------
    >>> features(b"-1 1:0.5 3:2 # remark"), features(b"1 0.5")
    (('-1', {1: '0.5', 3: '2'}), 'not a pair of number and value')
    """
    try:
        parts = line.decode().split("#", 1)[0].split()
    except UnicodeDecodeError:
        return "not UTF-8 text"
    if not parts:
        return "a line without a label"
    row: dict[int, str] = {}
    for part in parts[1:]:
        number, colon, value = part.partition(":")
        if not (colon and number.isascii() and number.isdigit() and len(number) < 8 and int(number) > 0):
            return "not a pair of number and value"
        if int(number) in row:
            return "a feature number is repeated"
        row[int(number)] = value
    return parts[0], row
