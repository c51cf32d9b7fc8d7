"""One plain record at a time: known columns, values and label, nothing new to report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any

import numpy as np

from bayou.block import Block, Codes, Hashed
from bayou.encoding.batch import HEAVY
from bayou.hashing import hash_keys
from bayou.kernels.scrub import HUGE
from bayou.missing import is_missing
from bayou.schema import Kind, Label, Schema, Vocabulary, identity_key

# numbers and codes of one plain record; hashed values by key, which then stand in for codes
Cells = tuple[list[float], list[int], dict[int, Label] | None]
# the same with its label and weight
Row = tuple[list[float], list[int], dict[int, Label] | None, int, float]
# where each key of a record goes; the keys, their places, and whether the record is the numeric row as it stands
Places = Sequence[tuple[int, Vocabulary | None]]
Keys = tuple[tuple[str, ...] | None, Places, bool]

_PLAIN = frozenset((float, int))
_NUMBERS = (np.floating, np.integer)
_VALUES = (str, bytes, bool, int, float, np.generic)
Predicted = tuple[
    Mapping[str, Any] | None, tuple[str, ...], list[Any], Block | None
]  # a record and its block
_UNLABELLED, _ONE, _NO_CODES = np.full(1, -1, dtype=np.int32), np.ones(1), np.empty((1, 0), dtype=np.int32)


_NOTHING: Predicted = (None, (), [], None)
_LABELS = frozenset((str, int, float, bytes))  # types of labels that are their own keys


def block_of(rows: Sequence[Row], start: int) -> Block:
    """Plain records as a block."""
    numeric, codes, values, y, w = zip(*rows, strict=True)
    block = Block(
        np.array(numeric, np.float64),
        np.empty((0, 0), np.int32),
        (),
        np.array(y, np.int32),
        np.array(w, np.float64),
        start,
    )
    if values[0] is None:
        block.codes = np.array(codes, dtype=np.int32)
    else:
        block.hashed = Hashed(
            np.array(codes, dtype=np.int64), {k: v for row in values for k, v in row.items()}
        )
        block.codes = present(block.hashed)
    return block


def block_to_predict(cells: Cells, start: int) -> Block:
    """One plain record, unlabelled, as a block."""
    numeric, codes, values = cells
    if values is not None:
        return block_of([(*cells, -1, 1.0)], start)
    nominal = np.array([codes], dtype=np.int32) if codes else _NO_CODES
    return Block(np.array(numeric, np.float64, ndmin=2), nominal, (), _UNLABELLED, _ONE, start)


def present(hashed: Hashed) -> Codes:
    """Codes of hashed values: all share one cell."""
    return np.where(hashed.keys == 0, np.int32(-1), np.int32(0))


class PlainRecords:
    """Which cell each key of a record fills, remembered from one record to the next.

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
    >>> records.row({"price": 3.5, "day": "tue"}, None, 1.0)
    ([3.5], [1], None, -1, 1.0)
    >>> records.row({"price": 3.5, "day": "wed"}, None, 1.0)  # a new value: not plain
    """

    def __init__(self, schema: Schema, numbers_are_words: bool = False) -> None:
        self._schema = schema
        self._predicted = _NOTHING  # one object, as below
        self.predicted: Mapping[str, Any] | None = None  # the record predicted last
        self._codes = schema.classes.codes
        self._labels = [np.array([c], dtype=np.int32) for c in range(schema.classes.size)]
        self._words = numbers_are_words or bool(schema.names(Kind.TEXT))
        self._hashes = schema.declared.hash_values
        self._known: Keys = (None, (), False)  # one object: threads that predict may disagree about it
        self._no_numbers = [np.nan] * len(schema.names(Kind.NUMERIC))
        self._no_codes = [0 if self._hashes else -1] * len(schema.names(Kind.NOMINAL))

    def block(self, x: Mapping[str, Any], start: int) -> Block | None:
        """The record as a block to predict; None unless it is plain. It is remembered for `block_again`."""
        cells = self.cells(x)
        if cells is None:
            return None
        block = block_to_predict(cells, start)
        self._predicted = x, self._known[0] or (), [*x.values()], block
        self.predicted = x
        return block

    def block_again(self, x: Mapping[str, Any], y: Any, w: float) -> Block | None:
        """The block of the record that was predicted last, with label and weight; None if it is another by now.

        It is the same if the object is, with the same keys and the same objects as values. The block is handed out
        once, since whoever learns it may keep its arrays.
        """
        known, keys, values, block = self._predicted
        self._predicted, self.predicted = _NOTHING, None
        if known is not x or block is None:
            return None
        if tuple(x) != keys or not all(map(is_, x.values(), values)):
            return None
        try:
            code = self._codes.get(y if type(y) in _LABELS else identity_key(y))
            if code is None or not 0.0 <= w <= HEAVY:
                return None
        except TypeError:
            return None  # no label or no weight at all: the long way says so
        block.y = self._labels[code]
        if w != 1.0:
            block.w = np.array([w], dtype=np.float64)
        return block

    def row(self, x: Mapping[str, Any], y: Any, w: float) -> Row | None:
        """The record's cells, label and weight; None unless all of it is known and of its kind."""
        try:
            label = self._codes.get(y if type(y) in _LABELS else identity_key(y))
            if label is None:
                label = -1 if y is None else self._schema.classes.code(y)
                if label < 0 and y is not None:
                    return None
            if not 0.0 <= w <= HEAVY:
                return None
        except TypeError:
            return None  # no label or no weight at all: the long way says so
        cells = self.cells(x)
        return None if cells is None else (*cells, label, w)

    def cells(self, x: Mapping[str, Any]) -> Cells | None:
        """The record's cells; None unless every column and value is known and of its kind."""
        try:
            keys = tuple(x)
        except TypeError:
            return None  # no record at all: the long way says so
        known, places, in_order = self._known
        if keys != known:
            known, places, in_order = self._learn_keys(keys)
            if known is None:
                return None
        if in_order:
            numbers = [*x.values()]
            try:
                if _PLAIN.issuperset(map(type, numbers)) and math.hypot(*numbers) <= HUGE:
                    return numbers, self._no_codes, {} if self._hashes else None
            except OverflowError:
                pass  # an integer beyond all floats: the long way says so
        values: dict[int, Label] | None = {} if self._hashes else None
        cells = self._filled(x, places, values)
        return None if cells is None else (*cells, values)

    def _filled(
        self, x: Mapping[str, Any], places: Places, values: dict[int, Label] | None
    ) -> tuple[list[float], list[int]] | None:
        numeric, codes = self._no_numbers.copy(), self._no_codes.copy()
        for (j, vocabulary), value in zip(places, x.values()):  # noqa: B905 - one cell per key
            kind = type(value)
            if vocabulary is None:
                if kind is float and -HUGE <= value <= HUGE:
                    numeric[j] = value
                elif (kind in _PLAIN or isinstance(value, _NUMBERS)) and -HUGE <= value <= HUGE:
                    numeric[j] = value
                elif not is_missing(value):
                    return None
            elif values is not None:
                if kind is str:
                    codes[j] = int(hash_keys([value])[0])
                    values[codes[j]] = value
                elif not is_missing(value):
                    return None
            else:
                if kind is str:
                    found = vocabulary.codes.get(value)
                else:
                    found = vocabulary.codes.get(identity_key(value)) if isinstance(value, _VALUES) else None
                if found is not None:
                    codes[j] = found
                elif not is_missing(value):
                    return None
        return numeric, codes

    def _learn_keys(self, keys: tuple[str, ...]) -> Keys:
        places = [self._schema.place.get(key) for key in keys]
        if self._words or None in places:
            return None, (), False
        cells = [
            (place[1], self._schema.vocabularies.get(key))
            for key, place in zip(keys, places, strict=True)
            if place is not None
        ]
        in_order = list(keys) == self._schema.names(Kind.NUMERIC) and bool(keys)
        self._known = keys, cells, in_order
        return self._known
