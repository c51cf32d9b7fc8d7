"""Automatic choice: candidates that learn side by side, mixed by how well they have predicted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, cast

import numpy as np

from bayou.block import Block, Floats
from bayou.checks import require
from bayou.classifiers.baselines import MajorityClass, NoChange
from bayou.classifiers.count_forest import CountForest
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.classifiers.weighted import WeightedNB
from bayou.decisions import Decision
from bayou.engines import Engine
from bayou.engines.engine import under
from bayou.ensembles import costs
from bayou.ensembles.bagging import Bagging
from bayou.ensembles.costs import Sizes
from bayou.ensembles.ensemble import Ensemble
from bayou.ensembles.recorded_members import RecordedMembers
from bayou.errors import SchemaError
from bayou.kernels.followed import LATELY, LOSS, RIGHT, SEEN, follow_rows
from bayou.kernels.posterior import posterior
from bayou.protocols import Arrays
from bayou.schema import Declared
from bayou.summaries.followed import Followed
from bayou.summaries.met_columns import MetColumns
from bayou.summaries.pool_weights import PoolWeights

# Of the pool: its learning rate, and what remains of its record after each row
RATE, FORGET = 0.05, 0.999
BACK = 1e-3  # of all shares that return to the start after each row, so that a member can recover
SIZED = 256  # rows after which the shape of the table is known, and members beyond any budget are dropped
# Rows after which members are compared by their errors, and the factor to the next comparison
FIRST_WEIGHED, THEN = 1000, 4
LIGHT = 0.15  # of the budget: cheaper members are kept when the others are first checked against it


@dataclass(frozen=True)
class Candidate:
    """A candidate of `Auto`: its constructor, its time per row by the shape of the table, and a smaller form of it."""

    make: Callable[[], Estimator]
    cost: Callable[[Sizes], float]
    smaller: Candidate | None = None


BASELINES = (Candidate(MajorityClass, costs.nothing), Candidate(NoChange, costs.nothing))
SIMPLE = (
    Candidate(NaiveBayes, costs.naive_bayes),
    Candidate(partial(NaiveBayes, "gaussian"), costs.normal_densities),
    Candidate(WeightedNB, costs.weighted),
    Candidate(HoeffdingTree, costs.tree),
)
FEW, MANY = 15, 40  # trees
FOREST = Candidate(
    CountForest,
    partial(costs.forest, trees=MANY),
    Candidate(partial(CountForest, trees=FEW), partial(costs.forest, trees=FEW)),
)
FORESTS = (FOREST, Candidate(Bagging, costs.bagged_trees))
BUDGETS: Mapping[str, tuple[float, tuple[Candidate, ...]]] = {
    "fast": (5.0, (*SIMPLE, *BASELINES)),
    "balanced": (20.0, (*SIMPLE, *FORESTS, *BASELINES)),
    "accurate": (40.0, (*SIMPLE, *FORESTS, *BASELINES)),
}


def multiples(candidates: Sequence[Candidate], sizes: Sizes) -> Floats:
    """[C] the time per row of each candidate, with its part of the mixing, over that of naive Bayes."""
    times = np.array([candidate.cost(sizes) for candidate in candidates])
    return np.where(times > 0.0, times + costs.mixing(sizes), 0.0) / costs.naive_bayes(sizes)


class Auto(Ensemble):
    r"""Several classifiers learned side by side, and mixed by how well each of them has predicted so far.

    P(c | x) = \sum_a q_a P_a(c | x) over the candidates, their plain mean and their log-linear pool (`Pool`). After
    each row q_a is multiplied by what P_a gave the label, and a thousandth of all shares goes back to where they
    began, so that the log-loss stays near that of the best candidate of every stretch of the stream. The cost of a
    candidate follows from the number of columns of each kind and of classes. After 256 rows candidates that exceed
    the budget by themselves are dropped, or a forest is grown anew with 15 trees for 40; after 1,000, 4,000, 16,000 …
    rows the others are kept in the order of their errors since the time before, the best first, as far as the budget
    goes.

    Parameters
    ----------
    budget
        How much time a row may take, in multiples of the time of naive Bayes, encoding included: `"fast"` (5: three
        forms of naive Bayes, and a tree), `"balanced"` (20: also a `CountForest` and bagged trees, or, where both
        exceed the budget, both for 1,000 rows and then the better of the two), or `"accurate"` (40: both to the end,
        except on the costliest tables). Costs are estimated from the shape of the table, so what is learned never
        depends on a clock.
    decision
        How `predict` chooses a class: the most probable one (None), or by `Threshold(label, probability)`, `Costs(...)`
        or `Abstain(...)`.
    schema
        `Declared(...)`: kinds of columns, nominal values, classes and limits that are known beforehand.

    Attributes
    ----------
    shares_ : dict
        By candidate, its share of the answer at present, the greatest first.
    record_ : dict
        By candidate, accuracy and mean log-loss (nats) over the rows it learned of classes met before, each row
        predicted before it was learned; its share, and whether it is still followed.

    Merge: none, since a tree is among the candidates. Memory: that of the candidates. Time: that of all candidates that
    are followed, which also predict every row they learn.

    Raises
    ------
    SchemaError
        If `budget` is none of the three.
    MergeError
        If models are merged.
    UnsupportedError
        If rows are unlearned or faded.

    See Also
    --------
    Pool : the log-linear pool alone, of classifiers you choose.

    Examples
    --------
    >>> model = Auto(budget="fast")
    >>> for i in range(400): model.learn_one({"x": i % 7, "day": "mon" if i % 3 else "sun"}, i % 7 > 3)
    >>> model.predict_one({"x": 6}), model.predict_one({"x": 1})
    (True, False)
    >>> round(sum(model.shares_.values()), 9)
    1.0
    """

    _offers = ("shares_", "record_")

    def __init__(
        self, budget: str = "balanced", decision: Decision | None = None, schema: Declared | None = None
    ) -> None:
        self.budget = budget
        self.decision = decision
        self.schema = schema

    def declared(self) -> Declared:
        return self.schema or Declared()

    def candidates(self) -> Sequence[Candidate]:
        """The candidates of the budget."""
        if self.budget not in BUDGETS:
            raise SchemaError(f"budget={self.budget!r}; it is one of {', '.join(map(repr, BUDGETS))}")
        return BUDGETS[self.budget][1]

    def templates(self) -> Sequence[Estimator]:
        return [candidate.make() for candidate in self.candidates()]

    def build_engine(self) -> FollowedMembers:
        candidates, budget = self.candidates(), BUDGETS[self.budget][0]
        smaller = {m: c.smaller for m, c in enumerate(candidates) if c.smaller is not None}
        return FollowedMembers(
            self.builders(),
            partial(multiples, candidates),
            budget,
            {m: (c.make().build_engine, partial(_multiple, c)) for m, c in smaller.items()},
        )

    @property
    def shares_(self) -> dict[str, float]:
        """Weight in the prediction, by candidate, of their mean and of their pool; the greatest first."""
        shares = cast(FollowedMembers, self.engine).followed.shares.tolist()
        named = dict(zip(self._names(), shares, strict=True))
        return dict(sorted(named.items(), key=lambda item: -item[1]))

    @property
    def record_(self) -> dict[str, dict[str, float]]:
        """Accuracy, log-loss, share and whether it is followed, by candidate, of their mean and of their pool."""
        followed = cast(FollowedMembers, self.engine).followed
        rows = np.maximum(followed.record[SEEN], 1.0)
        active = [*followed.active.tolist(), 1, 1]
        return {
            name: {
                "accuracy": float(followed.record[RIGHT, a] / rows[a]),
                "log_loss": float(followed.record[LOSS, a] / rows[a]),
                "share": float(followed.shares[a]),
                "followed": bool(active[a]),
            }
            for a, name in enumerate(self._names())
        }

    def _names(self) -> list[str]:
        names = [repr(template) for template in self.templates()]
        for m in np.flatnonzero(cast(FollowedMembers, self.engine).followed.small).tolist():
            names[m] = repr(cast(Candidate, self.candidates()[m].smaller).make())
        return [*names, "their mean", "their pool"]


class FollowedMembers(RecordedMembers):
    """Members mixed by how well they predict, and dropped where they cost more than a budget.

    Parameters
    ----------
    builders
        Functions that make the engines of the members.
    costs
        A function from the shape of the table to the time per row of each, float64[M]; a member of cost 0 is never
        dropped.
    budget
        The total cost that the members in use may have.
    smaller
        By member, a function that makes a smaller form of it, and one that returns the time per row of that; the member
        must have `kept_rows`, from which the smaller form learns.
    """

    summary_names = ("classes", "columns", "followed", "pool")

    def __init__(
        self,
        builders: Sequence[Callable[[], Engine]],
        costs: Callable[[Sizes], Floats],
        budget: float,
        smaller: Mapping[int, tuple[Callable[[], Engine], Callable[[Sizes], float]]] | None = None,
    ) -> None:
        super().__init__(builders)
        self.costs, self.budget, self.smaller = costs, budget, smaller or {}
        self.columns, self.followed = MetColumns(), Followed(len(builders))
        self.pool = PoolWeights(len(builders), RATE, FORGET)

    # -- learning and predicting --

    def test_then_train(self, block: Block) -> Floats:
        out = np.empty((block.n, self.n_classes))
        labelled = np.cumsum((block.y >= 0) & (block.w > 0))
        points = self._points(int(labelled[-1]) if block.n else 0)
        ends = [int(np.searchsorted(labelled, point - self.learned)) + 1 for point in points]
        for rows, part in block.cut(ends):
            joint = self._test_then_train_members(part)
            self.learned += part.learned()
            self.columns.update(part)
            out[rows] = self._mixed(joint, part, part.y)
            if rows.stop in ends:
                self._weigh()
        return out

    def joint_log_proba(self, block: Block) -> Floats:
        joint = self.ask(lambda member: member.joint_log_proba(block), block.n, self.predicting())
        return self._mixed(joint, block, np.full(block.n, -1, dtype=np.int32))

    def _test_then_train_members(self, part: Block) -> Floats:
        """[A, n, K] joint log-probabilities of each row by each member in use, before the member learned the row."""
        return self.ask(lambda member: member.test_then_train(part), part.n, self.predicting())

    def _mixed(self, joint: Floats, block: Block, y: np.ndarray) -> Floats:
        """[n, K] log P of the mixture; labelled rows update the shares, one by one."""
        order = np.arange(self.n_classes)
        opinions = np.zeros((block.n, len(self.members), self.n_classes))
        for m, probabilities in zip(self.predicting(), joint, strict=True):
            posterior(probabilities, order, 0.0)
            opinions[:, m] = probabilities
        followed, pool = self.followed, self.pool
        out = np.empty((block.n, self.n_classes))
        follow_rows(
            followed.shares, followed.record, followed.starts(), followed.active, pool.shared, pool.cells, pool.scalars,
            opinions, self.classes.weight, int(self.classes.declared[0]), y, block.w, self.class_order(),
            RATE, FORGET, BACK, out,
        )  # fmt: skip
        return out

    def predicting(self) -> Sequence[int]:
        return np.flatnonzero(self.followed.active).tolist()

    # -- cost --

    def sizes(self) -> Sizes:
        """The shape of the table: columns that have had a value, and classes."""
        seen = self.columns
        numeric, nominal, text = (int(kind.sum()) for kind in (seen.numeric, seen.nominal, seen.text))
        return Sizes(numeric, nominal, text, int(np.count_nonzero(self.classes.weight)))

    def _points(self, more: int) -> list[int]:
        """Row counts among the next rows after which members are checked against the budget."""
        points, point = [SIZED], FIRST_WEIGHED
        while point <= self.learned + more:
            points.append(point)
            point *= THEN
        return [point for point in points if self.learned < point <= self.learned + more]

    def _weigh(self) -> None:
        """Drop members beyond the budget: those too large by themselves at first, then by their errors."""
        sizes = self.sizes()
        costs = self._costs(sizes)
        dropped = (
            self._too_large(sizes, costs) if self.learned < FIRST_WEIGHED else self._beyond_budget(costs)
        )
        if dropped:
            losses = np.where(self.followed.active == 1, self.followed.record[LOSS, :-2], np.inf)
            losses[dropped] = np.inf
            for m in dropped:
                self.pool.hand_over(m, int(losses.argmin()))
            self.followed.drop(dropped)
            self._empty(dropped)
        if self.learned >= FIRST_WEIGHED:
            self.followed.weigh_anew()

    def _costs(self, sizes: Sizes) -> Floats:
        costs = self.costs(sizes)
        for m in np.flatnonzero(self.followed.small).tolist():
            costs[m] = self.smaller[m][1](sizes)
        return costs

    def _too_large(self, sizes: Sizes, costs: Floats) -> list[int]:
        """The members that exceed the budget beside the light ones; those with a smaller form that fits take it."""
        light = costs <= LIGHT * self.budget
        budget_left, dropped = self.budget - float(costs[light].sum()), []
        for m in np.flatnonzero(~light & (costs > budget_left)).tolist():
            if m in self.smaller and self.smaller[m][1](sizes) <= budget_left:
                self.followed.small[m] = 1
                rows = self.members[m].kept_rows()
                self._empty([m])
                self.members[m].learn(rows)
            else:
                dropped.append(m)
        return dropped if len(dropped) < np.count_nonzero(costs) else []

    def _beyond_budget(self, costs: Floats) -> list[int]:
        """The members beyond the budget, when those with the fewest errors since the last comparison are kept first."""
        followed, budget_left, dropped = self.followed, self.budget, []
        for m in np.argsort(followed.record[LATELY, :-2], kind="stable").tolist():
            if not followed.active[m] or not costs[m]:
                continue
            if costs[m] <= budget_left or budget_left == self.budget:  # the best one stays in any case
                budget_left -= costs[m]
            else:
                dropped.append(m)
        return dropped

    def _empty(self, members: list[int]) -> None:
        for m in members:
            self.members[m] = self.new_member(m)
            self.members[m].refresh_at_row_counts()

    def new_member(self, i: int = 0) -> Any:
        member = self.smaller[i][0]() if self.followed.small[i] else self.builders[i]()
        member.begin(self.schema)
        return member

    # -- merging, decay, files --

    def merge(self, other: Self) -> None:
        super().merge(other)
        self._empty(np.flatnonzero(self.followed.active == 0).tolist())

    def restore(self, arrays: Arrays) -> None:
        self.followed.restore(under("followed.", arrays))
        small = np.flatnonzero(self.followed.small).tolist()
        require(all(m in self.smaller for m in small), "a member has no smaller form")
        self._empty(small)
        super().restore(arrays)


def _multiple(candidate: Candidate, sizes: Sizes) -> float:
    return float(multiples([candidate], sizes)[0])
