"""Starting from an existing tree: its structure is copied, and its leaves learn further."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayou.errors import DataError
from bayou.kernels.tree import SLOT
from bayou.schema import Declared, Schema

if TYPE_CHECKING:
    from bayou.classifiers.hoeffding_tree import HoeffdingTree


def plant(model: HoeffdingTree, source: Any) -> None:
    """Copy the nodes and class weights of another tree into an unfitted model; statistics start empty."""
    if type(source) is type(model):
        _plant_own(model, source)
    elif hasattr(source, "tree_") and hasattr(source, "classes_"):
        _plant_sklearn(model, source)
    else:
        raise DataError(
            f"cannot start from {type(source).__name__}; give a HoeffdingTree or a fitted DecisionTreeClassifier"
        )
    _wake(model)


def _plant_own(model: HoeffdingTree, source: HoeffdingTree) -> None:
    model.begin(source.schema_.copy())
    tree = model.tree.summary
    tree.nodes.restore(source.tree.summary.nodes.arrays())
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(source, name):
            setattr(model, name, getattr(source, name))


def _plant_sklearn(model: HoeffdingTree, source: Any) -> None:
    fitted = source.tree_
    if fitted.n_outputs != 1:
        raise DataError("cannot start from a tree with several outputs")
    names = [str(name) for name in getattr(source, "feature_names_in_", [])]
    columns = names or [f"x{j}" for j in range(fitted.n_features)]
    schema = Schema(Declared(columns=dict.fromkeys(columns, "numeric")))
    schema.classes.extend(np.asarray(source.classes_).tolist())
    model.begin(schema)
    model.n_features_in_ = int(fitted.n_features)
    if names:
        model.feature_names_in_ = np.array(names, dtype=object)
    value = fitted.value[:, 0, :]
    weight = value / value.sum(axis=1, keepdims=True) * fitted.weighted_n_node_samples[:, None]
    nodes = model.tree.summary.nodes
    nodes.weight[0] = weight[0]
    pending = [(0, 0)]  # nodes of the source, and of the model
    for source_node, node in pending:
        left, right = int(fitted.children_left[source_node]), int(fitted.children_right[source_node])
        if left >= 0:
            cut = float(fitted.threshold[source_node])
            children = nodes.split_at_most(
                node, int(fitted.feature[source_node]), cut, weight[left], weight[right]
            )
            pending += zip((left, right), children, strict=True)


def _wake(model: HoeffdingTree) -> None:
    """Let every leaf keep statistics, as far as memory allows, and start a new grace period."""
    view = model.tree
    nodes = view.summary.nodes
    nodes.nodes[:, SLOT] = 0
    nodes.track[:] = 0.0
    view.wake()
