"""Preparation of distributed training: grids and ranges are fixed once, from the first rows of the stream."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from bayou.engines import views_of
from bayou.protocols import Framed
from bayou.streams.source import Source
from bayou.training.batches import Pace
from bayou.training.loop import Learning, declare_columns, feed

STEP = 1_000  # rows after which the frames are checked
MOST = 20_000  # rows of one source that are read at most, for columns without values


def prepared(model: Any, sources: Iterable[Source]) -> Any:
    """The empty model from which all shards start, with the columns of the first source, and frames frozen.

    The frames are grids and ranges of numeric columns, which freeze after a fixed number of values. As many rows are
    read from the first source, as in one pass; then, if a column has had no values so far, from the others.
    """
    twin = copy.deepcopy(model)
    most = max(MOST, model.get_params(deep=False).get("warm_up", 0))  # the model may need more
    for source in sources:
        declare_columns(twin, source)
        steps = _Steps(twin)
        feed(source, Learning(twin).step, rows=most, pace=steps, after=steps.are_enough)
        if steps.done and not loose(twin):
            break
    return twin.fresh()


class _Steps(Pace):
    """Batches that end at multiples of `STEP`, also where a broker returns fewer rows than asked for."""

    def __init__(self, model: Any) -> None:
        super().__init__(STEP)
        self._model, self.done = model, 0

    def next(self) -> int:
        return STEP - self.done % STEP

    def are_enough(self, done: int) -> bool:
        """Whether a step is full, and no column waits for its frame."""
        self.done = done
        return done > 0 and done % STEP == 0 and not loose(self._model)


def loose(model: Any) -> bool:
    """Whether a numeric column still waits for its grid or its range.

    >>> from bayou import AODE, NaiveBayes
    >>> rows, labels = [{"x": float(i)} for i in range(600)], [i % 2 for i in range(600)]
    >>> few, many, none = AODE(), AODE(), NaiveBayes()
    >>> few.learn_batch(rows[:99], labels[:99]); many.learn_batch(rows, labels); none.learn_batch(rows, labels)
    >>> loose(few), loose(many), loose(none)
    (True, False, False)
    """
    summaries = (view.summary for _, view in views_of(model.engine))
    return any(isinstance(summary, Framed) and not summary.frames_are_frozen for summary in summaries)
