"""Hoeffding trees: decision trees that grow with the stream (Domingos and Hulten, 2000)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Self, cast

import numpy as np

from bayou.classifiers.estimator import Estimator
from bayou.classifiers.explanation import record_of
from bayou.classifiers.numeric import numeric_recipe
from bayou.classifiers.planted_tree import plant
from bayou.classifiers.tree_text import TreeExplanation, TreeText
from bayou.densities.binned import CPiD, GKClass, PiD
from bayou.densities.gaussian import Gaussian
from bayou.engines import Views
from bayou.errors import SchemaError
from bayou.kernels.tree_rows import ADAPTIVE_LEAF, BAYES_LEAF, MAJORITY_LEAF
from bayou.readings.splits import SplitRule, split_rule
from bayou.schema import Declared, Label
from bayou.summaries.tree import Tree
from bayou.views.growing_tree import GrowingTree, GrowthPolicy
from bayou.views.view import AnyView

LEAVES = {"majority": MAJORITY_LEAF, "bayes": BAYES_LEAF, "adaptive": ADAPTIVE_LEAF}


class HoeffdingTree(Estimator):
    r"""A decision tree whose leaves split as soon as one column tells more about the class than chance would.

    `split="g-test"` asks whether the gain of the best column could be chance (see `GTest`); children begin with the
    statistics that their parent would expect of them. `"gain"` and `"gini"` compare two columns, as Domingos and Hulten
    do: with G_a, G_b the two best merits at a leaf that has seen n rows (not splitting has merit 0), it splits if
    G_a - G_b > \epsilon or \epsilon < tie, where \epsilon = \sqrt{R^2 \ln(1/\delta) / (2n)}, and R, the range of the
    merit, grows with the classes (gain) or is 1 (Gini).

    Parameters
    ----------
    grace
        Weight of the rows that a leaf learns between two attempts to split it: by default 50 with the G-test, else 200.
    delta
        Probability that one attempt splits a leaf by chance: by default 0.1 with the G-test, else 1e-7.
    tie
        With `"gain"` and `"gini"`: a leaf splits by its best column, however close the second, once the bound is below
        this.
    split
        The rule that decides on splits: `"g-test"`, `"gain"` (information gain), `"gini"`, or a recipe such as
        `Gini(binary=True)`.
    leaf
        How leaves predict: `"majority"` (class frequencies), `"bayes"` (naive Bayes over the leaf's own rows), or
        `"adaptive"` (the one of the two that has been right more often at that leaf).
    numeric
        What leaves keep of numeric columns to find thresholds: `"gaussian"` (moments and ranges), `"gk"` or
        `GKClass(tuples=50)` (quantiles with class counts, which give the merit of any threshold, and `split` says which
        are tried), or `"pid"`, `"cpid"`, `CPiD(cells=50)` (cells that divide where many rows fall, whose ends are the
        thresholds tried). Naive Bayes at leaves uses the moments in any case.
    memory
        Limit in bytes, or None for no limit. When it is reached, the leaves with the least to gain (weight outside
        their majority class) stop keeping statistics, and start again when they have more to gain than others.
    schema
        `Declared(...)`: kinds of columns, nominal values, classes and limits that are known beforehand.

    A value that is missing, or unknown to a split by values, goes to the branch that had most rows when the split
    was made; statistics leave missing values out. Text columns are ignored.

    Merge: none; train one tree per shard and let them vote. Memory: per leaf 64 bytes per class and numeric column,
    16 per class and nominal value; with quantiles also 8 (4 + K) per tuple and column and 512 (8 p + 12). Time: O(h
    + d) per row to learn at depth h, O(h + d K) to predict, and to learn with adaptive leaves; an attempt to split
    takes O(d K) per cut or value tried.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown.
    MergeError
        If trees are merged.
    UnsupportedError
        If rows are unlearned or faded.

    Examples
    --------
    >>> model = HoeffdingTree(grace=20, delta=0.01)
    >>> for i in range(200): model.learn_one({"sky": "red" if i % 2 else "blue", "i": i % 7}, i % 2 == 1)
    >>> model.predict_one({"sky": "red"}), model.leaves
    (True, 2)
    """

    _offers = ("leaves", "depth", "from_tree", "text", "dot", "path")

    def __init__(
        self,
        grace: float | None = None,
        delta: float | None = None,
        tie: float = 0.05,
        split: str | SplitRule = "g-test",
        leaf: str = "adaptive",
        numeric: str | GKClass | PiD | CPiD = "gaussian",
        memory: int | None = 1 << 25,
        schema: Declared | None = None,
    ) -> None:
        self.grace = grace
        self.delta = delta
        self.tie = tie
        self.split = split
        self.leaf = leaf
        self.numeric = numeric
        self.memory = memory
        self.schema = schema

    def views(self) -> Mapping[str, AnyView]:
        if self.leaf not in LEAVES:
            raise SchemaError(f"leaf={self.leaf!r}; it is one of {', '.join(map(repr, LEAVES))}")
        rule = split_rule(self.split)
        grace = rule.grace if self.grace is None else float(self.grace)
        delta = rule.delta if self.delta is None else self.delta
        if not (grace > 0 and 0 < delta < 1 and self.tie >= 0):
            raise SchemaError(f"{self!r}: grace must be positive, delta in (0, 1), tie not negative")
        growth = GrowthPolicy(grace, delta, self.tie, rule, LEAVES[self.leaf], self.memory)
        return {"tree": GrowingTree(empty_tree(self.numeric), growth)}

    @property
    def tree(self) -> GrowingTree:
        """The view of the tree; pending records of `learn_one` are learned first."""
        view = cast(Views, self.engine).views["tree"]
        assert isinstance(view, GrowingTree)
        return view

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return len(self.tree.summary.nodes.leaves())

    @property
    def depth(self) -> int:
        """Tests on the longest path."""
        return self.tree.summary.depth()

    @property
    def memory_bytes(self) -> int:
        """Bytes of the learned state and of readings of it."""
        return self.tree.summary.memory_bytes if self.started else 0

    @classmethod
    def from_tree(cls, source: Any, **params: Any) -> Self:
        """A model that starts with the nodes of a `HoeffdingTree` or of a fitted scikit-learn DecisionTreeClassifier.

        Leaves start with the class weights of that tree and with empty statistics, and can grow further.
        """
        model = cls(**params)
        plant(model, source)
        return model

    def text(self, depth: int | None = None) -> str:
        """The tree, indented, with the class shares of its leaves."""
        return "\n".join(self._tree_text().lines(depth))

    def dot(self) -> str:
        """The tree in Graphviz's DOT language."""
        return "\n".join(self._tree_text().dot())

    def path(self, row: Any) -> tuple[str, ...]:
        """The tests that lead one row to its leaf."""
        return self._tree_text().path(self._leaf_of(row))

    def explain(self, row: Any, label: Label | None = None, against: Label | None = None) -> TreeExplanation:
        """The contribution of each attribute to the log-odds, the path to the leaf, and the leaf's class weights."""
        explanation = super().explain(row, label, against)
        tree_text, leaf = self._tree_text(), self._leaf_of(row)
        parts = {field.name: getattr(explanation, field.name) for field in fields(explanation)}
        return TreeExplanation(
            **parts, path=tree_text.path(leaf), leaf=tree_text.weights(leaf), reading=tree_text.reading(leaf)
        )  # fmt: skip

    def _leaf_of(self, row: Any) -> int:
        block = self.encode([record_of(row)])
        return int(self.tree.place(block, np.empty((1, self.engine.n_classes)))[0])

    def _tree_text(self) -> TreeText:
        return TreeText(self.tree.summary, self.schema_, self.leaf)

    def resolve_param(self, name: str, value: Any) -> Any:
        resolve = {"split": split_rule, "numeric": numeric_recipe}.get(name)
        return resolve(value) if resolve else value


def empty_tree(numeric: str | GKClass | PiD | CPiD) -> Tree:
    """A tree whose leaves keep moments of numeric columns, and besides quantiles or adaptive grids."""
    recipe = numeric_recipe(numeric)
    if isinstance(recipe, Gaussian):
        return Tree()
    if isinstance(recipe, PiD | CPiD):
        return Tree(grid=recipe.summary())
    if not isinstance(recipe, GKClass) or recipe.eps is not None:
        raise SchemaError(
            f"numeric={numeric!r}; leaves keep 'gaussian', 'gk' or GKClass(tuples=...) without eps, 'pid' or 'cpid'"
        )
    return Tree(recipe.tuples)
