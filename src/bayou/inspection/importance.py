"""How much each column tells about the class."""

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
    """By column, the share of the class entropy that it tells, the greatest first; see `Estimator.importance`."""
    found = dict.fromkeys(_columns(engine.schema), 0.0) | _told(owner, engine)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _columns(schema: Schema) -> Iterator[str]:
    return (name for kind in Kind for name in schema.names(kind))


def _told(owner: Any, engine: Engine) -> dict[str, float]:
    if isinstance(engine, Members):
        templates, voters = owner.templates(), engine.predicting()
        return _mean([_told(templates[min(m, len(templates) - 1)], engine.members[m]) for m in voters])
    inside = contents_of(owner, engine)
    if inside is None:
        return {}
    if "forest" in inside.views and isinstance(inside.views["forest"].summary, Forest):
        return forest_gains(inside.views["forest"].summary, inside.schema)
    tree = inside.views.get("tree")
    if tree is not None and isinstance(tree.summary, Tree):
        return tree_gains(tree.summary, inside.schema)
    return {a.name: a.information for a in (*attributes_of(inside), *texts_of(inside))}


def _mean(found: list[dict[str, float]]) -> dict[str, float]:
    names: Iterable[str] = dict.fromkeys(name for one in found for name in one)
    return {name: sum(one.get(name, 0.0) for one in found) / len(found) for name in names}


def texts_of(inside: ModelContents) -> Iterator[Attribute]:
    """Every text column the model has counts of: its words with their class weights."""
    labels = tuple(class_labels(inside))
    for table in word_tables(inside):
        told, weight = count_information(table.counts), table.counts.sum(axis=0)
        yield Attribute(
            table.column, "text", "words", told, None, labels, weight, table.words, counts=table.counts
        )


def tree_gains(tree: Tree, schema: Schema) -> dict[str, float]:
    """By column, the entropy that the tests of it take away, as a share of the entropy at the root.

    The weight of a node is that of the leaves below it, so what all tests take away is what the tree tells.
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
        apart = sum(_impurity(weight[child]) for child in children)
        gains[(numeric if test == AT_MOST else nominal)[column]] += _impurity(weight[node]) - apart
    whole = _impurity(weight[0])
    return {name: max(0.0, gain) / whole if whole > 0 else 0.0 for name, gain in gains.items()}


def forest_gains(forest: Forest, schema: Schema) -> dict[str, float]:
    """By column, the entropy that its splits take away, as a share of that at the roots, on average over the trees.

    Of each split (J - 1) / 2 nats are taken off, which it would take away by chance among J classes.
    """
    columns = (*schema.names(Kind.NUMERIC), *schema.names(Kind.NOMINAL))
    inner = np.flatnonzero(forest.attribute >= 0)
    children = forest.left[inner]
    held = impurities(forest.counts)
    by_chance = (np.count_nonzero(forest.counts[inner], axis=1) - 1) / 2
    gains = held[inner] - held[children] - held[children + 1] - by_chance
    told = np.bincount(forest.attribute[inner], gains, minlength=len(columns))
    whole = float(held[forest.roots].sum())
    return {
        name: max(0.0, gain) / whole if whole > 0 else 0.0
        for name, gain in zip(columns, told.tolist(), strict=True)
    }


def impurities(counts: Floats) -> Floats:
    """Entropy in nats times weight, of every row of class weights."""
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.ones_like(counts), where=counts > 0)
    impure: Floats = -(counts * np.log(shares)).sum(axis=1)
    return impure


def _impurity(weight: Any) -> float:
    """Entropy times weight."""
    return entropy(weight) * float(np.sum(weight))
