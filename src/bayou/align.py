"""Alignment of the cells of one schema with those of a larger one, when a schema grows and when models are merged."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayou.errors import MergeError
from bayou.schema import Kind, Label, Schema, Shape, Vocabulary, label_key
from bayou.vocabulary import HASHES

Index = NDArray[np.int64]


class Axis(NamedTuple):
    """The new places of the old entries of an axis, its new length, and how many entries are declared.

    `grown` if the axis is known to have grown at its end only.
    """

    to: Index
    size: int
    declared: int = 0
    grown: bool = False

    @property
    def stays(self) -> bool:
        """Whether the old entries keep their places, so that new ones follow them."""
        return self.grown or np.array_equal(self.to, np.arange(len(self.to)))


@dataclass(frozen=True)
class Lengths:
    """How many classes, values of each nominal column and words of each text column a schema has.

    `min_counts` are the counts that a word of each text column needs to take part in predictions; `seats` the number
    of words that are kept where it is bounded, else 0: the ids of these words in documents are hashes.
    """

    classes: int = 0
    values: tuple[int, ...] = ()
    words: tuple[int, ...] = ()
    min_counts: tuple[int, ...] = ()
    seats: tuple[int, ...] = ()

    def word_ids(self, column: int) -> int:
        """Upper limit of the ids that words of a text column have in documents: all are smaller."""
        return HASHES if self.seats[column] else self.words[column]


@dataclass(frozen=True)
class Alignment:
    """The place of every class, column, value and word of an old schema in a new one.

    `values[j]` and `words[j]` belong to column j of the *new* schema, which is `schema`; for a column that the old
    schema lacks, `to` is empty.
    """

    classes: Axis
    numeric: Axis
    nominal: Axis
    values: tuple[Axis, ...]
    text: Axis
    words: tuple[Axis, ...]
    schema: Schema = field(default_factory=Schema)

    @cached_property
    def lengths(self) -> Lengths:
        """The lengths of the new schema."""
        values, words = (tuple(axis.size for axis in axes) for axes in (self.values, self.words))
        recipes = [self.schema.text_recipe(name) for name in self.schema.names(Kind.TEXT)]
        min_counts = tuple(1 if recipe is None else recipe.min_count for recipe in recipes)
        seats = tuple(0 if recipe is None else recipe.vocabulary or 0 for recipe in recipes)
        return Lengths(self.classes.size, values, words, min_counts, seats)


def align(old: Schema, new: Schema) -> Alignment:
    """The alignment that moves summaries of `old` to `new`, which must contain all of `old`."""
    return Alignment(
        classes=_class_axis(old, new),
        numeric=_column_axis(old, new, Kind.NUMERIC),
        nominal=_column_axis(old, new, Kind.NOMINAL),
        values=_vocabulary_axes(old, new, Kind.NOMINAL),
        text=_column_axis(old, new, Kind.TEXT),
        words=_vocabulary_axes(old, new, Kind.TEXT),
        schema=new,
    )


def from_empty(schema: Schema) -> Alignment:
    """The alignment of empty summaries with a schema."""
    return grown(Shape(0, 0, 0, 0, (), ()), schema)


def grown(before: Shape, schema: Schema) -> Alignment:
    """The alignment for a schema that has only grown at the ends of its axes since it had the shape `before`."""
    now = schema.shape()

    def longer(old: int, size: int, declared: int = 0) -> Axis:
        return Axis(_places(old), size, declared, grown=True)

    def ends(old: tuple[int, ...], vocabularies: list[Vocabulary]) -> tuple[Axis, ...]:
        old += (0,) * (len(vocabularies) - len(old))
        return tuple(longer(n, v.size, v.declared) for n, v in zip(old, vocabularies, strict=True))

    return Alignment(
        classes=longer(before.classes, now.classes, now.classes if schema.closed else 0),
        numeric=longer(before.numeric, now.numeric),
        nominal=longer(before.nominal, now.nominal),
        values=ends(before.values, schema.vocabulary_list(Kind.NOMINAL)),
        text=longer(before.text, now.text),
        words=ends(before.words, schema.vocabulary_list(Kind.TEXT)),
        schema=schema,
    )


_first_places = np.arange(0)


def _places(n: int) -> Index:
    """0, 1, .. n - 1, read-only and cached: a new array for each block would take longer than to count its words."""
    global _first_places
    cached = _first_places
    if len(cached) < n:
        cached = np.arange(2 * n)
        cached.flags.writeable = False
        _first_places = cached
    return cached[:n]


def union(a: Schema, b: Schema) -> Schema:
    """All columns, classes and values of `a` in its order, then those that only `b` has."""
    _check_text(a, b)
    result = a.copy()
    for name, (kind, _) in b.place.items():
        mine = a.kind(name)
        if mine is None:
            result.add_column(name, kind)
        elif mine is not kind:
            raise MergeError(
                f"column {name!r} is {mine} here and {kind} there; declare its kind with "
                "schema=Declared(columns=...) in both models before they learn"
            )
    unknown = [c for c in b.classes.values if result.classes.code(c) < 0]
    if len(result.classes.values) + len(unknown) > result.classes.limit:
        raise MergeError(
            f"together the models know {len(result.classes.values) + len(unknown)} classes, beyond max_classes="
            f"{result.classes.limit}; raise it with schema=Declared(max_classes=...)"
        )
    result.classes.extend(b.classes.values)
    result.dates |= b.dates
    result.closed = a.closed and b.closed
    for name, theirs in b.vocabularies.items():
        result.vocabularies[name].absorb(theirs)
    return result


def _check_text(a: Schema, b: Schema) -> None:
    """Raise MergeError if a text column is tokenized differently in both: a code would stand for two words."""
    for name in dict.fromkeys([*a.names(Kind.TEXT), *b.names(Kind.TEXT)]):
        mine, theirs = a.text_recipe(name), b.text_recipe(name)
        if mine != theirs:
            raise MergeError(
                f"column {name!r} is read as {mine or 'plain text'} here and as {theirs or 'plain text'} there; make "
                "shards with model.fresh() so that they agree"
            )


def canonical(schema: Schema) -> Schema:
    """A schema of equal content with columns by name and classes, values, words in canonical order."""
    result = Schema(schema.declared)
    result.closed = schema.closed
    result.clear_columns()
    result.dates |= schema.dates
    for name in sorted(schema.place):
        result.add_column(name, schema.place[name][0])
    result.classes = schema.classes.in_order(label_key)
    result.vocabularies = {
        name: schema.vocabularies[name].in_order(label_key) for name in result.vocabularies
    }
    return result


def canonical_order(labels: list[Label]) -> Index:
    """Positions of the labels in canonical order."""
    return np.array(sorted(range(len(labels)), key=lambda i: label_key(labels[i])), dtype=np.int64)


def _vocabulary_axis(old: Vocabulary, new: Vocabulary) -> Axis:
    if old.values == new.values[: len(old.values)]:
        to = np.arange(old.size, dtype=np.int64)
    else:
        to = np.array([new.code(value) for value in old.values], dtype=np.int64)
        to = np.append(to, np.arange(len(to), old.size))
    if old.overflowed:
        to[len(old.values) :] = new.limit
    return Axis(to, new.size, new.declared)


def _class_axis(old: Schema, new: Schema) -> Axis:
    axis = _vocabulary_axis(old.classes, new.classes)
    return Axis(axis.to, axis.size, axis.size if new.closed else 0)


def _vocabulary_axes(old: Schema, new: Schema, kind: Kind) -> tuple[Axis, ...]:
    empty = Vocabulary()
    return tuple(
        _vocabulary_axis(old.vocabularies.get(name, empty), new.vocabularies[name])
        for name in new.names(kind)
    )


def _column_axis(old: Schema, new: Schema, kind: Kind) -> Axis:
    to = np.array([new.place[name][1] for name in old.names(kind)], dtype=np.int64)
    return Axis(to, len(new.names(kind)))
