"""Decision rules, from probabilities to a class: where a rare class matters more, accuracy is the wrong measure."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayou.errors import BayouWarning, SchemaError, warn_user
from bayou.recipe import Recipe
from bayou.schema import Label


class DecisionWarning(BayouWarning):
    """A decision rule names a class that the model has not seen, perhaps a misspelt one: it has no effect."""


@dataclass(frozen=True)
class Threshold(Recipe):
    """Decision rule: decide for `label` where its probability reaches `probability`, else for the best of the others.

    Parameters
    ----------
    label
        The class to detect, such as a rare one.
    probability
        The least probability at which it is predicted, in [0, 1].

    Examples
    --------
    >>> rule = Threshold("fraud", 0.2)
    >>> rule.decide(["fraud", "ok"], np.array([[0.3, 0.7], [0.1, 0.9]])).tolist()
    [0, 1]
    """

    label: Label
    probability: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.probability <= 1:
            raise SchemaError(f"{self}: a threshold is a probability in [0, 1]")

    def named(self) -> list[Label]:
        """The class that the rule names."""
        return [self.label]

    def decide(self, labels: list[Label], proba: NDArray[np.float64]) -> NDArray[np.intp]:
        """Index in `labels` of the predicted class of each row."""
        if self.label not in labels:
            return np.asarray(proba.argmax(axis=1))
        at = labels.index(self.label)
        others = proba.copy()
        others[:, at] = -1.0
        return np.asarray(np.where(proba[:, at] >= self.probability, at, others.argmax(axis=1)))


@dataclass(frozen=True)
class Costs(Recipe):
    """Decision rule: decide for the class with the least expected cost, sum_t P(t) cost(t, d).

    Parameters
    ----------
    miss
        The cost of missing a row of a class; 1 for classes not named.
    pairs
        The cost of taking a row of one class for another, by (true, decided); goes before `miss`.

    Examples
    --------
    >>> rule = Costs(miss={"fraud": 5.0})
    >>> rule.decide(["fraud", "ok"], np.array([[0.3, 0.7], [0.1, 0.9]])).tolist()
    [0, 1]
    """

    miss: Mapping[Label, float] = field(default_factory=dict)
    pairs: Mapping[tuple[Label, Label], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not all(type(pair) is tuple and len(pair) == 2 for pair in self.pairs):
            raise SchemaError(f"{self}: the keys of pairs are (true class, decided class)")
        if any(true == decided for true, decided in self.pairs):
            raise SchemaError(
                f"{self}: a right decision costs nothing; pairs are (true class, decided class)"
            )
        if not all(-np.inf < cost < np.inf for cost in (*self.miss.values(), *self.pairs.values())):
            raise SchemaError(f"{self}: a cost is a finite number")

    def named(self) -> list[Label]:
        """The classes that the rule names."""
        return list(dict.fromkeys([*self.miss, *(label for pair in self.pairs for label in pair)]))

    def decide(self, labels: list[Label], proba: NDArray[np.float64]) -> NDArray[np.intp]:
        """Index in `labels` of the class with the least expected cost, for each row."""
        return np.asarray((proba @ self.matrix(labels)).argmin(axis=1))

    def matrix(self, labels: list[Label]) -> NDArray[np.float64]:
        """[K, K] the cost of deciding for a class (columns) where another is true (rows)."""
        return np.array(
            [
                [0.0 if t == d else self.pairs.get((t, d), self.miss.get(t, 1.0)) for d in labels]
                for t in labels
            ]
        ).reshape(len(labels), len(labels))


@dataclass(frozen=True)
class Abstain(Recipe):
    """Decision rule: no answer where the class decided for is not probable enough, or may cost too much.

    For a row without an answer `predict` and `predict_one` return None (an array with such rows holds objects), and
    output files have an empty cell; evaluations count the row as an error that costs `cost`, and leave it out of the
    log-loss.

    Parameters
    ----------
    probability
        The least probability of the predicted class, in [0, 1]; below it the rule abstains.
    cost
        The cost of abstaining: the rule abstains where the expected cost of an answer is greater.
    otherwise
        The rule for rows that are answered, and the cost of errors: `Costs(...)` or `Threshold(...)`; by default the
        most probable class, and every error costs 1.

    Examples
    --------
    >>> proba = np.array([[0.3, 0.7], [0.1, 0.9]])
    >>> Abstain(0.8).decide(["fraud", "ok"], proba).tolist()
    [-1, 1]
    >>> Abstain(cost=0.6, otherwise=Costs(miss={"fraud": 5.0})).decide(["fraud", "ok"], proba).tolist()
    [-1, 1]
    """

    probability: float = 0.0
    cost: float | None = None
    otherwise: Threshold | Costs | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.probability <= 1:
            raise SchemaError(f"{self}: probability lies in [0, 1]")
        if self.cost is not None and not 0 <= self.cost < np.inf:
            raise SchemaError(f"{self}: the cost of no answer is a finite number, 0 or more")
        if self.otherwise is not None and not isinstance(self.otherwise, Threshold | Costs):
            raise SchemaError(f"{self}: otherwise is Threshold(label, probability), Costs(...) or None")

    def named(self) -> list[Label]:
        """The classes that the rule names."""
        return [] if self.otherwise is None else self.otherwise.named()

    def decide(self, labels: list[Label], proba: NDArray[np.float64]) -> NDArray[np.intp]:
        """Index in `labels` of the predicted class of each row; -1 where the rule abstains."""
        rule = self.otherwise
        best = np.asarray(proba.argmax(axis=1)) if rule is None else rule.decide(labels, proba)
        rows = np.arange(len(best))
        abstains = proba[rows, best] < self.probability
        if self.cost is not None:
            abstains |= (proba @ self._errors().matrix(labels))[rows, best] > self.cost
        return np.where(abstains, -1, best)

    def _errors(self) -> Costs:
        return self.otherwise if isinstance(self.otherwise, Costs) else Costs()


Decision = Threshold | Costs | Abstain


def mean_cost(
    rule: Decision | None,
    labels: list[Label],
    counts: NDArray[np.float64],
    unanswered: NDArray[np.float64],
) -> float | None:
    """The mean cost of a row, given a confusion matrix [true, decided] and the rows without an answer, by class.

    None if the rule has no costs.

    >>> mean_cost(Costs(miss={"fraud": 5.0}), ["fraud", "ok"], np.array([[3.0, 1.0], [2.0, 4.0]]), np.zeros(2))
    0.7
    >>> mean_cost(Threshold("fraud", 0.2), ["fraud", "ok"], np.eye(2), np.zeros(2)) is None
    True
    """
    abstention_cost = 0.0
    if isinstance(rule, Abstain) and rule.cost is not None:
        abstention_cost, errors = rule.cost, rule._errors()
    elif isinstance(rule, Costs):
        errors = rule
    elif isinstance(rule, Abstain) and isinstance(rule.otherwise, Costs):
        errors = rule.otherwise
    else:
        return None
    rows = float(counts.sum() + unanswered.sum())
    total = float((counts * errors.matrix(labels)).sum() + abstention_cost * unanswered.sum())
    return total / rows if rows else 0.0


def check_rule(rule: object) -> None:
    """Raise unless the parameter `decision` is a rule, or None.

    >>> check_rule("fraud")
    Traceback (most recent call last):
    bayou.errors.SchemaError: decision='fraud' is no rule; give Threshold(...), Costs(...) or Abstain(...)
    """
    if rule is not None and not isinstance(rule, Threshold | Costs | Abstain):
        raise SchemaError(f"decision={rule!r} is no rule; give Threshold(...), Costs(...) or Abstain(...)")


def tell_unknown(rule: Decision | None, labels: Sequence[Label]) -> None:
    """Warn of classes named in a rule that are not among `labels`; to be called once all rows are learned.

    While a stream goes on, a class that is named may still come.
    """
    missing = [] if rule is None else [label for label in rule.named() if label not in labels]
    if not missing:
        return
    texts = {str(label): label for label in labels}
    similar = difflib.get_close_matches(str(missing[0]), list(texts), 1)
    hint = f"; did you mean {texts[similar[0]]!r}?" if similar else ""
    shown = ", ".join(map(repr, labels[:10])) + (
        f" and {len(labels) - 10:,} more" if len(labels) > 10 else ""
    )
    warn_user(
        f"{rule}: no class {missing[0]!r} was met, so it decides nothing; the classes are {shown}{hint}",
        DecisionWarning,
    )
