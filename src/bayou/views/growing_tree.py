"""A view of a tree that learns and predicts rows in kernels, and returns to Python only where a leaf may split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from bayou.align import Alignment, canonical_order
from bayou.block import Block, Floats, Index
from bayou.hashing import hash_label
from bayou.kernels.class_counts import class_total
from bayou.kernels.splits import worth_splitting
from bayou.kernels.tree import (
    AT_MOST,
    BAYES,
    COLUMN,
    FIRST,
    LEAF,
    MAJORITY,
    MULTIWAY,
    ONE_VALUE,
    OWN,
    PARENT,
    TEST,
    USUAL,
    VALUE,
    WIDTH,
)
from bayou.kernels.tree_memory import choose_leaves
from bayou.kernels.tree_rows import ADAPTIVE_LEAF, BAYES_LEAF, predict_rows
from bayou.kernels.tree_splits import BRANCHES, NODES, SLOTS, WAYS, inherit_counts, inherit_moments
from bayou.readings.splits import Split, SplitRule, merits_of
from bayou.schema import Kind, Schema, label_key
from bayou.summaries.leaf_statistics import SlotArrays, rooms
from bayou.summaries.tree import Tree
from bayou.threads import over_ranges
from bayou.views.view import View

if TYPE_CHECKING:
    from bayou.scorer import Cell, Node

Sizes = tuple[int, int, list[int]]  # classes, numeric columns, values of each nominal column
GRAIN = 100_000  # cells worth a thread of their own


@dataclass(frozen=True)
class GrowthPolicy:
    """When a leaf splits, how it predicts, and how much memory the tree may take."""

    grace: float
    delta: float
    tie: float
    rule: SplitRule
    kind: int
    limit: int | None
    draw: int | None = (
        None  # a seed, if each attempt to split tries a random choice of columns; None if it tries all
    )


class GrowingTree(View[Tree]):
    """A tree that learns rows and splits leaves by a rule, within a limit of memory."""

    prediction_is_pure = True

    def __init__(self, summary: Tree, growth: GrowthPolicy) -> None:
        super().__init__(summary)
        self.growth = growth
        self.rules = growth.rule.rules(growth.delta, growth.tie)
        self.schema = Schema()
        self._ordered = False  # whether the cells of the nominal columns are in canonical order
        self._sizes_before: Sizes | None = None  # sizes before the schema grew
        self._has_schema = False

    def update(self, block: Block) -> None:
        self._learn(block, np.empty((0, self.summary.nodes.weight.shape[1])))

    def predict_then_update(self, block: Block, out: Floats) -> None:
        self._learn(block, out)

    def _learn(self, block: Block, out: Floats) -> None:
        at, leaf, g, attempted = 0, -1, self.growth, self._sizes_before is not None
        self._order_cells()
        while True:
            slots = self.summary.statistics.slots
            quantiles = self.summary.statistics.quantiles is not None
            short = g.limit is not None and self.summary.dormant > 0
            # Where the schema has just grown, the sizes by which memory is measured change from row to row. What fits
            # by those after the block fits before, too; Python decides about the rest, row by row.
            room = 0 if short and self._sizes_before is not None else self._room(self._known_sizes())
            room = slots if room is None else room
            limited = short and room == slots and not quantiles
            watched = quantiles or (short and not limited)
            at, leaf, lacks = self.summary.learn(
                block, at, g.kind, g.grace, self.rules, watched, limited, room, leaf, out
            )
            if leaf < 0:
                break
            attempted = True
            if not self._make_room(lacks):
                self._attempt(leaf, block, at)
                leaf = -1
        self._sizes_before = None
        if attempted:  # otherwise neither nodes nor leaves have changed
            self.summary.fit(self._room(self._known_sizes()))

    def _make_room(self, lacks: int) -> bool:
        """Make room for a split that lacks it; False if that does not help, or the limit of memory may be exceeded."""
        tree = self.summary
        t, slots = tree.nodes, tree.statistics.slots
        if lacks == WAYS:
            return False
        lengths = t.room_for(2 if lacks == NODES else 0, max(0, lacks - BRANCHES))
        most = self._room(self._known_sizes(), lengths)
        if most is not None and most < 2 * slots:
            return False
        if lacks == SLOTS:
            tree.statistics.resize(2 * slots)
        else:
            t.reserve(*lengths)
        return True

    def add_log_prob(self, block: Block, out: Floats) -> None:
        self.place(block, out)

    def place(self, block: Block, out: Floats) -> Index:
        """The leaf of each row; the predictions of the leaves are written into `out`."""
        t, s = self.summary.nodes, self.summary.statistics
        leaves = np.empty(len(block.y), dtype=np.int64)
        if len(leaves) == 1:
            predict_rows(
                t.nodes, t.cuts, t.branches, t.weight, t.track, s.tables, s.above, s.below, s.known, s.offsets,
                block.numeric, block.codes, self.growth.kind, leaves, out,
            )  # fmt: skip
            return leaves

        def rows(lo: int, hi: int) -> None:
            predict_rows(
                t.nodes, t.cuts, t.branches, t.weight, t.track,
                s.tables, s.above, s.below, s.known, s.offsets,
                block.numeric[lo:hi], block.codes[lo:hi], self.growth.kind, leaves[lo:hi], out[lo:hi],
            )  # fmt: skip

        columns = block.numeric.shape[1] + block.codes.shape[1]
        over_ranges(rows, block.n, 1 + GRAIN // max(1, columns * out.shape[1]))
        return leaves

    def add_to_scorer(self, so_far: Node) -> Node:
        """The tree as branches of a scorer; `so_far` is ignored, since a tree has no other view beside it."""
        scorers: dict[int, Node] = {}
        t = self.summary.nodes
        for node in reversed(range(t.count)):  # children are born after their parents
            scorers[node] = (
                self._leaf_scorer(node) if t.nodes[node, TEST] == LEAF else self._branch(node, scorers)
            )
        return scorers[0]

    def _branch(self, node: int, scorers: dict[int, Node]) -> Node:
        from bayou.scorer import Branch, Interval, Value

        t = self.summary.nodes
        test, column, value, first, width, usual = t.nodes[
            node, [TEST, COLUMN, VALUE, FIRST, WIDTH, USUAL]
        ].tolist()
        children = t.children(node)
        cell: Cell
        if test == AT_MOST:
            cell = Interval(column, t.cuts[node : node + 1].copy())
        elif test == ONE_VALUE:
            cells = np.ones(self.schema.vocabulary_list(Kind.NOMINAL)[column].size, dtype=np.int64)
            cells[value] = 0
            cell = Value(column, cells, 1)
        else:
            place = {child: i for i, child in enumerate(children)}
            cell = Value(column, np.array([place.get(int(c), -1) for c in t.branches[first : first + width]]))
        return Branch(tuple(scorers[child] for child in children), cell, children.index(usual))

    def _leaf_scorer(self, leaf: int) -> Node:
        """The prediction of `predict_rows` for a row at this leaf, as a node of a scorer."""
        from bayou.scorer import Constant, Normal, silent, total, value_table

        t, s, kind = self.summary.nodes, self.summary.statistics, self.growth.kind
        at = leaf
        while at > 0 and not class_total(t.weight[at]) > 0.0:
            at = int(t.nodes[at, PARENT])  # the nearest ancestor that has weight
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.log(t.weight[at]) - (np.log(class_total(t.weight[at])) if t.weight[at].any() else 0.0)
        bayes = kind == BAYES_LEAF or (
            kind == ADAPTIVE_LEAF and not t.track[leaf, MAJORITY] > t.track[leaf, BAYES]
        )
        slot = self.summary.slot(leaf)
        if not bayes or slot < 0:
            return Constant(score)
        possible = score > -np.inf  # of the others the tables are not kept current
        peak, centre, half = np.where(possible[:, np.newaxis], s.tables[slot], 0.0)
        numeric = [
            Normal(j, peak[:, j].copy(), centre[:, j].copy(), half[:, j].copy())
            if peak[:, j].any() or half[:, j].any()
            else silent(len(score))
            for j in range(peak.shape[1])
        ]
        nominal = []
        for j, (first, size) in enumerate(zip(s.offsets.tolist(), s.sizes, strict=False)):
            here = slice(first, first + size)
            log_proba = s.above[slot, :, here] - s.below[slot, :, j, np.newaxis]
            nominal.append(value_table(j, np.where(s.known[slot, here], log_proba, 0.0).T))
        return total(Constant(score), numeric, nominal)

    def _attempt(self, leaf: int, block: Block, at: int) -> None:
        """Split the leaf if the rule finds a column that is worth it."""
        tree, rule = self.summary, self.growth.rule
        t, s, slot = tree.nodes, tree.statistics, tree.slot(leaf)
        moments, counts = s.moments[slot], s.counts[slot]
        rows = float(t.track[leaf, OWN])
        merits = merits_of(
            moments,
            counts,
            s.present[slot],
            s.offsets,
            tree.cells,
            tree.order,
            rows,
            self.rules,
            tree.keys,
            leaf,
        )
        cells = s.quantiles.cells(slot) if s.quantiles else None
        if cells is not None:
            rule.read_cells(cells, rows, merits)
        place = worth_splitting(merits.merit, merits.freedom, tree.columns, t.weight[leaf], rows, self.rules)
        if place >= 0:
            split = rule.split(
                place, merits, moments, counts, s.present[slot], s.offsets, tree.cells, rows, cells
            )
            width = max(map(max, split.groups)) + 1 if split.test == MULTIWAY else 0
            lengths = t.room_for(len(split.weights), width)
            self._split(leaf, split, self._room(self._sizes(block, at), lengths))
        if self.growth.limit is not None and tree.dormant:
            self._activate_promising(self._room(self._sizes(block, at)) or 1)

    def _split(self, leaf: int, split: Split, most: int | None) -> None:
        if most is not None and most < 1:
            return  # not even the nodes would fit
        tree, t = self.summary, self.summary.nodes
        if split.test == AT_MOST:
            children = t.split_at_most(leaf, split.column, split.cut, *split.weights)
        elif split.test == MULTIWAY:
            children = t.split_multiway(leaf, split.column, split.groups, split.weights)
        else:
            children = t.split_one_value(leaf, split.column, split.groups[0][0], split.weights)
        parent = tree.statistics.slot_arrays(tree.slot(leaf)) if self.growth.rule.inherit else None
        rows = float(t.track[leaf, OWN])
        tree.deactivate(leaf)
        for child in range(len(children)):
            if tree.activate(children[child], most) and parent is not None:
                self._inherit(children[child], child, split, parent, rows)

    def _inherit(self, leaf: int, child: int, split: Split, parent: SlotArrays, rows: float) -> None:
        """Let a new leaf begin with its share of its parent's statistics, class by class."""
        weight, total = split.weights[child], split.weights.sum(axis=0)
        share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0.0)
        s, t, slot = self.summary.statistics, self.summary.nodes, self.summary.slot(leaf)
        moments, counts, present = parent
        numeric, nominal = (split.column, -1) if split.test == AT_MOST else (-1, split.column)
        values = [] if nominal < 0 else split.values_of(child, s.sizes[nominal])
        inherit_moments(s.moments[slot], moments, share, numeric, split.cut, child == 1)
        inherit_counts(
            s.counts[slot], s.present[slot], counts, present, share, s.offsets, nominal, np.array(values, np.int64)
        )  # fmt: skip
        s.read(slot)
        t.track[leaf, OWN] = rows * class_total(weight) / class_total(total)

    def _order_cells(self) -> None:
        """Put the cells of every nominal column in the canonical order of their values, by which ties are broken."""
        if self._ordered:
            return
        offsets = self.summary.statistics.offsets
        order = np.arange(offsets[-1])
        for first, vocabulary in zip(offsets, self.schema.vocabulary_list(Kind.NOMINAL), strict=False):
            keys = [label_key(vocabulary.name(v)) for v in range(vocabulary.size)]
            order[first : first + vocabulary.size] = first + np.array(
                sorted(range(vocabulary.size), key=keys.__getitem__), dtype=np.int64
            )
        self.summary.cells, self._ordered = order, True

    # -- memory --

    def _room(self, sizes: Sizes, lengths: tuple[int, int] | None = None) -> int | None:
        """Slots that fit beside the nodes, or beside nodes and branches of these lengths; None without a limit."""
        if self.growth.limit is None:
            return None
        t, s = self.summary.nodes, self.summary.statistics
        nodes, branches = (len(t.nodes), len(t.branches)) if lengths is None else lengths
        classes, numeric, values = sizes
        cells = int(s.offsets[-1] if values is s.sizes else rooms(values)[-1])
        slot = s.slot_bytes(classes, numeric, cells, len(values))
        left = self.growth.limit - nodes * (104 + 8 * classes) - 8 * branches
        return max(0, left) // max(1, slot)

    def _known_sizes(self) -> Sizes:
        s = self.summary.statistics
        return s.moments.shape[2], s.moments.shape[3], s.sizes

    def _sizes(self, block: Block, at: int) -> Sizes:
        """Classes, numeric columns and values of the schema if the block had ended at this row."""
        if self._sizes_before is None:
            return self._known_sizes()
        classes, numeric, values = self._sizes_before
        present = np.flatnonzero(~np.isnan(block.numeric[:at]).all(axis=0))
        codes = block.codes[:at].max(axis=0, initial=-1)
        values = [max(v, int(c) + 1) for v, c in zip(values + [0] * len(codes), codes, strict=False)]
        while values and values[-1] == 0:
            values.pop()
        return (
            max(classes, int(block.y[:at].max(initial=-1)) + 1),
            max(numeric, int(present.max(initial=-1)) + 1),
            values,
        )

    def wake(self) -> None:
        """Give statistics to all leaves, or to as many as memory allows."""
        leaves = len(self.summary.nodes.leaves())
        most = self._room(self._known_sizes())
        self._activate_promising(leaves if most is None else max(1, min(most, leaves)))
        self.summary.fit(most)

    def _activate_promising(self, most: int) -> None:
        """Keep statistics at as many leaves as fit: those with the most weight outside their majority class."""
        tree, t = self.summary, self.summary.nodes
        leaving, coming = np.empty((2, t.count + 1), dtype=np.int64)
        choose_leaves(leaving, coming, t.nodes, t.weight, t.count, most)
        for leaf in leaving[1 : 1 + leaving[0]].tolist():
            tree.deactivate(leaf)
        tree.shrink(most)
        for leaf in coming[1 : 1 + coming[0]].tolist():
            tree.activate(leaf, most)

    def realign(self, plan: Alignment) -> None:
        if self._sizes_before is None and self._has_schema:
            self._sizes_before = self._known_sizes()
        super().realign(plan)
        self.schema, self._ordered, self._has_schema = plan.schema, False, True
        self._set_canonical_orders()
        self.summary.fit(self._room(self._known_sizes()))

    def _set_canonical_orders(self) -> None:
        """Set the canonical orders of classes and columns, by which ties are broken whatever the order of arrival."""
        schema = self.schema
        names = [*schema.names(Kind.NUMERIC), *schema.names(Kind.NOMINAL)]
        self.summary.order = canonical_order(schema.classes.values)
        self.summary.columns = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        if self.growth.draw is not None:
            keys = [hash_label(name, self.growth.draw) for name in names]
            self.summary.keys = np.array(keys, dtype=np.uint64).view(np.int64)

    def fresh(self) -> Self:
        twin = type(self)(self.summary.fresh(), self.growth)
        twin.schema, twin._ordered, twin._has_schema = self.schema, self._ordered, self._has_schema
        return twin
