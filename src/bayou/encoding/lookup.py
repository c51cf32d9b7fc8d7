"""Codes of the values of a column, looked up in compiled code, without a Python object per cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayou.block import Codes
from bayou.encoding.forms import (
    Form,
    Indices,
    Integers,
    Strings,
    StringViews,
    address_of,
    cells_at,
    form_of,
    held_categories,
    index_layout,
    is_arrow,
)
from bayou.kernels.look_up import (
    MISS,
    first_misses,
    look_up_integers,
    look_up_strings,
    look_up_views,
    translate,
    translate_columns,
)
from bayou.missing import is_missing
from bayou.schema import Label, Schema, Vocabulary, identity_key
from bayou.text.recipe import Text
from bayou.text.string_table import StringTable

if TYPE_CHECKING:
    from bayou.text.tokenizer import Tokenizer

REACH = 1 << 16  # integers in a range of at most this size are looked up in a table
_LARGEST = 1 << 63
MOST_HELD = 1 << 20  # entries of a dictionary that are held in memory though no batch may use them any more
_NO_TABLE: Codes = np.empty(0, dtype=np.int32)
_VALUES = (str, bytes, int, float, np.generic)


PLAIN_TEXT = Text()


def text_of(schema: Schema, name: str) -> Text:
    """The recipe by which a column of text is tokenized."""
    recipe = schema.text_recipe(name)
    return recipe if isinstance(recipe, Text) else PLAIN_TEXT


class Translation(NamedTuple):
    """The code of each entry of a dictionary, `MISS` where it has none yet."""

    dictionary: Any
    table: Codes
    place: tuple[int, int] = (0, 0)  # its address, where `MISS` and -1 follow, and its length
    held: Any = None  # what keeps the dictionary as it is


_NO_TRANSLATION = Translation(None, _NO_TABLE)


def _table(size: int, known: Codes = _NO_TABLE) -> Codes:
    """A table for a dictionary of this size that begins with known codes; `MISS` and -1 follow in memory."""
    table = np.full(size + 2, MISS, dtype=np.int32)
    table[: len(known)] = known
    table[-1] = -1
    return table[:size]


class Lookup:
    """Codes of the values of one column, with a table for each form of column (dictionary, strings, integers).

    The translation from a dictionary to codes is cached while the dictionary stays the same. Codes never change,
    so it stays valid while the vocabulary grows. Cached tables are replaced rather than changed, or filled in with
    values that every thread would compute, so that threads may predict at the same time.

    Examples
    --------
    >>> lookup, values = Lookup(Vocabulary(["no", "yes"])), ["yes", None, "perhaps"] * 9
    >>> codes = np.empty((1, 27), dtype=np.int32)
    >>> lookup.fill(lookup.form_of(values), values, codes, 0, True)
    9
    >>> codes[0, :3].tolist()
    [1, -1, -2]
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._translation = _NO_TRANSLATION
        self._strings = StringTable()
        self._integers: tuple[int, Codes | None, int] = (0, _NO_TABLE, 0)

    def form_of(self, values: Any) -> Form | None:
        """A column as kernels read it; None if they cannot, or while the vocabulary is empty."""
        return form_of(values) if self.vocabulary.size else None

    def fill(self, form: Form | None, values: Any, codes: Codes, column: int, learn: bool) -> int | None:
        """Write the codes of known values into codes[column], -1 where one is missing; returns how many are `MISS`.

        `MISS` marks values that are not in the vocabulary. Returns None and writes nothing if `form` is None, or if
        kernels cannot look these values up.
        """
        if isinstance(form, Indices):
            return self._translate(form, values, codes, column)
        if form is None:
            return None
        full = self.vocabulary.overflowed
        miss = self.vocabulary.limit if full else MISS if learn else -1
        misses = self._look_up(form, codes, column, miss)
        return 0 if misses and miss != MISS else misses

    def _look_up(self, form: Form, codes: Codes, column: int, miss: int) -> int | None:
        if isinstance(form, Integers):
            table, low = self._flag_table() if form.flags else self._integer_table()
            if table is None:
                return None
            return look_up_integers(codes, column, form.values, form.valid, form.offset, table, low, miss)
        known = self.string_table()
        if isinstance(form, Strings):
            return look_up_strings(
                codes, column, form.ends, form.data, form.valid, form.offset,
                known.slots, known.starts, known.names, miss,
            )  # fmt: skip
        assert isinstance(form, StringViews)
        return look_up_views(
            codes, column, form.views.view(np.int32), form.views, form.data, form.valid, form.offset,
            known.slots, known.starts, known.names, miss,
        )  # fmt: skip

    def translation_of(self, form: Indices) -> Translation | None:
        """The cached codes of a dictionary's entries; None unless it is the dictionary of the last batch."""
        known, dictionary = self._translation, form.dictionary
        return known if known.dictionary is dictionary or _same(known.dictionary, dictionary) else None

    def _translate(self, form: Indices, values: Any, codes: Codes, column: int) -> int:
        known = self.translation_of(form)
        table = _table(form.size) if known is None else known.table
        misses = translate(codes, column, form.indices, form.valid, form.offset, table)
        if misses and len(table) < form.size:  # polars adds to its categories
            table = _table(form.size, table)
        if misses and self._learn_entries(form, values, table):
            misses = translate(codes, column, form.indices, form.valid, form.offset, table)
        self._translation = _NO_TRANSLATION
        if form.known_size is not None or len(table) <= MOST_HELD:
            place = address_of(table), len(table)
            self._translation = Translation(form.dictionary, table, place, held_categories(values))
        return misses

    def _learn_entries(self, form: Indices, values: Any, table: Codes) -> bool:
        """Enter the codes of the entries in use into the table; returns whether the vocabulary knows any of them."""
        rows = np.empty(len(table), dtype=np.int64)
        rows = rows[: first_misses(rows, form.indices, form.valid, form.offset, table)]
        entries = form.indices[rows]
        for entry, value in zip(entries.tolist(), cells_at(values, rows), strict=True):
            if is_missing(value):
                table[entry] = -1
            elif isinstance(value, _VALUES):
                code = self.vocabulary.code(value)
                table[entry] = code if code >= 0 else MISS
        return bool((table[entries] != MISS).any())

    def string_table(self) -> StringTable:
        """The strings of the vocabulary for kernels."""
        known, values = self._strings, self.vocabulary.values
        if known.size != len(values):
            known = self._strings = known.with_values(values[known.size :])
        return known

    def _flag_table(self) -> tuple[Codes, int]:
        known = self.vocabulary.codes
        return np.array([known.get(identity_key(flag), -1) for flag in (False, True)], dtype=np.int32), 0

    def _integer_table(self) -> tuple[Codes | None, int]:
        """Codes of the integers from the least one on, and that one; None if they span more than `REACH`."""
        size, table, low = self._integers
        values = self.vocabulary.values
        if size != len(values):
            table, low = _integer_table(values)
            self._integers = len(values), table, low
        return table, low


