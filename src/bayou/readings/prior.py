"""The log prior of the classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayou.block import Block, Floats
from bayou.errors import SchemaError
from bayou.kernels.class_counts import add_prior, add_vector, count_classes, prior_predict_then_update
from bayou.kernels.coded_rows import prior_odds_then_update
from bayou.readings.dichotomies import Dichotomies, Odds, VectorOdds, prior_of_dichotomies
from bayou.readings.live import LiveReader
from bayou.readings.logs import integer_logs
from bayou.schema import Label
from bayou.summaries.class_counts import ClassCounts

if TYPE_CHECKING:
    from bayou.scorer import Node

ANY_ROW = Block(np.empty((1, 0)), np.empty((1, 0), dtype=np.int32), (), np.full(1, -1, np.int32), np.ones(1))


class PriorReader(LiveReader[ClassCounts]):
    """Base of readers of class counts, whose log-probabilities are the same for every row."""

    __slots__ = ()

    def add_to_scorer(self, summary: ClassCounts, so_far: Node) -> Node:
        from bayou.scorer import added

        vector = np.zeros((1, len(summary.weight)))
        self.add_log_prob(summary, ANY_ROW, vector)
        return added(so_far, vector[0])


@dataclass(frozen=True)
class CountedPrior(PriorReader):
    """log P(c) = log(N_c + alpha) - log(N + alpha k): empirical with alpha = 0, Laplace with alpha = 1.

    k is the number of classes with weight, or the declared number if larger. A class without weight that is
    not declared has probability 0.
    """

    alpha: float = 0.0
    prediction_is_pure = True

    def add_log_prob(self, summary: ClassCounts, block: Block, out: Floats) -> None:
        add_prior(out, summary.weight, summary.declared.item(), self.alpha)

    def predict_then_update(self, summary: ClassCounts, block: Block, out: Floats) -> None:
        s, declared = summary, summary.declared.item()
        logs = integer_logs(int(s.weight.sum()) + block.n + len(s.weight) + 2)
        prior_predict_then_update(s.weight, out, block.y, block.w, logs, declared, self.alpha)

    def odds(self, summary: ClassCounts, dichotomies: Dichotomies) -> Odds:
        return prior_of_dichotomies(summary.weight, self.alpha, dichotomies)

    def odds_then_update(
        self, summary: ClassCounts, dichotomies: Dichotomies, block: Block, out: Floats
    ) -> None:
        prior_odds_then_update(
            summary.weight,
            out,
            block.y,
            block.w,
            dichotomies.dichotomies,
            dichotomies.fold,
            integer_logs(1),
            self.alpha,
        )


@dataclass(frozen=True)
class GivenPrior(PriorReader):
    """The user's own class probabilities, in the order in which the classes are declared."""

    probabilities: tuple[float, ...]

    def add_log_prob(self, summary: ClassCounts, block: Block, out: Floats) -> None:
        add_prior(out, np.array(self.probabilities), 0, 0.0)

    def predict_then_update(self, summary: ClassCounts, block: Block, out: Floats) -> None:
        self.add_log_prob(summary, block, out)
        count_classes(summary.weight, block.y, block.w, 1.0)

    def odds(self, summary: ClassCounts, dichotomies: Dichotomies) -> Odds:
        return prior_of_dichotomies(np.array(self.probabilities), 0.0, dichotomies)


@dataclass(frozen=True)
class Possible(PriorReader):
    """No preference among the classes that have weight; the others are impossible."""

    def add_log_prob(self, summary: ClassCounts, block: Block, out: Floats) -> None:
        add_vector(out, np.where(summary.weight > 0, 0.0, -np.inf))

    def odds(self, summary: ClassCounts, dichotomies: Dichotomies) -> Odds:
        return VectorOdds(np.zeros(dichotomies.width))


def prior_reader(prior: str | Mapping[Label, float]) -> CountedPrior | GivenPrior:
    """The reader of a prior: `"empirical"`, `"laplace"`, or a mapping from every class to its probability."""
    if isinstance(prior, Mapping):
        values = tuple(float(p) for p in prior.values())
        if not all(p >= 0 for p in values) or not abs(sum(values) - 1) <= 1e-9:
            raise SchemaError(f"the given prior {dict(prior)!r} must be non-negative and sum to 1")
        return GivenPrior(values)
    if prior not in ("empirical", "laplace"):
        raise SchemaError(
            f"prior={prior!r}; it is 'empirical', 'laplace', or a mapping from class to probability"
        )
    return CountedPrior(1.0 if prior == "laplace" else 0.0)
