"""Track records: predictions of a model compared with the true labels.

These summaries read `block.y`, `block.w` and `block.proba`, the probabilities the model gave each row before it
learned it (`block.scored(proba)`), and `block.decided` where a model decides for another class than the most
probable one. A row of zeros is "no prediction yet" and counts as wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from bayou.align import Alignment, Axis
from bayou.block import Block, Codes, Floats
from bayou.checks import SLACK, require
from bayou.kernels.outcomes import BINS, CELLS, SMALLEST, count_confusion, count_losses, judge
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.schema import Label, identity_key
from bayou.summaries import valid
from bayou.summaries.array_summary import DecayingSummary
from bayou.summaries.state import ADD, declare

MOST_PROBABLE = np.empty(0, np.int32)  # in place of decisions: the most probable class is predicted


def predictions(block: Block) -> tuple[Floats, Codes]:
    """Probabilities and decisions of a block, as kernels take them; raises `TypeError` if it has no probabilities."""
    if block.proba is None:
        raise TypeError("outcomes need the model's predictions: give block.scored(proba)")
    return block.proba, MOST_PROBABLE if block.decided is None else block.decided


def judged(block: Block) -> tuple[Codes, Floats]:
    """The class predicted for each row (-1 for none, -2 if the row does not count), and its losses."""
    predicted, losses = np.empty(block.n, np.int32), np.empty((block.n, 2))
    judge(block.y, block.w, *predictions(block), predicted, losses)
    return predicted, losses


class Confusion(DecayingSummary):
    """counts[true, predicted], and the weight of rows of each class for which nothing was predicted.

    Merge: EXACT (addition). Memory: 8 K (K + 1) bytes.

    Examples
    --------
    >>> confusion = Confusion(); confusion.realign(class_plan([], ["a", "b"]))
    >>> confusion.update(scored_rows([0, 1, 1], [[0, 0], [0.3, 0.7], [0.6, 0.4]]))
    >>> confusion.counts.tolist(), confusion.unanswered.tolist()
    ([[0.0, 0.0], [1.0, 1.0]], [1.0, 0.0])
    """

    law: ClassVar[MergeLaw] = MergeLaw.EXACT
    counts: Floats = declare("classes", "classes", merge=ADD, scales=True, valid=valid.non_negative)
    unanswered: Floats = declare("classes", merge=ADD, scales=True, valid=valid.non_negative)

    def update(self, block: Block) -> None:
        count_confusion(self.counts, self.unanswered, block.y, block.w, judged(block)[0])


class Losses(DecayingSummary):
    """Sums of log-loss and Brier score, confidence by bin, and every class's scores by cell.

    Log-loss is -log p(true) with p no smaller than 2^-52; the Brier score is summed over classes (0 to 2).
    `calibration` has 15 bins of the confidence: weight, confidence, right. `scores[c]` has 256 cells of the
    log-odds of class c: weight of rows of other classes, weight of its own. Rows without a prediction are left out.

    Merge: ROUNDING (addition). Memory: 4 KiB per class.

    Examples
    --------
    >>> losses = Losses(); losses.realign(class_plan([], ["a", "b"]))
    >>> losses.update(scored_rows([0, 1], [[0.5, 0.5], [0.25, 0.75]]))
    >>> losses.sums.round(4).tolist()
    [0.9808, 0.625, 2.0]
    """

    law: ClassVar[MergeLaw] = MergeLaw.ROUNDING
    sums: Floats = declare(3, merge=ADD, scales=True, valid=valid.non_negative)
    calibration: Floats = declare(BINS, 3, merge=ADD, scales=True, valid=valid.non_negative)
    scores: Floats = declare("classes", CELLS, 2, merge=ADD, scales=True, valid=valid.non_negative)

    def update(self, block: Block) -> None:
        predicted, losses = judged(block)
        proba, _ = predictions(block)
        count_losses(self.sums, self.calibration, self.scores, block.y, block.w, proba, predicted, losses)

    def realign(self, plan: Alignment) -> None:
        """Move the classes; all rows so far count as if they had given a new class the probability 0."""
        super().realign(plan)
        new = np.ones(plan.classes.size, np.bool_)
        new[plan.classes.to] = False
        self.scores[new, 0, 0] = self.sums[2]

    def check(self, arrays: Arrays) -> None:
        super().check(arrays)
        loss, brier, weight = arrays["sums"].tolist()
        bins, scores = arrays["calibration"], arrays["scores"]
        slack = SLACK * (1.0 + weight)
        most = -math.log(SMALLEST)
        require(loss <= most * weight + slack and brier <= 2.0 * weight + slack, "losses beyond their range")
        require(abs(bins[:, 0].sum() - weight) <= slack, "the bins of confidence do not add up")
        require((bins[:, 1:] <= bins[:, :1] + slack).all(), "a bin of confidence holds more than its rows")
        require((abs(scores.sum(axis=(1, 2)) - weight) <= slack).all(), "the scores of a class do not add up")


def scored_rows(y: Any, proba: Any, w: Any = None, decided: Codes | None = None) -> Block:
    """A block of outcomes alone: class codes (-1 unlabelled), probabilities, weights, decisions, and no columns."""
    labels = np.ascontiguousarray(y, dtype=np.int32)
    n = len(labels)
    weights = np.ones(n) if w is None else np.ascontiguousarray(w, dtype=np.float64)
    scores = None if proba is None else np.ascontiguousarray(proba, dtype=np.float64)
    return Block(
        np.empty((n, 0)), np.empty((n, 0), np.int32), (), labels, weights, proba=scores, decided=decided
    )


def class_plan(old: Sequence[Label], new: Sequence[Label]) -> Alignment:
    """The plan for summaries that have classes and nothing else."""
    place = {identity_key(label): i for i, label in enumerate(new)}
    to = np.array([place[identity_key(label)] for label in old], dtype=np.int64)
    nothing = Axis(np.arange(0), 0)
    return Alignment(Axis(to, len(new)), nothing, nothing, (), nothing, ())
