"""Warnings of rows to predict that lack most of the model's columns, so that the prediction is mostly the prior."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayou.encoding.batch import Batch
from bayou.encoding.dates import parts_of
from bayou.encoding.table import Table
from bayou.encoding.words import WORDS
from bayou.errors import ColumnWarning, listed, warn_user
from bayou.schema import Schema

MANY = 0.5  # of the model's columns; if so many are absent, the prediction is mostly the prior
MOST_WARNED = 64  # warnings at most, one per set of columns: records may have ever new ones


def suspicious(batch: Batch, table: Table) -> bool:
    """Whether so few columns are known that `compare_columns` must be called; takes no time per row or column.

    Columns of counts are words, of which a table may lack any; one known word is enough.
    """
    if table.sparse is None:
        return bool(table.n and len(batch.place) <= MANY * len(batch.schema.place))
    words = _words(batch.schema)
    any_known = any(name in words for names in (table.sparse.names, table.names) for name in names)
    return not (words and (any_known or not table.sparse.complete))


def compare_columns(schema: Schema, table: Table, X: Any, warned: set[frozenset[str]]) -> None:
    """Warn, once for each set of columns, of rows that lack most of the columns the model learned.

    A record may leave out missing values, and a document may consist of new words: absent columns are warned of in
    tables, whose columns are complete, and in records only if there are columns with unknown names.
    """
    if not schema.place or not table.n or len(warned) >= MOST_WARNED:
        return
    names = _names_in_rows(table, X)
    names |= {part for name in names & schema.dates for part in parts_of(name)}
    if not names or names in warned:
        return
    columns = [name for name in schema.place if name != WORDS]
    lacking = [name for name in columns if name not in names]
    if len(lacking) == len(columns):
        what, known = ("columns", columns) if columns else ("words", list(_words(schema)))
        text = (
            f"the rows have none of the {what} the model learned, so every answer is the prior: it learned "
            f"{listed(known)}; the rows have {listed(sorted(names))}"
        )
    elif len(lacking) < MANY * len(columns) or not (table.complete or names - schema.place.keys()):
        return
    else:
        text = (
            f"{len(lacking)} of the {len(columns)} columns the model learned are not in the rows and taken as "
            f"missing: {listed(lacking)}; the rows have {listed(sorted(names))}"
        )
    warned.add(names)
    warn_user(text, ColumnWarning)


def _words(schema: Schema) -> Mapping[Any, int]:
    """The words of tables of counts that the model knows."""
    return schema.vocabularies[WORDS].codes if WORDS in schema.place else {}


def _names_in_rows(table: Table, X: Any) -> frozenset[str]:
    """The names in the rows, those of records also where every value is missing."""
    names = set(table.names)
    if table.sparse is not None:
        names.update(table.sparse.names)
    if not table.complete and isinstance(X, list | tuple):
        names.update(str(name) for record in X if isinstance(record, Mapping) for name in record)
    return frozenset(names)
