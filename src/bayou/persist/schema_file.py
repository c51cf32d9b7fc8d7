"""A schema as label lists and two small arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.errors import ModelFileError
from bayou.persist.container import Arrays
from bayou.persist.document import DocumentReader, DocumentWriter
from bayou.schema import Declared, HashedVocabulary, Kind, Label, Schema, Vocabulary
from bayou.vocabulary import LONGEST_NAME, NAMED

NAMES = ("schema.kinds", "schema.vocabularies")
NOTES = "schema.notes"  # only where words are hashed
KINDS = (Kind.NUMERIC, Kind.NOMINAL, Kind.TEXT, Kind.NUMERIC)
DATES = 3  # the second code of numeric columns
MAX_DECLARED = 1 << 48


def write_schema(schema: Schema, writer: DocumentWriter) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The schema as a document and arrays; its label lists are columns, classes, and vocabularies, in this order.

    schema.kinds : uint8[d], in order of arrival, 3 for numeric columns that are seconds of dates;
    schema.vocabularies : int64[1 + q + t, 2], the classes first: how many entries are declared, and whether the
    "other" cell is in use. Where words are hashed, their list has the names that are remembered, and
    schema.notes : int64[m, 2] the bucket and the tally of each, column by column.
    """
    columns = list(schema.place)
    vocabularies = [schema.classes, *(schema.vocabularies[c] for c in columns if c in schema.vocabularies)]
    first = writer.labels.add(columns)
    notes: list[tuple[int, int]] = []
    for vocabulary in vocabularies:
        if isinstance(vocabulary, HashedVocabulary):
            writer.labels.add([name for name, _ in vocabulary.tallies.values()])
            notes += [(code, tally) for code, (_, tally) in vocabulary.tallies.items()]
        else:
            writer.labels.add(vocabulary.values)
    hashed = any(isinstance(vocabulary, HashedVocabulary) for vocabulary in vocabularies)
    document = {"declared": writer.value(schema.declared), "closed": schema.closed, "lists": first}
    return document, {
        "schema.kinds": np.array([_code(schema, name) for name in columns], dtype=np.uint8),
        "schema.vocabularies": np.array(
            [[v.declared, int(v.overflowed)] for v in vocabularies], dtype=np.int64
        ).reshape(-1, 2),
        **({NOTES: np.array(notes, dtype=np.int64).reshape(-1, 2)} if hashed else {}),
    }


def read_schema(document: object, arrays: Arrays, reader: DocumentReader) -> Schema:
    """Read a schema; refuses a vocabulary beyond its limit, or with a value twice."""
    if not isinstance(document, dict) or set(document) != {"declared", "closed", "lists"}:
        raise ModelFileError("the schema must have: declared, closed, lists")
    closed, first = document["closed"], document["lists"]
    declared = reader.value(document["declared"])
    if not isinstance(declared, Declared) or type(closed) is not bool or type(first) is not int:
        raise ModelFileError("the schema's declared, closed or lists are of the wrong type")
    columns = reader.labels.names(first)
    kinds, sizes = _checked_arrays(arrays, len(columns))
    try:
        schema = Schema(declared)
    except Exception as problem:  # a declaration that contradicts itself: the file is not valid
        raise ModelFileError(f"the file's declaration makes no schema: {problem}") from problem
    schema.closed = closed
    declared_dates = schema.dates
    schema.clear_columns()
    schema.dates |= declared_dates
    schema.classes = _vocabulary(reader.labels.read(first + 1), declared.max_classes, sizes[0], "the classes")
    number = first + 2
    notes = _Notes(arrays)
    for name, code in zip(columns, kinds, strict=True):
        kind = KINDS[code]
        schema.add_column(name, kind)
        if code == DATES:
            schema.dates.add(name)
        if isinstance(vocabulary := schema.vocabularies.get(name), HashedVocabulary):
            notes.read(vocabulary, reader.labels.read(number), sizes[number - first - 1], f"column {name!r}")
            number += 1
        elif kind is not Kind.NUMERIC:
            limit = schema.vocabularies[name].limit
            entry = sizes[number - first - 1]
            schema.vocabularies[name] = _vocabulary(
                reader.labels.read(number), limit, entry, f"column {name!r}"
            )
            number += 1
    notes.check_used()
    return schema


