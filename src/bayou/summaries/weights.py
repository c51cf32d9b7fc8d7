"""What weighted naive Bayes learns on top of its tables: weights, and the sums of squares that set their rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment, Axis
from bayou.block import Block, Codes, Flags, Floats, Index
from bayou.checks import require
from bayou.errors import UnsupportedError
from bayou.kernels.batch_weights import learn_batches
from bayou.kernels.expert_scores import EXPERTS, HALF, LAST, MEAN, NAIVE, PERSISTENT, QUARTER, TEMPERED
from bayou.kernels.experts import LEAST_LIFT, learn_experts
from bayou.kernels.weights import (
    LEAST,
    RETURNS,
    RHO,
    RHO_SQUARES,
    ROWS,
    SCALARS,
    SHIFT,
    SHIFT_MEAN,
    SHIFT_SQUARES,
    SPEED,
    TAU,
    TAU_SQUARES,
    WEIGHT,
    WRONG,
    learn_weights,
)
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.rates import (
    AdaGrad,
    Constant,
    Decaying,
    Experts,
    KunchevaPlumpton,
    MiniBatch,
    PaperRate,
    Rate,
)
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.state import declare, move

if TYPE_CHECKING:
    from bayou.scorer import Node

NAIVE_CREDIT = 0.95  # at the start: mixing then never costs more than -ln .95 nats over naive Bayes
FOLLOWERS = (TEMPERED, LAST, MEAN)  # experts that adapt to the latest rows
_SUMS = ("squares", "follows")  # add up when models merge
_MEANS = ("weights", "mean", "mixture_weights")  # are averaged by rows
_BUFFER = ("inputs", "joint", "labels", "amounts")


def _squares_last(name: str, array: Floats, summary: Weights) -> None:
    valid.moderate(name, array, summary)
    valid.non_negative(name, array[:, -1], summary)


def _bias(name: str, array: Floats, summary: Weights) -> None:
    _squares_last(name, array.T, summary)


def _scalars(name: str, array: Floats, summary: Weights) -> None:
    valid.moderate(name, array, summary)
    valid.non_negative(
        name, array[[WEIGHT, TAU_SQUARES, SHIFT_SQUARES, SPEED, ROWS, WRONG, RHO_SQUARES, RETURNS]], summary
    )
    require(array[ROWS] <= 1 << 53, "an impossible number of rows")


def _mixture(name: str, array: Floats, summary: Weights) -> None:
    """Experts have a weight if they had one at the start: there are no arrays for the others."""
    valid.non_negative(name, array, summary)
    takes_part = summary._first_mixture_weights() > 0
    require(np.array_equal(array > 0, takes_part), "a mixture weight belongs to an expert that takes no part")


def _joint(name: str, array: Floats, summary: Weights) -> None:
    valid.moderate(name, array[array != -np.inf], summary)


class Weights(ArraySummary):
    r"""Deviations of the weights from 1, biases, and the squared gradients that set their rates.

    Columns are numeric first, then nominal, then text. Unlike other summaries weights are learned from the terms of the
    other views before these learn the row, so `update` is refused; `learn` takes the terms.

    Parameters
    ----------
    rate
        The rule, a recipe of `bayou.rates`.
    tied
        One weight per column, in [0, 1], instead of one per column and class.

    Merge: AVERAGED; weights are averaged by the rows each model learned from, squared gradients are added up.
    Memory, in bytes, for d columns and K classes: `Experts` 24 d (K + 1) (16 d K + 24 d without the average),
    `AdaGrad` 16 d K, the others 8 d K; `MiniBatch` 16 d K and 8 rows d K for its buffer; tied: K = 1, but in
    the buffer.
    """

    law: ClassVar[MergeLaw] = MergeLaw.AVERAGED
    weights: Floats = declare("columns", "width", valid=valid.moderate)
    mean: Floats = declare("averaged", "width", valid=valid.moderate)
    squares: Floats = declare("adapted", "width", valid=valid.non_negative)
    columns: Floats = declare("shared", 3, valid=_squares_last)
    bias: Floats = declare("steps", "classes", valid=_bias)
    scalars: Floats = declare(SCALARS, valid=_scalars)
    mixture_weights: Floats = declare(EXPERTS, valid=_mixture)
    follows: Floats = declare("last label", "label", valid=valid.non_negative)
    last: Index = declare(1, dtype=np.int64, valid=valid.class_codes)
    ring: Floats = declare(2, "window", valid=valid.moderate)
    inputs: Floats = declare("*rows", "columns", "classes", valid=valid.moderate)
    joint: Floats = declare("*rows", "classes", valid=_joint)
    labels: Codes = declare("*rows", dtype=np.int32, valid=valid.class_codes)
    amounts: Floats = declare("*rows", valid=valid.non_negative)

    def __init__(self, rate: Rate, tied: bool = False) -> None:
        self.rate, self.tied = rate, tied
        self.averages = isinstance(rate, Experts) and rate.average
        self.adapts = isinstance(rate, Experts | AdaGrad | MiniBatch)
        self.persists = isinstance(rate, Experts) and rate.persistence
        self.shares = isinstance(rate, Experts) and not tied
        self._empty(0, 0)

    def _empty(self, d: int, k: int) -> None:
        """Set up an empty state of d columns and k classes."""
        width = 1 if self.tied else k
        none = np.zeros((0, 0))
        self.weights = np.zeros((d, width))
        self.mean = np.zeros((d, width)) if self.averages else none
        self.squares = np.zeros((d, width)) if self.adapts else none.copy()
        self.columns = np.zeros((d if self.shares else 0, 3))
        self.bias = np.zeros((3 if isinstance(self.rate, Experts) else 2, k))
        self.scalars = np.zeros(SCALARS)
        self.mixture_weights = self._first_mixture_weights()
        self.follows = np.zeros((k, k)) if self.persists else none.copy()
        self.last = np.full(1, -1, dtype=np.int64)
        window = self.rate.window if isinstance(self.rate, KunchevaPlumpton) else 0
        self.ring = np.zeros((2, window))
        self.inputs = np.zeros((0, d, k))
        self.joint = np.zeros((0, k))
        self.labels = np.zeros(0, dtype=np.int32)
        self.amounts = np.zeros(0)

    def _first_mixture_weights(self) -> Floats:
        """The mixture weights at the start: most for naive Bayes, the rest evenly; all evenly in the published rule.

        With a rate of 0 naive Bayes has all the weight.
        """
        mixture_weights = np.zeros(EXPERTS)
        if isinstance(self.rate, Experts):
            mixture_weights[: NAIVE + 1 if self.rate.eta == 0 else EXPERTS] = 1.0
            mixture_weights[MEAN] *= self.averages
            mixture_weights[PERSISTENT] *= self.persists
            mixture_weights[HALF:] *= not self.rate.published
            mixture_weights /= np.count_nonzero(mixture_weights)
            if not self.rate.published and self.rate.eta > 0:
                mixture_weights *= (1.0 - NAIVE_CREDIT) / (1.0 - mixture_weights[NAIVE])
                mixture_weights[NAIVE] = NAIVE_CREDIT
        return mixture_weights

    def config(self) -> Mapping[str, Scalar]:
        return {"rate": repr(self.rate), "tied": self.tied}

    def fresh(self) -> Self:
        twin = type(self)(self.rate, self.tied)
        twin.lengths = self.lengths
        twin._empty(self.weights.shape[0], self.bias.shape[1])
        return twin

    @property
    def factors(self) -> Floats:
        """The weights themselves, 1 + s + u + v, [d, K] ([d, 1] if tied), of the last iterate."""
        return self._factors(self.weights, SHIFT, 0)

    @property
    def mean_factors(self) -> Floats:
        """The average of the weights over the rows learned, where it is kept."""
        return self._factors(self.mean, SHIFT_MEAN, 1)

    def _factors(self, cells: Floats, shift: int, part: int) -> Floats:
        columns = self.columns[:, part : part + 1] if self.shares else 0.0
        factors: Floats = 1.0 + self.scalars[shift] + columns + cells
        return factors

    def update(self, block: Block) -> None:
        raise UnsupportedError("Weights learn from terms, not from rows: use learn(terms, ...)")

    def learn(
        self,
        terms: Floats,
        units: Floats,
        prior: Floats,
        pmi_prior: Floats,
        edges: Index,
        y: Codes,
        w: Floats,
        index: Index,
        as_pmi: int,
        places: tuple[Flags, Flags] | None = None,
    ) -> Floats:
        """[n, K] scores of the rows as they stood before each; rows with label and weight are learned.

        terms : float64[n, active, K], overwritten; units : float64[n, p or 0]; prior, pmi_prior : float64[n, K];
        edges : int64[views + 1], where the columns of each view end. `y` of -1 only predicts.
        index : int64[active], the columns that have terms (all of them, but for `Experts`); the first `as_pmi`
        of these come as pointwise mutual information. places : bool[n] twice, rows for which `Experts` leave
        out all weights, and rows for which they use only the averaged ones.
        """
        out = np.empty_like(prior)
        if isinstance(self.rate, Experts):
            rate = self.rate
            rule = np.array([rate.eta, rate.forget, rate.share, float(rate.published)])
            outside, far = np.zeros((2, len(y)), dtype=np.bool_) if places is None else places
            learn_experts(
                self.weights, self.mean, self.squares, self.columns, self.bias, self.scalars, self.mixture_weights,
                self.follows, self.last, terms, prior, pmi_prior, index, as_pmi, y, w, outside, far,
                rule, out,
            )  # fmt: skip
        elif isinstance(self.rate, MiniBatch):
            self._learn_batches(self.rate, terms, units, prior, pmi_prior, edges, y, w, out)
        else:
            learn_weights(
                self.weights, self.squares, self.bias, self.scalars, self.ring, terms, units, prior, pmi_prior,
                edges, y, w, self._rule(), out,
            )  # fmt: skip
        return out

    def experts_scorer(
        self, inputs: Sequence[Node], prior: Floats, outside: Sequence[Node] = (), far: Sequence[Node] = ()
    ) -> Node:
        """The mixture that `learn` predicts with, as a node of a scorer; `inputs` are the nodes of the columns.

        Every expert is a weighted sum of the inputs. The effect of the last label is a constant here, since it
        stays the same for all rows that are scored. The nodes `outside` exclude all experts with learned weights, the
        nodes `far` all but their average.
        """
        from bayou.scorer import LogSoftmax, Mixture, added, clipped, plain_sum, scaled

        rate = self.rate
        assert isinstance(rate, Experts)
        least = LEAST if rate.published else LEAST_LIFT
        bounded = [clipped(node, least=least) for node in inputs]
        evidence = _sum_of(inputs, len(prior))
        heat_prior = np.zeros_like(prior) if rate.published else np.where(prior > -np.inf, prior, 0.0)

        def tempered(factor: float) -> Node:
            """Naive Bayes plus `factor` times its tempered part: the evidence, and the prior unless `published`."""
            part = scaled(evidence, np.full(len(prior), 1.0 + factor))
            return LogSoftmax(added(part, prior + factor * heat_prior))

        def weighted(factors: Floats, bias: Floats) -> Node:
            by = np.broadcast_to(factors, (len(inputs), len(prior)))
            terms = [scaled(node, w) for node, w in zip(bounded, by, strict=True)]
            return LogSoftmax(added(_sum_of(terms, len(prior)), prior + bias))

        q = self.mixture_weights
        trusted = rate.published or self.persists or self.scalars[RETURNS] ** 2 >= self.scalars[WEIGHT]
        active = {a: q[a] for a in range(EXPERTS) if q[a] > 0.0 and (trusted or a not in FOLLOWERS)}
        experts: dict[int, Callable[[], Node]] = {
            NAIVE: lambda: tempered(0.0),
            TEMPERED: lambda: tempered(float(self.scalars[TAU])),
            LAST: lambda: weighted(self.factors, self.bias[0]),
            MEAN: lambda: weighted(self.mean_factors, self.bias[1]),
            PERSISTENT: lambda: weighted(
                self.factors, self.bias[0] + (1.0 + self.scalars[RHO]) * self._last_label_pmi(prior)
            ),
            HALF: lambda: tempered(-0.5),
            QUARTER: lambda: tempered(-0.75),
        }
        log_weights = np.log(np.array(list(active.values())))
        exclusions = {a: tuple(outside) if a in FOLLOWERS else () for a in active}
        if LAST in active:
            exclusions[LAST] = (*outside, *far)
        return Mixture(tuple(plain_sum([experts[a](), *exclusions[a]]) for a in active), log_weights)

    def _last_label_pmi(self, prior: Floats) -> Floats:
        """Pointwise mutual information of the last label and each class, as in the kernel `last_label_pmi`."""
        last, out = int(self.last[0]), np.zeros(len(prior))
        if last >= 0:
            possible = prior > -np.inf
            chance = (self.follows[last] + np.exp(prior)) / (self.follows[last].sum() + 1.0)
            out[possible] = np.log(chance[possible]) - prior[possible]
        return out

    def _rule(self) -> Floats:
        """Parameters of the rate for kernels: rate, horizon, power, whether adaptive, whether inputs are PMI."""
        rate = self.rate
        adaptive, as_pmi = float(self.adapts), float(rate.takes_pmi)
        if isinstance(rate, Constant | PaperRate | AdaGrad):
            return np.array([rate.eta, 1.0, 0.0, adaptive, as_pmi])
        if isinstance(rate, Decaying):
            return np.array([rate.eta, rate.horizon, rate.power, adaptive, as_pmi])
        if isinstance(rate, KunchevaPlumpton):
            return np.array([rate.start, 1.0, 0.0, adaptive, as_pmi])
        raise UnsupportedError(f"Weights know no rule for {rate!r}")

    def _learn_batches(
        self, rate: MiniBatch, terms: Floats, units: Floats, prior: Floats, pmi_prior: Floats, edges: Index,
        y: Codes, w: Floats, out: Floats,
    ) -> None:  # fmt: skip
        """Buffer rows as inputs and joint log-probabilities; a full buffer is learned."""
        labelled = (y >= 0) & (w > 0)
        room = np.zeros((rate.rows, *terms.shape[1:]))
        joint, labels, amounts = (
            np.zeros((rate.rows, prior.shape[1])), np.zeros(rate.rows, np.int32), np.zeros(rate.rows)
        )  # fmt: skip
        n = len(self.labels)
        room[:n], joint[:n], labels[:n], amounts[:n] = self.inputs, self.joint, self.labels, self.amounts
        fill = np.array([n])
        rule = np.array([rate.eta, float(rate.passes), float(rate.pmi)])
        learn_batches(
            self.weights, self.squares, self.bias, self.scalars, room, joint, labels, amounts, fill,
            terms, units, prior, pmi_prior, edges, y, w, rule, out,
        )  # fmt: skip
        if labelled.any():
            n = int(fill[0])
            self.inputs, self.joint = room[:n].copy(), joint[:n].copy()
            self.labels, self.amounts = labels[:n].copy(), amounts[:n].copy()

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        if other.scalars[WEIGHT] == 0 and not len(other.labels):
            return
        mine, theirs = float(self.scalars[WEIGHT]), float(other.scalars[WEIGHT])
        if mine == 0 and not len(self.labels):
            self.restore(other.arrays())
            return
        share = theirs / (mine + theirs) if mine + theirs else 0.0
        for name in _MEANS:
            setattr(self, name, _between(getattr(self, name), getattr(other, name), share))
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name, axis in (("bias", 0), ("columns", 1)):
            a, b = np.moveaxis(getattr(self, name), axis, 0), np.moveaxis(getattr(other, name), axis, 0)
            both = np.concatenate(
                [_between(a[:-1], b[:-1], share), a[-1:] + b[-1:]]
            )  # squared gradients last
            setattr(self, name, np.ascontiguousarray(np.moveaxis(both, 0, axis)))
        self.scalars = _merged_scalars(self.scalars, other.scalars, share)
        if theirs > mine:
            self.ring, self.last = other.ring.copy(), other.last.copy()
        n = max(0, (self.rate.rows if isinstance(self.rate, MiniBatch) else 1) - 1)
        for name in _BUFFER:
            setattr(self, name, np.concatenate([getattr(self, name), getattr(other, name)])[-n:] if n else
                    getattr(self, name))  # fmt: skip

    def scale(self, factor: float) -> None:
        """Multiply rows and squared gradients by a factor, which makes later steps larger."""
        for name in _SUMS:
            setattr(self, name, getattr(self, name) * factor)
        self.bias[-1] *= factor
        self.columns[:, -1] *= factor
        self.scalars[list(_SUMMED_SCALARS)] *= factor

    def realign(self, plan: Alignment) -> None:
        columns, classes = column_axis(plan), plan.classes
        self.lengths = plan.lengths
        for name in ("weights", "mean", "squares"):
            array = getattr(self, name)
            if name == "weights" or self._kept(name):
                array = move(array, 0, columns)
                setattr(self, name, array if self.tied else move(array, 1, classes))
        if self.shares:
            self.columns = move(self.columns, 0, columns)
        self.bias = move(self.bias, 1, classes)
        if self.persists:
            self.follows = move(move(self.follows, 0, classes), 1, classes)
        if self.last[0] >= 0:
            self.last = plan.classes.to[self.last].astype(np.int64)
        self.inputs = move(move(self.inputs, 1, columns), 2, classes)
        absent = np.setdiff1d(np.arange(classes.size), classes.to)
        self.joint = move(self.joint, 1, classes)
        self.joint[:, absent] = -np.inf
        self.labels = plan.classes.to[self.labels].astype(np.int32)

    def _kept(self, name: str) -> bool:
        return self.averages if name == "mean" else self.adapts

    def check(self, arrays: Arrays) -> None:
        """There are no more buffered rows than a batch has, each with its label."""
        super().check(arrays)
        room = self.rate.rows if isinstance(self.rate, MiniBatch) else 0
        require(len(arrays["labels"]) <= room, "more rows wait than a batch has")
        require(arrays["labels"].min(initial=0) >= 0, "a pending row has no label")


def _sum_of(nodes: Sequence[Node], width: int) -> Node:
    """The sum of nodes, one after the other, without those that are zero."""
    from bayou.scorer import Sum, says_nothing, silent

    not_zero = tuple(node for node in nodes if not says_nothing(node))
    if not not_zero:
        return silent(width)
    return not_zero[0] if len(not_zero) == 1 else Sum(not_zero)


_SUMMED_SCALARS = (WEIGHT, TAU_SQUARES, SHIFT_SQUARES, RHO_SQUARES, RETURNS)


def _between(mine: NDArray[Any], theirs: NDArray[Any], part: float) -> NDArray[Any]:
    moved: NDArray[Any] = mine + (theirs - mine) * part
    return moved


def _merged_scalars(mine: Floats, theirs: Floats, part: float) -> Floats:
    """Merged scalars: factors are averaged, totals added; the state of an error-driven rate is the larger model's."""
    merged = _between(mine, theirs, part)
    for place in _SUMMED_SCALARS:
        merged[place] = mine[place] + theirs[place]
    larger = mine if mine[WEIGHT] >= theirs[WEIGHT] else theirs
    merged[SPEED:RHO] = larger[SPEED:RHO]
    return merged


def column_axis(plan: Alignment) -> Axis:
    """All columns on one axis: numeric, then nominal, then text."""
    second = plan.numeric.size
    third = second + plan.nominal.size
    to = np.concatenate([plan.numeric.to, second + plan.nominal.to, third + plan.text.to])
    return Axis(to.astype(np.int64), third + plan.text.size)
