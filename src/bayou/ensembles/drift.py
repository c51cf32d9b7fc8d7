"""Drift detection (ADWIN), and a classifier that restarts when its error rises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self, cast

import numpy as np

from bayou.block import Block, Floats
from bayou.checks import counts, require, rising
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.engines import Engine, Members
from bayou.engines.engine import row_count
from bayou.ensembles.ensemble import Ensemble, classifier_or
from bayou.errors import SchemaError, UnsupportedError
from bayou.kernels.adwin import watch
from bayou.kernels.votes import losses
from bayou.laws import MergeLaw
from bayou.protocols import Arrays

if TYPE_CHECKING:
    from bayou.scorer import Node

SIZES = 48  # bucket sizes 1, 2, 4 ...: more rows than any stream has
LATEST = 1000  # the latest drifts, whose rows are kept
STRETCH = 1000  # rows learned before the window checks them; those behind an alarm are learned again
ROOM = 6  # buckets of one size, one of them only while two become one of the next


class AdaptiveWindow:
    """ADWIN: a window over 0/1 losses that grows while their mean stays the same and is cut where it has changed.

    Parameters
    ----------
    delta
        Probability of a false alarm per test.
    clock
        Losses between two tests.

    Memory: 5 KB.

    Examples
    --------
    >>> window = AdaptiveWindow()
    >>> window.watch(np.zeros(500)), window.width
    (-1, 500)
    >>> window.watch(np.ones(500)) < 64
    True
    """

    names = ("totals", "squares", "filled", "window")

    def __init__(self, delta: float = 0.002, clock: int = 32) -> None:
        if not 0 < delta < 1 or clock < 1:
            raise SchemaError(f"delta={delta!r}, clock={clock!r}: delta lies in (0, 1), clock is at least 1")
        self.delta, self.clock = delta, clock
        self.clear()

    def clear(self) -> None:
        """Empty the window."""
        self.totals = np.zeros((SIZES, ROOM))
        self.squares = np.zeros((SIZES, ROOM))
        self.filled = np.zeros(SIZES, dtype=np.int64)
        self.window = np.zeros(4)

    @property
    def width(self) -> int:
        """The number of losses in the window."""
        return int(self.window[0])

    def watch(self, values: Floats, block: Block | None = None) -> int:
        """Add losses; return the index of the one that raises an alarm, or -1. Losses behind an alarm are not added."""
        y = np.zeros(len(values), dtype=np.int32) if block is None else block.y
        w = np.ones(len(values)) if block is None else block.w
        return watch(
            self.totals, self.squares, self.filled, self.window, values, y, w, self.delta, self.clock
        )  # fmt: skip

    def arrays(self) -> Arrays:
        """The window under stable names."""
        return {name: getattr(self, name) for name in self.names}

    def restore(self, arrays: Arrays) -> None:
        """Restore the window from what `arrays` returned."""
        shapes = {"totals": (SIZES, ROOM), "squares": (SIZES, ROOM), "filled": (SIZES,), "window": (4,)}
        for name, shape in shapes.items():
            if arrays[name].shape != shape:
                raise SchemaError("not the buckets of an adaptive window")
            counts(f"{name} of an adaptive window", arrays[name])
        filled = arrays["filled"]
        require(
            filled.max() < ROOM and filled[-1] == 0, "an adaptive window has room for one more of each size"
        )
        width = float(filled @ 2.0 ** np.arange(SIZES))
        require(arrays["window"][0] == width, "an adaptive window is as wide as its buckets")
        for name in self.names:
            setattr(self, name, np.array(arrays[name], order="C"))


class ResetOnDrift(Ensemble):
    """A classifier that starts afresh when its own error has risen significantly (ADWIN on 0/1 losses).

    Every row is predicted before it is learned, also by `learn`. The alarm is raised where the error after some row is
    higher than before it by more than sqrt(2 v D / m) + 2 D / (3 m), with D = log(2 log(n) / delta), n the rows that
    are remembered, v the variance of their losses and 2 m the harmonic mean of the two lengths. The row that raises
    the alarm is the first that the new classifier learns.

    Parameters
    ----------
    estimator
        The classifier to train, by default `NaiveBayes()`.
    delta
        Probability of a false alarm per test.
    clock
        Rows between two tests.

    Merge: none, since drift belongs to one stream. Memory: that of the classifier and 5 KB. Time: that of the
    classifier, which also predicts every row it learns, and O(log n) for a test after n rows.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown.
    MergeError
        If models are merged.
    UnsupportedError
        If rows are unlearned or faded.

    Examples
    --------
    >>> model = ResetOnDrift()
    >>> for i in range(2000): model.learn_one({"x": i % 2}, (i % 2 == 0) == (i < 1000))
    >>> model.drifts, model.drift_rows, model.predict_one({"x": 1})
    (1, [1023], True)
    """

    def __init__(self, estimator: Estimator | None = None, delta: float = 0.002, clock: int = 32) -> None:
        self.estimator = estimator
        self.delta = delta
        self.clock = clock

    @property
    def drifts(self) -> int:
        """The number of restarts."""
        return cast(RestartingMember, self.engine).drifts

    @property
    def drift_rows(self) -> list[int]:
        """Numbers of the rows at which it restarted, the last 1,000 of them; the stream begins with row 0.

        `fit` presents the rows of a table in a hashed order; where order means time, use `partial_fit` or `learn_many`.
        """
        return cast(RestartingMember, self.engine).drift_rows.tolist()

    def templates(self) -> Sequence[Estimator]:
        return [classifier_or(self.estimator, NaiveBayes)]

    def build_engine(self) -> RestartingMember:
        return RestartingMember(self.builders(), AdaptiveWindow(self.delta, self.clock))


class RestartingMember(Members):
    """One member that is replaced by an empty one when a window over its losses raises an alarm."""

    def __init__(self, builders: Sequence[Callable[[], Engine]], window: AdaptiveWindow) -> None:
        super().__init__(builders)
        self.refresh_at_row_counts()
        self.window, self.drifts = window, 0
        self.drift_rows = np.zeros(0, dtype=np.int64)

    @property
    def law(self) -> MergeLaw:
        return MergeLaw.NONE

    def learn(self, block: Block) -> None:
        self.test_then_train(block)

    def test_then_train(self, block: Block) -> Floats:
        n = len(block.y)
        out = np.empty((n, self.n_classes))
        at = 0
        while at < n:
            rows = block if n == 1 else block.rows(at, min(at + STRETCH, n))
            joint = self.members[0].test_then_train(rows)
            losses_of_rows = np.empty(rows.n)
            losses(joint, rows.y, self.class_order(), losses_of_rows)
            alarm = self.window.watch(losses_of_rows, rows)
            done = rows.n if alarm < 0 else alarm + 1
            out[at : at + done] = joint[:done]
            if alarm >= 0:
                self._start_again(rows.rows(alarm, alarm + 1))
            at += done
        self.learned += block.learned()
        return out

    def _start_again(self, row: Block) -> None:
        self.drifts += 1
        self.drift_rows = np.append(self.drift_rows, row.start)[-LATEST:]
        self.window.clear()
        self.members = [self.new_member()]
        self.refresh_at_row_counts()
        self.members[0].learn(row)

    def joint_log_proba(self, block: Block) -> Floats:
        answer: Floats = self.members[0].joint_log_proba(block)
        return answer

    def scorer(self) -> Node:
        answer: Node = self.members[0].scorer()
        return answer

    def scale(self, factor: float) -> None:
        raise UnsupportedError("ResetOnDrift does not decay: it forgets by starting again")

    def fresh(self) -> Self:
        twin = super().fresh()
        twin.window, twin.drifts = AdaptiveWindow(self.window.delta, self.window.clock), 0
        twin.drift_rows = np.zeros(0, dtype=np.int64)
        return twin

    def arrays(self) -> Arrays:
        window = {f"window.{name}": array for name, array in self.window.arrays().items()}
        return {
            **super().arrays(),
            **window,
            "drifts": np.array([self.drifts]),
            "drift_rows": self.drift_rows,
        }

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        self.drifts, rows = row_count(arrays["drifts"]), arrays["drift_rows"]
        fits = rows.dtype == np.int64 and rows.shape == (min(self.drifts, LATEST),)
        require(fits, "there are as many rows of drifts as drifts")
        require(rows.min(initial=0) >= 0, "the rows of drifts are numbers of rows")
        rising("the rows of drifts", rows)
        self.drift_rows = np.array(rows)
        self.window.restore({name: arrays[f"window.{name}"] for name in self.window.names})
