"""The scorer of a model: its prediction as a graph of look-ups and sums."""

from __future__ import annotations

from typing import Any

from bayou.engines import Engine
from bayou.errors import UnsupportedError
from bayou.schema import Kind, Schema
from bayou.scorer import Input, Scorer

MAX_ENTRIES = 2_000_000  # numbers in tables: a larger export is unwieldy


def scorer_of(name: str, schema: Schema, engine: Engine, max_entries: int = MAX_ENTRIES) -> Scorer:
    """The scorer of an engine over a schema; refuses what is larger than `max_entries` numbers.

    This refreshes stale readings of the engine: pass a copy.
    """
    if schema.declared.hash_values:
        raise UnsupportedError(
            f"{name} cannot be exported: it keeps values by their hash, in sketches; nominal='counts' exports"
        )
    for column in schema.names(Kind.TEXT):
        recipe = schema.text_recipe(column)
        if recipe is not None and recipe.buckets:
            raise UnsupportedError(
                f"{name} cannot be exported: it keeps the words of column {column!r} by their hash; "
                "Text(buckets=None) exports"
            )
        if recipe is not None and recipe.vocabulary:
            raise UnsupportedError(
                f"{name} cannot be exported: it keeps the frequent words of column {column!r} by their hash; "
                "Text(vocabulary=None) exports"
            )
    try:
        root = engine.scorer()
    except UnsupportedError as problem:
        raise UnsupportedError(f"{name} {problem}") from None
    order = engine.class_order().tolist()
    classes = tuple(schema.classes.values[c] for c in order)
    scorer = Scorer(name, inputs_of(schema), classes, tuple(order), root)
    if scorer.entries > max_entries:
        raise UnsupportedError(
            f"{name} cannot be exported: its tables hold {scorer.entries:,} numbers, beyond "
            f"max_entries={max_entries:,}; fewer columns, a coarser Grid(bins=...), a smaller "
            "Declared(max_values=...) or a smaller tree make them smaller, and a larger max_entries allows them"
        )
    return scorer


def inputs_of(schema: Schema) -> dict[str, tuple[Input, ...]]:
    """The columns of a schema, by kind and in the order of their numbers."""
    inputs_by_kind = {}
    for kind in Kind:
        inputs = []
        for name in schema.names(kind):
            vocabulary = schema.vocabularies.get(name)
            values = () if vocabulary is None else tuple(vocabulary.values)
            other = vocabulary.limit if vocabulary is not None and vocabulary.overflowed else -1
            recipe = schema.text_recipe(name) if kind is Kind.TEXT else None
            default_recipe = recipe is None or recipe == type(recipe)()
            inputs.append(Input(name, kind.value, values, other, plain=default_recipe))
        inputs_by_kind[kind.value] = tuple(inputs)
    return inputs_by_kind


def model_scorer(model: Any, max_entries: int = MAX_ENTRIES) -> Scorer:
    """The scorer of a model in its current state; the model does not change."""
    with model.locked():
        engine = model.engine.copy()
    return scorer_of(type(model).__name__, model.schema_, engine, max_entries)
