"""One good answer without choosing: candidates that learn side by side, followed by their record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self, cast

import numpy as np

from bayou.align import Alignment, from_empty
from bayou.block import Block, Floats
from bayou.classifiers.baselines import MajorityClass, NoChange
from bayou.classifiers.count_forest import CountForest
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.classifiers.weighted import WeightedNB
from bayou.decisions import Decision
from bayou.engines import Engine, Members
from bayou.ensembles.bagging import Bagging
from bayou.ensembles.ensemble import Ensemble
from bayou.errors import SchemaError
from bayou.kernels.followed import LATELY, LOSS, RIGHT, SEEN, follow_rows
from bayou.kernels.posterior import posterior
from bayou.schema import Declared, Schema
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.followed import Followed
from bayou.summaries.pool_weights import PoolWeights
from bayou.views.learned_view import LearnedView
from bayou.views.view import AnyView

RATE, FORGET = (
    0.05,
    0.999,
)  # of the pool: the size of its steps, and what is left of its record after each row
BACK = 1e-3  # of all shares, what returns to the start after each row: a member that recovers is heard again
FIRST_WEIGHED, THEN = (
    4000,
    4,
)  # rows after which members are weighed against their cost, and again at each fourfold


@dataclass(frozen=True)
class Candidate:
    """A classifier that takes part, and its time per row in multiples of naive Bayes': see benchmarks/bench_auto.py."""

    make: Callable[[], Estimator]
    cost: float


BASELINES = (Candidate(MajorityClass, 0.0), Candidate(NoChange, 0.0))
SIMPLE = (
    Candidate(NaiveBayes, 1.0),
    Candidate(lambda: NaiveBayes("gaussian"), 0.3),
    Candidate(WeightedNB, 1.3),
    Candidate(HoeffdingTree, 0.7),
)
FORESTS = (Candidate(CountForest, 9.0), Candidate(Bagging, 10.0))
BUDGETS: Mapping[str, tuple[float, tuple[Candidate, ...]]] = {
    "fast": (5.0, (*SIMPLE, *BASELINES)),
    "balanced": (20.0, (*SIMPLE, *FORESTS, *BASELINES)),
    "accurate": (40.0, (*SIMPLE, *FORESTS, *BASELINES)),
}


class Auto(Ensemble):
    r"""Several classifiers of this library learned side by side, each followed as far as it has been right.

    P(c | x) = \sum_a q_a P_a(c | x) over the candidates, their plain mean and their log-linear pool (`Pool`). After
    each row q_a is multiplied by what P_a gave the label, and a thousandth of all shares goes back to where they
    began, so that the log-loss stays near that of the best candidate of every stretch of the stream.
    After 4,000, 16,000, 64,000 … rows candidates are kept in the order of their errors since the time before, the best
    first, as far as the budget goes; the others are dropped.

    Parameters
    ----------
    budget
        Time per row in multiples of naive Bayes': `"fast"` (5: naive Bayes in three forms, a tree), `"balanced"` (20:
        also a forest of counts and bagged trees for 4,000 rows, then the better of the two), or `"accurate"` (40: both
        to the end). The multiples are fixed numbers, so that what is learned never depends on a clock.
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
        costs = np.array([candidate.cost for candidate in self.candidates()])
        return FollowedMembers(self.builders(), costs, BUDGETS[self.budget][0])

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
        return [*map(repr, self.templates()), "their mean", "their pool"]


class FollowedMembers(Members):
    """Members that are followed by their record, and dropped where they cost more than a budget.

    Parameters
    ----------
    builders
        What makes each member.
    costs
        float64[M], the time per row of each.
    budget
        What the members that are followed may cost together.
    """

    def __init__(self, builders: Sequence[Callable[[], Engine]], costs: Floats, budget: float) -> None:
        super().__init__(builders)
        self.refresh_at_row_counts()
        self.costs, self.budget = costs, budget
        self.classes, self.followed = ClassCounts(), Followed(len(builders))
        self.pool = PoolWeights(len(builders), RATE, FORGET)

    @property
    def depends_on_order(self) -> bool:
        return True

    def begin(self, schema: Schema) -> None:
        super().begin(schema)
        for own in (self.classes, self.followed, self.pool):
            own.realign(from_empty(schema))

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        for own in (self.classes, self.followed, self.pool):
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

    def _points(self, more: int) -> list[int]:
        """Row counts among the next rows after which members are weighed against their cost."""
        points, point = [], FIRST_WEIGHED
        while point <= self.learned + more:
            if point > self.learned:
                points.append(point)
            point *= THEN
        return points

    def _weigh(self) -> None:
        """Keep members in the order of their errors since they were weighed last, as far as the budget goes."""
        followed, left, dropped = self.followed, self.budget, []
        for m in np.argsort(followed.record[LATELY, :-2], kind="stable").tolist():
            if not followed.active[m] or not self.costs[m]:
                continue
            if self.costs[m] <= left or left == self.budget:  # the best one stays, whatever it costs
                left -= self.costs[m]
            else:
                dropped.append(m)
        if dropped:
            followed.drop(dropped)
            self._empty(dropped)
        followed.weigh_anew()

    def _empty(self, members: list[int]) -> None:
        for m in members:
            self.members[m] = self.new_member(m)
            self.members[m].refresh_at_row_counts()

    # -- the algebra --

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.followed.merge(other.followed)
        self.classes.merge(other.classes)
        self.pool.merge(other.pool)
        self._empty(np.flatnonzero(self.followed.active == 0).tolist())

    def scale(self, factor: float) -> None:
        super().scale(factor)
        self.classes.scale(factor)

    def fresh(self) -> Self:
        twin = super().fresh()
        twin.classes, twin.followed, twin.pool = (
            self.classes.fresh(),
            self.followed.fresh(),
            self.pool.fresh(),
        )
        return twin

    def parts(self) -> Mapping[str, Engine | AnyView]:  # type: ignore[override] # its own views besides the members
        own = {"classes": self.classes, "followed": self.followed, "pool": self.pool}
        return {**super().parts(), **{name: LearnedView(state) for name, state in own.items()}}
