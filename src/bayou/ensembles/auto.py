"""One good answer without choosing: candidates that learn side by side, followed by their record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, cast

import numpy as np

from bayou.align import Alignment, from_empty
from bayou.block import Block, Floats
from bayou.checks import require
from bayou.classifiers.baselines import MajorityClass, NoChange
from bayou.classifiers.count_forest import CountForest
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.classifiers.weighted import WeightedNB
from bayou.decisions import Decision
from bayou.engines import Engine, Members
from bayou.engines.engine import under
from bayou.ensembles import costs
from bayou.ensembles.bagging import Bagging
from bayou.ensembles.costs import Sizes
from bayou.ensembles.ensemble import Ensemble
from bayou.errors import SchemaError
from bayou.kernels.followed import LATELY, LOSS, RIGHT, SEEN, follow_rows
from bayou.kernels.posterior import posterior
from bayou.protocols import Arrays
from bayou.schema import Declared, Schema
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.followed import Followed
from bayou.summaries.met_columns import MetColumns
from bayou.summaries.pool_weights import PoolWeights
from bayou.views.learned_view import LearnedView
from bayou.views.view import AnyView

# Of the pool: the size of its steps, and what is left of its record after each row
RATE, FORGET = 0.05, 0.999
BACK = 1e-3  # of all shares, what returns to the start after each row: a member that recovers is heard again
SIZED = 256  # rows after which the shape of the table is known, and what no budget can bear is dropped
# Rows after which members are weighed by their errors, and again at each fourfold
FIRST_WEIGHED, THEN = 1000, 4
LIGHT = 0.15  # of a budget: members that take no more are no question when the others are sized


@dataclass(frozen=True)
class Candidate:
    """A classifier that takes part, its time per row by the shape of the table, and a smaller form of it."""

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


def multiples(candidates: Sequence[Candidate], of: Sizes) -> Floats:
    """[C] the time per row of each candidate, followed, over that of naive Bayes."""
    each = np.array([candidate.cost(of) for candidate in candidates])
    return np.where(each > 0.0, each + costs.mixing(of), 0.0) / costs.naive_bayes(of)


class Auto(Ensemble):
    r"""Several classifiers of this library learned side by side, each followed as far as it has been right.

    P(c | x) = \sum_a q_a P_a(c | x) over the candidates, their plain mean and their log-linear pool (`Pool`). After
    each row q_a is multiplied by what P_a gave the label, and a thousandth of all shares goes back to where they
    began, so that the log-loss stays near that of the best candidate of every stretch of the stream.
    What a candidate costs is told by the number of columns of each kind and of classes. After 256 rows candidates that
    exceed the budget by themselves are dropped, or a forest is grown anew with 15 trees for 40; after 1,000, 4,000,
    16,000 … rows the others are kept in the order of their errors since the time before, the best first, as far as the
    budget goes.

    Parameters
    ----------
    budget
        Time per row in multiples of naive Bayes', rows of a table encoded for each: `"fast"` (5: naive Bayes in three
        forms, a tree), `"balanced"` (20: also a forest of counts and bagged trees, where both are too dear for 1,000
        rows, then the better of the two), or `"accurate"` (40: both to the end but on the dearest tables). What is
        learned never depends on a clock.
    decision
        How probabilities become a class: `Threshold(label, probability)`, `Costs(...)` or `Abstain(...)`; the most
        probable by default.
    schema
        What is known beforehand: kinds, values, classes, caps.

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
        """Who takes part."""
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
        """Share of the answer, by candidate, of their mean and of their pool; the greatest first."""
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


