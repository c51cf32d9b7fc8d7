"""Massive collections of Bayesian networks (Bouckaert, 2006): FANC, TC, SPC and SPCr."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import combinations

from bayou.classifiers.chosen_parent import ChosenParentClassifier
from bayou.classifiers.joint import JointClassifier, Prior
from bayou.engines.joint import ColumnNaming, ColumnSetsOf, Order
from bayou.errors import SchemaError
from bayou.readings.collection import CollectionReader
from bayou.readings.parent_sets import Forests, ParentSets, SuperParents, TwoParents
from bayou.readings.prior import prior_reader
from bayou.readings.set_collection import LeanSuperParents, SetReader
from bayou.readings.structure import ByInformation
from bayou.schema import Declared
from bayou.summaries.grid import Grid, grid_of
from bayou.summaries.joint_counts import MAX_BYTES
from bayou.summaries.set_counts import ColumnSets, SetCounts
from bayou.views.backed_off import BackedOff, RuleSearch
from bayou.views.batch_parent import BatchParent
from bayou.views.chosen_parent import Choice
from bayou.views.searched_collection import SearchedCollection
from bayou.views.view import AnyView, Live


class CollectionClassifier(JointClassifier):
    """Base of classifiers with a fixed rule for parent sets over the order of the columns."""

    _offers = ()

    def rule(self) -> ParentSets:
        """The rule of the parent sets, before the names of columns are known."""
        raise NotImplementedError

    def interaction_order(self) -> int:
        """2 where parent sets hold one column at most, else 3."""
        return 2

    def set_counts(self) -> SetCounts:
        """Empty counts of pairs and of the sets that `column_sets` returns."""
        grid = grid_of(self.numeric)
        return SetCounts(2, grid.bins, grid.rule, grid.warm_up, self.max_bytes)

    def joint_view(self) -> AnyView:
        summary = self.counts(self.interaction_order())
        if self.backs_off:
            rule, searched = self.rule(), self.order == "information"
            return BackedOff(summary, ByInformation(rule) if searched else RuleSearch(rule))
        if self.order == "information":
            return SearchedCollection(summary, ByInformation(self.rule()), self.alpha)
        return Live(summary, CollectionReader(self.rule(), self.alpha))


class FANC(CollectionClassifier):
    r"""All m! forest augmented networks in one sum: $P(c) \prod_i (P(x_i|c) + \sum_{j<i} P(x_i|c,x_j))$.

    Parameters
    ----------
    smoothing
        Pseudo-count per value (1 is Laplace's rule), or `"back-off"`: each estimate is smoothed towards the one with
        one parent fewer, by a pseudo-count that is fitted to the counts (leave-one-out likelihood) at refresh points.
    prior
        Class prior: `"empirical"` (N_c / N), `"laplace"`, or a mapping from every class to its probability.
    order
        Order of the columns, in which each may have only earlier ones as parents: `"name"` (x2 before x10), `"given"`
        (as they arrived), `"information"` (columns with the most mutual information with the others, given the class,
        come first), or a list of names, the others following by name.
    parents
        How many columns, the first in the order, may be parents, by default all.
    numeric
        How numeric columns are cut into intervals: `"frequency"` (eight intervals of equal weight over the first 200
        rows), `"width"` (three intervals of equal width over the range of the first 500 rows, as in the literature), or
        a `Grid`.
    max_bytes
        Limit for the tables of counts, in bytes; a model that would exceed it is refused.
    schema
        `Declared(...)`: kinds of columns, nominal values, classes and limits that are known beforehand.

    Merge: exact. Memory: 8 bytes per pair of values and class. A missing value drops its terms. Time: O(d²) per row
    to learn, O(d² K) to predict.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown, or the tables would be larger than `max_bytes`.

    Examples
    --------
    >>> rows = [{"sky": s, "wind": w} for s in ("blue", "grey") for w in ("calm", "gale")]
    >>> model = FANC()
    >>> for row, label in zip(rows * 2, ["dry", "dry", "wet", "dry"] * 2): model.learn_one(row, label)
    >>> model.predict_one({"sky": "grey", "wind": "calm"})
    'wet'

    References
    ----------
    R. R. Bouckaert, Voting massive collections of Bayesian network classifiers for data streams, 2006.
    """

    def __init__(
        self,
        smoothing: float | str = 1.0,
        prior: Prior = "empirical",
        order: Order = "name",
        parents: int | None = None,
        numeric: str | Grid = "frequency",
        max_bytes: int = MAX_BYTES,
        schema: Declared | None = None,
    ) -> None:
        super().__init__(smoothing, prior, order, numeric, max_bytes, schema)
        self.parents = parents

    def rule(self) -> ParentSets:
        return Forests(self.parents)


class TC(FANC):
    r"""A collection: all networks in which a column has at most two earlier columns as parents, besides the class.

    $P(c) \prod_i (P(x_i|c) + \sum_{j<i} P(x_i|c,x_j) + \sum_{j<l<i} P(x_i|c,x_j,x_l))$.

    Parameters
    ----------
    smoothing, prior, order, parents, numeric, max_bytes, schema
        As in `FANC`.

    Merge: exact. Memory: 8 bytes per triple of values and class. Time: O(d³) per row to learn, O(d³ K) to predict.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown, or the tables would be larger than `max_bytes`.

    Examples
    --------
    >>> model = TC().fit([["a", "b"], ["a", "c"], ["d", "b"], ["d", "c"]], [0, 1, 1, 0])
    >>> model.predict([["a", "b"], ["d", "b"]]).tolist()
    [0, 1]
    """

    def rule(self) -> ParentSets:
        return TwoParents(self.parents)

    def interaction_order(self) -> int:
        return 3


class SPC(CollectionClassifier):
    r"""Super parent collection: all networks of columns with the super parent s and one earlier column as parents.

    $P(c) P(x_s|c) \prod_{i \ne s} (P(x_i|c) + P(x_i|c,x_s) + \sum_{j<i} (P(x_i|c,x_j) + P(x_i|c,x_s,x_j)))$.

    Column s comes first; the others have the parent sets {}, {s}, {j} and {s, j}: $2^{m-1} (m-1)!$ networks.

    Parameters
    ----------
    super_parent
        Name of the super parent, by default the first column in the order.
    smoothing, prior, order, numeric, max_bytes, schema
        As in `FANC`.
    lean
        Whether to count only the triples of columns that include the super parent, which must then be named: O(m² a³)
        memory in place of O(m³ a³) for m columns of a values. Predictions are the same up to rounding; test-then-train
        goes row by row and is slower.

    Merge: exact. Memory: 8 bytes per triple of values and class, or per such triple with the super parent. Time:
    O(d³) per row to learn, O(d²) with `lean`; O(d² K) to predict.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown, or the tables would be larger than `max_bytes`.

    Examples
    --------
    >>> model = SPC(super_parent="x1").fit([["a", "b"], ["a", "c"], ["d", "b"], ["d", "c"]], [0, 1, 1, 0])
    >>> model.predict([["a", "b"], ["d", "b"]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        super_parent: str | None = None,
        smoothing: float = 1.0,
        prior: Prior = "empirical",
        order: Order = "name",
        numeric: str | Grid = "frequency",
        max_bytes: int = MAX_BYTES,
        schema: Declared | None = None,
        lean: bool = False,
    ) -> None:
        self.super_parent = super_parent
        self.lean = lean
        super().__init__(smoothing, prior, order, numeric, max_bytes, schema)

    def rule(self) -> ParentSets:
        return SuperParents()

    def interaction_order(self) -> int:
        return 3

    def joint_view(self) -> AnyView:
        if not self.lean:
            return super().joint_view()
        if self.super_parent is None or self.order == "information":
            raise SchemaError("lean=True needs a super_parent by name, and an order that is not searched for")
        return Live(self.set_counts(), SetReader(LeanSuperParents(), self.alpha))

    def column_naming(self) -> ColumnNaming:
        set_reader = _give_lean_parent if self.lean else _give_super_parent
        return partial(set_reader, self.super_parent, self.alpha)

    def column_sets(self) -> ColumnSetsOf | None:
        return partial(_triples_with, self.super_parent) if self.lean else None


class SPCr(ChosenParentClassifier):
    r"""Super parent collection (`SPC`) whose super parent is the one with the largest $\sum_n P(y_n | x_n)$.

    The sums are a track record: every row is predicted under each candidate before it is learned. The choice
    changes at refresh points.

    Parameters
    ----------
    one_in
        After the first 1,000 rows, candidates are compared on one row in `one_in`, chosen by a hash of the row's
        number.
    smoothing, prior, order, numeric, max_bytes, schema
        As in `FANC`.
    rows
        How the super parent is chosen: by the track record (None), or at refresh points on a uniform sample of this
        many rows, with the counts of that time, which include these rows, as in the paper. On data no larger than the
        sample this is SPCr by batch.

    Merge: counts exact, the record averaged; cannot unlearn. Memory: as `SPC`, and 16 bytes per column or the rows
    of the sample. Time: O(d³) per row to learn, O(d³ K) where it is recorded; O(d² K) to predict.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown, or the tables would be larger than `max_bytes`.
    UnsupportedError
        If rows are unlearned.

    Examples
    --------
    >>> model = SPCr().fit([["a", "b"], ["a", "c"], ["d", "b"], ["d", "c"]] * 9, [0, 1, 1, 0] * 9)
    >>> model.predict([["a", "b"], ["d", "b"]]).tolist(), model.super_parent_
    ([0, 1], 'x0')
    """

    def __init__(
        self,
        one_in: int = 8,
        smoothing: float = 1.0,
        prior: Prior = "empirical",
        order: Order = "name",
        numeric: str | Grid = "frequency",
        max_bytes: int = MAX_BYTES,
        schema: Declared | None = None,
        rows: int | None = None,
    ) -> None:
        self.rows = rows
        super().__init__(one_in, smoothing, prior, order, numeric, max_bytes, schema)

    def joint_view(self) -> AnyView:
        if self.rows is None:
            return super().joint_view()
        if not 1 <= self.rows <= 10_000_000:
            raise SchemaError(f"rows={self.rows!r}; it is None or lies between 1 and 10,000,000")
        return BatchParent(self.counts(3), self.choice(), self.rows)

    def choice(self) -> Choice:
        return Choice(SuperParents, False, self.alpha, prior_reader(self.prior), self.one_in)

    def interaction_order(self) -> int:
        return 3


def _give_super_parent(
    super_parent: str | None, smoothing: float, view: AnyView, columns: Mapping[str, int]
) -> None:
    parent = columns.get(super_parent, -1) if super_parent is not None else -1
    give_parent_sets(view, SuperParents(parent), smoothing)


def _give_lean_parent(
    super_parent: str | None, smoothing: float, view: AnyView, columns: Mapping[str, int]
) -> None:
    if isinstance(view, Live):
        parent = columns.get(super_parent, -1) if super_parent is not None else -1
        view.reader = SetReader(LeanSuperParents(parent), smoothing)


def _triples_with(super_parent: str | None, columns: Mapping[str, int]) -> ColumnSets:
    """The super parent and every pair of other columns."""
    if super_parent is None or super_parent not in columns:
        return ()
    s = columns[super_parent]
    others = [j for j in columns.values() if j != s]
    return tuple(sorted(tuple(sorted((s, *pair))) for pair in combinations(others, 2)))


def give_parent_sets(view: AnyView, rule: ParentSets, alpha: float) -> None:
    """Set the rule of parent sets of a view, by column number."""
    if isinstance(view, Live):
        view.reader = CollectionReader(rule, alpha)
    elif isinstance(view, SearchedCollection):
        view.reader = ByInformation(rule)
