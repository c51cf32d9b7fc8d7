"""The fast path for single records: plain ones, with known columns, values and labels only."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import getitem, is_, itemgetter
from typing import Any

import numpy as np

from bayou.block import Block, Codes, Floats, Hashed
from bayou.encoding.batch import HEAVY
from bayou.hashing import hash_keys
from bayou.kernels.scrub import HUGE
from bayou.kernels.sums import TILE
from bayou.missing import is_missing
from bayou.schema import Kind, Label, Schema, identity_key

MAX_WAITING = 64  # records that are learned at once
MAX_CACHED = 4096  # combinations of nominal values whose codes are cached
Cells = Sequence[float]  # the numbers of a record, then the codes (or hashes) of its other values
# where each key of a record goes: its cell, and the codes of its values unless it is a number
Places = Sequence[tuple[int, Mapping[Hashable, int] | None]]
Pick = Callable[[Mapping[str, Any]], tuple[Any, ...]]

_PLAIN = frozenset((float, int))
_NUMBERS = (np.floating, np.integer)
_VALUES = (str, bytes, bool, int, float, np.generic)
_LABELS = frozenset((str, int, float, bytes))  # types of labels that are their own keys
_UNLABELLED, _ONE, _NO_CODES = np.full(1, -1, dtype=np.int32), np.ones(1), np.empty((1, 0), dtype=np.int32)


def present(hashed: Hashed) -> Codes:
    """Codes of hashed values: all share one cell."""
    return np.where(hashed.keys == 0, np.int32(-1), np.int32(0))


def _is_number(value: object) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, np.timedelta64)


def picker(names: Sequence[str]) -> Pick:
    """A function that returns the values of these keys of a record, as a tuple.

    >>> picker(["b", "a"])({"a": 1, "b": 2})
    (2, 1)
    """
    if len(names) > 1:
        return itemgetter(*names)
    return (lambda x: (x[names[0]],)) if names else lambda _: ()


class PackedRow:
    """The cells of a row to predict, followed by room for its probabilities and for intermediate results."""

    __slots__ = ("cells", "memory", "proba")

    def __init__(self, columns: int, classes: int) -> None:
        self.cells = np.empty(columns + classes + max(columns, TILE))
        self.memory, self.proba = self.cells.data, self.cells[columns : columns + classes]


class PlainRecords:
    """Packs plain records into arrays: those to predict one by one, those to learn until they are taken as a block.

    A packed record is its numbers and the codes of its other values, then, if it is to be learned, its class and
    weight: eight bytes each, floats but for hashes. Numbers may still be infinite or huge, which callers must check.

    Parameters
    ----------
    schema
        The model's schema; when it has grown, make a new one of these.
    numbers_are_words
        Numbers are counts of words: no record is plain then.

    Examples
    --------
    >>> from bayou.schema import Declared
    >>> records = PlainRecords(Schema(Declared(columns={"day": ["mon", "tue"], "price": "numeric"})))
    >>> records.cells({"price": 3.5, "day": "tue"})
    (3.5, 1)
    >>> records.cells({"price": 3.5, "day": "wed"})  # a new value: not plain
    >>> records.keep({"price": 3.5, "day": "tue"}, None, 1.0), records.waiting
    (1, 1)
    >>> records.take(0).codes
    array([[1]], dtype=int32)
    """

    def __init__(self, schema: Schema, numbers_are_words: bool = False) -> None:
        numeric, nominal = schema.names(Kind.NUMERIC), schema.names(Kind.NOMINAL)
        hashes = schema.declared.hash_values
        self._schema = schema
        self._class_code = schema.classes.codes.get
        self._words = numbers_are_words or bool(schema.names(Kind.TEXT))
        self._numeric, self._nominal, self._hashes = len(numeric), len(nominal), hashes
        self._number_of, self._name_of = picker(numeric), picker(nominal)
        self._codes = [schema.vocabularies[name].codes for name in nominal if not hashes]
        # codes of combinations of nominal values
        self._codes_cache: dict[tuple[Any, ...], tuple[int, ...]] = {}
        # number of keys of a record that has all columns; -1 where no record can take the shortest path
        self._all_keys = -1 if self._words or hashes else len(numeric) + len(nominal)
        self._missing = [np.nan] * len(numeric) + [0 if hashes else -1] * len(nominal)
        # keys of the last record and their places; one tuple, since several threads may predict at once
        self._last_layout: tuple[tuple[str, ...] | None, Places] = (None, ())
        form = f"={len(numeric)}d{len(nominal)}{'q' if hashes else 'd'}"
        self._pack, self._pack_labelled = struct.Struct(form).pack_into, struct.Struct(form + "dd").pack_into
        self._width = len(numeric) + len(nominal) + 2
        self.free: list[PackedRow] = []
        self.waiting = 0
        self.rows = np.empty(0)  # the pending records, one after the other
        self._memory = self.rows.data
        self._hashed: dict[int, Label] = {}  # the values of the hashes in them
        self._predicted: tuple[Cells, Block] | None = None  # the record predicted last
        # its block, label and weight, if it is the first pending one; the block may still be in use by other threads
        self._predicted_first: tuple[Block, int, float] | None = None
        labels = () if self._words else (*range(schema.classes.size), -1)
        self._labels = [np.array([code], np.int32) for code in labels]

    def keep(self, x: Mapping[str, Any], y: Any, w: float) -> int:
        """Add a record to the pending ones, to be learned; returns how many are pending, 0 unless it is plain."""
        try:
            code = self._class_code(y if type(y) in _LABELS else identity_key(y))
            if code is None:
                code = -1 if y is None else self._schema.classes.code(y)
                if code < 0 and y is not None:
                    return 0
            cells = self.cells(x, self._hashed)
            if cells is None or not 0.0 <= w <= HEAVY:
                return 0
            if not self.rows.size:
                self.rows = np.empty(MAX_WAITING * self._width)
                self._memory = self.rows.data
            self._pack_labelled(self._memory, self.waiting * self._width * 8, *cells, code, w)
        except (TypeError, struct.error):
            return 0  # an invalid label or weight, or an integer beyond all floats: the batch encoder raises the error
        if not self.waiting:
            predicted, self._predicted, self._predicted_first = self._predicted, None, None
            if predicted is not None and all(map(is_, predicted[0], cells)):
                self._predicted_first = predicted[1], code, w
        self.waiting += 1
        return self.waiting

    def take(self, start: int) -> Block:
        """Remove the pending records and return them as a block.

        If the only one is the record that was predicted last, its block is used again.
        """
        if self._predicted_first is not None and self.waiting == 1:
            block, code, w = self._predicted_first
            block.y, block.w = self._labels[code], _ONE if w == 1.0 else np.array([w], np.float64)
        else:
            rows = self.rows[: self.waiting * self._width].reshape(self.waiting, self._width)
            block = self._block(rows.copy(), start, self._hashed)
            block.y, block.w = rows[:, -2].astype(np.int32), rows[:, -1].copy()
        block.start = start
        self.waiting, self._hashed, self._predicted_first = 0, {}, None
        return block

    def block(self, x: Mapping[str, Any], start: int) -> Block | None:
        """A record as a block to predict; None unless it is plain."""
        hashed: dict[int, Label] = {}
        cells = self.cells(x, hashed)
        if cells is None:
            return None
        row = np.empty((1, self._numeric + self._nominal))
        try:
            self._pack(row.data, 0, *cells)
        except struct.error:
            return None
        block = self._block(row, start, hashed)
        block.no_missing = math.hypot(*cells) <= HUGE
        self._predicted = cells, block
        return block

    def _block(self, rows: Floats, start: int, hashed: dict[int, Label]) -> Block:
        p, end = self._numeric, self._numeric + self._nominal
        # The numbers of one row are contiguous, those of several are copied to be so
        numbers = rows[:, :p] if len(rows) == 1 else np.ascontiguousarray(rows[:, :p])
        block = Block(numbers, _NO_CODES, (), _UNLABELLED, _ONE, start)
        if self._hashes:
            block.hashed = Hashed(rows[:, p:end].view(np.int64).copy(), hashed)
            block.codes = present(block.hashed)
        elif p < end or len(rows) > 1:
            block.codes = rows[:, p:end].astype(np.int32)
        return block

    def row(self, x: Mapping[str, Any]) -> PackedRow | None:
        """A record packed for prediction, None unless it is plain; append it to `free` once its `proba` is read."""
        cells = self.cells(x)
        if cells is None:
            return None
        try:
            row = self.free.pop()  # several threads predict at once, each in a row of its own
        except IndexError:
            row = PackedRow(self._numeric + self._nominal, self._schema.classes.size)
        try:
            self._pack(row.memory, 0, *cells)
        except struct.error:
            return None
        return row

    def cells(self, x: Mapping[str, Any], hashed: dict[int, Label] | None = None) -> Cells | None:
        """The record's cells; None unless every column and value is known and of its kind.

        Where values are hashed, `hashed` receives the value of each hash.
        """
        if type(x) is dict and len(x) == self._all_keys:
            try:
                numbers = self._number_of(x)
                # The sum is a plain number if all of them are, or have a `float` that the batch encoder would take
                if type(sum(numbers)) in _PLAIN:
                    if not self._codes:
                        return numbers
                    names = self._name_of(x)
                    return numbers + (self._codes_cache.get(names) or self._look_up(names))
            except (KeyError, TypeError, OverflowError):
                pass  # a value is missing, new or of another type
        try:
            keys = tuple(x)
        except TypeError:
            return None  # not a record: the batch encoder raises the error
        last_keys, places = self._last_layout
        if keys != last_keys:
            new_places = self._places(keys)
            if new_places is None:
                return None
            self._last_layout, places = (keys, new_places), new_places
        return self._filled(x, places, hashed)

    def _look_up(self, names: tuple[Any, ...]) -> tuple[int, ...]:
        """The codes of one value of each nominal column; raises unless all are strings, and known."""
        "".join(names)
        codes = tuple(map(getitem, self._codes, names))
        if len(self._codes_cache) < MAX_CACHED:
            self._codes_cache[names] = codes
        return codes

    def _filled(
        self, x: Mapping[str, Any], places: Places, hashed: dict[int, Label] | None
    ) -> list[float] | None:
        """The cells of a record whose keys have these places; None if a value is unknown or of another kind."""
        cells = self._missing.copy()
        for (place, codes), value in zip(places, x.values()):  # noqa: B905 - one cell per key
            kind = type(value)
            if codes is None:
                if kind in _PLAIN or (_is_number(value) and -HUGE <= value <= HUGE):
                    cells[place] = value
                elif not is_missing(value):
                    return None
            elif self._hashes:
                if kind is str:
                    key = int(hash_keys([value])[0])
                    cells[place] = key
                    if hashed is not None:
                        hashed[key] = value
                elif not is_missing(value):
                    return None
            else:
                if kind is str:
                    code = codes.get(value)
                else:
                    code = codes.get(identity_key(value)) if isinstance(value, _VALUES) else None
                if code is not None:
                    cells[place] = code
                elif not is_missing(value):
                    return None
        return cells

    def _places(self, keys: tuple[str, ...]) -> Places | None:
        """The cell of each of these keys, and the codes of its values; None if one is not a column yet."""
        places = [self._schema.place.get(key) for key in keys]
        if self._words or None in places:
            return None
        return [
            (
                place[1] + (self._numeric if place[0] is Kind.NOMINAL else 0),
                self._schema.vocabularies[key].codes if key in self._schema.vocabularies else None,
            )
            for key, place in zip(keys, places, strict=True)
            if place is not None
        ]
