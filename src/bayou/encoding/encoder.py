"""From a table to a block, transactionally: what is new is reported and applied only if every row is valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.align import canonical_order
from bayou.block import Block, Codes, Floats, Hashed, Words
from bayou.encoding.columns import distinct, kind_of, numbers, tokens
from bayou.encoding.missing import is_missing
from bayou.encoding.table import Sparse, Table, column_names, sparse_of_records, table_of
from bayou.errors import DataError
from bayou.hashing import hash_keys
from bayou.kernels.scrub import HUGE, count_unusable, scrub
from bayou.schema import Growth, Kind, Label, Schema, Vocabulary, identity_key

WORDS = "words"  # the text column that sparse rows and, for models of words, numeric columns belong to


# numbers, codes, label and weight of one plain record; hashed values by key, which then stand in for codes
Row = tuple[list[float], list[int], int, float, dict[int, Label] | None]


_PLAIN = frozenset((float, int))
_VALUES = (str, bytes, bool, int, float, np.generic)
_UNLABELLED, _ONE = np.full(1, -1, dtype=np.int32), np.ones(1)


def block_of(rows: Sequence[Row], start: int) -> Block:
    """Plain records as a block."""
    if len(rows) == 1 and rows[0][2] < 0 and rows[0][4] is None:
        return Block(
            np.array([rows[0][0]]), np.array([rows[0][1]], dtype=np.int32), (), _UNLABELLED, _ONE, start
        )
    numeric, codes, y, w, values = zip(*rows, strict=True)
    block = Block(
        np.array(numeric), np.empty((0, 0), np.int32), (), np.array(y, np.int32), np.array(w), start
    )
    if values[0] is None:
        block.codes = np.array(codes, dtype=np.int32)
    else:
        block.hashed = Hashed(
            np.array(codes, dtype=np.int64), {k: v for row in values for k, v in row.items()}
        )
        block.codes = present(block.hashed)
    return block


def present(hashed: Hashed) -> Codes:
    """Codes of hashed values: all share one cell."""
    return np.where(hashed.keys == 0, np.int32(-1), np.int32(0))


class Encoder:
    """Encodes batches against a schema it never changes itself.

    Parameters
    ----------
    schema
        The model's schema.
    numbers_are_words
        Numeric columns are counts of words (models of text read a matrix so).

    Examples
    --------
    >>> encoder = Encoder(Schema())
    >>> block, growth = encoder.encode([{"day": "mon", "price": 3.0}], ["UP"], learn=True)
    >>> growth.classes, growth.columns
    (['UP'], [('day', <Kind.NOMINAL: 'nominal'>), ('price', <Kind.NUMERIC: 'numeric'>)])
    """

    def __init__(self, schema: Schema, numbers_are_words: bool = False) -> None:
        self.schema = schema
        self.numbers_are_words = numbers_are_words
        self.unusable = 0
        self._known_names: Sequence[str] | None = None
        self.forget()

    def forget(self) -> None:
        """The schema has grown: what was derived from it is void."""
        self._plan_names: tuple[str, ...] | None = None
        self._no_numbers: list[float] = []
        self._no_codes: list[int] = []
        self._plan: list[tuple[int, Vocabulary | None]] = []
        self._matrix_names = self._names_of_a_matrix()
        self._order: NDArray[np.int64] | None = None
        self._labels: list[Label] = []

    def _names_of_a_matrix(self) -> Sequence[str] | None:
        """The names of nameless columns, if they are all the columns there are: a matrix is then a block already."""
        names = column_names(len(self.schema.names(Kind.NUMERIC)))
        only = len(names) == len(self.schema.place) and names and not self.numbers_are_words
        return names if only and list(names) == self.schema.names(Kind.NUMERIC) else None

    def class_order(self) -> NDArray[np.int64]:
        """Codes of the classes in canonical order."""
        if self._order is None:
            values = self.schema.classes.values
            self._order = canonical_order(values)
            self._labels = [values[i] for i in self._order]
        return self._order

    def labels(self) -> list[Label]:
        """Classes in canonical order."""
        if self._order is None:
            self.class_order()
        return self._labels

    def encode(
        self, X: Any, y: Any = None, w: Any = None, *, start: int = 0, learn: bool = False
    ) -> tuple[Block, Growth]:
        """The rows as a block, and what the schema lacks; with `learn` off, unknown things count as missing."""
        if self.numbers_are_words and isinstance(X, list) and X and all(isinstance(x, Mapping) for x in X):
            table = sparse_of_records(X, start)
        else:
            table = table_of(X)
        task = _Task(self, start, learn)
        if self.numbers_are_words:
            table = _as_words(table, start)
        block = Block(
            numeric=np.empty((0, 0)),
            codes=np.empty((0, 0), dtype=np.int32),
            words=(),
            y=task.labels(y, table.n),
            w=weights(w, table.n, start),
            start=start,
        )
        if table.matrix is not None and table.names is self._matrix_names:
            block.numeric = self._usable(table.matrix)
            block.codes = np.empty((table.n, 0), dtype=np.int32)
            block.novel = sorted(set(task.novel))
            return block, task.growth()
        task.columns(table)
        block.numeric = self._usable(task.numeric(table))
        if self.schema.declared.hash_values:
            block.hashed = task.hashed(table)
            block.codes = present(block.hashed)
        else:
            block.codes = task.nominal(table)
        block.words = task.words(table)
        block.novel = sorted(set(task.novel))
        return block, task.growth()

    def same_names(self, names: Sequence[str], vocabulary: Vocabulary) -> bool:
        """Whether the vocabulary begins with just these words, so that positions are codes already."""
        if names is not self._known_names:
            if list(names) != vocabulary.values[: len(names)]:
                return False
            self._known_names = names
        return True

    def _usable(self, matrix: Floats) -> Floats:
        found = count_unusable(matrix)
        if found:
            self.unusable += found
            matrix = matrix.copy()
            scrub(matrix)
        return matrix

    def row(self, x: Mapping[str, Any], y: Any, w: float) -> Row | None:
        """One plain record, quickly: None unless its columns, values and label are all known and of their kind."""
        names = tuple(x)
        if names != self._plan_names and not self._make_plan(names):
            return None
        numeric, codes = self._no_numbers.copy(), self._no_codes.copy()
        values: dict[int, Label] | None = {} if self.schema.declared.hash_values else None
        for (j, vocabulary), value in zip(self._plan, x.values()):  # noqa: B905 - one plan entry per key
            if vocabulary is None:
                if (
                    type(value) in _PLAIN or isinstance(value, np.floating | np.integer)
                ) and -HUGE <= value <= HUGE:
                    numeric[j] = value
                elif not is_missing(value):
                    return None
            elif values is not None:
                if type(value) is str:
                    codes[j] = int(hash_keys([value])[0])
                    values[codes[j]] = value
                elif not is_missing(value):
                    return None
            else:
                found = vocabulary.codes.get(identity_key(value)) if isinstance(value, _VALUES) else None
                if found is not None:
                    codes[j] = found
                elif not is_missing(value):
                    return None
        label = -1 if y is None else self.schema.classes.code(y)
        if (label < 0 and y is not None) or not 0.0 <= w < np.inf:
            return None
        return numeric, codes, label, float(w), values

    def _make_plan(self, names: tuple[str, ...]) -> bool:
        if self.schema.names(Kind.TEXT) or self.numbers_are_words:
            return False
        places = [self.schema.place.get(name) for name in names]
        if any(place is None for place in places):
            return False
        self._plan_names = names
        self._no_numbers = [np.nan] * len(self.schema.names(Kind.NUMERIC))
        missing = 0 if self.schema.declared.hash_values else -1
        self._no_codes = [missing] * len(self.schema.names(Kind.NOMINAL))
        self._plan = [
            (place[1], self.schema.vocabularies.get(name))
            for name, place in zip(names, places, strict=True)
            if place is not None
        ]
        return True


class _Task:
    """One batch on its way into a block."""

    def __init__(self, encoder: Encoder, start: int, learn: bool) -> None:
        self.encoder, self.schema, self.start, self.learn = encoder, encoder.schema, start, learn
        self.novel: list[int] = []
        self.new_classes: list[Label] = []
        self.new_columns: list[tuple[str, Kind]] = []
        self.new_values: dict[str, list[Label]] = {}
        self.declared: dict[str, int] = {}
        self.place: dict[str, tuple[Kind, int]] = {}
        self.counts = {kind: len(self.schema.names(kind)) for kind in Kind}

    def growth(self) -> Growth:
        return Growth(self.new_classes, self.new_columns, self.new_values, self.declared)

    def labels(self, y: Any, n: int) -> Codes:
        if y is None:
            return np.full(n, -1, dtype=np.int32)
        if len(y) != n:
            raise DataError(f"{n} rows but {len(y)} labels")
        classes = self.schema.classes
        found, inverse, rows = distinct(y, "the labels", self.start)
        codes = np.full(len(found) + 1, -1, dtype=np.int32)
        for i, label in enumerate(found):
            code = classes.codes.get(identity_key(label), -1)
            if code < 0 and self.learn:
                self._admit_class(label, rows[i])
                code = len(classes.values) + len(self.new_classes) - 1
            codes[i] = code
        return codes[inverse]

    def _admit_class(self, label: Label, row: int) -> None:
        known = self.schema.classes.values
        place = {"row": self.start + row, "value": label}
        if self.schema.closed:
            raise DataError(
                f"not one of the declared classes {known!r}",
                **place,  # type: ignore[arg-type]
                remedy="declare it in classes=, or leave classes= out to keep the class set open",
            )
        if len(known) + len(self.new_classes) >= self.schema.classes.limit:
            raise DataError(
                f"one class more than max_classes={self.schema.classes.limit}",
                **place,  # type: ignore[arg-type]
                remedy="raise it with schema=Declared(max_classes=...)",
            )
        self.new_classes.append(label)
        self.novel.append(row)

    def columns(self, table: Table) -> None:
        """Give every column of the table its kind and place; new ones in order of their first value."""
        fresh: list[tuple[int, int, str, Kind]] = []
        for j, name in enumerate(table.names):
            place = self.schema.place.get(name)
            if place is not None:
                self.place[name] = place
            elif self.learn:
                kind, row = (Kind.NUMERIC, 0) if table.matrix is not None else kind_of(table.columns[j], name)
                if kind is Kind.NOMINAL and self.encoder.numbers_are_words:
                    kind = Kind.TEXT
                if kind is not None:
                    fresh.append((row, j, name, kind))
        if table.sparse is not None and WORDS in self.schema.place:
            self.place[WORDS] = self.schema.place[WORDS]
        elif table.sparse is not None and self.learn:
            fresh.append((0, len(table.names), WORDS, Kind.TEXT))
        for row, _, name, kind in sorted(fresh, key=lambda f: f[:2]) if table.n else []:
            self.place[name] = (kind, self.counts[kind])
            self.counts[kind] += 1
            self.new_columns.append((name, kind))
            self.novel.append(row)

    def of_kind(self, table: Table, kind: Kind) -> list[tuple[int, str, Any]]:
        return [
            (self.place[name][1], name, None if table.matrix is not None else table.columns[j])
            for j, name in enumerate(table.names)
            if name in self.place and self.place[name][0] is kind
        ]

    def numeric(self, table: Table) -> Floats:
        p = self.counts[Kind.NUMERIC]
        columns = self.of_kind(table, Kind.NUMERIC)
        places = [j for j, _, _ in columns]
        if (
            table.matrix is not None
            and len(places) == p == table.matrix.shape[1]
            and places == list(range(p))
        ):
            return table.matrix
        out = np.full((table.n, p), np.nan)
        position = {name: i for i, name in enumerate(table.names)}
        for j, name, values in columns:
            matrix = table.matrix
            out[:, j] = matrix[:, position[name]] if matrix is not None else numbers(values, name, self.start)
        return out

    def nominal(self, table: Table) -> Codes:
        out = np.full((table.n, self.counts[Kind.NOMINAL]), -1, dtype=np.int32)
        position = {name: i for i, name in enumerate(table.names)}
        for j, name, values in self.of_kind(table, Kind.NOMINAL):
            if table.matrix is not None:
                values = table.matrix[:, position[name]]
            found, inverse, _ = distinct(values, name, self.start)
            out[:, j] = np.append(self.codes(name, found), -1)[inverse]
        return out

    def hashed(self, table: Table) -> Hashed:
        """Keys of the nominal values; nothing is added to a vocabulary."""
        keys = np.zeros((table.n, self.counts[Kind.NOMINAL]), dtype=np.int64)
        values: dict[int, Label] = {}
        position = {name: i for i, name in enumerate(table.names)}
        for j, name, cells in self.of_kind(table, Kind.NOMINAL):
            if table.matrix is not None:
                cells = table.matrix[:, position[name]]
            found, inverse, _ = distinct(cells, name, self.start)
            hashes = hash_keys(found)
            keys[:, j] = np.append(hashes, 0)[inverse]
            values.update(zip(hashes.tolist(), found, strict=True))
        return Hashed(keys, values)

    def codes(self, name: str, found: Sequence[Label]) -> NDArray[np.int32]:
        """Codes of distinct values; unknown ones are new, or -1 while predicting."""
        vocabulary = self.schema.vocabularies.get(name) or Vocabulary(limit=self._limit(name))
        new: list[Label] = []
        codes = np.empty(len(found), dtype=np.int32)
        for i, value in enumerate(found):
            code = vocabulary.code(value)
            if code < 0 and self.learn:
                code = min(len(vocabulary.values) + len(new), vocabulary.limit)
                new.append(value)
            codes[i] = code
        if new:
            self.new_values[name] = new
        return codes

    def _limit(self, name: str) -> int:
        declared = self.schema.declared
        return declared.max_values if self.place[name][0] is Kind.NOMINAL else declared.max_words

    def words(self, table: Table) -> tuple[Words, ...]:
        nothing = Words(np.zeros(table.n + 1, np.int64), np.empty(0, np.int32), np.empty(0))
        out = [nothing] * self.counts[Kind.TEXT]
        for j, name, values in self.of_kind(table, Kind.TEXT):
            out[j] = self._tokens(name, values)
        if table.sparse is not None and WORDS in self.place:
            out[self.place[WORDS][1]] = self._sparse(table.sparse)
        return tuple(out)

    def _tokens(self, name: str, values: Any) -> Words:
        counted = tokens(values, name, self.start)
        found = list({word: None for row in counted for word in row})
        place = {word: i for i, word in enumerate(found)}
        flat = [(place[word], n) for row in counted for word, n in row.items()]
        sparse = Sparse(
            np.concatenate(([0], np.cumsum([len(row) for row in counted]))).astype(np.int64),
            np.array([i for i, _ in flat], dtype=np.int32),
            np.array([n for _, n in flat], dtype=np.float64),
            found,
            complete=False,
        )
        return _remapped(sparse, self.codes(name, found))

    def _sparse(self, sparse: Sparse) -> Words:
        sparse = _checked_counts(sparse, self.start)
        vocabulary = self.schema.vocabularies.get(WORDS)
        known = vocabulary.declared if vocabulary is not None else 0
        if self.learn and sparse.complete and len(sparse.names) > known:
            self.declared[WORDS] = len(sparse.names)
        if sparse.complete and vocabulary is not None and self.encoder.same_names(sparse.names, vocabulary):
            return Words(sparse.indptr, sparse.ids, sparse.counts)
        return _remapped(sparse, self.codes(WORDS, sparse.names))


def weights(w: Any, n: int, start: int = 0) -> Floats:
    """Row weights, finite and not negative; ones if none are given."""
    if w is None:
        return np.ones(n)
    out = np.array(w, dtype=np.float64)
    if out.ndim == 0:
        out = np.full(n, float(out))
    if out.shape != (n,):
        raise DataError(f"{n} rows but sample_weight of shape {out.shape}")
    bad = np.flatnonzero(~((out >= 0) & (out < np.inf)))
    if len(bad):
        raise DataError(
            "a weight must be a finite number >= 0", row=start + int(bad[0]), value=float(out[bad[0]])
        )
    return out


def _as_words(table: Table, start: int) -> Table:
    """Numeric columns turned into counts of words; columns of strings stay, as text."""
    if table.matrix is None and not table.names:
        return table
    kinds = [Kind.NUMERIC if table.matrix is not None else _word_kind(c, n) for n, c in _pairs(table)]
    words = [j for j, kind in enumerate(kinds) if kind is Kind.NUMERIC]
    if not words:
        return table
    matrix = table.matrix
    if matrix is None:
        matrix = np.column_stack([numbers(table.columns[j], table.names[j], start) for j in words])
    rows, ids = np.nonzero(matrix == matrix if np.isnan(matrix).any() else matrix)
    counts = matrix[rows, ids]
    indptr = np.searchsorted(rows, np.arange(table.n + 1)).astype(np.int64)
    names = table.names if len(words) == len(table.names) else [table.names[j] for j in words]
    rest = [j for j, kind in enumerate(kinds) if kind is not Kind.NUMERIC]
    return Table(
        table.n,
        [table.names[j] for j in rest],
        [table.columns[j] for j in rest],
        sparse=Sparse(indptr, ids.astype(np.int32), counts, names, table.complete),
    )


def _word_kind(values: Any, name: str) -> Kind | None:
    """Kind for a model of words: numbers and flags count a word, strings are text."""
    if getattr(values, "dtype", None) == np.bool_:
        return Kind.NUMERIC
    return kind_of(values, name)[0]


def _pairs(table: Table) -> list[tuple[str, Any]]:
    return [(n, None if table.matrix is not None else table.columns[j]) for j, n in enumerate(table.names)]


def _checked_counts(sparse: Sparse, start: int) -> Sparse:
    """Counts of words are finite numbers >= 0; what is missing or beyond all measure is left out."""
    counts = sparse.counts
    if len(counts) == 0 or (counts.min() >= 0.0 and counts.max() <= HUGE):
        return sparse
    bad = np.flatnonzero(counts < 0)
    if len(bad):
        row = int(np.searchsorted(sparse.indptr, bad[0], side="right")) - 1
        raise DataError(
            "Negative values in data passed to a model of words",
            row=start + row,
            column=sparse.names[sparse.ids[bad[0]]],
            value=float(counts[bad[0]]),
            remedy="counts of words are numbers >= 0",
        )
    return replace(sparse, counts=np.where(counts <= HUGE, counts, 0.0))


def _remapped(sparse: Sparse, codes: NDArray[np.int32]) -> Words:
    """Sparse rows under other ids: unknown words left out, ids ascending, equal ones added."""
    rows = np.repeat(np.arange(len(sparse.indptr) - 1), np.diff(sparse.indptr))
    ids = codes[sparse.ids]
    keep = ids >= 0
    rows, ids, counts = rows[keep], ids[keep].astype(np.int64), sparse.counts[keep]
    span = int(ids.max(initial=0)) + 1
    place, inverse = np.unique(rows * span + ids, return_inverse=True)
    total = np.zeros(len(place))
    np.add.at(total, inverse, counts)
    indptr = np.searchsorted(place // span, np.arange(len(sparse.indptr))).astype(np.int64)
    return Words(indptr, (place % span).astype(np.int32), total)
