"""An adaptive random forest: drift detectors watch each tree, which a background tree replaces on drift."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.checks import require
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.engines import Engine, Views
from bayou.engines.engine import row_count, under
from bayou.ensembles.bagging import BaggedMembers
from bayou.ensembles.drift import AdaptiveWindow
from bayou.ensembles.ensemble import Ensemble
from bayou.errors import SchemaError, UnsupportedError
from bayou.kernels.tree_rows import ADAPTIVE_LEAF
from bayou.kernels.votes import faded_weights, log_votes, losses
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.readings.splits import GTest
from bayou.schema import Declared, Growth, Schema
from bayou.summaries.tree import Tree
from bayou.views.growing_tree import GrowingTree, GrowthPolicy

if TYPE_CHECKING:
    from bayou.scorer import Node

STRETCH = 256  # rows learned before the windows check them; those behind an alarm are learned again
MOST_TREES = 1_000
FADE = 0.95  # decay per row of a tree's recent accuracy, which so covers some twenty rows
UNKNOWN = 0.5  # the accuracy of a tree before its first row


class AdaptiveForest(Ensemble):
    r"""Adaptive random forest for drifting streams: trees over random columns, replaced when their error rises.

    Each of T Hoeffding trees learns every row with a Poisson weight of its own, and looks at \sqrt{d} + 1 columns
    drawn anew whenever one of its leaves may split. Two adaptive windows (ADWIN) watch the error of each tree: one
    warns early, and a second tree begins to grow in the background; when the other sees drift, the tree in the
    background takes over. The forest predicts the mean of its trees' probabilities, each weighed by the fourth power of
    how often the tree was right lately: P(c | x) = \sum_t a_t^4 P_t(c | x) / \sum_t a_t^4.

    Parameters
    ----------
    trees
        Number of trees, T.
    rate
        Mean of the Poisson weights; 6 as in leveraging bagging.
    warning
        Probability of a false alarm per test of the detector that starts a background tree.
    drift
        Probability of a false alarm per test of the detector that replaces a tree by its background tree.
    grace
        Weight of the rows that a leaf learns between two attempts to split it.
    delta
        Probability that one attempt splits a leaf by chance, see `GTest`.
    max_bytes
        Limit for each tree, in bytes; when it is reached, the leaves with the least to gain stop keeping statistics.
    seed
        Seed of the Poisson weights and of the columns tried; every draw is a hash of it with the row or the leaf.
    schema
        `Declared(...)`: kinds of columns, nominal values, classes and limits that are known beforehand.

    Every row is predicted before it is learned, also by `learn`. Merge: none, since drift belongs to one stream.
    Memory: up to 2 T `max_bytes`, half of it for trees in the background, and 10 KB for the windows of each tree. Time:
    that of T trees, which also predict every row they learn; O(log n) for a test of a window after n rows.

    Raises
    ------
    SchemaError
        If a parameter is out of range.
    MergeError
        If models are merged.
    UnsupportedError
        If rows are unlearned or faded.

    Examples
    --------
    >>> model = AdaptiveForest(trees=3)
    >>> for i in range(3000): model.learn_one({"x": i % 2, "y": i % 3}, (i % 2 == 0) == (i < 2000))
    >>> model.predict_one({"x": 1}), model.replaced
    (True, 3)
    """

    def __init__(
        self,
        trees: int = 15,
        rate: float = 6.0,
        warning: float = 0.05,
        drift: float = 0.01,
        grace: float = 50.0,
        delta: float = 0.01,
        max_bytes: int = 1 << 25,
        seed: int = 1,
        schema: Declared | None = None,
    ) -> None:
        self.trees = trees
        self.rate = rate
        self.warning = warning
        self.drift = drift
        self.grace = grace
        self.delta = delta
        self.max_bytes = max_bytes
        self.seed = seed
        self.schema = schema

    @property
    def replaced(self) -> int:
        """How often a tree has been replaced."""
        return int(self._members().replaced.sum())

    @property
    def warned(self) -> int:
        """How often a tree has begun to grow in the background."""
        return int(self._members().warned.sum())

    def _members(self) -> WatchedTrees:
        engine = self.engine
        assert isinstance(engine, WatchedTrees)
        return engine

    @property
    def copies(self) -> int:
        return self.trees

    def templates(self) -> Sequence[Estimator]:
        self._check()
        return [HoeffdingTree(self.grace, self.delta, memory=self.max_bytes, schema=self.schema)] * self.trees

    def _check(self) -> None:
        if not (1 <= self.trees <= MOST_TREES and self.rate > 0 and self.grace > 0 and 0 < self.delta < 1):
            raise SchemaError(
                f"{self!r}: trees lie between 1 and {MOST_TREES:,}, rate and grace are positive, delta lies in (0, 1)"
            )
        if self.seed < 0 or self.max_bytes < 1:
            raise SchemaError(f"{self!r}: seed is not negative, max_bytes is positive")

    def build_engine(self) -> WatchedTrees:
        self._check()

        def builder(member: int) -> Callable[[], Engine]:
            growth = GrowthPolicy(
                float(self.grace), float(self.delta), 0.0, GTest(), ADAPTIVE_LEAF, self.max_bytes,
                self.seed * MOST_TREES + member,
            )  # fmt: skip
            return partial(tree_engine, growth)

        return WatchedTrees(
            [builder(m) for m in range(self.trees)], self.rate, self.seed, self.warning, self.drift
        )


def tree_engine(growth: GrowthPolicy) -> Engine:
    """The engine of an empty tree."""
    return Views({"tree": GrowingTree(Tree(), growth)})


class WatchedTrees(BaggedMembers):
    """Bagged trees, each with a warning detector, a drift detector, and, after a warning, a background tree."""

    def __init__(
        self, builders: list[Callable[[], Engine]], rate: float, seed: int, warning: float, drift: float
    ) -> None:
        super().__init__(builders, rate, False, seed)
        self.deltas = {"warning": warning, "drift": drift}
        self._start()

    def _start(self) -> None:
        size = len(self.members)
        self.windows = {name: [AdaptiveWindow(d) for _ in range(size)] for name, d in self.deltas.items()}
        self.background: list[Engine] = [build() for build in self.builders]
        # Which trees in the background are in use; the others are empty
        self.growing = np.zeros(size, dtype=np.bool_)
        self.replaced = np.zeros(size, dtype=np.int64)
        self.warned = np.zeros(size, dtype=np.int64)
        self.record = np.full(size, UNKNOWN)

    @property
    def law(self) -> MergeLaw:
        return MergeLaw.NONE

    # -- learning --

    def learn(self, block: Block) -> None:
        self.test_then_train(block)

    def test_then_train(self, block: Block) -> Floats:
        joint = np.empty((len(self.members), block.n, self.n_classes))
        self.each(lambda m: self._advance(m, block, joint[m]), block.n)
        self.learned += block.learned()
        return self._weighted_vote(block, joint)

    def joint_log_proba(self, block: Block) -> Floats:
        unlabelled = block.relabelled(np.full(block.n, -1, dtype=np.int32))
        return self._weighted_vote(
            unlabelled, self.ask(lambda member: member.joint_log_proba(block), block.n)
        )

    def _weighted_vote(self, block: Block, joint: Floats) -> Floats:
        """The mean of the trees' probabilities, weighted by their recent accuracy, which labelled rows update."""
        order = self.class_order()
        weights, out = np.empty((block.n, len(self.members))), np.empty(joint.shape[1:])
        faded_weights(self.record, joint, block.y, block.w, order, FADE, weights)
        log_votes(joint, weights, order, False, out)
        return out

    def scorer(self) -> Node:
        from bayou.scorer import LogSoftmax, Mixture

        votes = tuple(LogSoftmax(member.scorer()) for member in self.members)
        with np.errstate(divide="ignore"):
            return Mixture(votes, 4.0 * np.log(self.record))

    def _advance(self, m: int, block: Block, out: Floats) -> None:
        """Predict and learn rows with one member and watch its losses; fills `out` with the predictions."""
        weighted, order, at = self._weighted(block, m), self.class_order(), 0
        while at < block.n:
            end = min(at + STRETCH, block.n)
            rows, original_rows = weighted.rows(at, end), block.rows(at, end)
            joint = self.members[m].test_then_train(rows)
            losses_of_rows = np.empty(rows.n)
            losses(joint, rows.y, order, losses_of_rows)
            done = self._watch(m, rows, original_rows, losses_of_rows)
            out[at : at + done] = joint[:done]
            at += done

    def _watch(self, m: int, rows: Block, original_rows: Block, losses_of_rows: Floats) -> int:
        """Feed the losses of a member to its windows, and the rows to its background tree.

        Returns the number of rows done: all, or those up to the one at which the tree was replaced.
        """
        warning, drift = self.windows["warning"][m], self.windows["drift"][m]
        begin = 0
        while begin < rows.n:
            warning_row = warning.watch(losses_of_rows[begin:], original_rows.rows(begin, rows.n))
            end = rows.n if warning_row < 0 else begin + warning_row + 1
            drift_row = drift.watch(losses_of_rows[begin:end], original_rows.rows(begin, end))
            if drift_row >= 0:
                end = begin + drift_row + 1
            if self.growing[m]:
                self.background[m].learn(rows.rows(begin, end))
            if drift_row >= 0:
                self._replace(m, rows.rows(end - 1, end))
                return end
            if warning_row >= 0:
                self.warned[m] += 1
                self.growing[m] = True
                self.background[m] = self._begin_with(m, rows.rows(end - 1, end))
            begin = end
        return rows.n

    def _replace(self, m: int, row: Block) -> None:
        self.replaced[m] += 1
        self.members[m] = self.background[m] if self.growing[m] else self._begin_with(m, row)
        self.background[m], self.growing[m] = self.members[m].fresh(), False
        for windows in self.windows.values():
            windows[m].clear()

    def _begin_with(self, m: int, row: Block) -> Engine:
        """A tree that has learned one row."""
        tree = self.background[m].fresh()
        tree.learn(row)
        return tree

    # -- schema, merging, files --

    def begin(self, schema: Schema) -> None:
        super().begin(schema)
        for tree in self.background:
            tree.begin(schema)

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        for tree in self.background:
            tree.realign(plan)

    def check_growth(self, growth: Growth) -> None:
        super().check_growth(growth)
        for tree in self.background:
            tree.check_growth(growth)

    def scale(self, factor: float) -> None:
        raise UnsupportedError("AdaptiveForest does not decay: it forgets by replacing its trees")

    def fresh(self) -> Self:
        twin = super().fresh()
        twin._start()
        twin.background = [tree.fresh() for tree in self.background]
        return twin

    def parts(self) -> Mapping[str, Engine]:
        return {**super().parts(), **{f"background.{m}": tree for m, tree in enumerate(self.background)}}

    def arrays(self) -> Arrays:
        windows = {
            f"{name}.{array}": np.stack([window.arrays()[array] for window in windows])
            for name, windows in self.windows.items()
            for array in AdaptiveWindow.names
        }
        counts_by_tree = {
            "replaced": self.replaced,
            "warned": self.warned,
            "record": self.record,
            "growing": self.growing,
        }
        return {**super().arrays(), **windows, **counts_by_tree}

    def restore(self, arrays: Arrays) -> None:
        growing, size = arrays["growing"], len(self.members)
        require(
            growing.shape == (size,) and growing.dtype == np.bool_, "a tree has one in the background or none"
        )
        self.growing = np.array(growing)
        super().restore(arrays)
        record = arrays["record"]
        fits = record.shape == (size,) and record.dtype == np.float64
        require(
            fits and bool(((record >= 0) & (record <= 1)).all()), "how often a tree was right lies in [0, 1]"
        )
        self.record = np.array(record)
        for name in ("replaced", "warned"):
            require(arrays[name].shape == (size,), f"{name} has a number for each tree")
            setattr(self, name, np.array([row_count(arrays[name][m : m + 1]) for m in range(size)]))
        for name, windows in self.windows.items():
            window_arrays = under(f"{name}.", arrays)
            require(all(len(a) == size for a in window_arrays.values()), "every tree has its windows")
            for m, window in enumerate(windows):
                window.restore({array: window_arrays[array][m] for array in AdaptiveWindow.names})
