"""Bodies of requests as batches of rows: JSON, JSON lines, Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayou.errors import BayouError, DataError, ModelFileError
from bayou.persist.container import strict_loads
from bayou.serve.errors import TooLargeError, UnknownFormError

JSON, JSON_LINES, ARROW = "application/json", "application/x-ndjson", "application/vnd.apache.arrow.stream"
FORMS = (JSON, JSON_LINES, ARROW)
TARGET = "label"  # the column of labels in JSON lines and Arrow, unless the request names another
NAME_LENGTH = 1_000  # characters of a column's or a class's name
# Limit of rows times columns: a constant, plus some for every byte of the body
CELLS, CELLS_PER_BYTE = 1 << 22, 16
_CELL = frozenset((str, int, float, bool, type(None)))
_LABEL = "a label is a text, a number, true, false, or null for none"


@dataclass(frozen=True)
class Batch:
    """The rows of a request, their labels if it has some, and its body, from which the log can read them again.

    `single` is True if the body held one record by itself rather than a list with one record in it.
    """

    rows: Any
    labels: Any
    size: int
    body: bytes
    form: str
    target: str = TARGET
    single: bool = False


def read_batch(body: bytes, form: str, *, labelled: bool, target: str = TARGET, most: int = 10_000) -> Batch:
    """Parse the body of a request into rows and labels.

    Parameters
    ----------
    body, form
        The bytes, and their media type.
    labelled
        Whether every row has a label (which may be null), as in learning.
    target
        The column that holds it in JSON lines and Arrow.
    most
        Rows allowed.

    Examples
    --------
    >>> read_batch(b'{"records": [{"sky": "blue"}], "labels": ["dry"]}', JSON, labelled=True).labels
    ['dry']
    >>> read_batch(b'{"sky": "blue"}', JSON_LINES, labelled=False).rows
    [{'sky': 'blue'}]
    """
    rows: Any
    if form == JSON:
        rows, labels, single = _from_json(body, labelled)
    elif form == JSON_LINES:
        rows, labels, single = *_from_lines(body, labelled, target), False
    elif form == ARROW:
        rows, labels, single = *_from_arrow(body, labelled, target, most), False
    else:
        raise UnknownFormError(f"a body of type {form[:80]!r} cannot be read; send {', '.join(FORMS)}")
    size = rows.num_rows if form == ARROW else len(rows)
    if size > most:
        raise TooLargeError(f"{size:,} rows in one request; at most {most:,} are taken, so send several")
    if labels is not None and len(labels) != size:
        raise DataError(f"{size} rows but {len(labels)} labels")
    _check_cells(size, len(rows.column_names) if form == ARROW else _columns(rows), len(body))
    return Batch(rows, labels, size, body, form, target, single)


def _columns(rows: Sequence[Any]) -> int:
    """The number of different columns of records; 0 where there cannot be too many of them."""
    wide = len(rows) * sum(map(len, rows)) > CELLS
    return len(set().union(*rows)) if wide else 0


def _check_cells(rows: int, columns: int, size: int) -> None:
    """Refuse a small body that stands for a huge table: empty columns, or records without a column in common."""
    if rows * columns > CELLS + CELLS_PER_BYTE * size:
        raise TooLargeError(
            f"{rows:,} rows of {columns:,} columns, nearly all of them empty; send fewer rows in one request"
        )


def parse_json(body: bytes, what: str) -> Any:
    """Parse strict JSON: no duplicate key, no NaN, no lone surrogate. `what` names the text in errors."""
    try:
        document = strict_loads(body, what)
    except ModelFileError as problem:
        raise DataError(str(problem), remedy="send strict JSON; null stands for a missing value") from None
    if b"\\u" in body:
        _check_text(body, what)
    return document


def _check_text(body: bytes, what: str) -> None:
    import json

    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise DataError(f"the {what} holds half of a surrogate pair", remedy="send valid text") from None


def _from_json(body: bytes, labelled: bool) -> tuple[list[Any], Any, bool]:
    document = parse_json(body, "body")
    one, many = ("record", "label"), ("records", "labels")
    if isinstance(document, dict):
        for names, single in ((one, True), (many, False)):
            if set(document) == {*names[: 1 + labelled]}:
                rows = [document[names[0]]] if single else _listed(document[names[0]], names[0])
                labels = None
                if labelled:
                    labels = [document[names[1]]] if single else _listed(document[names[1]], names[1])
                return _checked(rows), _checked_labels(labels), single
    example = '{"records": [{...}, ...], "labels": [...]}' if labelled else '{"records": [{...}, ...]}'
    raise DataError(
        "the body is not what was expected", remedy=f"send {example}, or one record as {_single(labelled)}"
    )


def _single(labelled: bool) -> str:
    return '{"record": {...}, "label": ...}' if labelled else '{"record": {...}}'


def _listed(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise DataError(f"{name} must be a list", value=value)
    return value


def _from_lines(body: bytes, labelled: bool, target: str) -> tuple[list[Any], Any]:
    lines = [line for line in body.split(b"\n") if line.strip()]
    rows = _checked([parse_json(line, f"line {i + 1}") for i, line in enumerate(lines)])
    if not labelled:
        return rows, None
    for i, row in enumerate(rows):
        if target not in row:
            raise DataError("no label", row=i, column=target, remedy="name its column: ?target=")
    return rows, _checked_labels([row.pop(target) for row in rows])


def _from_arrow(body: bytes, labelled: bool, target: str, most: int) -> tuple[Any, Any]:
    import pyarrow as pa

    try:
        _refuse_compressed(body)
        with pa.ipc.open_stream(body) as reader:
            _check_schema(reader.schema)
            batches, size = [], 0
            for batch in reader:
                size += batch.num_rows
                if size > most:
                    raise TooLargeError(f"more than {most:,} rows in one request; send several")
                batch.validate(full=True)
                batches.append(batch)
            table = pa.Table.from_batches(batches, reader.schema)
    except BayouError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, NotImplementedError) as problem:
        raise DataError(f"not an Arrow stream: {str(problem)[:200]}") from None
    if not labelled:
        return table, None
    if target not in table.column_names:
        raise DataError("no labels", column=target, remedy="name their column: ?target=")
    labels = table.column(target).combine_chunks()
    if pa.types.is_dictionary(labels.type):
        labels = labels.cast(labels.type.value_type)
    return table.drop_columns([target]), _checked_labels(labels.to_pylist())


def _refuse_compressed(body: bytes) -> None:
    """Refuse compressed buffers: pyarrow allocates the size they declare, and a small body can declare gigabytes."""
    import pyarrow as pa

    for message in pa.ipc.MessageReader.open_stream(body):
        if message.type not in ("record batch", "dictionary"):
            continue
        data = message.metadata.to_pybytes()
        batch = _table(data, _field(data, int.from_bytes(data[:4], "little"), 2))
        if message.type == "dictionary":
            batch = _table(data, _field(data, batch, 1))
        if _field(data, batch, 3):
            raise DataError(
                "a compressed Arrow stream", remedy="send it without compression, which is what pyarrow does"
            )


def _field(data: bytes, table: int, number: int) -> int:
    """The offset of a field of a flatbuffer's table; 0 if it is absent. Arrow's Message.fbs numbers the fields."""
    vtable = table - int.from_bytes(data[table : table + 4], "little", signed=True)
    slot = vtable + 4 + 2 * number
    if slot >= vtable + int.from_bytes(data[vtable : vtable + 2], "little"):
        return 0
    offset = int.from_bytes(data[slot : slot + 2], "little")
    return table + offset if offset else 0


def _table(data: bytes, place: int) -> int:
    return place + int.from_bytes(data[place : place + 4], "little")


def _check_schema(schema: Any) -> None:
    """Refuse all columns but numbers, strings, booleans, dates and dictionaries of strings."""
    import pyarrow as pa

    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        plain = (
            pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_string,
            pa.types.is_large_string, pa.types.is_timestamp, pa.types.is_date, pa.types.is_null,
        )  # fmt: skip
        if not any(test(kind) for test in plain):
            raise DataError(
                f"a column of Arrow's type {str(field.type)[:60]}", column=field.name[:60],
                remedy="send numbers, texts, truth values or dates",
            )  # fmt: skip
        _check_name(field.name)


def _check_name(name: str) -> None:
    if len(name) > NAME_LENGTH:
        raise DataError(f"a column's name of {len(name):,} characters", column=name[:60])


def _checked(rows: Sequence[Any]) -> list[Any]:
    for i, row in enumerate(rows):
        if type(row) is not dict:
            raise DataError('a record is an object, such as {"price": 0.3}', row=i, value=row)
        for name, value in row.items():
            if type(value) not in _CELL:
                raise DataError("neither text, number, true, false nor null", row=i, column=name, value=value)
            if len(name) > NAME_LENGTH:
                _check_name(name)
    return list(rows)


def _checked_labels(labels: list[Any] | None) -> list[Any] | None:
    for i, label in enumerate(labels or ()):
        if type(label) not in _CELL:
            raise DataError(_LABEL, row=i, value=label)
        if type(label) is str and len(label) > NAME_LENGTH:
            raise DataError(f"a label of {len(label):,} characters", row=i)
    return labels


def joined(batches: Sequence[Batch]) -> tuple[Any, Any]:
    """Concatenate the rows and the labels of several batches of records."""
    if len(batches) == 1:
        return batches[0].rows, batches[0].labels
    return [row for b in batches for row in b.rows], [label for b in batches for label in b.labels]
