"""A model with measures of its own predictions: every row is predicted before it is learned (prequential)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayou.block import Floats
from bayou.checks import require, rising
from bayou.ensembles.drift import AdaptiveWindow
from bayou.evaluate.curve import Curve, CurveBuilder, Spacing
from bayou.evaluate.label_index import LabelIndex
from bayou.evaluate.record import Record
from bayou.protocols import Arrays
from bayou.schema import Label

WINDOW = 1000  # rows of the rolling measures
DRIFTS = 100  # the latest marks of drift, which are kept
MISTAKES = 8  # the latest mistakes, which are kept for the live page


@dataclass(frozen=True)
class Mistake:
    """A row that was predicted wrongly before it was learned."""

    row: int
    record: dict[str, Any]
    label: Label
    predicted: Label
    probability: float


class Measured:
    """A model with the track record of its own predictions, a curve of it, and marks where the error rose (ADWIN).

    Examples
    --------
    >>> from bayou.classifiers import NaiveBayes
    >>> measured = Measured(NaiveBayes())
    >>> measured.learn([{"sky": "blue"}, {"sky": "grey"}] * 50, ["dry", "wet"] * 50)
    >>> measured.record.running.accuracy, len(measured.mistakes)
    (0.98, 1)
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.record = Record(WINDOW)
        self.rows, self.refused = 0, 0
        self.drifts: list[int] = []
        self.mistakes: deque[Mistake] = deque(maxlen=MISTAKES)
        self._labels = LabelIndex()
        self._curve, self._spacing = CurveBuilder(), Spacing(None, WINDOW)
        self._watch = AdaptiveWindow()

    def learn(self, rows: Any, labels: Any) -> None:
        """Predict, then learn the rows, in order; a batch with one bad row changes nothing."""
        proba = self.model.test_then_train_batch(rows, labels)
        self._admit()
        codes = self._labels.codes(labels)
        block = self._labels.scored(codes, proba, self.model)
        points = self._spacing.points(self.rows, len(codes))
        for point, values in zip(points, self.record.update(block, points), strict=True):
            self._curve.add(self.rows + point, values)
        while self._spacing.widen(len(self._curve.rows)):
            self._curve.thin(self._spacing.every)
        spread = self._labels.spread(proba, self.model.labels())
        decided = _most_probable(spread) if block.decided is None else block.decided
        wrong = (codes >= 0) & (decided != codes)
        self._watch_for_drift(codes, wrong)
        self._keep_mistakes(rows, codes, decided, spread, wrong)
        self.rows += len(codes)

    def unlearn(self, rows: Any, labels: Any) -> None:
        """Take rows out of the model again; the measures do not change."""
        self.model.unlearn(rows, labels)

    @property
    def classes(self) -> list[Label]:
        """The class labels, in the order of the record's columns."""
        return self._labels.labels

    def curve(self) -> Curve:
        """The curve: measures by number of rows."""
        return self._curve.curve()

    def arrays(self) -> Arrays:
        """The state without that of the model."""
        return {
            "numbers": np.array([self.rows, self.refused, self._spacing.every], np.int64),
            "drifts": np.array(self.drifts, np.int64),
            "points": np.array(self._curve.rows, np.int64),
            "curve": self._curve.array(),
            **{f"watch.{name}": array for name, array in self._watch.arrays().items()},
            **{f"record.{name}": array for name, array in self.record.arrays().items()},
        }

    def restore(self, arrays: Arrays) -> None:
        """Restore the state from what `arrays` returned for the same model."""
        numbers, drifts, points = arrays["numbers"], arrays["drifts"], arrays["points"]
        require(numbers.dtype == np.int64 and numbers.shape == (3,), "a measured model has three numbers")
        for rows in (drifts, points):
            require(rows.dtype == np.int64 and rows.ndim == 1, "marks are row numbers")
            rising("the marks of a measured model", rows)
        self.rows, self.refused, self._spacing.every = numbers.tolist()
        require(self.rows >= 0 and self.refused >= 0 and self._spacing.every >= 1, "impossible numbers")
        self.drifts = drifts.tolist()
        if self.model.started:
            self._admit()
        self._curve.restore(points.tolist(), arrays["curve"])
        self._watch.restore(_below(arrays, "watch."))
        self.record.restore(_below(arrays, "record."))

    def _admit(self) -> None:
        plan = self._labels.admit(self.model.labels())
        if plan is not None:
            self.record.realign(plan)

    def _watch_for_drift(self, codes: Any, wrong: Any) -> None:
        places = np.flatnonzero(codes >= 0)
        losses = wrong[places].astype(np.float64)
        done = 0
        while (drift := self._watch.watch(losses[done:])) >= 0:
            self.drifts.append(self.rows + int(places[done + drift]))
            self._watch.clear()
            done += drift + 1
        del self.drifts[:-DRIFTS]

    def _keep_mistakes(self, rows: Any, codes: Any, decided: Any, proba: Floats, wrong: Any) -> None:
        for i in np.flatnonzero(wrong)[-MISTAKES:].tolist():
            record = rows[i] if isinstance(rows, list) else rows.slice(i, 1).to_pylist()[0]
            values = {name: value for name, value in record.items() if value is not None}
            label, predicted = self.classes[codes[i]], int(decided[i])
            if predicted >= 0 and proba[i].any():  # a row without an answer has no prediction to be wrong
                self.mistakes.append(
                    Mistake(self.rows + i, values, label, self.classes[predicted], float(proba[i, predicted]))
                )


def _most_probable(proba: Floats) -> Any:
    return proba.argmax(axis=1) if proba.shape[1] else np.zeros(len(proba), np.int64)


def _below(arrays: Arrays, prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
