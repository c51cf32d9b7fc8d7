"""JSON lines: one object per line, whose keys are the columns."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pa_json

from bayou.errors import DataError, OptionError
from bayou.plain_text import are_sentences
from bayou.streams import cells, limits
from bayou.streams.byte_reader import ByteReader
from bayou.streams.cells import Label
from bayou.streams.chunked import ChunkedSource, Outline
from bayou.streams.dates import NO_DATE, count_dates, dates, looks_like_date, remedy, warn_of_dates
from bayou.streams.delimited import arrow_buffer, joined, skip_mark
from bayou.streams.layout import Layout
from bayou.streams.number_formats import are_numbers, warn_of_number_formats
from bayou.streams.policy import Chunk, Draft, Misfit, flush
from bayou.streams.read_options import ReadOptions, listed
from bayou.streams.records import Records, split
from bayou.streams.sentences import warn_of_text
from bayou.streams.source import ColumnType

_CELL = (str, bool, int, float)
_ARROW = {"numeric": pa.float64(), "nominal": cells.NOMINAL, "text": pa.string(), "date": pa.string()}
_PLAIN = {"numeric": pa.float64(), "nominal": pa.string(), "text": pa.string(), "date": pa.string()}
_BEHIND_OBJECT = re.compile(rb"\}[ \t]*[^\s,\]}]")  # something that cannot follow the end of an object
_SIMPLE = (pa.float64(), pa.string())
_TEXT = (pa.string(), cells.NOMINAL)
_LABEL = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_()}


class JsonLinesSource(ChunkedSource):
    """Rows of a JSON lines file. An absent key, null and NaN are missing; true and false are nominal values.

    Columns are the keys of the first 1,000 rows and those declared; a row with another key does not fit.
    """

    def __init__(self, reader: ByteReader, read_options: ReadOptions) -> None:
        self._read_options = read_options
        self._records = Records(reader)
        skip_mark(self._records, self._records.peek())
        sample = split(self._records.peek(), most=limits.SAMPLE)
        self._objects = JsonObjects(json_layout(sample, read_options))
        outline = Outline(self._objects.layout.columns, self._objects.layout.target)
        super().__init__(outline, read_options.rejects(), self._records)

    def _load(self, record: int) -> Chunk | None:
        chunk = self._records.take()
        if not chunk:
            return None
        draft = self._objects.draft(split(chunk))
        return flush(draft, self._read_options.policy, record, self._records.lines_of(chunk))


def json_layout(sample: Sequence[bytes], read_options: ReadOptions) -> Layout:
    """Columns and kinds of JSON objects, from the first of them and the user's declarations."""
    rows = [row for row in map(parse_line, sample) if isinstance(row, Mapping)]
    if not rows:
        raise DataError("no JSON object in the first lines", remedy="is this another format?")
    keys = dict.fromkeys(key for row in rows for key in row)
    names = list(keys | dict.fromkeys(read_options.kinds or {}) | dict.fromkeys([read_options.target or ""]))
    names = [name for name in names if name or name in keys]
    read_options.check(names, open_ended=True)
    if read_options.target and read_options.target not in keys:
        shown = listed(list(keys))
        raise OptionError(f"the first lines hold no target {read_options.target!r}; they hold {shown}")
    target = read_options.choose_target(names)
    label = _label([row.get(target) for row in rows]) if target is not None else "string"
    if target is not None and read_options.kind(target) is not None:
        label = "float64" if read_options.kind(target) == "numeric" else "string"
    kept = read_options.kept(names, target)
    types = {name: _kind([row.get(name) for row in rows]) for name in kept}
    guessed = [
        name for name, column in types.items() if column.kind == "nominal" and not read_options.kind(name)
    ]
    text = [name for name in guessed if _sentences([row.get(name) for row in rows])]
    types |= dict.fromkeys(text, ColumnType("text"))
    warn_of_text(text)
    warn_of_dates([name for name in guessed if _looks_like_dates([row.get(name) for row in rows])])
    warn_of_number_formats(
        [name for name in guessed if are_numbers(v for row in rows if isinstance(v := row.get(name), str))]
    )
    left_out = {name: _kind([row.get(name) for row in rows]).kind for name in read_options.ignore}
    return Layout(read_options.typed(types), target, label, left_out, tuple(names))


