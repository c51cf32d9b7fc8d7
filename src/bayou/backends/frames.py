"""The first light pass of a distributed training: frames are fixed once, from the first rows of the stream."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from bayou.engines import views_of
from bayou.protocols import Framed
from bayou.streams.source import Source
from bayou.training.batches import Pace
from bayou.training.loop import Learning, declare_columns, feed

STEP = 1_000  # rows after which frames are looked at
MOST = 20_000  # rows of one source, after which a column without values is given up


def prepared(model: Any, sources: Iterable[Source]) -> Any:
    """The empty model from which all shards start: the kinds of the first source, and frames frozen.

    Grids and ranges of numeric columns freeze at a fixed number of values. So many rows are read from the first
    source, as one pass would; then, if a column has had no values so far, from the others.
    """
    twin = copy.deepcopy(model)
    most = max(MOST, model.get_params(deep=False).get("warm_up", 0))  # as many as the model itself asks for
    for source in sources:
        declare_columns(twin, source)
        steps = _Steps(twin)
        feed(source, Learning(twin).step, rows=most, pace=steps, after=steps.are_enough)
        if steps.done and not loose(twin):
            break
    return twin.fresh()


class _Steps(Pace):
    """Batches up to the next thousand rows: a broker may have fewer at hand, and none at first."""

    def __init__(self, model: Any) -> None:
        super().__init__(STEP)
        self._model, self.done = model, 0

    def next(self) -> int:
        return STEP - self.done % STEP

    def are_enough(self, done: int) -> bool:
        """Whether the thousand is full, and no column waits for its frame."""
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
    return any(isinstance(each, Framed) and not each.frames_are_frozen for each in summaries)