class FollowedMembers(Members):
    """Members that are followed by their record, and dropped where they cost more than a budget.

    Parameters
    ----------
    builders
        What makes each member.
    costs
        What gives the time per row of each, float64[M], by the shape of the table; what costs nothing is never dropped.
    budget
        What the members that are followed may cost together.
    smaller
        By member, what makes a smaller form of it, and what gives the time per row of that; the member must have
        `kept_rows`, from which that learns.
    """

    def __init__(
        self,
        builders: Sequence[Callable[[], Engine]],
        costs: Callable[[Sizes], Floats],
        budget: float,
        smaller: Mapping[int, tuple[Callable[[], Engine], Callable[[Sizes], float]]] | None = None,
    ) -> None:
        super().__init__(builders)
        self.refresh_at_row_counts()
        self.costs, self.budget, self.smaller = costs, budget, smaller or {}
        self.classes, self.columns, self.followed = ClassCounts(), MetColumns(), Followed(len(builders))
        self.pool = PoolWeights(len(builders), RATE, FORGET)

    @property
    def depends_on_order(self) -> bool:
        return True

    def begin(self, schema: Schema) -> None:
        super().begin(schema)
        for own in (self.classes, self.columns, self.followed, self.pool):
            own.realign(from_empty(schema))

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        for own in (self.classes, self.columns, self.followed, self.pool):
            own.realign(plan)

    # -- learning and predicting --

    def learn(self, block: Block) -> None:
        self.test_then_train(block)

    def test_then_train(self, block: Block) -> Floats:
        out = np.empty((block.n, self.n_classes))
        teaches = np.cumsum((block.y >= 0) & (block.w > 0))
        points = self._points(int(teaches[-1]) if block.n else 0)
        ends = [int(np.searchsorted(teaches, point - self.learned)) + 1 for point in points]
        for where, part in block.cut(ends):
            joint = self._asked_then_trained(part)
            self.learned += part.learned()
            self.columns.update(part)
            out[where] = self._mixed(joint, part, part.y)
            if where.stop in ends:
                self._weigh()
        return out

    def joint_log_proba(self, block: Block) -> Floats:
        joint = self.ask(lambda member: member.joint_log_proba(block), block.n, self.predicting())
        return self._mixed(joint, block, np.full(block.n, -1, dtype=np.int32))

    def _asked_then_trained(self, part: Block) -> Floats:
        """[A, n, K] what each member that is followed said of each row before it learned that."""
        return self.ask(lambda member: member.test_then_train(part), part.n, self.predicting())

    def _mixed(self, joint: Floats, block: Block, y: np.ndarray) -> Floats:
        """[n, K] log P; rows with a label move the shares, one by one."""
        order = np.arange(self.n_classes)
        opinions = np.zeros((block.n, len(self.members), self.n_classes))
        for m, said in zip(self.predicting(), joint, strict=True):
            posterior(said, order, 0.0)
            opinions[:, m] = said
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
        """The shape of the table, as far as rows have shown it."""
        met = self.columns
        numeric, nominal, text = (int(kind.sum()) for kind in (met.numeric, met.nominal, met.text))
        return Sizes(numeric, nominal, text, int(np.count_nonzero(self.classes.weight)))

    def _points(self, more: int) -> list[int]:
        """Row counts among the next rows after which members are sized, or weighed."""
        points, point = [SIZED], FIRST_WEIGHED
        while point <= self.learned + more:
            points.append(point)
            point *= THEN
        return [point for point in points if self.learned < point <= self.learned + more]

    def _weigh(self) -> None:
        """Drop members that cost too much: by themselves at first, then in the order of their errors."""
        sizes = self.sizes()
        costs = self._costs(sizes)
        dropped = self._alone(sizes, costs) if self.learned < FIRST_WEIGHED else self._together(costs)
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

    def _alone(self, sizes: Sizes, costs: Floats) -> list[int]:
        """Members that exceed the budget beside the light ones; those with a smaller form that fits take it on."""
        light = costs <= LIGHT * self.budget
        left, dropped = self.budget - float(costs[light].sum()), []
        for m in np.flatnonzero(~light & (costs > left)).tolist():
            if m in self.smaller and self.smaller[m][1](sizes) <= left:
                self.followed.small[m] = 1
                rows = self.members[m].kept_rows()
                self._empty([m])
                self.members[m].learn(rows)
            else:
                dropped.append(m)
        return dropped if len(dropped) < np.count_nonzero(costs) else []

    def _together(self, costs: Floats) -> list[int]:
        """Members beyond the budget when those with the fewest errors since they were weighed last are kept first."""
        followed, left, dropped = self.followed, self.budget, []
        for m in np.argsort(followed.record[LATELY, :-2], kind="stable").tolist():
            if not followed.active[m] or not costs[m]:
                continue
            if costs[m] <= left or left == self.budget:  # the best one stays, whatever it costs
                left -= costs[m]
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

    # -- the algebra --

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.followed.merge(other.followed)
        self.classes.merge(other.classes)
        self.columns.merge(other.columns)
        self.pool.merge(other.pool)
        self._empty(np.flatnonzero(self.followed.active == 0).tolist())

    def scale(self, factor: float) -> None:
        super().scale(factor)
        self.classes.scale(factor)

    def fresh(self) -> Self:
        twin = super().fresh()
        twin.classes, twin.columns = self.classes.fresh(), self.columns.fresh()
        twin.followed, twin.pool = self.followed.fresh(), self.pool.fresh()
        return twin

    def parts(self) -> Mapping[str, Engine | AnyView]:  # type: ignore[override] # its own views besides the members
        own = {
            "classes": self.classes,
            "columns": self.columns,
            "followed": self.followed,
            "pool": self.pool,
        }
        return {**super().parts(), **{name: LearnedView(state) for name, state in own.items()}}

    def restore(self, arrays: Arrays) -> None:
        self.followed.restore(under("followed.", arrays))
        small = np.flatnonzero(self.followed.small).tolist()
        require(all(m in self.smaller for m in small), "a member has no smaller form")
        self._empty(small)
        super().restore(arrays)


def _multiple(candidate: Candidate, of: Sizes) -> float:
    return float(multiples([candidate], of)[0])
