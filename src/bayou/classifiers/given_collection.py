"""Collections of Bayesian networks with parent sets given by the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from bayou.classifiers.collections import CollectionClassifier, give_parent_sets
from bayou.classifiers.joint import Prior
from bayou.engines.joint import ColumnNaming, ColumnSetsOf, Order
from bayou.errors import SchemaError
from bayou.readings.parent_sets import GivenSets, ParentSets, Term
from bayou.readings.set_collection import AnySets, SetReader, SetTerm, wide_sets
from bayou.schema import Declared
from bayou.summaries.grid import Grid
from bayou.summaries.joint_counts import MAX_BYTES
from bayou.summaries.set_counts import ColumnSets
from bayou.views.view import AnyView, Live

ParentSet = Sequence[str] | tuple[Sequence[str], float]
WeightedSets = Mapping[str, list[tuple[list[str], float]]]  # from column to parent sets, each with its weight


class Collection(CollectionClassifier):
    r"""Any collection of Bayesian networks: $P(c) \prod_i \sum_{pa \in PA_i} u_{i,pa} P(x_i | c, pa)$.

    Parameters
    ----------
    parent_sets
        A mapping from column names to their parent sets, each a list of names, or a pair of such a list and its weight
        u, for prior knowledge. A column that is not named has the class as its only parent. The parents must not form a
        cycle. If a set holds more than two names, exactly the sets given are counted, as far as `max_bytes` allows.
    smoothing, prior, order, numeric, max_bytes, schema
        As in `FANC`.

    Merge: exact. Memory: 8 bytes per pair (or triple, if a set holds two names) of values and class; with larger
    sets per pair, and per combination of values of each set given. Time: O(d²) per row to learn with pairs, O(d³)
    with triples, one step per set with larger ones; O(s K) to predict, for s parent sets.

    Raises
    ------
    SchemaError
        If parents form a cycle, a parameter is unknown, or the tables would be larger than `max_bytes`.

    Examples
    --------
    >>> model = Collection({"x1": [[], (["x0"], 5.0)]})
    >>> model = model.fit([["a", "b"], ["a", "c"], ["d", "b"], ["d", "c"]], [0, 1, 1, 0])
    >>> model.predict([["a", "b"], ["d", "b"]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        parent_sets: Mapping[str, Sequence[ParentSet]] | None = None,
        smoothing: float = 1.0,
        prior: Prior = "empirical",
        order: Order = "name",
        numeric: str | Grid = "frequency",
        max_bytes: int = MAX_BYTES,
        schema: Declared | None = None,
    ) -> None:
        self.parent_sets = parent_sets
        super().__init__(smoothing, prior, order, numeric, max_bytes, schema)

    def rule(self) -> ParentSets:
        check_acyclic(self._given())
        return GivenSets()

    def interaction_order(self) -> int:
        return 3 if any(len(pa) > 1 for sets in self._given().values() for pa, _ in sets) else 2

    def joint_view(self) -> AnyView:
        if not self._is_wide():
            return super().joint_view()
        if self.order == "information":
            raise SchemaError("parent sets of more than two columns have no order that could be searched for")
        check_acyclic(self._given())
        return Live(self.set_counts(), SetReader(AnySets(), self.alpha))

    def _is_wide(self) -> bool:
        """Whether a parent set has more columns than counts of triples cover."""
        return any(len(pa) > 2 for sets in self._given().values() for pa, _ in sets)

    def column_sets(self) -> ColumnSetsOf | None:
        return partial(_given_sets, self._given()) if self._is_wide() else None

    def _given(self) -> WeightedSets:
        return {name: [_weighted(pa) for pa in sets] for name, sets in (self.parent_sets or {}).items()}

    def column_naming(self) -> ColumnNaming:
        give = _give_any_sets if self._is_wide() else _give_sets
        return partial(give, self._given(), self.alpha)


def _give_sets(
    parent_sets: WeightedSets,
    smoothing: float,
    view: AnyView,
    columns: Mapping[str, int],
) -> None:
    terms: list[Term] = []
    for name, sets in parent_sets.items():
        for pa, u in sets:
            if name in columns and all(p in columns for p in pa):
                p, q = (*(columns[x] for x in pa), -1, -1)[:2]
                terms.append((columns[name], p, q, u))
    give_parent_sets(view, GivenSets(tuple(terms)), smoothing)


def _set_terms(parent_sets: WeightedSets, columns: Mapping[str, int]) -> list[SetTerm]:
    """The parent sets by column number, those whose columns are all known."""
    return [
        (columns[name], tuple(columns[p] for p in pa), u)
        for name, sets in parent_sets.items()
        for pa, u in sets
        if name in columns and all(p in columns for p in pa)
    ]


def _given_sets(parent_sets: WeightedSets, columns: Mapping[str, int]) -> ColumnSets:
    return wide_sets(_set_terms(parent_sets, columns))


def _give_any_sets(
    parent_sets: WeightedSets,
    smoothing: float,
    view: AnyView,
    columns: Mapping[str, int],
) -> None:
    if isinstance(view, Live):
        view.reader = SetReader(AnySets(tuple(_set_terms(parent_sets, columns))), smoothing)


def check_acyclic(parent_sets: WeightedSets) -> None:
    """Refuse parent sets that name a column twice or their child, weights that are not positive, and cycles."""
    for name, sets in parent_sets.items():
        for pa, u in sets:
            if len(set(pa)) != len(pa) or name in pa or not 0 < u < float("inf"):
                raise SchemaError(
                    f"parent set {pa!r} (weight {u!r}) of column {name!r}: other columns, each once, and a positive "
                    "weight"
                )
    parents_of = {name: {p for pa, _ in sets for p in pa} for name, sets in parent_sets.items()}
    placed: set[str] = set()
    while True:
        free = [
            name
            for name in parents_of
            if name not in placed and not (parents_of[name] & parents_of.keys()) - placed
        ]
        if not free:
            break
        placed.update(free)
    if len(placed) < len(parents_of):
        cyclic = ", ".join(repr(name) for name in parents_of if name not in placed)
        raise SchemaError(
            f"the parent sets of {cyclic} form a cycle; give the columns an order, parents first"
        )


def _weighted(pa: ParentSet) -> tuple[list[str], float]:
    if isinstance(pa, tuple) and len(pa) == 2 and isinstance(pa[1], int | float):
        return list(pa[0]), float(pa[1])
    return [str(name) for name in pa], 1.0