class JsonObjects:
    """Parses JSON objects, each in its own bytes, into columns.

    If all cells are of the kinds of the layout, the objects are parsed at once: by a kernel where they are plain, by
    Arrow where strings have escapes. Otherwise they are parsed one by one, to the same columns, to find the misfits.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._known = {*layout.columns, *layout.left_out, layout.target}
        kinds = {name: column.kind for name, column in layout.columns.items()}
        types = {name: _PLAIN[kind] for name, kind in ({**layout.left_out, **kinds}).items()}
        if layout.target is not None:
            types[layout.target] = _LABEL[layout.label]
        self._schema = pa.schema(list(types.items()))
        self._plain = _PlainObjects.of(self._schema, layout.left_out)

    def draft(self, objects: Sequence[bytes], lines: bytes | None = None) -> Draft:
        """The objects as columns, and the misfits; `lines` are the same objects, one per line, if there are such."""
        columns = self._at_once(objects, lines)
        if columns is not None:
            all_records = np.arange(len(objects), dtype=np.int64)
            return Draft(columns, all_records, len(objects), objects.__getitem__)
        misfits: list[Misfit] = []
        rows: list[Mapping[str, Any]] = []
        records: list[int] = []
        for i, line in enumerate(objects):
            row = parse_line(line)
            if isinstance(row, str):
                misfits.append(Misfit(i, None, row, line[:60].decode("utf-8", "backslashreplace")))
                continue
            for key in row.keys() - self._known:
                remedy = f"ignore=[{key!r}], or declare it as nominal, numeric or text"
                misfits.append(Misfit(i, key, "a column not seen in the first rows", None, remedy))
            rows.append(row)
            records.append(i)
        draft = Draft({}, np.array(records, np.int64), len(objects), objects.__getitem__, misfits)
        for name, column in self.layout.columns.items():
            draft.columns[name] = self._column(draft, rows, name, column.kind, _ARROW[column.kind])
        if self.layout.target is not None:
            kind = "text" if self.layout.label == "string" else self.layout.label
            arrow = _LABEL[self.layout.label]
            draft.columns[self.layout.target] = self._column(draft, rows, self.layout.target, kind, arrow)
        return draft

    def _at_once(self, objects: Sequence[bytes], lines: bytes | None = None) -> dict[str, pa.Array] | None:
        """The columns, None if an object has to be parsed on its own."""
        chunk = b"\n".join(objects) if lines is None else lines
        if lines is None and (chunk.count(b"\n") >= len(objects) or b"\r" in chunk):
            return None
        if not chunk.isascii() and not _is_utf8(chunk):
            return None
        parsed = None if self._plain is None else self._plain.columns(chunk, len(objects))
        if parsed is None:
            parsed = self._by_arrow(chunk, len(objects))
        if parsed is None:
            return None
        names = (*self.layout.columns, *([] if self.layout.target is None else [self.layout.target]))
        columns = {name: parsed[name] for name in names}
        if not all(
            _as_python_reads(numbers) for numbers in columns.values() if pa.types.is_floating(numbers.type)
        ):
            return None
        for name, column in self.layout.columns.items():
            if column.kind == "nominal":
                columns[name] = columns[name].dictionary_encode()
            elif column.kind == "date":
                columns[name], bad = dates(columns[name])
                if bad.any():
                    return None
        return columns

    def _by_arrow(self, chunk: bytes, rows: int) -> dict[str, pa.Array] | None:
        # Arrow's parser crashes at a null outside of an object, so it is used only for one object per line; and it
        # reads Inf as a number, which JSON does not have.
        one_per_line = chunk.startswith(b"{") and chunk.count(b"\n{") == rows - 1
        if not one_per_line or b"Inf" in chunk or _BEHIND_OBJECT.search(chunk):
            return None
        try:
            table = pa_json.read_json(
                arrow_buffer(chunk),
                read_options=pa_json.ReadOptions(use_threads=False, block_size=len(chunk) + 1),
                parse_options=pa_json.ParseOptions(
                    explicit_schema=self._schema, unexpected_field_behavior="error"
                ),
            )
        except pa.ArrowException:
            return None
        if table.num_rows != rows:  # every line begins an object, so that each holds exactly one
            return None
        return {name: joined(table.column(name)) for name in table.column_names}

    def _column(
        self, draft: Draft, rows: list[Mapping[str, Any]], name: str, kind: str, arrow: pa.DataType
    ) -> pa.Array:
        if kind == "date":
            return self._dates(draft, rows, name)
        simple = _simple([row.get(name) for row in rows], arrow)
        if simple is not None:
            return simple
        out: list[Any] = []
        for i, row in enumerate(rows):
            value, fits = _fitted(row.get(name), kind)
            out.append(value)
            if not fits:
                reason = "not a text or a number" if kind in ("nominal", "text") else "not a number"
                remedy = f'declare it: nominal=[{name!r}]; or policy="skip" or policy="missing"'
                record = int(draft.records[i])
                draft.misfits.append(Misfit(record, name, reason, _shown(row[name]), remedy))
        if pa.types.is_dictionary(arrow):
            return pa.array(out, pa.string()).dictionary_encode()
        return pa.array(out, arrow)

    def _dates(self, draft: Draft, rows: list[Mapping[str, Any]], name: str) -> pa.Array:
        column = self._column(draft, rows, name, "text", pa.string())
        parsed, bad = dates(column)
        draft.mark(name, bad, NO_DATE, column, remedy(name))
        return parsed


class _PlainObjects:
    """Parses objects without escapes, nesting, true and false: a kernel finds their cells, which Arrow then casts."""

    def __init__(self, schema: pa.Schema, left_out: Collection[str]) -> None:
        self._fields = [field for field in schema if field.name not in left_out]
        names = [field.name.encode() for field in self._fields] + [name.encode() for name in left_out]
        self._names = np.frombuffer(b"".join(names), np.uint8).copy()
        self._name_ends = np.cumsum([0, *map(len, names)])
        kinds = [2 if pa.types.is_string(field.type) else 1 for field in self._fields]
        self._kinds = np.array(kinds + [0] * len(left_out), np.int8)

    @staticmethod
    def of(schema: pa.Schema, left_out: Collection[str]) -> _PlainObjects | None:
        """The parser for a schema; None if a column is boolean, or its name has escapes."""
        no_escapes = all(json.dumps(name, ensure_ascii=False) == f'"{name}"' for name in schema.names)
        if not no_escapes or any(map(pa.types.is_boolean, schema.types)):
            return None
        return _PlainObjects(schema, left_out)

    def columns(self, chunk: bytes, rows: int) -> dict[str, pa.Array] | None:
        """The columns of objects, one per line; None if one is not plain."""
        from bayou.kernels.json_cells import copy_cells, find_cells

        text = np.frombuffer(chunk, np.uint8)
        begins, ends = np.empty((2, len(self._kinds), rows), np.int64)
        if not rows or not find_cells(begins, ends, text, self._names, self._name_ends, self._kinds):
            return None
        begins, ends = begins[: len(self._fields)], ends[: len(self._fields)]
        data = pa.allocate_buffer(int((ends - begins).sum()))
        offsets = pa.allocate_buffer(4 * len(begins) * (rows + 1))
        copy_cells(
            np.frombuffer(data, np.uint8),
            np.frombuffer(offsets, np.int32).reshape(len(begins), -1),
            text,
            begins,
            ends,
        )
        out = {}
        for i, field in enumerate(self._fields):
            present = begins[i] >= 0
            valid = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little").tobytes())
            column_offsets = offsets.slice(4 * i * (rows + 1), 4 * (rows + 1))
            strings = pa.StringArray.from_buffers(rows, column_offsets, data, valid)
            try:
                out[field.name] = strings.cast(field.type)
            except pa.ArrowException:  # a label that is not a whole number, or too large
                return None
        return out


def _as_python_reads(numbers: pa.Array) -> bool:
    """Whether Python's parser would give the same numbers: it reads -0 as the integer 0, and NaN is missing."""
    values = np.asarray(numbers.fill_null(1.0))
    return bool(np.isfinite(values).all() and not np.signbit(values[values == 0.0]).any())


