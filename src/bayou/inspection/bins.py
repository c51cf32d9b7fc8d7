"""The intervals, groups, values or words by which a model reads a column."""

from __future__ import annotations

import difflib

from bayou.errors import SchemaError, UnsupportedError
from bayou.inspection.attributes import Attribute, attributes_of
from bayou.inspection.importance import texts_of
from bayou.inspection.model_contents import ModelContents
from bayou.plain_text import clean

_WITHOUT = {
    "gaussian": "by a normal density per class; a model with numeric='gk' has intervals",
    "kernel": "by kernel densities; a model with numeric='gk' has intervals",
    "sketch": "by hashed counts, which do not know the values; Sketch() in place of CountMinSketch() does",
}


def bins_of_column(inside: ModelContents, column: str) -> Attribute:
    """The parts of one column with their class weights; raises where it is unknown, or read by something else."""
    schema = inside.schema
    if column not in schema.place:
        near = difflib.get_close_matches(str(column), [clean(name) for name in schema.place], 3)
        said = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has {len(schema.place):,}"
        raise SchemaError(f"the model has no column {column!r}; {said}")
    found = next((a for a in (*attributes_of(inside), *texts_of(inside)) if a.name == column), None)
    name = type(inside.owner).__name__
    if found is None:
        more = "; its text() shows the tests" if "tree" in inside.views else ""
        raise UnsupportedError(f"{name} reads {column!r} by no intervals, groups or values{more}")
    if found.shape in _WITHOUT:
        raise UnsupportedError(f"{name} reads {column!r} {_WITHOUT[found.shape]}")
    return found