def translate_known(rows: Codes, columns: Sequence[tuple[int, Lookup, Form | None]]) -> list[int]:
    """Write the codes of columns with a cached dictionary into rows[:, place], all in one kernel.

    `columns` are places in the rows, lookups and forms. Returns the positions among them of the remaining columns:
    those without a cached dictionary, and those with entries that have no code yet.
    """
    known: list[int] = []
    places = []
    n = len(rows)
    for i, (place, lookup, form) in enumerate(columns):
        if isinstance(form, Indices) and form.length == n:
            translation = lookup.translation_of(form)
            if translation is not None:
                valid = form.valid_address, form.offset
                known += (place, form.address, *index_layout(form.dtype), *valid, *translation.place)
                places.append(i)
    if not places:
        return list(range(len(columns)))
    misses = np.empty(len(places), dtype=np.int64)
    translate_columns(rows, misses, np.array(known, dtype=np.int64).reshape(len(places), -1))
    done = {i for i, missed in zip(places, misses.tolist(), strict=True) if not missed}
    return [i for i in range(len(columns)) if i not in done]


class Lookups:
    """The lookups of a schema's columns and classes, kept from one batch to the next."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._columns: dict[str, Lookup] = {}
        self._tokenizers: dict[str, Tokenizer] = {}
        self._classes = Lookup(schema.classes)
        self.hashed: dict[str, list[Label]] = {}  # the first values of columns of which no vocabulary is kept

    def column(self, name: str) -> Lookup:
        """The lookup of a nominal column; of a new one, which the schema does not know yet, an empty one."""
        vocabulary, known = self._schema.vocabularies.get(name), self._columns.get(name)
        if vocabulary is None:
            return Lookup(Vocabulary())
        if known is None or known.vocabulary is not vocabulary:
            known = self._columns[name] = Lookup(vocabulary)
        return known

    def tokenizer(self, name: str) -> Tokenizer:
        """The tokenizer of a text column."""
        known = self._tokenizers.get(name)
        recipe = text_of(self._schema, name)
        if known is None or known.recipe is not recipe:
            from bayou.text.tokenizer import Tokenizer  # imported only where a column is text

            known = self._tokenizers[name] = Tokenizer(recipe)
        return known

    def classes(self) -> Lookup:
        """The lookup of the labels."""
        if self._classes.vocabulary is not self._schema.classes:
            self._classes = Lookup(self._schema.classes)
        return self._classes


def _integer_table(values: Sequence[Label]) -> tuple[Codes | None, int]:
    known = {int(value): code for code, value in enumerate(values) if _is_integer(value)}
    if not known:
        return _NO_TABLE, 0
    low, high = min(known), max(known)
    if high - low > REACH:
        return None, 0
    table = np.full(high - low + 1, -1, dtype=np.int32)
    for value, code in known.items():
        table[value - low] = code
    return table, low


def _is_integer(value: Label) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -_LARGEST <= value < _LARGEST and value == int(value)


def _same(one: Any, other: Any) -> bool:
    """Whether an index stands for the same entry in both dictionaries."""
    if type(one) is not type(other):
        return False
    if is_arrow(one):
        return bool(one.equals(other))
    if hasattr(one, "equals"):  # an Index of pandas: objects that are equal may yet differ, as 1 and True
        return bool(one.dtype == other.dtype and one.dtype != object and one.equals(other))
    return bool(one == other)  # a data type of polars, which is equal if the categories are the same ones
