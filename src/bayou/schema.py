"""Schemas: the kinds of the columns, their growing vocabularies, the classes, and the user's declarations.

A schema is open: classes, columns, values and words may appear at any time. It grows only at the end of
each axis, so that codes stay valid. Entries are stored in order of arrival; everything that users see or
compare (ties, digests, `classes_`) is in the canonical order of `label_key`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from bayou.errors import SchemaError, listed
from bayou.recipe import Recipe, TextRecipe
from bayou.vocabulary import FrequentWords as FrequentWords
from bayou.vocabulary import HashedVocabulary as HashedVocabulary
from bayou.vocabulary import Label as Label
from bayou.vocabulary import Vocabulary as Vocabulary
from bayou.vocabulary import identity_key as identity_key

DATE = "date"  # a column may be declared so, besides the kinds: it is learned as several columns


class Kind(StrEnum):
    """The three kinds of columns."""

    NUMERIC = "numeric"
    NOMINAL = "nominal"
    TEXT = "text"


def label_key(label: Label) -> tuple[int, Label]:
    """Canonical order of labels and values: booleans, numbers, strings, bytes.

    >>> sorted(["b", 2, True, 1.5, "a"], key=label_key)
    [True, 1.5, 2, 'a', 'b']
    """
    if isinstance(label, bool):
        return (0, label)
    if isinstance(label, int | float):
        return (1, label)
    return (2, label) if isinstance(label, str) else (3, label)


def natural_key(name: str) -> tuple[list[tuple[str, int, str]], str]:
    """Natural order of names: runs of digits count as numbers.

    >>> sorted(["x10", "x2", "x", "x02b", "a9"], key=natural_key)
    ['a9', 'x', 'x2', 'x02b', 'x10']
    """
    parts = re.split("([0-9]+)", name)
    # Digits are compared by length, then as text, which is the order of numbers of any size
    digits = [part.lstrip("0") for part in parts[1::2]]
    return [(text, len(d), d) for text, d in zip(parts[::2], [*digits, ""], strict=True)], name


@dataclass(frozen=True)
class Declared(Recipe):
    """Declarations of columns and classes before the first row. All of them are optional.

    Parameters
    ----------
    columns
        Name to kind (`"numeric"`, `"nominal"`, `"text"`) or, for a nominal column, its list of values, for one of
        text how it is read: `Text(ngrams=(1, 2))`. `"date"`
        says that text is a date (2026-11-16, 2026-11-16T21:12:13+01:00), to be learned as all dates are: as seconds,
        hour, weekday and month.
    classes
        The classes; giving them closes the class set.
    max_classes, max_values, max_words, max_columns
        Caps that keep memory bounded: a class or column beyond its cap is an error, a value or word shares one
        "other" cell.
    hash_values
        Nominal values are encoded as stable hashes instead of a vocabulary, for models that count
        unboundedly many values in bounded memory.

    Examples
    --------
    >>> Declared(columns={"day": ["mon", "tue"], "note": "text"}, classes=["UP", "DOWN"]).max_values
    10000
    """

    columns: Mapping[str, str | Sequence[Label] | TextRecipe] = field(default_factory=dict)
    classes: Sequence[Label] | None = None
    max_classes: int = 10_000
    max_values: int = 10_000
    max_words: int = 1_000_000
    max_columns: int = 100_000
    hash_values: bool = False


@dataclass(frozen=True)
class Growth:
    """The additions to the schema that a block needs, in order of first appearance.

    `columns` are new ones with their kind; `values` the new values or words per column name; `declared` the number of
    values of a column that are known to exist, seen or not (a matrix declares its columns as words); `dates` those
    columns that are the seconds of dates; `notes` the names of words that are hashed, with their buckets.
    """

    classes: Sequence[Label] = ()
    columns: Sequence[tuple[str, Kind]] = ()
    values: Mapping[str, Sequence[Label]] = field(default_factory=dict)
    declared: Mapping[str, int] = field(default_factory=dict)
    dates: Sequence[str] = ()
    notes: Mapping[str, tuple[Sequence[int], Sequence[str]]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.classes or self.columns or self.values)


@dataclass(frozen=True)
class Shape:
    """Sizes of the axes of a schema."""

    classes: int
    numeric: int
    nominal: int
    text: int
    values: tuple[int, ...]
    words: tuple[int, ...]
    seats: int = 0  # the number of words in vocabularies of frequent words


class Schema:
    """Columns by kind, their vocabularies, and the classes.

    Examples
    --------
    >>> s = Schema(Declared(columns={"day": ["mon", "tue"]}))
    >>> s.grow(Growth(classes=["UP"], columns=[("price", Kind.NUMERIC)]))
    >>> s.names(Kind.NUMERIC), s.names(Kind.NOMINAL), s.classes.values
    (['price'], ['day'], ['UP'])
    """

    def __init__(self, declared: Declared | None = None) -> None:
        self.declared = declared or Declared()
        self.classes = Vocabulary(self.declared.classes or (), limit=self.declared.max_classes)
        self.closed = self.declared.classes is not None
        self.clear_columns()
        for name, kind in self.declared.columns.items():
            if isinstance(kind, str) and kind == DATE:
                self.dates.add(name)  # its columns are added with its first values
            elif isinstance(kind, str):
                self.add_column(name, _kind(name, kind))
            elif isinstance(kind, TextRecipe):
                self.add_column(name, Kind.TEXT)
            elif isinstance(kind, Recipe):
                raise SchemaError(
                    f"column {name!r} is declared as {kind!r}; a recipe for a column is Text(...)"
                )
            else:
                self.add_column(name, Kind.NOMINAL, kind)

    def __repr__(self) -> str:
        """Columns by kind, and the classes, a few of each.

        >>> Schema(Declared(columns={"day": ["mon", "tue"], "price": "numeric"}, classes=["UP", "DOWN"]))
        Schema(numeric: 'price'; nominal: 'day'; classes: 'UP', 'DOWN')
        """
        parts = [f"{kind.value}: {listed(self._names[kind])}" for kind in Kind if self._names[kind]]
        return f"Schema({'; '.join([*parts, f'classes: {listed(self.classes.values)}'])})"

    def clear_columns(self) -> None:
        """Remove all columns."""
        self.dates: set[str] = set()  # columns of dates, which are learned as seconds and as parts
        self.place: dict[str, tuple[Kind, int]] = {}
        self.vocabularies: dict[str, Vocabulary] = {}
        self._names: dict[Kind, list[str]] = {kind: [] for kind in Kind}

    def add_column(self, name: str, kind: Kind, values: Iterable[Label] = ()) -> None:
        """Add a column of this kind, with the values that are declared for it."""
        self.place[name] = (kind, len(self._names[kind]))
        self._names[kind].append(name)
        if kind is not Kind.NUMERIC:
            limit = self.declared.max_values if kind is Kind.NOMINAL else self.declared.max_words
            recipe = self.text_recipe(name) if kind is Kind.TEXT else None
            if kind is Kind.NOMINAL and self.declared.hash_values:
                self.vocabularies[name] = _hashed_values(values)
            elif recipe is not None and recipe.vocabulary:
                self.vocabularies[name] = FrequentWords(recipe.vocabulary)
            elif recipe is not None and recipe.buckets:
                self.vocabularies[name] = HashedVocabulary(recipe.buckets)
            else:
                self.vocabularies[name] = Vocabulary(values, limit=limit)

    def text_recipe(self, name: str) -> TextRecipe | None:
        """The declared recipe of a text column, None if none is declared."""
        declared = self.declared.columns.get(name)
        return declared if isinstance(declared, TextRecipe) else None

    def names(self, kind: Kind) -> list[str]:
        """Columns of one kind, in storage order."""
        return self._names[kind]

    def kind(self, name: str) -> Kind | None:
        """The kind of a column, None if it is not known."""
        place = self.place.get(name)
        return place[0] if place else None

    def vocabulary_list(self, kind: Kind) -> list[Vocabulary]:
        """The vocabularies of all columns of a kind, in storage order."""
        return [self.vocabularies[name] for name in self.names(kind)]

    def grow(self, growth: Growth) -> None:
        """Append new classes, columns, values and words. Existing codes stay valid."""
        if growth.classes:
            self.classes.extend(growth.classes)
        for name, kind in growth.columns:
            self.add_column(name, kind)
        for name, values in growth.values.items():
            self.vocabularies[name].extend(values)
        self.dates.update(growth.dates)
        self.note(growth)
        for name, declared in growth.declared.items():
            self.vocabularies[name].declared = max(self.vocabularies[name].declared, declared)

    def note(self, growth: Growth) -> None:
        """Record the names of words that are hashed."""
        for name, (codes, names) in growth.notes.items():
            vocabulary = self.vocabularies[name]
            if isinstance(vocabulary, HashedVocabulary):
                vocabulary.note(codes, names)

    def shape(self) -> Shape:
        """Sizes of all axes, by which `align.grown` finds later what has been added."""
        nominal, text = self.vocabulary_list(Kind.NOMINAL), self.vocabulary_list(Kind.TEXT)
        return Shape(
            self.classes.size,
            len(self._names[Kind.NUMERIC]),
            len(nominal),
            len(text),
            tuple([v.size for v in nominal]),
            tuple([v.size for v in text]),
            sum([v.size for v in text if isinstance(v, FrequentWords)]),
        )

    def become(self, other: Schema) -> None:
        """Replace the content by a copy of another schema's, in place: references to this schema stay valid."""
        twin = other.copy()
        self.declared, self.closed, self.classes = twin.declared, twin.closed, twin.classes
        self.place, self.vocabularies, self._names = twin.place, twin.vocabularies, twin._names
        self.dates = twin.dates

    def __deepcopy__(self, memo: dict[int, object]) -> Schema:
        twin = self.copy()
        memo[id(self.classes)] = twin.classes
        memo.update({id(v): twin.vocabularies[name] for name, v in self.vocabularies.items()})
        return twin

    def copy(self) -> Schema:
        """An independent copy."""
        twin = Schema.__new__(Schema)
        twin.declared, twin.closed = self.declared, self.closed
        twin.classes = self.classes.copy()
        twin.place, twin.dates = dict(self.place), set(self.dates)
        twin._names = {kind: list(names) for kind, names in self._names.items()}
        twin.vocabularies = {name: v.copy() for name, v in self.vocabularies.items()}
        return twin


def _hashed_values(values: Iterable[Label]) -> Vocabulary:
    """The vocabulary of a hashed column: all values share one cell, and none is stored."""
    vocabulary = Vocabulary(limit=0)
    vocabulary.overflowed = True
    vocabulary.declared = len({identity_key(value) for value in values})
    return vocabulary


def _kind(name: str, kind: str) -> Kind:
    try:
        return Kind(kind)
    except ValueError:
        raise SchemaError(
            f"column {name!r} is declared as {kind!r}; a kind is one of {', '.join(repr(k.value) for k in Kind)} and "
            f"{DATE!r}, and the values of a nominal column are given as a list"
        ) from None
