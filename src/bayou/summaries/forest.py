"""A forest of counts: trees whose structure is given, and the class weights of all rows that pass each node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Bytes, Codes, Floats, Index
from bayou.checks import require
from bayou.errors import MergeError
from bayou.kernels.class_counts import count_classes
from bayou.kernels.forest_rows import (
    GROUP,
    NO_PLACE,
    READINGS,
    count_rows,
    learn_rows,
    mean_of_trees,
    pack,
    place_nominal,
    place_numeric,
    read_leaves,
    read_row,
    read_rows,
)
from bayou.kernels.jit import ZERO
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.summaries import valid
from bayou.summaries.array_summary import DecayingSummary, sweep
from bayou.summaries.pending_rows import PendingRows
from bayou.summaries.state import declare, declared_classes, from_schema
from bayou.threads import over_ranges

CUTS = 253  # of a numeric column: the intervals and a cell for missing values fit in a byte
PLACES = 63  # of a nominal column's values; missing and other values share the last
GATHER = 256  # small blocks that are kept before they are concatenated
FEW = 64  # rows that are not worth a second thread
MANY = 10_000  # nodes that are
SUMS = 1 << 22  # bytes of sums for the rows that go through the trees together


@dataclass(frozen=True, eq=False)
class Structure:
    """Cuts, places of values and nodes of all trees: what must be fixed before rows are counted.

    cuts : float64[p, 253], infinite where there are fewer; values : int64[q, 63], the value code that has each place
    attribute, left : int32[nodes]; threshold : int64[nodes]; roots : int64[trees]
    """

    cuts: Floats
    values: Index
    attribute: Codes
    threshold: Index
    left: Codes
    roots: Index


def padded_cuts(cuts: Floats) -> Floats:
    """float64[p, 256]: the cuts, padded with infinite ones for a binary search of eight steps."""
    padded = np.full((len(cuts), 256), np.inf)
    padded[:, :CUTS] = cuts
    return padded


class Forest(DecayingSummary):
    """N_v(c), the weight of each class among the rows that pass node v, for the nodes of many trees.

    Until the structure is frozen the rows themselves are kept, as a bag, and counted on the trees of the moment.

    Merge: EXACT (addition) between models that share their trees, as those made by `fresh()` do; kept rows join those
    of the other side, or are counted on its trees. Other trees are refused. Unlearning is exact on the trees as they
    are.
    Memory: 8 K + 16 bytes per node; while rows are kept 8 p + 4 q + 12 per row; 2,040 per numeric column.
    """

    law: ClassVar[MergeLaw] = MergeLaw.EXACT
    classes: Floats = declare("classes", merge=None, scales=True, valid=valid.non_negative)
    counts: Floats = declare("?nodes", "classes", scales=True, valid=valid.non_negative)
    attribute: Codes = declare("?nodes", dtype=np.int32, frame=True, valid=valid.anything)  # see `check`
    threshold: Index = declare("?nodes", dtype=np.int64, frame=True, valid=valid.anything)
    left: Codes = declare("?nodes", dtype=np.int32, frame=True, valid=valid.anything)
    roots: Index = declare("?trees", dtype=np.int64, frame=True, valid=valid.finite)
    cuts: Floats = declare("numeric", CUTS, frame=True, fill=np.inf, valid=valid.not_nan)
    values: Index = declare("nominal", PLACES, dtype=np.int64, frame=True, fill=-1, valid=valid.anything)
    frozen: Index = declare(1, dtype=np.int64, frame=True, valid=valid.finite)
    declared: Index = from_schema(1, follows=declared_classes)
    kept_numeric: Floats = declare("*kept", "numeric", valid=valid.not_infinite)
    kept_codes: Codes = declare("*kept", "nominal", dtype=np.int32, valid=valid.value_codes)
    kept_y: Codes = declare("*kept", dtype=np.int32, valid=valid.class_codes)
    kept_w: Floats = declare("*kept", scales=True, valid=valid.non_negative)

    def __init__(self) -> None:
        super().__init__()
        self._new: list[PendingRows] = []
        self._leaves: Floats  # see `_leaves_for`
        self._leaves_read: int
        self.derive()

    def derive(self) -> None:
        """Compute the places of values, the numbers of cuts, and the packed nodes of the trees."""
        self._forget_leaves()
        self.packed = np.empty(len(self.attribute), dtype=np.int64)
        self.parent = np.empty(len(self.attribute), dtype=np.int32)
        pack(self.packed, self.parent, self.attribute, self.threshold, self.left, len(self.cuts))
        self.used, self.padded = np.count_nonzero(np.isfinite(self.cuts), axis=1), padded_cuts(self.cuts)
        sizes = [int(codes.max(initial=-1)) + 1 for codes in self.values]
        self.offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
        self.places: Bytes = np.full(int(self.offsets[-1]), NO_PLACE, dtype=np.uint8)
        for j, codes in enumerate(self.values):
            places = np.flatnonzero(codes >= 0)
            self.places[self.offsets[j] + codes[places]] = places

    # -- rows that are kept --

    @property
    def kept(self) -> PendingRows:
        """The rows from which trees are grown, until they are frozen."""
        if self._new:
            old = PendingRows(self.kept_numeric, self.kept_codes, self.kept_y, self.kept_w)
            parts, self._new = [old, *self._new], []
            self.kept = PendingRows(
                *(
                    np.concatenate([getattr(part, name) for part in parts])
                    for name in ("numeric", "codes", "y", "w")
                )
            )
        return PendingRows(self.kept_numeric, self.kept_codes, self.kept_y, self.kept_w)

    @kept.setter
    def kept(self, rows: PendingRows) -> None:
        self.kept_numeric, self.kept_codes = rows.numeric, rows.codes
        self.kept_y, self.kept_w = rows.y, rows.w

    @property
    def kept_rows(self) -> int:
        """How many rows are kept."""
        return len(self.kept_y) + sum(map(len, self._new))

    def _keep(self, block: Block) -> None:
        labelled = (block.y >= 0) & (block.w > 0)
        empty = PendingRows.none(block.numeric.shape[1], block.codes.shape[1])
        self._new.append(empty.joined(block, labelled))
        if len(self._new) >= GATHER:
            self.kept = self.kept

    @property
    def frames_are_frozen(self) -> bool:
        return bool(self.frozen[0])

    def take(self, structure: Structure, kept: PendingRows, freeze: bool) -> None:
        """Count the kept rows on new trees; once these are frozen, the rows are forgotten."""
        for name, array in vars(structure).items():
            setattr(self, name, array)
        self.counts = np.zeros((len(self.attribute), len(self.classes)))
        self.derive()
        self._add_to_trees(kept.block(), 1.0)
        self.kept = kept.take(np.zeros(0, dtype=np.int64)) if freeze else kept
        self.frozen[0] = int(freeze)

    def extend(self, structure: Structure, cells: Bytes, y: Codes, w: Floats) -> None:
        """Take trees that have grown on: new nodes come after the old ones, and count these rows."""
        before = len(self.attribute)
        for name, array in vars(structure).items():
            setattr(self, name, array)
        self.counts = np.concatenate(
            [self.counts, np.zeros((len(self.attribute) - before, len(self.classes)))]
        )
        self.derive()
        self._count(cells, y, w, 1.0, before)

    # -- counting and reading --

    @property
    def trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    def cells_of(self, block: Block) -> Bytes:
        """uint8[n, d]: the block's cells, numeric columns first."""
        p = block.numeric.shape[1]
        cells: Bytes = np.empty((block.n, p + block.codes.shape[1]), dtype=np.uint8)
        place_numeric(cells, block.numeric, self.padded)
        place_nominal(cells, block.codes, self.places, self.offsets, p)
        return cells

    def update(self, block: Block) -> None:
        self._add(block, 1.0)
        if not self.frames_are_frozen:
            self._keep(block)

    def read(self, block: Block) -> Floats:
        """float64[n, 2, K]: the mean of the trees' class probabilities for each row, in two readings."""
        if block.n == 1:
            out = np.empty((1, READINGS, len(self.classes)))
            read_row(
                self.counts, self.packed, self.parent, self.threshold, self.roots, self.padded, self.places,
                self.offsets, block.numeric, block.codes, int(self.declared[0]), out,
            )  # fmt: skip
            return out
        table = self._leaves_for(block.n)

        def read(cells: Bytes, part: Block, trees: Index, sums: Floats) -> None:
            read_rows(
                self.counts, self.packed, self.parent, self.threshold, self.roots, trees,
                cells, int(self.declared[0]), table, sums,
            )  # fmt: skip

        return self._mean(block, read)

    def _leaves_for(self, rows: int) -> Floats:
        """The cached class probabilities of all leaves; empty until as many leaves were read as there are nodes.

        While the table is empty, and again after every row that is counted, each row reads the leaves that it reaches.
        The table is assigned as a whole, so that predictions in other threads see all of it or nothing.
        """
        table = self._leaves
        if len(table) < len(self.attribute):
            self._leaves_read += rows * self.trees
            if self._leaves_read >= len(self.attribute):
                table = self._leaves = self.leaf_probabilities()
        return table

    def leaf_probabilities(self) -> Floats:
        """float64[nodes, 2, K]: the class probabilities of every leaf; inner nodes are not initialised."""
        out = np.empty((len(self.attribute), READINGS, len(self.classes)))

        def nodes(lo: int, hi: int) -> None:
            read_leaves(self.counts, self.parent, self.attribute, lo, hi, int(self.declared[0]), out)

        over_ranges(nodes, len(out), MANY)
        return out

    def _forget_leaves(self) -> None:
        """Drop the cached class probabilities of the leaves, since counts change."""
        self._leaves, self._leaves_read = np.empty((0, READINGS, len(self.classes))), 0

    def read_then_update(self, block: Block) -> Floats:
        """float64[n, 2, K]: the mean of the trees before each row, as in `read`; the row is then counted."""
        self._forget_leaves()

        def learn(cells: Bytes, part: Block, trees: Index, sums: Floats) -> None:
            learn_rows(
                self.counts, self.packed, self.parent, self.threshold, self.roots, trees,
                cells, part.y, part.w, int(self.declared[0]), sums,
            )  # fmt: skip

        out = self._mean(block, learn)
        count_classes(self.classes, block.y, block.w, 1.0)
        if not self.frames_are_frozen:
            self._keep(block)
        return out

    def _mean(self, block: Block, work: Callable[[Bytes, Block, Index, Floats], None]) -> Floats:
        """The mean of the trees, summed up in groups of fixed size, so that bits do not depend on the threads."""
        out = np.empty((block.n, READINGS, len(self.classes)))
        count = -(-self.trees // GROUP)
        rows = max(256, SUMS // max(1, count * 8 * READINGS * len(self.classes)))
        for where, part in block.cut(range(rows, block.n, rows)):
            cells, sums = self.cells_of(part), np.zeros((count, part.n, READINGS, len(self.classes)))

            def groups(
                lo: int, hi: int, cells: Bytes = cells, part: Block = part, sums: Floats = sums
            ) -> None:
                work(cells, part, np.array([lo * GROUP, min(hi * GROUP, self.trees)]), sums)

            over_ranges(groups, count, 1 if part.n > FEW else count)
            mean_of_trees(sums, self.trees, out[where])
        return out

    def _add(self, block: Block, sign: float) -> None:
        """Count rows in the classes and at the nodes on their paths."""
        count_classes(self.classes, block.y, block.w, sign)
        self._add_to_trees(block, sign)

    def _add_to_trees(self, block: Block, sign: float) -> None:
        self._count(self.cells_of(block), block.y, block.w, sign, ZERO)

    def _count(self, cells: Bytes, y: Codes, w: Floats, sign: float, least: int) -> None:
        """Count rows at the nodes from `least` on."""
        self._forget_leaves()

        def trees(lo: int, hi: int) -> None:
            count_rows(
                self.counts, self.packed, self.parent, self.threshold, self.roots, np.array([lo, hi]),
                cells, y, w, sign, least,
            )  # fmt: skip

        over_ranges(trees, self.trees, 1 if len(y) > FEW else self.trees)

    # -- the algebra --

    def subtract(self, block: Block) -> None:
        kept = self.kept
        if not self.frames_are_frozen:
            for i in np.flatnonzero((block.y >= 0) & (block.w > 0)):
                kept = kept.without(block.rows(int(i), int(i) + 1))
        classes, counts = self.classes.copy(), self.counts.copy()
        self._add(block, -1.0)
        sweep(classes, self.classes)
        sweep(counts, self.counts)
        self.kept = kept

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        if self.frames_are_frozen and other.frames_are_frozen:
            self._check_same(other)
            self.counts = self.counts + other.counts
        elif other.frames_are_frozen:
            mine = self.kept
            theirs = {name: getattr(other, name) for name in Structure.__dataclass_fields__}
            self.take(Structure(**theirs), mine, True)
            self.counts += other.counts
        elif self.frames_are_frozen:
            self._add_to_trees(other.kept.block(), 1.0)
        else:
            self._new = [self.kept, other.kept]
            self.kept = PendingRows.none(self.kept_numeric.shape[1], self.kept_codes.shape[1])
            self.kept = self.kept
        self.classes = self.classes + other.classes
        self._forget_leaves()

    def _check_same(self, other: Forest) -> None:
        if all(np.array_equal(getattr(self, n), getattr(other, n)) for n in Structure.__dataclass_fields__):
            return
        if np.array_equal(self.cuts, other.cuts) and np.array_equal(self.values, other.values):
            raise MergeError(
                "one of the two forests has grown on since they shared their trees; merge the shards before `grow()` "
                "or the next growth point, and make new ones with model.fresh() after it"
            )
        raise MergeError(
            "the two forests have grown other trees; let one model see its warm-up rows (or call `freeze()`), "
            "then make the shards with model.fresh(), so that they share its trees"
        )

    def fresh(self) -> Self:
        if self.frames_are_frozen:
            return super().fresh()
        twin = self.blank()
        arrays = {name: self.state[name].emptied(a) for name, a in self.arrays().items()}
        for name in ("attribute", "threshold", "left", "counts", "roots"):
            arrays[name] = arrays[name][:0]
        arrays["cuts"], arrays["values"] = np.full_like(self.cuts, np.inf), np.full_like(self.values, -1)
        twin.restore(arrays)
        return twin

    def arrays(self) -> Arrays:
        self.kept = self.kept
        return super().arrays()

    def config(self) -> dict[str, Scalar]:
        return {}

    def realign(self, plan: Alignment) -> None:
        kept, p = self.kept.realigned(plan), len(self.cuts)
        to = np.append(np.concatenate([plan.numeric.to, plan.numeric.size + plan.nominal.to]), -1)
        self.attribute = to[self.attribute].astype(np.int32)
        values = self.values.copy()
        for j, new in enumerate(plan.nominal.to):
            values[j] = np.append(plan.values[new].to, -1)[self.values[j]]
        self.values = values
        assert p == len(plan.numeric.to)
        no_rows = kept.take(np.zeros(0, dtype=np.int64))
        self.kept = PendingRows.none(p, len(plan.nominal.to))
        super().realign(plan)
        self.kept = kept if len(kept) else no_rows
        self.derive()

    def check(self, arrays: Arrays) -> None:
        """Children come after their parents, so that every path ends; columns and places exist."""
        super().check(arrays)
        attribute, left, roots = arrays["attribute"], arrays["left"], arrays["roots"]
        nodes, d = len(attribute), arrays["cuts"].shape[0] + arrays["values"].shape[0]
        inner = np.flatnonzero(attribute != -1)
        require(((attribute >= -1) & (attribute < d)).all(), "a node tests a column that is not there")
        require(
            (left[inner] > inner).all() and (left[inner] < nodes - 1).all(),
            "a node has a child that is not there",
        )
        require((roots < nodes).all(), "a tree has a root that is not there")
        require(arrays["frozen"][0] in (0, 1), "trees are frozen or not")
        cuts = arrays["cuts"]
        finite = np.isfinite(cuts)
        require((cuts[:, 1:] >= cuts[:, :-1]).all() and not (cuts == -np.inf).any(), "cuts do not rise")
        require((finite[:, 1:] <= finite[:, :-1]).all(), "a cut stands behind the last")
        for j, size in enumerate(self.lengths.values):
            codes = arrays["values"][j]
            codes = codes[codes != -1]
            require(
                ((codes >= 0) & (codes < size)).all(),
                f"a place belongs to a value that column {j} does not have",
            )
            require(len(np.unique(codes)) == len(codes), f"a value of column {j} has two places")
        require(arrays["kept_y"].min(initial=0) >= 0, "a row is kept without its label")
        require(not (arrays["frozen"][0] and len(arrays["kept_y"])), "rows are kept behind frozen trees")
