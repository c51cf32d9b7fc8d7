"""Error-correcting output codes over naive Bayes, learned in one pass."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.classifiers.sampling import blank_block
from bayou.codes import Code, GivenCode, code_recipe, fitted_columns, useful_columns
from bayou.decisions import Decision
from bayou.engines import Engine, Views
from bayou.errors import NotFittedError, SchemaError, UnsupportedError
from bayou.kernels.ecoc import decode_absolute, decode_soft, decode_votes
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.readings.dichotomies import Dichotomies, Odds
from bayou.schema import Declared, Growth
from bayou.summaries.class_counts import ClassCounts
from bayou.threads import over_ranges
from bayou.views.view import AnyView

if TYPE_CHECKING:
    from bayou.scorer import Node

DECODINGS = ("soft", "l1", "hamming", "slepian")
GRAIN = 500  # rows worth a thread of their own
TIE = 1e-6  # separates equal votes: enough to rank, too little to change a probability visibly
LOG_ODDS_PER_BIT = 8.0  # log-odds for the mean distance, where decoding counts bits instead of weighing them
_ANY_ROW = Block(np.empty((1, 0)), np.empty((1, 0), dtype=np.int32), (), np.full(1, -1, np.int32), np.ones(1))


class EcocNB(Estimator):
    r"""Error-correcting output codes: a naive Bayes for each column of a code, all computed from one set of counts.

    Column b of the code puts classes on the sides + and - and gives the log-odds z_b = log P(+, x) - log P(-, x) of
    naive Bayes trained on data relabelled so; smoothing comes after the counts of a side are added up. With rows m_c of
    the code, weights w_b (a column and its complement are one classifier), p_b(±1) = 1 / (1 + exp(∓z_b)):

    soft: score(c) = \sum_b w_b log p_b(m_cb) / D;  l1: -\sum_b w_b |(1 + m_cb)/2 - p_b(+1)| * 8/D;
    hamming: \sum_b w_b m_cb sign(z_b) * 4/D, ties by \sum_b w_b m_cb z_b, then by the prior;
    slepian: the same votes, ties as in the standard array. A column that leaves a class out counts half a bit.

    D is the mean distance between rows, so that a longer code is not more confident: with two classes, soft decoding of
    any code is the naive Bayes below. Probabilities are proportional to exp(score). With columns that leave no class
    out, soft scores are linear in z: they are folded into one table per class, and predicting costs what it costs
    naive Bayes.

    Row r of the code belongs to the r-th class, in canonical order, among those that can occur: those with weight, and
    declared ones. So models with the same classes use the same code, whatever they saw first. A new class changes the
    code: the rows of classes after it in canonical order move on by one, and columns that separated no classes may come
    into use. Nothing has to be learned again: the code follows from the base's counts and a rule, and has no state.

    Parameters
    ----------
    estimator
        The classifier whose counts are added up for the two sides of each column of the code: `NaiveBayes()` (the
        default), `MultinomialNB()` or another whose summaries can be regrouped.
    code
        The code: `"one-vs-all"`, `"one-vs-one"`, `"bch"` (63 bits), `"random"`, or a recipe such as `BCH(bits=31)`.
    decode
        How log-odds become a class: `"soft"` (log-likelihood of the code's rows), `"l1"` (distance of probabilities to
        the bits), `"hamming"` (votes, ties by the log-odds) or `"slepian"` (votes, ties as in the standard array).

    Merge: by the law of the estimator. Memory: that of the estimator; predicting in batches keeps a table of a
    number per word or value and class (or column, where the decoding is not linear) until the next row is learned.
    Time: that of the estimator to learn; soft decoding O(d K) per row to predict, others O(d B) for a code of B
    columns.

    Raises
    ------
    SchemaError
        If the code or the decoding is unknown.
    UnsupportedError
        If the estimator's summaries do not regroup, as those of trees.

    Examples
    --------
    >>> from bayou import MultinomialNB
    >>> from bayou.codes import BCH
    >>> model = EcocNB(MultinomialNB(), code=BCH(bits=15))
    >>> model.fit([[3, 0, 1], [0, 3, 1], [1, 1, 4]], ["a", "b", "c"]).predict([[2, 1, 0], [0, 0, 1]]).tolist()
    ['a', 'c']

    Reference: Park and Fürnkranz, "Efficient implementation of class-based decomposition schemes for naive Bayes",
    Machine Learning 96, 2014.
    """

    def __init__(
        self, estimator: Estimator | None = None, code: str | Code = "one-vs-all", decode: str = "soft"
    ) -> None:
        self.estimator = estimator
        self.code = code
        self.decode = decode

    @property
    def numbers_are_words(self) -> bool:  # type: ignore[override] # of the class elsewhere, of the estimator here
        """Whether numeric columns are counts of words, as in the estimator."""
        return self._estimator().numbers_are_words

    @property
    def poor_score(self) -> bool:  # type: ignore[override] # of the class elsewhere, of the estimator here
        """Whether scikit-learn must expect a poor accuracy, as of the estimator."""
        return self._estimator().poor_score

    @property
    def decision(self) -> Decision | None:
        """The decision rule of the estimator."""
        return getattr(self._estimator(), "decision", None)

    def declared(self) -> Declared:
        return self._estimator().declared()

    def _estimator(self) -> Estimator:
        return NaiveBayes() if self.estimator is None else self.estimator

    def resolve_param(self, name: str, value: Any) -> Any:
        if name == "estimator":
            self.estimator = self._estimator()
            return self.estimator
        return code_recipe(value) if name == "code" else value

    def build_engine(self) -> CodedViews:
        base: Any = self._estimator()
        inner = base.build_engine() if isinstance(base, Estimator) else base
        if not isinstance(inner, Views):
            raise SchemaError(f"EcocNB needs a classifier made of views, such as NaiveBayes(), not {base!r}")
        if self.decode not in DECODINGS:
            raise SchemaError(f"decode={self.decode!r}; it is one of {', '.join(map(repr, DECODINGS))}")
        return CodedViews(inner, code_recipe(self.code), self.decode)

    def fitted(self, columns: int | None = None, draws: int = 100, seed: int = 0) -> Self:
        """A new model over the same counts, with an additional column for each of the most confused pairs of classes.

        Nothing is learned again: `draws` rows of every class are drawn from the base's own densities and predicted
        with the current code, which shows its confusions. At most `columns` columns are added, as many as there are
        classes if None. The code is a `GivenCode`; a class that comes later needs another one.
        """
        engine = self.engine
        assert isinstance(engine, CodedViews)
        classes = engine.known_classes()
        confusion = engine.confusion(classes, draws, np.random.default_rng(seed))
        added = fitted_columns(confusion, len(classes) if columns is None else columns)
        model = self.blank()
        model.code = GivenCode(np.hstack([code_recipe(self.code).rows(len(classes)), added]).tolist())
        model.begin(self.schema_.copy())
        model.restore(self.arrays(), self.position, self.unusable)
        return model


class CodedViews(Engine):
    """Views whose classes are regrouped by the columns of a code, and the decoding of the columns' log-odds.

    The state is that of the views; readings for the code are cached until the next row is learned.
    """

    def __init__(self, inner: Views, code: Code, decode: str) -> None:
        self.inner, self.code, self.decode = inner, code, decode
        self.cache = _Cache()
        for view in inner.views.values():
            view.require_odds()
        self._class_view()

    @property
    def law(self) -> MergeLaw:
        return self.inner.law

    @property
    def depends_on_order(self) -> bool:
        return self.inner.depends_on_order

    def _changed(self) -> None:
        self.cache.odds = None

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        self.inner.realign(plan)
        self.cache = _Cache()

    def check_growth(self, growth: Growth) -> None:
        self.inner.check_growth(growth)

    def learn(self, block: Block) -> None:
        self.inner.learn(block)
        self._changed()

    def merge(self, other: Self) -> None:
        self.inner.merge(other.inner)
        self._changed()

    def subtract(self, block: Block) -> None:
        self.inner.subtract(block)
        self._changed()

    def scale(self, factor: float) -> None:
        self.inner.scale(factor)
        self._changed()

    def fresh(self) -> Self:
        twin = copy.copy(self)
        twin.inner, twin.cache = self.inner.fresh(), _Cache()
        return twin

    def refresh(self) -> None:
        self.inner.refresh()
        self._changed()

    def arrays(self) -> Arrays:
        return self.inner.arrays()

    def restore(self, arrays: Arrays) -> None:
        self.inner.restore(arrays)
        self._changed()

    def parts(self) -> Mapping[str, Engine | AnyView]:
        return self.inner.parts()

    def test_then_train(self, block: Block) -> Floats:
        out = np.full((block.n, self.n_classes), -np.inf)
        prior = self._prior_before(block)
        for where, part in block.cut(self._plan_points(block, prior)):
            self.inner.refresh_stale()
            plan = self._plan(prior[where.start] > -np.inf)
            scores = np.zeros((part.n, 0 if plan is None else plan.dichotomies.width))
            if plan is None or plan.dichotomies.width == 0:
                self.inner.learn(part)
            else:
                for view in self.inner.active_views:
                    view.odds_then_update(plan.dichotomies, part, scores)
                self.inner.learned(part)
            if plan is not None:
                np.copyto(out[where], self._decoded(plan, scores, prior[where]), where=plan.possible)
        self._changed()
        return out

    def _prior_before(self, block: Block) -> Floats:
        """float64[n, K], the log prior before each row."""
        view, prior = copy.deepcopy(self._class_view()), np.zeros((block.n, self.n_classes))
        view.predict_then_update(block, prior)
        return prior

    def _plan_points(self, block: Block, prior: Floats) -> list[int]:
        """Rows before which a new plan is needed, since other classes are possible, or a reading changes."""
        possible = prior > -np.inf
        changes = np.flatnonzero((possible[1:] != possible[:-1]).any(axis=1)) + 1
        return [*self.inner.refresh_points(block), *changes.tolist()]

    def joint_log_proba(self, block: Block) -> Floats:
        plan = self._read()
        out = np.full((block.n, self.n_classes), -np.inf)
        if plan is None:
            return out
        scores = np.zeros((block.n, plan.dichotomies.width))
        for reading in self.cache.odds or ():
            reading.add(block, scores)
        np.copyto(out, self._decoded(plan, scores, self.cache.prior), where=plan.possible)
        return out

    def scorer(self) -> Node:
        from bayou.scorer import Constant, added, plain_sum, says_nothing, silent

        plan = self._read()
        if plan is None:
            return Constant(np.full(self.n_classes, -np.inf))
        if self.decode not in ("soft", "l1"):
            raise UnsupportedError(
                f"cannot be exported: decode={self.decode!r} ranks equal votes by comparing classes pair by pair; "
                "decode='soft' reads the same counts and exports"
            )
        readings = [odds.scorer() for odds in self.cache.odds or ()]
        parts = tuple(node for node in readings if node.width and not says_nothing(node))
        scores: Node = plain_sum(parts) if parts else silent(plan.dichotomies.width)
        if not len(plan.dichotomies.fold):
            scores = self._decoding(plan, scores)
        return added(scores, np.where(plan.possible, 0.0, -np.inf))

    def _decoding(self, plan: _Plan, margins: Node) -> Node:
        """The scores of the classes from the log-odds z of the columns: log P(+), log P(-), and a matrix."""
        from bayou.scorer import Exp, Folded, LogSigmoid

        signs, weight = plan.signs, plan.weight[:, np.newaxis] * plan.scale
        both = Folded(margins, np.hstack([np.eye(len(signs)), -np.eye(len(signs))]), np.zeros(2 * len(signs)))
        out = weight * (signs == 0.0)
        if self.decode == "soft":
            matrix = np.vstack([weight * (signs > 0.0), weight * (signs < 0.0)])
            return Folded(LogSigmoid(both), matrix, -np.log(2.0) * out.sum(axis=0))
        # 1 - P(+) is P(-), which has all its digits where P(+) is close to 1
        matrix = np.vstack([-weight * (signs < 0.0), -weight * (signs > 0.0)])
        return Folded(Exp(LogSigmoid(both)), matrix, -0.5 * out.sum(axis=0))

    def _decoded(self, plan: _Plan, margins: Floats, prior: Floats) -> Floats:
        """The scores of the classes; `prior` is that of every row, or one for all."""
        if len(plan.dichotomies.fold):
            return margins
        scores = np.empty((len(margins), self.n_classes))
        lexical, tie = self.decode == "slepian", TIE / max(1.0, plan.scale)
        if self.decode in ("hamming", "slepian"):
            prior = np.array(np.broadcast_to(prior, scores.shape), order="C")

        def rows(lo: int, hi: int) -> None:
            z, out = margins[lo:hi], scores[lo:hi]
            if self.decode == "soft":
                decode_soft(z, plan.signs, plan.weight, out)
            elif self.decode == "l1":
                decode_absolute(z, plan.signs, plan.weight, out)
            else:
                decode_votes(z, plan.signs, plan.weight, prior[lo:hi], lexical, tie, out)
            out *= plan.scale

        over_ranges(rows, len(margins), GRAIN)
        return scores

    def _read(self) -> _Plan | None:
        """Read the log-odds of the current state into the cache; return the plan, None if no class is possible."""
        cache = self.cache
        if cache.odds is not None:
            return cache.plan
        for view in self.inner.views.values():
            view.refresh_if_stale()
        cache.prior = np.zeros((1, self.n_classes))
        self._class_view().add_log_prob(_ANY_ROW, cache.prior)
        plan = self._plan(cache.prior[0] > -np.inf)
        if plan is not None:
            width = plan.dichotomies.width
            cache.odds = [view.odds(plan.dichotomies) for view in self.inner.views.values()] if width else []
        return plan

    def _plan(self, possible: NDArray[np.bool_]) -> _Plan | None:
        """The plan for the possible classes, cached; None if there are none."""
        cache = self.cache
        if not possible.any():
            return None
        if cache.plan is None or not np.array_equal(possible, cache.plan.possible):
            cache.plan = self._make_plan(possible)
        return cache.plan

    def _class_view(self) -> AnyView:
        for view in self.inner.views.values():
            if isinstance(view.summary, ClassCounts):
                return view
        raise SchemaError(f"EcocNB needs an estimator that counts classes, not one of {[*self.inner.views]}")

    def known_classes(self) -> list[int]:
        """Codes of the classes that have rows in the code, in the order of the rows: possible and declared ones."""
        plan = self._read()
        if plan is None:
            raise NotFittedError("no class has been met yet; learn labelled rows first")
        in_code = plan.possible | self.schema.closed
        return [c for c in self.class_order().tolist() if in_code[c]]

    def draw(self, block: Block, rng: np.random.Generator) -> None:
        raise UnsupportedError(
            "cannot sample: each column of a code has densities of its own, for two groups of classes, and together "
            "they are no distribution of rows; sample from the base classifier, taught the same rows"
        )

    def confusion(self, classes: Sequence[int], draws: int, rng: np.random.Generator) -> Floats:
        """[k, k] the share of rows drawn from the base for a class (row) that are predicted as another (column)."""
        out = np.zeros((len(classes), len(classes)))
        for row, c in enumerate(classes):
            block = blank_block(self.schema, np.full(draws, c, dtype=np.int32))
            self.inner.draw(block, rng)
            predicted = self.joint_log_proba(block).argmax(axis=1)
            for column, other in enumerate(classes):
                out[row, column] = np.mean(predicted == other)
        return out

    def _make_plan(self, possible: NDArray[np.bool_]) -> _Plan:
        """A new plan for the possible classes, in storage order."""
        in_code = possible | self.schema.closed
        order = [c for c in self.class_order().tolist() if in_code[c]]
        rows = self.code.rows(len(order))
        matrix = np.zeros((len(possible), rows.shape[1]), dtype=np.int8)
        matrix[order] = rows
        columns = useful_columns(matrix, possible)
        signs = columns.signs.astype(np.float64)
        spread = columns.spread(possible) if len(signs) else 1.0
        dichotomies = np.ascontiguousarray(np.stack([signs.T > 0, signs.T < 0]).astype(np.float64))
        ternary = columns.ternary(possible)
        fold = np.zeros((0, 0))
        if self.decode == "soft" and not ternary:
            fold = signs * columns.weight[:, None] / (2 * spread)
        scale = (1.0 if self.decode == "soft" else LOG_ODDS_PER_BIT) / spread
        return _Plan(possible, Dichotomies(dichotomies, fold, ternary), signs, columns.weight, scale)


@dataclass(frozen=True)
class _Plan:
    """The useful columns of the code over the possible classes.

    possible : bool[K]; signs : float64[m, K]; weight : float64[m]
    """

    possible: NDArray[np.bool_]
    dichotomies: Dichotomies
    signs: Floats
    weight: Floats
    scale: float


@dataclass
class _Cache:
    """Cache of readings of the current state; a copy of the model starts with the plan alone.

    prior : float64[1, K], log
    """

    plan: _Plan | None = None
    prior: Floats = field(default_factory=lambda: np.zeros((1, 0)))
    odds: list[Odds] | None = None

    def __deepcopy__(self, memo: Any) -> _Cache:
        return _Cache(self.plan)
