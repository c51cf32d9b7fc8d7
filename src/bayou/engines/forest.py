"""The engine of forests of counts: trees are grown from kept rows at fixed row counts, then frozen; counts go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

import numpy as np

from bayou.block import Block, Bytes, Codes, Floats, Index
from bayou.engines.views import Views
from bayou.errors import UnsupportedError
from bayou.kernels.class_counts import add_prior
from bayou.kernels.forest_rows import READINGS, read_out_of_bag
from bayou.protocols import Arrays
from bayou.readings.forest_epochs import grow_on
from bayou.readings.forest_scorer import forest_trees
from bayou.readings.forest_structure import Growth, bag_of, grow
from bayou.summaries.cell_sample import CellSample
from bayou.summaries.forest import Forest
from bayou.summaries.pending_rows import PendingRows
from bayou.summaries.pool_weights import PoolWeights
from bayou.views.view import AnyView

if TYPE_CHECKING:
    from bayou.scorer import Node

FEWEST = 8  # rows before which nothing is grown
NO_LABEL = np.full(1, -1, dtype=np.int32)
UNTIDY = 4096  # rows that may be kept twice before equal ones are joined


class ForestViews(Views):
    """Views "forest", whose readings are averaged, or weighted by a view "pool", and optionally "sample".

    Trees are grown when `warm_up`, half of it, a quarter and so on rows have been learned, from all rows so far; with
    the last of these points, or where the next would keep more than half of `max_bytes`, they are frozen, and the rows
    forgotten. In between rows are counted on the trees there are.

    Where a sample of the rows is kept from there on, the trees grow on when twice, four times, … `warm_up` rows have
    been learned: their leaves are split by the rows of the sample that arrive there. Engines made by `fresh` do not by
    themselves, so that what they count adds up.
    """

    def __init__(self, views: Mapping[str, AnyView], growth: Growth, warm_up: int) -> None:
        super().__init__(views)
        self.growth, self.warm_up = growth, warm_up
        self.stale = False
        self._rows_when_tidied = 0

    @property
    def forest(self) -> Forest:
        """Trees and counts."""
        forest: Forest = self.views["forest"].summary
        return forest

    @property
    def pool(self) -> PoolWeights | None:
        """The weights of the readings; None where their plain mean is taken."""
        return self.views["pool"].summary if "pool" in self.views else None

    @property
    def sample(self) -> CellSample | None:
        """The rows by which the trees grow on; None where they stay as they are after the warm-up."""
        return self.views["sample"].summary if "sample" in self.views else None

    # -- growing --

    def growth_points(self, rows: int, last: int) -> list[int]:
        """The row counts beyond `rows` and up to `last` at which trees are grown, in order."""
        if self.forest.frames_are_frozen:
            return self._later_points(rows, last)
        points = [point for point in self._warm_up_points(rows) if point <= last]
        return points + self._later_points(max(rows, self.warm_up), last)

    def _later_points(self, rows: int, last: int) -> list[int]:
        if self.sample is None or not self.sample.grows[0]:
            return []
        points, point = [], 2 * self.warm_up
        while point <= last:
            if point > rows:
                points.append(point)
            point *= 2
        return points

    def _warm_up_points(self, rows: int) -> list[int]:
        points = []
        point = self.warm_up
        while point >= FEWEST or point == self.warm_up:
            if point > rows:
                points.append(point)
            point //= 2
            if point == 0:
                break
        return points[::-1]

    def freeze(self) -> None:
        """Grow the trees from the rows so far, for good."""
        self._grow(freeze=True)

    def grow_on(self) -> None:
        """Split the leaves by the rows of the sample."""
        forest, sample = self.forest, self.sample
        if sample is None:
            raise UnsupportedError(
                "nothing to grow from: the forest keeps no rows after its warm-up; CountForest(reservoir=100_000) does"
            )
        if not forest.frames_are_frozen:
            self._grow(freeze=True)
            return
        cells = sample.cells()
        if len(cells) == 0:
            return
        forest.extend(grow_on(forest, sample, self.schema, self.growth), cells, sample.y, sample.w)
        if not sample.is_whole:
            sample.partial[0] = 1
        if self.pool is not None:
            self._train_pool(cells, sample.y, sample.w, sample.hashes)

    def refresh(self) -> None:
        if not self.forest.frames_are_frozen:
            self._grow(freeze=self.rows >= self.warm_up)
        self.stale = False

    def mark_stale(self) -> None:
        self.stale = True

    def refresh_stale(self) -> None:
        if self.stale:
            self.refresh()

    def _grow(self, freeze: bool) -> None:
        forest = self.forest
        bag = bag_of(forest.kept, self.schema)
        if len(bag.hashes) == 0:
            return
        by_cells = None if self.sample is None else self.sample.hashes_of
        forest.take(grow(bag, self.schema, self.growth, by_cells), bag.rows, freeze)
        self._rows_when_tidied = len(bag.hashes)
        block = bag.rows.block()
        cells = forest.cells_of(block)
        if self.pool is not None:
            hashes = bag.hashes if by_cells is None else by_cells(cells, block.y)
            self._train_pool(cells, block.y, block.w, hashes)
        if freeze and self.sample is not None:
            self.sample.add(cells, block.y, block.w)

    def _train_pool(self, cells: Bytes, y: Codes, w: Floats, hashes: Index) -> None:
        """Train a new pool on the out-of-bag predictions of the kept rows: those of trees grown without the row."""
        pool, forest = self.views["pool"].summary.fresh(), self.forest
        sums = np.zeros((len(y), READINGS, self.n_classes))
        voters = np.zeros(len(y), dtype=np.int64)
        declared = int(forest.declared[0])
        read_out_of_bag(
            forest.counts, forest.packed, forest.parent, forest.threshold, forest.roots,
            cells, y, w, hashes, self.growth.seed, declared, sums, voters,
        )  # fmt: skip
        sums /= np.maximum(voters, 1)[:, np.newaxis, np.newaxis]
        out = np.empty((len(y), self.n_classes))
        pool.learn(sums, forest.classes.copy(), declared, y, np.where(voters > 0, w, 0.0), False, out)
        self.views["pool"].summary = pool

    def kept_rows(self) -> Block:
        """The rows from which trees are still grown, sorted, equal ones as one; none after the warm-up."""
        self._tidy()
        return self.forest.kept.block()

    # -- learning and predicting --

    def learn(self, block: Block) -> None:
        if self.pool is not None:
            self.test_then_train(block)
            return
        for part, grows in self._parts(block):
            self.forest.update(part)
            self._learned(part, grows)

    def test_then_train(self, block: Block) -> Floats:
        out, at = np.empty((block.n, self.n_classes)), 0
        for part, grows in self._parts(block):
            before = self.forest.classes.copy()
            self._predict_rows(part, before, True, out[at : at + part.n])
            self._learned(part, grows)
            at += part.n
        return out

    def joint_log_proba(self, block: Block) -> Floats:
        self.refresh_stale()
        out = np.empty((block.n, self.n_classes))
        self._predict_rows(block, self.forest.classes, False, out)
        return out

    def scorer(self) -> Node:
        from bayou.scorer import Constant, Folded, Log

        self.refresh_stale()
        forest, pool = self.forest, self.pool
        if forest.trees == 0:
            prior = np.zeros((1, self.n_classes))
            add_prior(prior, forest.classes, *self._prior_of_classes())
            return Constant(prior[0])
        readings = forest_trees(forest)
        k = self.n_classes
        if pool is None:
            return Log(Folded(readings, np.tile(np.eye(k), (READINGS, 1)) / READINGS, np.zeros(k)))
        each = np.eye(READINGS * k).reshape(READINGS, k, READINGS * k)
        opinions = [Log(Folded(readings, one.T, np.zeros(k))) for one in each]
        return pool.scorer(opinions, forest.classes, int(forest.declared[0]))

    def _parts(self, block: Block) -> list[tuple[Block, bool]]:
        """The block cut behind the rows after which trees are grown, and whether each part ends with such a row."""
        self.refresh_stale()
        rows = self.rows
        if block.n == 0 or (self.forest.frames_are_frozen and self.sample is None):
            return [(block, False)]
        learned = np.cumsum((block.y >= 0) & (block.w > 0))
        points = self.growth_points(rows, rows + int(learned[-1]))
        ends = [int(np.searchsorted(learned, point - rows)) + 1 for point in points]
        parts = [(part, where.stop in ends) for where, part in block.cut(ends)]
        return parts

    def _learned(self, part: Block, grows: bool) -> None:
        self.rows += part.learned()
        if self.forest.frames_are_frozen:
            if self.sample is not None:
                self.sample.add(self.forest.cells_of(part), part.y, part.w)
                if grows:
                    self.grow_on()
            return
        if grows:
            self._grow(freeze=self._is_last())
        elif self.forest.kept_rows > 2 * self._rows_when_tidied + UNTIDY:
            self._tidy()

    def _is_last(self) -> bool:
        """Whether no more rows are to be kept: the warm-up is over, or the next point would take too much memory."""
        kept = self.forest.kept
        columns = np.count_nonzero(~np.isnan(kept.numeric).all(axis=0))
        bytes_per_row = 12 + 8 * columns + 4 * np.count_nonzero((kept.codes >= 0).any(axis=0))
        next_points = self._warm_up_points(self.rows)
        return not next_points or bool(next_points[0] * bytes_per_row > self.growth.max_bytes // 2)

    def _predict_rows(self, block: Block, classes: Floats, learn: bool, out: Floats) -> None:
        """Write log P of the rows into `out`; with `learn`, learn each row after it is predicted."""
        forest, pool = self.forest, self.pool
        declared = int(forest.declared[0])
        if forest.trees == 0:
            self._predict_by_prior(block, learn, out)
            return
        opinions = forest.read_then_update(block) if learn else forest.read(block)
        if pool is not None:
            y = block.y if learn else NO_LABEL if block.n == 1 else np.full(block.n, -1, dtype=np.int32)
            pool.learn(opinions, classes.copy(), declared, y, block.w, learn, out)
        else:
            with np.errstate(divide="ignore"):
                np.log(opinions.mean(axis=1), out=out)

    def _predict_by_prior(self, block: Block, learn: bool, out: Floats) -> None:
        """Before there are trees: class shares, (N_c + 1 / J) / (N + 1)."""
        forest = self.forest
        for i in range(block.n if learn else 1):
            part = slice(i, i + 1) if learn else slice(None)
            out[part] = 0.0
            add_prior(out[part], forest.classes, *self._prior_of_classes())
            if learn:
                forest.update(block.rows(i, i + 1))

    def _prior_of_classes(self) -> tuple[int, float]:
        """The declared number of classes, and what smoothing adds to the weight of each."""
        declared = int(self.forest.declared[0])
        return declared, 1.0 / max(1, int(np.count_nonzero(self.forest.classes)), declared)

    # -- the algebra --

    def subtract(self, block: Block) -> None:
        if self.pool is not None:
            raise UnsupportedError(
                "cannot unlearn: the pool has learned from the forest's predictions; "
                "CountForest(combine='mean') has none, and unlearns"
            )
        sample = self.sample
        if sample is not None and sample.partial[0]:
            raise UnsupportedError(
                "cannot unlearn: the trees have grown on by a sample of the rows, and their new nodes have not "
                "counted the others; a reservoir that holds all rows, or reservoir=0, unlearns"
            )
        if sample is not None and self.forest.frames_are_frozen:
            sample.subtract_cells(self.forest.cells_of(block), block.y, block.w)
        self.forest.subtract(block)
        self.rows -= block.learned()
        self.mark_stale()

    def merge(self, other: Self) -> None:
        mine, theirs = self.forest, other.forest
        unsampled: PendingRows | None = None
        if self.sample is not None and mine.frames_are_frozen != theirs.frames_are_frozen:
            unsampled = theirs.kept if mine.frames_are_frozen else mine.kept
        super().merge(other)
        if unsampled is not None and self.sample is not None:
            block = unsampled.block()
            self.sample.add(mine.cells_of(block), block.y, block.w)

    def scale(self, factor: float) -> None:
        self.forest.scale(factor)
        if self.sample is not None:
            self.sample.scale(factor)
        self.mark_stale()

    def fresh(self) -> Self:
        twin = super().fresh()
        twin.stale, twin._rows_when_tidied = False, 0
        if twin.sample is not None and twin.forest.frames_are_frozen:
            twin.sample.grows = np.zeros(1, dtype=np.int64)
        return twin

    def arrays(self) -> Arrays:
        self.refresh_stale()
        self._tidy()
        return super().arrays()

    def _tidy(self) -> None:
        """Sort the kept rows and join equal ones, so that nothing depends on the order in which they came."""
        kept = self.forest.kept
        if len(kept):
            self.forest.kept = bag_of(kept, self.schema).rows
        self._rows_when_tidied = len(self.forest.kept)

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        self.stale, self._rows_when_tidied = False, self.forest.kept_rows
