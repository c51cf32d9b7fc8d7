"""Conversion of cells from text to the type of their column; cells that do not fit are marked, never guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayou.plain_text import SENTENCES, are_sentences
from bayou.streams import compute as pc
from bayou.streams.dates import count_dates, looks_like_date
from bayou.streams.number_formats import are_numbers
from bayou.streams.source import Kind

Label = Literal["string", "int64", "float64", "bool"]
Marks = NDArray[np.bool_]
MISSING = ("", "?", "NA", "NaN", "nan")
BLANK = ("", "?", "NA")
NOMINAL = pa.dictionary(pa.int32(), pa.string())

_NUMBER = r"^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|(?i:inf|infinity|nan|nan\([a-zA-Z0-9_]*\)))$"
_INTEGER = r"^[+-]?\d{1,18}$"


def decoded(names: pa.DictionaryArray) -> pa.Array:
    """A column with a dictionary as plain strings.

    Arrow's cast would do the same, but imports `pyarrow.compute`, which a plain file needs for nothing else.

    >>> decoded(pa.array(["yes", "", "no", "yes"]).dictionary_encode()).to_pylist()
    ['yes', '', 'no', 'yes']
    """
    if names.indices.null_count:
        return names.cast(pa.string())
    entries = [name.encode() for name in names.dictionary.to_pylist()]
    codes = names.indices.to_numpy()
    sizes = np.array([*map(len, entries), 0], np.int64)
    begins, lengths = np.cumsum(sizes) - sizes, sizes[codes]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(begins[codes] - ends[:-1], lengths) + np.arange(ends[-1])
    text = np.frombuffer(b"".join(entries), np.uint8)[places]
    return pa.Array.from_buffers(
        pa.string(), len(names), [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(text)]
    )


def strings(cells: pa.Array) -> tuple[pa.Array, Marks]:
    """UTF-8 text of binary or string cells, and a mark where a cell is not UTF-8.

    Examples
    --------
    >>> text, bad = strings(pa.array([b"ok", None, bytes([255])]))
    >>> text.to_pylist(), bad.tolist()
    (['ok', None, None], [False, False, True])
    """
    bad = np.zeros(len(cells), np.bool_)
    try:
        return cells.cast(pa.string()), bad
    except pa.ArrowInvalid:
        out: list[str | None] = []
        for i, cell in enumerate(cells.to_pylist()):
            try:
                out.append(None if cell is None else cell.decode())
            except UnicodeDecodeError:
                out.append(None)
                bad[i] = True
        return pa.array(out, pa.string()), bad


def numbers(cells: pa.Array, missing: Sequence[str] = MISSING) -> tuple[pa.Array, Marks]:
    """String cells as float64, and a mark where a cell is not a number.

    Examples
    --------
    >>> values, bad = numbers(pa.array(["1.5", " +2e3", "?", "abc"]))
    >>> values.to_pylist(), bad.tolist()
    ([1.5, 2000.0, None, None], [False, False, False, True])
    """
    return _parsed(cells, _NUMBER, pa.float64(), missing)


def labels(cells: pa.Array, label: Label) -> tuple[pa.Array, Marks]:
    """Labels of the given type from string or dictionary cells, and a mark where a cell is not of that type."""
    return LabelReader(label).read(cells)


class LabelReader:
    """Reads labels of one type, chunk by chunk; only distinct values are parsed, and only if the dictionary changes.

    Examples
    --------
    >>> found, bad = LabelReader("int64").read(pa.array(["3", None, "x", "3"]))
    >>> found.to_pylist(), bad.tolist()
    ([3, None, None, 3], [False, False, True, False])
    """

    def __init__(self, label: Label) -> None:
        self._label = label
        self._parsed: tuple[pa.Array, pa.Array, Marks] | None = None  # entries, their labels, marks

    def read(self, cells: pa.Array) -> tuple[pa.Array, Marks]:
        """The labels of string or dictionary cells, and a mark where one is not of the type."""
        if self._label == "string":
            plain = cells.cast(pa.string()) if pa.types.is_dictionary(cells.type) else cells
            return plain, np.zeros(len(cells), np.bool_)
        coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
        if self._parsed is None or not self._parsed[0].equals(coded.dictionary):
            pattern, kind = (_INTEGER, pa.int64()) if self._label == "int64" else (_NUMBER, pa.float64())
            self._parsed = coded.dictionary, *_parsed(coded.dictionary, pattern, kind, MISSING)
        _, values, bad = self._parsed
        if not bad.any():
            return values.take(coded.indices), np.zeros(len(cells), np.bool_)
        marks = np.append(bad, False)[coded.indices.fill_null(len(bad)).to_numpy(zero_copy_only=False)]
        return values.take(coded.indices), marks


def label_type(sample: pa.Array) -> Label:
    """Type of a target from its first values: whole numbers, numbers, or else text."""
    present = sample.drop_null()
    if len(present) and pc.all(_matches(present, _INTEGER)).as_py():
        return "int64"
    if len(present) and pc.all(_matches(present, _NUMBER)).as_py():
        return "float64"
    return "string"


class Sample:
    """The cells of the first rows of a stream, which determine the kinds of columns and the type of labels.

    A column is numeric if more than half of its present cells are numbers, or none is present; and of dates if more
    than half are dates. So a stray word does not make a column of numbers nominal; it is reported as a misfit.
    """

    def __init__(self, columns: Mapping[str, pa.Array]) -> None:
        self._place = {name: i for i, name in enumerate(columns)}
        self._size = len(next(iter(columns.values()), ()))
        # All columns in one array, so that the number of calls does not depend on the number of columns.
        self._text, _ = strings(pa.concat_arrays(columns.values()))
        shape = (len(columns), self._size)
        number = _matches(self._text, _NUMBER).fill_null(False).to_numpy(zero_copy_only=False)
        present = self._text.is_valid().to_numpy(zero_copy_only=False)
        self._numbers = number.reshape(shape).sum(axis=1)
        self._present = present.reshape(shape).sum(axis=1)

    def is_numeric(self, name: str) -> bool:
        """Whether the column's cells are numbers."""
        i = self._place[name]
        return bool(self._present[i] == 0 or 2 * self._numbers[i] > self._present[i])

    def kind(self, name: str) -> Kind:
        """Kind of the column: numeric or date if more than half of its present cells are, else nominal."""
        if self.is_numeric(name):
            return "numeric"
        return "date" if 2 * count_dates(self._cells(name)) > self._present[self._place[name]] else "nominal"

    def looks_like_dates(self, name: str) -> bool:
        """Whether more than half of the column's present cells are dates in any common format."""
        cells = self._cells(name).drop_null().to_pylist()
        return 2 * sum(map(looks_like_date, cells)) > len(cells)

    def looks_like_numbers(self, name: str) -> bool:
        """Whether most of the column's different cells are numbers in any common format, and many."""
        return are_numbers(self._cells(name).drop_null().unique().to_pylist())

    def is_text(self, name: str) -> bool:
        """Whether the column's cells are sentences."""
        return are_sentences(self._cells(name).drop_null().unique().slice(0, SENTENCES).to_pylist())

    def label_type(self, name: str) -> Label:
        """Type of a target."""
        return label_type(self._cells(name))

    def _cells(self, name: str) -> pa.Array:
        return self._text.slice(self._place[name] * self._size, self._size)


def _matches(cells: pa.Array, pattern: str) -> pa.Array:
    return pc.match_substring_regex(pc.ascii_trim(cells, " \t"), pattern)


def _parsed(
    cells: pa.Array, pattern: str, kind: pa.DataType, missing: Sequence[str]
) -> tuple[pa.Array, Marks]:
    """Cells that match the pattern, cast to a type; null where missing, and a mark where a cell does not match."""
    trimmed = pc.ascii_trim(cells, " \t")
    good = pc.match_substring_regex(trimmed, pattern)
    empty = pc.is_in(trimmed, pa.array(missing, pa.string()))
    value = pc.if_else(pc.and_(good, pc.invert(empty)), trimmed, pa.scalar(None, pa.string())).cast(kind)
    bad = pc.invert(pc.or_(good, empty)).fill_null(False)
    return value, bad.to_numpy(zero_copy_only=False)
