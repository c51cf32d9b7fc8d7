"""Encoding of one batch into arrays; new classes, columns and values are collected, and the schema stays unchanged."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from operator import itemgetter
from typing import Any

import numpy as np

from bayou.block import Codes, Floats, Hashed, Words
from bayou.encoding.column_block import CELLS, NO_COLUMNS, Columns
from bayou.encoding.columns import distinct, doubles, kind_of
from bayou.encoding.forms import Form, is_arrow, picked
from bayou.encoding.frames import column_of
from bayou.encoding.lookup import Lookup, Lookups, translate_known
from bayou.encoding.table import Sparse, Table
from bayou.encoding.words import WORDS, checked_counts, renumbered
from bayou.errors import DataError, TargetWarning, TextWarning, listed, warn_user
from bayou.hashing import hash_keys
from bayou.kernels.look_up import MISS, rows_of_columns
from bayou.kernels.side_by_side import all_columns_usable, put_side_by_side
from bayou.missing import unmasked
from bayou.plain_text import SENTENCES, are_sentences, shortened
from bayou.schema import Growth, HashedVocabulary, Kind, Label, Schema, Vocabulary, identity_key
from bayou.text.documents import documents_of

HEAVY = float(1 << 53)  # weights are at most this: sums with squares of the largest values stay finite
MANY_NUMBERS = 1000  # as labels
SOME_NUMBERS = 100  # as labels of fewer than twice as many rows
CodesOf = Callable[
    [str, Sequence[Label], Sequence[int]], Codes
]  # a column's name, distinct values, their first rows
_WEIGHT = "a weight must be a finite number >= 0, at most 2^53"


class Batch:
    """Encodes the columns of one batch into arrays, and collects the classes, columns and values that are new."""

    def __init__(
        self, schema: Schema, lookups: Lookups, numbers_are_words: bool, start: int, learn: bool
    ) -> None:
        self.schema, self.numbers_are_words, self.start, self.learn = schema, numbers_are_words, start, learn
        self.lookups = lookups
        self.schema_change_rows: list[int] = []
        self.new_classes: list[Label] = []
        self.new_columns: list[tuple[str, Kind]] = []
        self.new_values: dict[str, Sequence[Label]] = {}
        self.declared: dict[str, int] = {}
        self.new_dates: list[str] = []
        self.notes: dict[str, tuple[Sequence[int], Sequence[str]]] = {}
        # the kind of each column, and its place among the columns of this kind
        self.place: dict[str, tuple[Kind, int]] = {}

    def growth(self) -> Growth:
        """The additions to the schema that the encoded columns need."""
        return Growth(
            self.new_classes, self.new_columns, self.new_values, self.declared, self.new_dates, self.notes
        )

    def labels(self, y: Any, n: int) -> Codes:
        """Codes of the labels of n rows, -1 where a label is missing."""
        if y is None:
            return np.full(n, -1, dtype=np.int32)
        if isinstance(y, str | bytes | Set) or not hasattr(y, "__len__") or not getattr(y, "shape", (n,)):
            raise DataError(
                "labels are a list or column, one for each row", value=y, remedy=f"give {n} of them"
            )
        if len(y) != n:
            raise DataError(f"{n} rows but {len(y)} labels")
        codes, column, lookup = np.empty((1, n), dtype=np.int32), column_of(y), self.lookups.classes()
        self._fill(lookup.form_of(column), column, codes, 0, lookup, "the labels", self._class_codes)
        labels: Codes = codes[0]
        if self.new_classes:
            self._warn_of_measurements(n)
            self._warn_of_namesakes()
        return labels

    def _warn_of_measurements(self, n: int) -> None:
        """Warn once, when the classes are so many numbers that they are probably measurements."""
        known = self.schema.classes.values
        before, now = len(known), len(known) + len(self.new_classes)
        if not _too_many(now, self.start + n) or _too_many(before, self.start):
            return
        if all(isinstance(label, int | float) for label in (*known, *self.new_classes)):
            warn_user(
                f"the labels are {now:,} different numbers in {self.start + n:,} rows, and each of them is a class: "
                f"{listed(self.new_classes, 3)}; if they are measurements, turn them into classes first (ranges, "
                "such as pandas.qcut gives); if they are names, give them as strings",
                TargetWarning,
            )

    def _warn_of_namesakes(self) -> None:
        """Warn of a class that was learned before under another type: 1 and "1" are two classes."""
        known = {str(label): label for label in self.schema.classes.values}
        twins = [(label, known[str(label)]) for label in self.new_classes if str(label) in known]
        if twins:
            warn_user(
                f"the label {twins[0][0]!r} is a new class, beside {twins[0][1]!r}, which the model has learned; if "
                "both are one class, give labels of one type",
                TargetWarning,
            )

    def _class_codes(self, _: str, labels: Sequence[Label], rows: Sequence[int]) -> Codes:
        """Codes of distinct labels; unknown ones are new, or -1 while predicting."""
        classes = self.schema.classes
        codes = np.full(len(labels), -1, dtype=np.int32)
        for i, label in enumerate(labels):
            code = classes.codes.get(identity_key(label), -1)
            if code < 0 and self.learn:
                self._admit_class(label, rows[i])
                code = len(classes.values) + len(self.new_classes) - 1
            codes[i] = code
        return codes

    def _fill(
        self, form: Form | None, values: Any, out: Codes, j: int, lookup: Lookup, name: str, codes: CodesOf
    ) -> None:
        """Write a column's codes into out[j]: known values by compiled code, the others by `codes`."""
        misses = lookup.fill(form, values, out, j, self.learn)
        if misses is None or misses == len(out[j]):  # the first batch of a column knows none of its values
            uniques, inverse, rows = distinct(values, name, self.start)
            out[j] = np.append(codes(name, uniques, rows), -1)[inverse]
        elif misses:
            where = np.flatnonzero(out[j] == MISS)
            uniques, inverse, rows = distinct(picked(values, where), name, self.start, where)
            out[j, where] = np.append(codes(name, uniques, where[rows].tolist()), -1)[inverse]

    def _admit_class(self, label: Label, row: int) -> None:
        """Add a class to the new ones; raises DataError if the class set is closed or full."""
        known = self.schema.classes.values
        place = {"row": self.start + row, "value": label}
        if self.schema.closed:
            raise DataError(
                f"not one of the declared classes {known!r}",
                **place,  # type: ignore[arg-type] # row and value, by name
                remedy="declare it in classes=, or leave classes= out to keep the class set open",
            )
        if len(known) + len(self.new_classes) >= self.schema.classes.limit:
            raise DataError(
                f"one class more than max_classes={self.schema.classes.limit}",
                **place,  # type: ignore[arg-type] # row and value, by name
                remedy="raise it with schema=Declared(max_classes=...)",
            )
        self.new_classes.append(label)
        self.schema_change_rows.append(row)

    def columns(self, table: Table) -> None:
        """Determine the kind and the place of every column of the table; new ones in order of their first value."""
        self.counts = {kind: len(self.schema.names(kind)) for kind in Kind}
        fresh: list[tuple[int, int, str, Kind]] = []
        for j, name in enumerate(table.names):
            place = self.schema.place.get(name)
            if place is not None:
                self.place[name] = place
            elif self.learn:
                kind, row = (Kind.NUMERIC, 0) if table.matrix is not None else kind_of(table.columns[j], name)
                if kind is Kind.NOMINAL and self.numbers_are_words:
                    kind = Kind.TEXT
                if kind is not None:
                    fresh.append((row, j, name, kind))
        if table.sparse is not None and WORDS in self.schema.place:
            self.place[WORDS] = self.schema.place[WORDS]
        elif table.sparse is not None and self.learn:
            fresh.append((table.sparse.first, len(table.names), WORDS, Kind.TEXT))
        for row, _, name, kind in sorted(fresh, key=lambda f: f[:2]) if table.n else []:
            if len(self.schema.place) + len(self.new_columns) >= self.schema.declared.max_columns:
                raise DataError(
                    f"one column more than max_columns={self.schema.declared.max_columns:,}",
                    row=self.start + row,
                    column=name,
                    remedy="if its name is a value, put it into a column; if it is a word, declare text; or raise it "
                    "with schema=Declared(max_columns=...)",
                )
            self.place[name] = (kind, self.counts[kind])
            self.counts[kind] += 1
            self.new_columns.append((name, kind))
            if name in table.dates:
                self.new_dates.append(name)
            self.schema_change_rows.append(row)

    def of_kind(self, table: Table, kind: Kind) -> list[tuple[int, str, Any]]:
        """The table's columns of a kind: the place, name and values of each."""
        return [
            (self.place[name][1], name, table.columns[j] if table.matrix is None else table.matrix[:, j])
            for j, name in enumerate(table.names)
            if name in self.place and self.place[name][0] is kind
        ]

    def numeric(self, table: Table) -> tuple[Floats | Columns, bool]:
        """The numeric columns, as one matrix unless they are large, and whether all cells are known to be usable.

        Usable cells are not missing, infinite or huge; columns that are left in place have no others.
        """
        p = self.counts[Kind.NUMERIC]
        if p == 0:
            return np.empty((table.n, 0)), True
        if table.numbers is not None and self._in_place(table.numbers.names, p):
            addresses = table.numbers.columns if table.n * p > 2 * CELLS else None
            return table.numbers.matrix if addresses is None else Columns(*addresses), table.numbers.usable
        if table.matrix is not None and self._in_place(table.names, p):
            return table.matrix, False
        if not table.n:
            return np.empty((0, p)), True
        columns = sorted(self.of_kind(table, Kind.NUMERIC), key=itemgetter(0))
        sources = [(j, *doubles(values, name, self.start)) for j, name, values in columns]
        places = np.array([(j, address) for j, address, _ in sources], dtype=np.int64).reshape(-1, 2)
        memories = [memory for _, _, memory in sources]
        # Only columns of Arrow may be left in place, since Arrow arrays are immutable.
        may_stay = len(columns) == p and table.n * p > 2 * CELLS and all(map(is_arrow, memories))
        if may_stay and all_columns_usable(places, table.n):
            return Columns(places, memories), True
        rows = np.empty((table.n, p)) if len(columns) == p else np.full((table.n, p), np.nan)
        usable = put_side_by_side(rows, NO_COLUMNS, places, 0)
        return rows, usable and len(columns) == p

    def _in_place(self, names: Sequence[str], p: int) -> bool:
        """Whether these are the p numeric columns of the model, in its order."""
        new = [name for name, kind in self.new_columns if kind is Kind.NUMERIC]
        return len(names) == p and [*names] == [*self.schema.names(Kind.NUMERIC), *new]

    def nominal(self, table: Table) -> Codes:
        """Codes of the nominal columns, -1 where a value is missing or unknown."""
        rows = np.empty((table.n, self.counts[Kind.NOMINAL]), dtype=np.int32)
        if rows.shape[1] == 0:
            return rows
        columns = self.of_kind(table, Kind.NOMINAL)
        if len(columns) < rows.shape[1]:
            rows.fill(-1)
        known = [
            (j, lookup := self.lookups.column(name), lookup.form_of(values)) for j, name, values in columns
        ]
        remaining = translate_known(rows, known)
        if remaining:
            by_column = np.empty((len(remaining), table.n), dtype=np.int32)
            for k, i in enumerate(remaining):
                (_, name, values), (_, lookup, form) = columns[i], known[i]
                self._fill(form, values, by_column, k, lookup, name, self.codes)
            rows_of_columns(rows, by_column, np.array([known[i][0] for i in remaining]))
        return rows

    def hashed(self, table: Table) -> Hashed:
        """Hashes of the nominal values, which need no vocabulary."""
        keys = np.zeros((table.n, self.counts[Kind.NOMINAL]), dtype=np.int64)
        values: dict[int, Label] = {}
        for j, name, cells in self.of_kind(table, Kind.NOMINAL):
            uniques, inverse, _ = distinct(cells, name, self.start)
            hashes = hash_keys(uniques)
            keys[:, j] = np.append(hashes, 0)[inverse]
            values.update(zip(hashes.tolist(), uniques, strict=True))
            if self.learn:
                self._warn_of_hashed_sentences(name, uniques)
        return Hashed(keys, values)

    def codes(self, name: str, uniques: Sequence[Label], rows: Sequence[int] = ()) -> Codes:
        """Codes of distinct values; unknown ones are new, or -1 while predicting."""
        vocabulary = self.schema.vocabularies.get(name) or Vocabulary(limit=self._limit(name))
        if self.learn and not vocabulary.size and 0 < len(uniques) <= vocabulary.limit:
            self.new_values[name] = list(uniques)
            self._warn_of_sentences(name, [], uniques)
            return np.arange(len(uniques), dtype=np.int32)
        new: list[Label] = []
        codes = np.empty(len(uniques), dtype=np.int32)
        for i, value in enumerate(uniques):
            code = vocabulary.code(value)
            if code < 0 and self.learn:
                code = min(len(vocabulary.values) + len(new), vocabulary.limit)
                new.append(value)
            codes[i] = code
        if new:
            self.new_values[name] = new
            self._warn_of_sentences(name, vocabulary.values, new)
        return codes

    def _warn_of_hashed_sentences(self, name: str, values: Sequence[Label]) -> None:
        """Warn of sentences in a column without vocabulary, by its first values since the model was made or loaded."""
        known = self.lookups.hashed.setdefault(name, [])
        if len(known) < SENTENCES:
            new = [value for value in values[: 2 * SENTENCES] if value not in known]
            self._warn_of_sentences(name, known, new)
            known.extend(new[: SENTENCES - len(known)])

    def _warn_of_sentences(self, name: str, known: Sequence[Label], new: Sequence[Label]) -> None:
        """Warn once, when the first values of a nominal column turn out to be sentences."""
        if self.place[name][0] is not Kind.NOMINAL or name in self.schema.declared.columns:
            return
        now = [*known[:SENTENCES], *new[:SENTENCES]][:SENTENCES]
        if are_sentences(now) and not are_sentences(known[:SENTENCES]):
            decode = "decode the bytes and " if isinstance(now[0], bytes) else ""
            warn_user(
                f"column {name!r} holds sentences, such as {shortened(now[0], 60)!r}, and each is taken for a name: a "
                f"new sentence tells nothing; to count words, {decode}declare the column with "
                f"schema=Declared(columns={{{name!r}: 'text'}}), and names that are so long with "
                f"schema=Declared(columns={{{name!r}: 'nominal'}})",
                TextWarning,
            )

    def _limit(self, name: str) -> int:
        declared = self.schema.declared
        return declared.max_values if self.place[name][0] is Kind.NOMINAL else declared.max_words

    def words(self, table: Table) -> tuple[Words, ...]:
        """Counts of words of each text column."""
        if not self.counts[Kind.TEXT]:
            return ()
        by_place = {j: self._text(name, values) for j, name, values in self.of_kind(table, Kind.TEXT)}
        if table.sparse is not None and WORDS in self.place:
            by_place[self.place[WORDS][1]] = self._sparse(table.sparse)
        missing = set(range(self.counts[Kind.TEXT])) - by_place.keys()
        for j in missing:
            by_place[j] = Words(np.zeros(table.n + 1, np.int64), np.empty(0, np.int32), np.empty(0))
        return tuple(by_place[j] for j in range(len(by_place)))

    def _text(self, name: str, values: Any) -> Words:
        """Counts of words of a column of documents."""
        documents = documents_of(values, name, self.start)
        lookup = self.lookups.column(name)
        vocabulary = self.schema.vocabularies.get(name) or Vocabulary(limit=self._limit(name))
        tokens = self.lookups.tokenizer(name).tokens(
            documents,
            lookup.string_table(),
            limit=vocabulary.limit,
            overflowed=vocabulary.overflowed,
            learn=self.learn,
            start=self.start,
        )
        if tokens.noted:
            self.notes[name] = (tokens.noted, tokens.new)
        elif tokens.new:
            self.new_values[name] = list(tokens.new)
        return tokens.words

    def _sparse(self, sparse: Sparse) -> Words:
        """Counts of words of a sparse matrix, under the codes of the vocabulary."""
        sparse = checked_counts(sparse, self.start)
        vocabulary = self.schema.vocabularies.get(WORDS) or Vocabulary(limit=self._limit(WORDS))
        if isinstance(vocabulary, HashedVocabulary):
            raise DataError(
                "counts of words come by name, and the words of this column are hashed",
                column=WORDS,
                remedy="declare the column without buckets= and vocabulary=, or give text",
            )
        if self.learn and sparse.complete and len(sparse.names) > vocabulary.declared:
            self.declared[WORDS] = len(sparse.names)
        if sparse.complete and vocabulary.begins_with(sparse.names):
            return Words(sparse.indptr, sparse.ids, sparse.counts)
        if self.learn and sparse.complete and vocabulary.begins(sparse.names):
            # the first matrix, or one with more columns than the one before
            self.new_values[WORDS] = sparse.names[vocabulary.size :]
            return Words(sparse.indptr, sparse.ids, sparse.counts)
        return renumbered(sparse, self.codes(WORDS, sparse.names))


def _too_many(classes: int, rows: int) -> bool:
    """Whether this many distinct numbers among the labels of this many rows are probably no classes."""
    return classes > MANY_NUMBERS or (classes > SOME_NUMBERS and 2 * classes > rows)


def weights(w: Any, n: int, start: int = 0) -> Floats:
    """Row weights from 0 to `HEAVY`; ones if none are given."""
    if w is None:
        return np.ones(n)
    try:
        out = np.array(unmasked(w), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(_WEIGHT, value=w) from None
    if out.ndim == 0:
        out = np.full(n, float(out))
    if out.shape != (n,):
        raise DataError(f"{n} rows but sample_weight of shape {out.shape}")
    bad = np.flatnonzero(~((out >= 0) & (out <= HEAVY)))
    if len(bad):
        raise DataError(_WEIGHT, row=start + int(bad[0]), value=float(out[bad[0]]))
    return out
