"""The classes of an evaluation in canonical order; new ones may be added at any time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Codes, Floats
from bayou.classifiers.estimator import Estimator
from bayou.encoding.columns import distinct
from bayou.kernels.last_label import recode
from bayou.schema import Label, identity_key, label_key
from bayou.summaries.outcomes import MOST_PROBABLE, class_plan, scored_rows


class LabelIndex:
    """Labels in canonical order, so that ties do not depend on how the stream was cut into blocks.

    Examples
    --------
    >>> index = LabelIndex()
    >>> _ = index.admit(["b", "a"])
    >>> index.labels, index.codes(["b", None, "a"]).tolist()
    (['a', 'b'], [1, -1, 0])
    """

    def __init__(self) -> None:
        self.labels: list[Label] = []
        self._place: dict[Any, int] = {}

    def admit(self, labels: Iterable[Label]) -> Alignment | None:
        """Add new labels; returns the plan to realign summaries with, or None if all were known."""
        new = {identity_key(label): label for label in labels if identity_key(label) not in self._place}
        if not new:
            return None
        grown = sorted([*self.labels, *new.values()], key=label_key)
        plan = class_plan(self.labels, grown)
        self.labels = grown
        self._place = {identity_key(label): i for i, label in enumerate(grown)}
        return plan

    def codes(self, y: Any) -> Codes:
        """Class codes; -1 for missing labels and for labels that were not added."""
        labels, inverse, _ = distinct(y, "the labels", 0)
        place = [self._place.get(identity_key(label), -1) for label in labels]
        return np.array([*place, -1], dtype=np.int32)[inverse]

    def translated(self, codes: Codes, labels: Sequence[Label]) -> Codes:
        """Class codes of this index from codes that refer to `labels`, all of them known; -1 stays -1."""
        where = [self._place[identity_key(c)] for c in labels]
        if where == list(range(len(where))):
            return codes
        out = np.empty(len(codes), np.int32)
        recode(np.array(where, np.int32), codes, out)
        return out

    def scored(self, codes: Codes, proba: Floats, model: Estimator) -> Block:
        """Rows with the probabilities of a model, and its decisions if it has a decision rule."""
        predicted, decided = self.predictions(proba, model)
        return scored_rows(codes, predicted, decided=decided if len(decided) else None)

    def predictions(self, proba: Floats, model: Estimator) -> tuple[Floats, Codes]:
        """Probabilities and decisions of a model, as kernels take them."""
        labels = model.labels()
        decided = MOST_PROBABLE
        if getattr(model, "decision", None) is not None and labels:
            decided = self.translated(model.decide(proba).astype(np.int32), labels)
        return np.ascontiguousarray(self.spread(proba, labels), np.float64), decided

    def spread(self, proba: Floats, labels: Sequence[Label]) -> Floats:
        """Probabilities with columns in the order of this index, from columns for `labels`."""
        if len(labels) == len(self.labels):  # both are in canonical order
            return proba
        where = [self._place[identity_key(c)] for c in labels]
        out = np.zeros((len(proba), len(self.labels)))
        out[:, where] = proba
        return out


def distinct_labels(y: Any) -> list[Label]:
    """The distinct labels of a batch."""
    return distinct(y, "the labels", 0)[0]