def _is_utf8(chunk: bytes) -> bool:
    try:
        chunk.decode()
    except UnicodeDecodeError:
        return False
    return True


def parse_line(line: bytes) -> Mapping[str, Any] | str:
    """The object on a line, or what is wrong with it.

    Examples
    --------
    >>> parse_line(b'{"a": 1}'), parse_line(b"[1]"), parse_line(b"{"), parse_line(b"[" * 40)
    ({'a': 1}, 'not a JSON object', 'not JSON', 'nested deeper than 32 levels')
    """
    if line.count(b"[") + line.count(b"{") > limits.NESTING and _depth(line) > limits.NESTING:
        return f"nested deeper than {limits.NESTING} levels"
    try:
        row = _DECODER.decode(line.decode())
    except UnicodeDecodeError:
        return "not UTF-8 text"
    except RepeatedKeyError as key:
        return f"key {str(key)[:60]!r} is repeated"
    except (ValueError, RecursionError):
        return "not JSON"
    return row if isinstance(row, dict) else "not a JSON object"


class RepeatedKeyError(Exception):
    """An object has the same key twice, so that its value is ambiguous."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for key, value in pairs:
        if key in row:
            raise RepeatedKeyError(key)
        row[key] = value
    return row


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def decode(text: str) -> Any:
    """A JSON document in which no object repeats a key."""
    return _DECODER.decode(text)


def _depth(line: bytes) -> int:
    depth = deepest = 0
    quoted = escaped = False
    for byte in line:
        if quoted:
            quoted = escaped or byte != 0x22
            escaped = byte == 0x5C and not escaped
        elif byte == 0x22:
            quoted = True
        elif byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
            if deepest > limits.NESTING:
                break
        elif byte in b"]}":
            depth -= 1
    return deepest


def _simple(values: list[Any], arrow: pa.DataType) -> pa.Array | None:
    """The values as a column, None unless all of them have the type that it needs."""
    types = (float, int) if pa.types.is_floating(arrow) else (str,) if arrow in _TEXT else ()
    if not types or not {*map(type, values)} <= {*types, type(None)}:
        return None
    try:
        column = pa.array(values, arrow if arrow in _SIMPLE else pa.string(), from_pandas=True)
    except (pa.ArrowException, ValueError, OverflowError):  # a huge number, or half of a surrogate pair
        return None
    return column if arrow in _SIMPLE else column.dictionary_encode()


def _fitted(value: Any, kind: str) -> tuple[Any, bool]:
    """The value converted to the kind, None if missing; and whether it fits."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None, True
    if not isinstance(value, _CELL):
        return None, False
    if kind == "bool":
        return (value, True) if isinstance(value, bool) else (None, False)
    if kind in ("nominal", "text"):
        text = value if isinstance(value, str) else json.dumps(value)
        return (text, True) if text.isascii() or _encodable(text) else (None, False)
    if isinstance(value, bool | str):
        return None, False
    if kind == "int64":
        fits = isinstance(value, int) and -(2**63) <= value < 2**63
        return (value, True) if fits else (None, False)
    try:
        return float(value), True
    except OverflowError:
        return (math.inf if value > 0 else -math.inf), True


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _shown(value: Any) -> str:
    return json.dumps(value)[:60]


def _kind(sample: list[Any]) -> ColumnType:
    present = [value for value in sample if value is not None]
    numbers = sum(isinstance(value, int | float) and not isinstance(value, bool) for value in present)
    if not present or 2 * numbers > len(present):
        return ColumnType("numeric")
    text = [value for value in present if isinstance(value, str) and _encodable(value)]
    return ColumnType("date" if 2 * count_dates(pa.array(text, pa.string())) > len(present) else "nominal")


def _looks_like_dates(sample: list[Any]) -> bool:
    present = [value for value in sample if value is not None]
    return 2 * sum(isinstance(value, str) and looks_like_date(value) for value in present) > len(present)


def _sentences(sample: list[Any]) -> bool:
    present = [value for value in sample if value is not None]
    return all(isinstance(value, str) for value in present) and are_sentences(list(dict.fromkeys(present)))


def _label(sample: list[Any]) -> Label:
    present = [value for value in sample if value is not None]
    if present and all(isinstance(value, bool) for value in present):
        return "bool"
    if not present or any(isinstance(value, bool) or not isinstance(value, int | float) for value in present):
        return "string"
    return "int64" if all(isinstance(value, int) for value in present) else "float64"
