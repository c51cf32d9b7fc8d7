"""The intervals, groups, values or words by which a model reads a column."""

from __future__ import annotations

import difflib

from bayou.errors import SchemaError, UnsupportedError
from bayou.inspection.attributes import Attribute, attributes_of
from bayou.inspection.importance import texts_of
from bayou.inspection.model_contents import ModelContents
from bayou.plain_text import clean

_NO_BINS = {
    "gaussian": "by a normal density per class; a model with numeric='gk' has intervals",
    "kernel": "by kernel densities; a model with numeric='gk' has intervals",
    "sketch": "by hashed counts, which do not know the values; Sketch() in place of CountMinSketch() does",
}


def bins_of_column(inside: ModelContents, column: str) -> Attribute:
    """The bins of one column with their class weights; raises if it is unknown, or if the model has no bins of it."""
    schema = inside.schema
    if column not in schema.place:
        similar = difflib.get_close_matches(str(column), [clean(name) for name in schema.place], 3)
        hint = (
            f"did you mean {' or '.join(map(repr, similar))}?" if similar else f"it has {len(schema.place):,}"
        )
        raise SchemaError(f"the model has no column {column!r}; {hint}")
    attribute = next((a for a in (*attributes_of(inside), *texts_of(inside)) if a.name == column), None)
    name = type(inside.owner).__name__
    if attribute is None:
        more = "; its text() shows the tests" if "tree" in inside.views else ""
        raise UnsupportedError(f"{name} reads {column!r} by no intervals, groups or values{more}")
    if attribute.shape in _NO_BINS:
        raise UnsupportedError(f"{name} reads {column!r} {_NO_BINS[attribute.shape]}")
    return attribute
