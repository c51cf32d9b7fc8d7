"""The importance of columns: information about the class, or gain of the splits of trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from bayou.block import Floats
from bayou.engines import Engine, Members
from bayou.inspection.attributes import Attribute, attributes_of, class_labels
from bayou.inspection.information import count_information, entropy
from bayou.inspection.model_contents import ModelContents, contents_of
from bayou.inspection.words import word_tables
from bayou.kernels.tree import AT_MOST, COLUMN, LEAF, TEST
from bayou.schema import Kind, Schema
from bayou.summaries.forest import Forest
from bayou.summaries.tree import Tree


def importance_of(owner: Any, engine: Engine) -> dict[str, float]:
    """By column, the share of the class entropy that it removes, the greatest first; see `Estimator.importance`."""
    importance = dict.fromkeys(_columns(engine.schema), 0.0) | _importance(owner, engine)
    return dict(sorted(importance.items(), key=lambda item: -item[1]))


def _columns(schema: Schema) -> Iterator[str]:
    return (name for kind in Kind for name in schema.names(kind))


def _importance(owner: Any, engine: Engine) -> dict[str, float]:
    if isinstance(engine, Members):
        templates, voters = owner.templates(), engine.predicting()
        return _mean([_importance(templates[min(m, len(templates) - 1)], engine.members[m]) for m in voters])
    inside = contents_of(owner, engine)
    if inside is None:
        return {}
    if "forest" in inside.views and isinstance(inside.views["forest"].summary, Forest):
        return forest_gains(inside.views["forest"].summary, inside.schema)
    tree = inside.views.get("tree")
    if tree is not None and isinstance(tree.summary, Tree):
        return tree_gains(tree.summary, inside.schema)
    return {a.name: a.information for a in (*attributes_of(inside), *texts_of(inside))}


def _mean(importances: list[dict[str, float]]) -> dict[str, float]:
    names: Iterable[str] = dict.fromkeys(name for importance in importances for name in importance)
    return {
        name: sum(importance.get(name, 0.0) for importance in importances) / len(importances)
        for name in names
    }


def texts_of(inside: ModelContents) -> Iterator[Attribute]:
    """The text columns of which the model has counts: their words with class weights."""
    labels = tuple(class_labels(inside))
    for table in word_tables(inside):
        information, weight = count_information(table.counts), table.counts.sum(axis=0)
        yield Attribute(
            table.column, "text", "words", information, None, labels, weight, table.words, counts=table.counts
        )


def tree_gains(tree: Tree, schema: Schema) -> dict[str, float]:
    """By column, the entropy that its tests remove, as a share of the entropy at the root.

    The weight of a node is that of the leaves below it, so the gains of all columns add up to that of the tree.
    """
    nodes = tree.nodes
    weight = nodes.weight[: nodes.count].copy()
    numeric, nominal = schema.names(Kind.NUMERIC), schema.names(Kind.NOMINAL)
    gains = dict.fromkeys((*numeric, *nominal), 0.0)
    for node in reversed(range(nodes.count)):  # children come after their parents
        test, column = int(nodes.nodes[node, TEST]), int(nodes.nodes[node, COLUMN])
        if test == LEAF:
            continue
        children = nodes.children(node)
        weight[node] = weight[children].sum(axis=0)
        children_impurity = sum(_impurity(weight[child]) for child in children)
        gains[(numeric if test == AT_MOST else nominal)[column]] += (
            _impurity(weight[node]) - children_impurity
        )
    root_impurity = _impurity(weight[0])
    return {
        name: max(0.0, gain) / root_impurity if root_impurity > 0 else 0.0 for name, gain in gains.items()
    }


def forest_gains(forest: Forest, schema: Schema) -> dict[str, float]:
    """By column, the entropy that its splits remove, as a share of that at the roots, on average over the trees.

    From the gain of each split (J - 1) / 2 nats are subtracted, which it would reach by chance among J classes.
    """
    columns = (*schema.names(Kind.NUMERIC), *schema.names(Kind.NOMINAL))
    inner = np.flatnonzero(forest.attribute >= 0)
    children = forest.left[inner]
    impurity = impurities(forest.counts)
    by_chance = (np.count_nonzero(forest.counts[inner], axis=1) - 1) / 2
    gains = impurity[inner] - impurity[children] - impurity[children + 1] - by_chance
    gain_by_column = np.bincount(forest.attribute[inner], gains, minlength=len(columns))
    root_impurity = float(impurity[forest.roots].sum())
    return {
        name: max(0.0, gain) / root_impurity if root_impurity > 0 else 0.0
        for name, gain in zip(columns, gain_by_column.tolist(), strict=True)
    }


def impurities(counts: Floats) -> Floats:
    """Entropy in nats times total weight, for every row of class weights."""
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.ones_like(counts), where=counts > 0)
    impure: Floats = -(counts * np.log(shares)).sum(axis=1)
    return impure


def _impurity(weight: Any) -> float:
    """Entropy in nats times total weight."""
    return entropy(weight) * float(np.sum(weight))
