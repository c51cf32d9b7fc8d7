"""Decision trees and bagging of document 004 by batch: offline references over the split code of `HoeffdingTree`.

    python -m reproduce.batch_tree [rows]       held-out accuracy beside the streaming forms, on Electricity

The lecture's tree: stop where all rows of a leaf are of one class; otherwise split on the column with the largest
merit (information gain or Gini), one branch per value or one cut, and go on in every branch. Cuts are tried between all
values that were seen, so nothing is estimated. Its bagging: M trees, each on as many rows drawn with replacement, and a
majority vote. Missing values go where most rows go.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayou.block import Block, Floats
from bayou.kernels.tree import AT_MOST, MULTIWAY
from bayou.readings.splits import InformationGain, Split, SplitRule, merits_of

Cells = tuple[Any, Any, Any]


@dataclass
class Node:
    """Class weights of the rows that reached it; a split and a node per branch unless it is a leaf."""

    weight: Floats
    split: Split | None = None
    branches: list[Node] = field(default_factory=list)

    def size(self) -> int:
        """Number of nodes."""
        return 1 + sum(branch.size() for branch in self.branches)


@dataclass(frozen=True)
class BatchTree:
    """Grows a tree over all rows at once.

    Parameters
    ----------
    rule
        How splits are measured: `InformationGain()` or `Gini()`.
    min_rows
        Leaves of fewer rows are not split.
    depth
        Levels of splits at most.
    """

    rule: SplitRule = InformationGain(min_branch=0.0)  # noqa: RUF009 - frozen
    min_rows: int = 2
    depth: int = 50

    def grow(self, block: Block, classes: int, depth: int = 0) -> Node:
        """The tree of these rows."""
        node = Node(np.bincount(block.y, block.w, minlength=classes))
        if np.count_nonzero(node.weight) < 2 or block.n < self.min_rows or depth >= self.depth:
            return node
        split = self.best(block, classes)
        if split is None:
            return node
        node.split = split
        way = branch_of(split, block, node.weight)
        for b in range(len(split.weights)):
            rows = np.flatnonzero(way == b)
            node.branches.append(self.grow(taken(block, rows), classes, depth + 1))
        return node

    def best(self, block: Block, classes: int) -> Split | None:
        """The split with the largest merit, None where none gains anything."""
        (p, q), y, w = (block.numeric.shape[1], block.codes.shape[1]), block.y, block.w
        sizes = block.codes.max(axis=0, initial=-1).astype(np.int64) + 1
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        counts, present = np.zeros((int(offsets[-1]), classes)), np.zeros((q, classes))
        for j in range(q):
            here = block.codes[:, j] >= 0
            np.add.at(counts, (offsets[j] + block.codes[here, j], y[here]), w[here])
            present[j] = np.bincount(y[here], w[here], minlength=classes)
        order = np.arange(len(counts))
        moments = np.zeros((5, classes, p))
        merits = merits_of(
            moments,
            counts,
            present,
            offsets,
            order,
            np.arange(classes),
            float(w.sum()),
            self.rule.rules(0.5, 0.0),
        )
        cells = exact_cells(block, classes)
        self.rule.read_cells(cells, float(w.sum()), merits)
        place = int(np.argmax(merits.merit)) if p + q else 0
        if p + q == 0 or not merits.merit[place] > 0.0:
            return None
        return self.rule.split(place, merits, moments, counts, present, offsets, order, float(w.sum()), cells)


def exact_cells(block: Block, classes: int) -> Cells:
    """Every value of every numeric column with its class weights."""
    offsets, upper, counts = [0], [np.zeros(0)], [np.zeros((0, classes))]
    for column in block.numeric.T:
        here = ~np.isnan(column)
        values, which = np.unique(column[here], return_inverse=True)
        table = np.zeros((len(values), classes))
        np.add.at(table, (which, block.y[here]), block.w[here])
        offsets.append(offsets[-1] + len(values))
        upper.append(values)
        counts.append(table)
    return np.array(offsets, dtype=np.int64), np.concatenate(upper), np.concatenate(counts)


def branch_of(split: Split, block: Block, weight: Floats) -> np.ndarray[Any, Any]:
    """The branch every row takes; the heaviest where its value is missing or was not there when the tree grew."""
    usual = int(np.argmax(split.weights.sum(axis=1)))
    if split.test == AT_MOST:
        x = block.numeric[:, split.column]
        return np.where(np.isnan(x), usual, (x > split.cut).astype(int))
    codes = block.codes[:, split.column]
    if split.test == MULTIWAY:
        home = {v: b for b, group in enumerate(split.groups) for v in group}
        return np.array([home.get(int(v), usual) for v in codes])
    return np.where(codes < 0, usual, (codes != split.groups[0][0]).astype(int))


def taken(block: Block, rows: np.ndarray[Any, Any]) -> Block:
    """Some rows, in their order; a row may be taken again and again."""
    return Block(block.numeric[rows], block.codes[rows], (), block.y[rows], block.w[rows])


def votes(node: Node, block: Block) -> np.ndarray[Any, Any]:
    """[n] the majority class of the leaf that each row reaches."""
    out = np.full(block.n, int(np.argmax(node.weight)))
    if node.split is not None:
        way = branch_of(node.split, block, node.weight)
        for b, branch in enumerate(node.branches):
            rows = np.flatnonzero(way == b)
            if len(rows) and branch.weight.any():
                out[rows] = votes(branch, taken(block, rows))
    return out


def bagged(block: Block, classes: int, members: int, seed: int, tree: BatchTree | None = None) -> list[Node]:
    """M trees, each grown on n rows drawn from n with replacement."""
    rng, grower = np.random.default_rng(seed), tree or BatchTree()
    return [grower.grow(taken(block, rng.integers(block.n, size=block.n)), classes) for _ in range(members)]


def majority(trees: list[Node], block: Block, classes: int) -> np.ndarray[Any, Any]:
    """[n] the class most trees vote for, the first among equals."""
    counts = np.zeros((block.n, classes))
    for tree in trees:
        counts[np.arange(block.n), votes(tree, block)] += 1
    return counts.argmax(axis=1)


def main() -> None:
    from bayou import Bagging, HoeffdingTree
    from reproduce.sets import load

    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    data = load("elec", rows)
    reader = HoeffdingTree().partial_fit(data.columns, data.labels)
    block = reader.encode(data.columns, data.labels)
    order = np.random.default_rng(0).permutation(block.n)
    cut = 2 * block.n // 3
    train, held = taken(block, order[:cut]), taken(block, order[cut:])
    classes = len(reader.labels())
    plain, pruned = BatchTree(), BatchTree(min_rows=200)
    print(
        f"| {block.n:,} rows of Electricity in random order, a third held out | accuracy | nodes |\n|---|---|---|"
    )
    for name, grower in (("batch tree, until pure", plain), ("batch tree, leaves of 200 rows", pruned)):
        tree = grower.grow(train, classes)
        print(f"| {name} | {100 * np.mean(votes(tree, held) == held.y):.2f} | {tree.size():,} |")
        forest = bagged(train, classes, 10, 1, grower)
        share = 100 * np.mean(majority(forest, held, classes) == held.y)
        print(f"| batch bagging of ten such | {share:.2f} | {sum(t.size() for t in forest):,} |")
    for name, model in (
        ("`HoeffdingTree(leaf='majority', numeric='gk')`", HoeffdingTree(leaf="majority", numeric="gk")),
        ("`HoeffdingTree()`", HoeffdingTree()),
        ("`Bagging()`", Bagging()),
    ):
        model.begin(reader.schema_.copy())
        model.engine.learn(train)
        share = 100 * np.mean(model.engine.joint_log_proba(held).argmax(axis=1) == held.y)
        print(f"| {name}, one pass | {share:.2f} | |")


if __name__ == "__main__":
    main()
