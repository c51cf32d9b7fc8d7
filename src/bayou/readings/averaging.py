"""One weight per column, searched on kept rows: selecting, averaging and optimising naive Bayes.

Every search works on `Evidence`: the log-probabilities of the kept rows, column by column. Columns are visited in the
order of their loss alone, so that their order in the data does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Floats
from bayou.errors import SchemaError
from bayou.kernels.averaging import add_column, data_cost, descend

ALL_SUBSETS = 6  # columns up to which every selection is evaluated
LAMBDA = 0.1
POWER = 0.95
C0 = 2.86511  # normaliser of Rissanen's universal prior for integers


@dataclass(frozen=True, eq=False)
class Evidence:
    """Log-probabilities of the kept rows by column and class, with labels and weights.

    columns : float64[d, n, K], ln P(x_j | c); prior : float64[K], log; y : int32[n]; w : float64[n], scaled so
    that the kept rows stand for all rows; costs : float64[d], nats to describe the tables of each column
    """

    columns: Floats
    prior: Floats
    y: Codes
    w: Floats
    costs: Floats

    @property
    def n_columns(self) -> int:
        """Number of columns that may have a weight."""
        return len(self.columns)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(np.isfinite(self.prior).sum())

    @property
    def rows(self) -> float:
        """Total weight of the rows."""
        return float(self.w.sum())

    def scores(self, weights: Floats) -> Floats:
        """[n, K] log P(c) + sum_j w_j ln P(x_j | c)."""
        scores = np.tile(self.prior, (len(self.y), 1))
        for column, weight in zip(self.columns, weights, strict=True):
            if weight:
                add_column(scores, column, float(weight))
        return scores

    def loss(self, scores: Floats, column: int = 0, step: float = 0.0, khiops: bool = False) -> float:
        """-sum ln P(y) after adding `step` times a column to the scores; `khiops` uses the smoothing of Khiops."""
        terms = self.columns[column] if self.n_columns else scores
        rows = self.rows if khiops else 0.0
        return float(data_cost(scores, terms, step, self.y, self.w, rows, float(self.n_classes)))

    def order(self) -> NDArray[np.int64]:
        """Columns sorted by their loss alone, the best first."""
        null = self.scores(np.zeros(self.n_columns))
        alone = [self.loss(null, j, 1.0) for j in range(self.n_columns)]
        return np.argsort(alone, kind="stable")


def selection_cost(evidence: Evidence, selected: int, loss: float) -> float:
    """ln(d + 1) + ln C(d + k - 1, k) - ln P(labels): a selection of k of d columns (Boullé 2007).

    >>> from math import comb, log
    >>> round(_ln_choose(4 + 2 - 1, 2) - log(comb(5, 2)), 12)
    0.0
    """
    d = evidence.n_columns
    return math.log(d + 1) + _ln_choose(d + selected - 1, selected) + loss


def _ln_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) if k else 0.0


def visited(evidence: Evidence) -> dict[bytes, float]:
    """The costs of selections: of all for few columns, else of those tried in forward and backward passes."""
    d = evidence.n_columns
    if d <= ALL_SUBSETS:
        subsets = [np.array([bool(i >> j & 1) for j in range(d)]) for i in range(1 << d)]
        return {a.tobytes(): selection_cost(evidence, int(a.sum()), _loss(evidence, a)) for a in subsets}
    selected = np.zeros(d, dtype=bool)
    scores = evidence.scores(np.zeros(d))
    best = selection_cost(evidence, 0, evidence.loss(scores))
    seen = {selected.tobytes(): best}
    order = evidence.order()
    improved = True
    while improved:
        improved = False
        for pass_order in (order, order[::-1]):
            for j in pass_order:
                step = -1.0 if selected[j] else 1.0
                selected[j] = not selected[j]
                size = int(selected.sum())
                cost = selection_cost(evidence, size, evidence.loss(scores, int(j), step))
                seen[selected.tobytes()] = cost
                if cost < best - 1e-9:
                    best, improved = cost, True
                    add_column(scores, evidence.columns[j], step)
                else:
                    selected[j] = not selected[j]
    return seen


def _loss(evidence: Evidence, selected: NDArray[np.bool_]) -> float:
    return evidence.loss(evidence.scores(selected.astype(np.float64)))


def _mean(selections: dict[bytes, float], mixture_weights: Callable[[float], float], d: int) -> Floats:
    """The weighted mean of selections; zeros where no selection has a weight."""
    weights, total = np.zeros(d), 0.0
    for key, cost in selections.items():
        weight = mixture_weights(cost)
        total += weight
        weights += weight * np.frombuffer(key, dtype=bool)
    return weights / total if total > 0 else weights


def ones(evidence: Evidence) -> Floats:
    """All weights 1, which is naive Bayes."""
    return np.ones(evidence.n_columns)


def selected(evidence: Evidence) -> Floats:
    """Weights 0 and 1: the selection of the least cost."""
    selections = visited(evidence)
    best = min(selections, key=selections.__getitem__)
    return np.frombuffer(best, dtype=bool).astype(np.float64)


def bma(evidence: Evidence) -> Floats:
    """Bayesian model averaging: the mean of selections, weighted by exp(-cost)."""
    selections = visited(evidence)
    least = min(selections.values())
    return _mean(selections, lambda cost: math.exp(least - cost), evidence.n_columns)


def compression(evidence: Evidence) -> Floats:
    """The mean of selections, weighted by the share of the null model's cost that they save (Boullé 2006b)."""
    selections = visited(evidence)
    null = selections[bytes(evidence.n_columns)]
    return _mean(selections, lambda cost: max(0.0, 1.0 - cost / null), evidence.n_columns)