class _Notes:
    """Reads the remembered names of hashed words, column after column."""

    def __init__(self, arrays: Arrays) -> None:
        table = arrays.get(NOTES)
        if table is not None and (table.dtype != np.int64 or table.ndim != 2 or table.shape[1] != 2):
            raise ModelFileError(f"{NOTES} must be int64[m, 2]")
        self._rows: list[list[int]] = [] if table is None else table.tolist()
        self._present, self._used = table is not None, False

    def read(self, vocabulary: HashedVocabulary, names: list[Label], entry: list[int], what: str) -> None:
        """Take the names of one column, each with a bucket of its own and a tally."""
        rows, self._rows = self._rows[: len(names)], self._rows[len(names) :]
        self._used = True
        if not self._present or entry != [0, 0] or len(names) > NAMED or len(rows) != len(names):
            raise ModelFileError(f"{what}: {len(names):,} names of hashed words do not fit {NOTES}")
        for (code, tally), name in zip(rows, names, strict=True):
            if not 0 <= code < vocabulary.hashes or code in vocabulary.tallies or not 0 < tally < 1 << 53:
                raise ModelFileError(f"{what}: a name belongs to no bucket, or to one that has another")
            if not isinstance(name, str) or len(name) > LONGEST_NAME:
                raise ModelFileError(f"{what}: {repr(name)[:80]} is no name of a word")
            vocabulary.tallies[code] = (name, tally)

    def check_used(self) -> None:
        """Refuse names that belong to no column."""
        if self._rows or self._present != self._used:
            raise ModelFileError(f"{NOTES} belongs to no column of hashed words")


def _code(schema: Schema, name: str) -> int:
    kind = schema.place[name][0]
    return DATES if kind is Kind.NUMERIC and name in schema.dates else KINDS.index(kind)


def _checked_arrays(arrays: Arrays, columns: int) -> tuple[list[int], list[list[int]]]:
    kinds, table = (arrays.get(name) for name in NAMES)
    if kinds is None or kinds.dtype != np.uint8 or kinds.shape != (columns,) or kinds.max(initial=0) > DATES:
        raise ModelFileError("schema.kinds must give one of three kinds per column, or 3 for dates")
    codes: list[int] = kinds.tolist()
    rows = 1 + sum(KINDS[code] is not Kind.NUMERIC for code in codes)
    if table is None or table.dtype != np.int64 or table.shape != (rows, 2):
        raise ModelFileError(f"schema.vocabularies must be int64[{rows}, 2]")
    return codes, table.tolist()


def _vocabulary(values: list[Label], limit: object, entry: list[int], what: str) -> Vocabulary:
    declared, overflowed = entry
    if type(limit) is not int or not 0 <= limit <= 1 << 31:
        raise ModelFileError(f"the limit of {what} must be a number up to 2^31")
    if len(values) > limit or overflowed not in (0, 1) or (overflowed and len(values) != limit):
        raise ModelFileError(f"{what}: {len(values):,} values do not fit a limit of {limit:,}")
    if not 0 <= declared < MAX_DECLARED:
        raise ModelFileError(f"{what}: {declared} values cannot be declared")
    vocabulary = Vocabulary(values, limit)
    if len(vocabulary.values) != len(values):
        raise ModelFileError(f"{what}: a value comes twice")
    vocabulary.declared, vocabulary.overflowed = declared, bool(overflowed)
    return vocabulary


def axes(schema: Schema) -> Mapping[str, int]:
    """The lengths of the schema's axes by name."""
    shape = schema.shape()
    return {
        "classes": shape.classes,
        "numeric": shape.numeric,
        "nominal": shape.nominal,
        "values": sum(shape.values),
        "text": shape.text,
        "words": sum(shape.words),
    }
