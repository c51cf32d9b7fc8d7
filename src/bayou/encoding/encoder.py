"""Encoding of a table into a block, as a transaction: the schema grows only after every row has proved valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.align import canonical_order
from bayou.block import Block, Floats
from bayou.encoding.batch import Batch, weights
from bayou.encoding.column_block import ColumnBlock, Columns
from bayou.encoding.common_columns import compare_columns, suspicious
from bayou.encoding.dates import with_parts_of_dates
from bayou.encoding.lookup import Lookups
from bayou.encoding.records import PlainRecords, present
from bayou.encoding.table import Table, column_names, sparse_of_records, table_of
from bayou.encoding.words import as_words
from bayou.errors import DataError
from bayou.kernels.scrub import all_usable, count_unusable, scrub
from bayou.schema import Growth, Kind, Label, Schema


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
        self._lookups = Lookups(schema)
        self._warned: set[frozenset[str]] = set()
        self.forget()

    def __getstate__(self) -> dict[str, Any]:
        """The schema and the counts; lookups and caches are derived from the schema again."""
        return {name: getattr(self, name) for name in ("schema", "numbers_are_words", "unusable")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lookups = Lookups(self.schema)
        self._warned = set()
        self.forget()

    def grow(self, growth: Growth) -> None:
        """Add the new classes, columns and values of a batch to the schema."""
        self.schema.grow(growth)
        kinds = {self.schema.kind(name) for name in growth.values}
        if growth.classes or growth.columns or not kinds <= {Kind.TEXT}:  # nothing is derived from words
            self.forget()

    def forget(self) -> None:
        """Discard all that was derived from the schema, which has grown; codes never change and stay valid."""
        self.records = PlainRecords(self.schema, self.numbers_are_words)
        self._matrix_names = self._names_of_a_matrix()
        self._canonical: tuple[NDArray[np.int64], list[Label]] | None = None

    def _names_of_a_matrix(self) -> Sequence[str] | None:
        """The names x0, x1, ... if the schema has exactly these columns: a matrix can then be used as it is."""
        names = column_names(len(self.schema.names(Kind.NUMERIC)))
        is_matrix = len(names) == len(self.schema.place) and names and not self.numbers_are_words
        return names if is_matrix and list(names) == self.schema.names(Kind.NUMERIC) else None

    def canonical_classes(self) -> tuple[NDArray[np.int64], list[Label]]:
        """Codes of the classes in canonical order, and the classes in this order."""
        if self._canonical is None:
            values = self.schema.classes.values
            order = canonical_order(values)
            self._canonical = order, [values[i] for i in order]
        return self._canonical

    def encode(
        self, X: Any, y: Any = None, w: Any = None, *, start: int = 0, learn: bool = False
    ) -> tuple[Block, Growth]:
        """The rows as a block, and the additions that the schema needs; unless `learn`, unknown values are missing.

        The unusable values of rows to predict are counted here, those of rows to learn by the model that learns them.
        """
        try:
            block, growth = self._encoded(X, y, w, start, learn)
        except DataError as problem:
            problem.index = None if problem.row is None else problem.row - start
            raise
        if not learn:
            self.unusable += block.unusable
        return block, growth

    def _encoded(self, X: Any, y: Any, w: Any, start: int, learn: bool) -> tuple[Block, Growth]:
        if self.numbers_are_words and isinstance(X, list) and X and all(isinstance(x, Mapping) for x in X):
            table = sparse_of_records(X, start)
        else:
            table = table_of(X)
        if self.numbers_are_words:
            table = as_words(table, start)
        elif table.columns:
            table = with_parts_of_dates(table, self.schema, learn, start)
        batch = Batch(self.schema, self._lookups, self.numbers_are_words, start, learn)
        block = Block(
            numeric=np.empty((0, 0)),
            codes=np.empty((table.n, 0), dtype=np.int32),
            words=(),
            y=batch.labels(y, table.n),
            w=weights(w, table.n, start),
            start=start,
        )
        if table.names is self._matrix_names and table.matrix is not None:
            self._fill_numeric(block, table.matrix)
        else:
            block = self._filled(block, batch, table)
            if not learn and suspicious(batch, table):
                compare_columns(self.schema, table, X, self._warned)
        block.schema_change_rows = sorted(set(batch.schema_change_rows))
        return block, batch.growth()

    def _filled(self, block: Block, batch: Batch, table: Table) -> Block:
        batch.columns(table)
        numbers, usable = batch.numeric(table)
        if isinstance(numbers, Columns):
            block = ColumnBlock.of(block, numbers)
        else:
            self._fill_numeric(block, numbers, usable)
        if self.schema.declared.hash_values:
            block.hashed = batch.hashed(table)
            block.codes = present(block.hashed)
        else:
            block.codes = batch.nominal(table)
        block.words = batch.words(table)
        return block

    def record(self, x: Mapping[str, Any], start: int) -> Block | None:
        """One record as a block to predict; None unless it is plain, see `PlainRecords`."""
        block = self.records.block(x, start)
        if block is not None and not block.no_missing:
            self._fill_numeric(block, block.numeric)
            self.unusable += block.unusable
        return block

    def waiting(self, start: int) -> Block:
        """Take the pending records, as a block to be learned."""
        block = self.records.take(start)
        if not block.no_missing:
            self._fill_numeric(block, block.numeric)
        return block

    def _fill_numeric(self, block: Block, matrix: Floats, usable: bool = False) -> None:
        """Set the block's numbers; unusable cells (infinite or huge) are counted and become missing, in a copy."""
        block.numeric, block.no_missing = matrix, usable or matrix.size == 0 or all_usable(matrix)
        block.unusable = 0 if block.no_missing else count_unusable(matrix)
        if block.unusable:
            block.numeric = matrix.copy()
            scrub(block.numeric)