def fractional_score(evidence: Evidence, weights: Floats, loss: float) -> float:
    """Khiops' cost of fractional weights: a prior on their number and choice, and the smoothed loss."""
    total = math.ceil(weights.sum())
    if total:
        number = universal_cost(total) - math.lgamma(total + 1)
    else:
        classes = evidence.n_classes
        number = _ln_choose(round(evidence.rows) + classes - 1, classes - 1)
    model = math.log(2.0) + number + float((evidence.costs * weights**POWER).sum())
    return LAMBDA * model + loss


def fractional(evidence: Evidence) -> Floats:
    """Weights in [0, 1] by steps 1, 1/2, 1/4 .., up and down, as in Khiops' selective naive Bayes."""
    d, n = evidence.n_columns, evidence.rows
    weights, scores = np.zeros(d), evidence.scores(np.zeros(d))
    best = fractional_score(evidence, weights, evidence.loss(scores, khiops=True))
    tolerance = 0.01 * (1.0 + abs(best)) / (1.0 + n)
    order, delta = evidence.order(), 1.0

    def attempt(j: int, step: float, slack: float) -> None:
        nonlocal best
        trial = weights.copy()
        trial[j] += step
        score = fractional_score(evidence, trial, evidence.loss(scores, j, step, khiops=True))
        if score < best + slack:
            best, weights[j] = score, trial[j]
            add_column(scores, evidence.columns[j], step)

    for _ in range(math.ceil(math.log2(n + 1.0))):
        for _ in range(2):
            before = best
            for j in order:
                if weights[j] < 1.0:
                    attempt(int(j), min(delta, 1.0 - weights[j]), -tolerance)
            for j in order:
                if weights[j] > 0.0:
                    attempt(int(j), -min(delta, weights[j]), tolerance)
            if best > before - tolerance:
                break
        delta /= 2.0
    return weights


def direct(evidence: Evidence, passes: int = 20, eta: float = 0.1) -> Floats:
    """Weights in [0, 1] by projected gradient steps over the kept rows (Guigourès and Boullé 2011)."""
    weights, squares = np.ones(evidence.n_columns), np.zeros(evidence.n_columns)
    penalty = LAMBDA * evidence.costs * (len(evidence.y) / max(evidence.rows, 1.0))
    w = evidence.w * (len(evidence.y) / max(evidence.rows, 1.0))
    descend(weights, squares, evidence.columns, evidence.prior, evidence.y, w, penalty, POWER, eta, passes)
    return weights


SEARCHES: dict[str, Callable[[Evidence], Floats]] = {
    "ones": ones,
    "selected": selected,
    "bma": bma,
    "compression": compression,
    "fractional": fractional,
    "sgd": direct,
}


def search_named(name: str) -> Callable[[Evidence], Floats]:
    """The search with this name."""
    if name not in SEARCHES:
        raise SchemaError(f"weights={name!r}; it is one of {sorted(SEARCHES)}")
    return SEARCHES[name]


def universal_cost(n: int) -> float:
    """Nats to write an integer n >= 1 by Rissanen's universal prior: ln c0 + ln n + ln log2 n ...

    >>> round(universal_cost(1), 4)
    1.0526
    """
    cost, logarithm = math.log(C0), math.log2(n) if n > 0 else 0.0
    while logarithm > 0:
        cost += logarithm * math.log(2.0)
        logarithm = math.log2(logarithm)
    return cost
