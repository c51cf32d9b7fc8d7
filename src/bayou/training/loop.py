"""The loop that reads batches from a stream and passes them to a `step`, for all kinds of work.

Learning, evaluating, learning a shard and the light first pass over a stream differ only in their `step`. After each
batch the loop calls `after`, by which `bayou.training.run` shows progress and writes checkpoints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

from bayou.classifiers.estimator import Estimator
from bayou.errors import DataError
from bayou.persist.errors import CheckpointError
from bayou.protocols import Arrays
from bayou.streams import Source
from bayou.training.batches import LabelledBatch, Pace, Stream, batches, is_source


def feed(
    stream: Stream,
    step: Callable[[LabelledBatch], None],
    *,
    rows: int | None = None,
    pace: Pace | int | None = None,
    after: Callable[[int], bool | None] | None = None,
) -> bool:
    """Pass the rows of a stream to `step`, batch by batch; returns whether all rows were passed.

    Parameters
    ----------
    stream
        A source, or a pair (X, y).
    step
        Called with every batch.
    rows
        Stop after so many rows.
    pace
        Rows per batch: a number, a `Pace`, or adapted to the time a batch takes if left out. What is learned does not
        depend on it.
    after
        Called after every batch with the number of rows passed so far; it ends the loop by returning True.

    Examples
    --------
    >>> from bayou.classifiers import NaiveBayes
    >>> model = NaiveBayes()
    >>> feed(([{"sky": "blue"}, {"sky": "grey"}], ["dry", "wet"]), Learning(model).step)
    True
    >>> model.predict_one({"sky": "grey"})
    'wet'
    """
    rows_read = 0
    for batch in batches(stream, pace, rows):
        if batch.size:  # a stream that is followed may have nothing new
            with lines_in_errors(stream, batch.rows):
                step(batch)
        rows_read += batch.size
        if after is not None and after(rows_read):
            return False
    return True


@contextmanager
def lines_in_errors(stream: Stream, rows: Any) -> Iterator[None]:
    """Raise errors about these rows with the row and line of the stream, instead of the row of the model."""
    try:
        yield
    except DataError as problem:
        if problem.index is None or not is_source(stream):
            raise
        raise problem.in_row(rows.start + problem.index, stream.line_of(problem.index)) from None


class Work(Protocol):
    """A task over the rows of a source, such as learning; a checkpoint saves its models and other arrays."""

    @property
    def models(self) -> Mapping[str, Any]:
        """The models by name."""

    def declare_columns(self, source: Source) -> object:
        """Declare the columns of the source to the models, before the first row."""

    def step(self, batch: LabelledBatch) -> None:
        """Process the next rows."""

    def arrays(self) -> Arrays:
        """The state besides the models."""

    def restore(self, arrays: Arrays) -> None:
        """Restore a state that `arrays` returned; the models are restored already."""


class Learning:
    """The usual task: a model learns the rows."""

    def __init__(self, model: Any) -> None:
        self.models = {"model": model}

    def declare_columns(self, source: Source) -> None:
        declare_columns(self.models["model"], source)

    def step(self, batch: LabelledBatch) -> None:
        self.models["model"].learn_batch(batch.rows, batch.labels)

    def arrays(self) -> Arrays:
        return {}

    def restore(self, arrays: Arrays) -> None:
        if arrays:
            raise CheckpointError(
                "this checkpoint belongs to more than learning; resume it with the work it was made by"
            )


def declare_columns(model: Estimator, source: Source) -> None:
    """Declare the stream's text and nominal columns, with their values, to a model that has learned nothing yet.

    Declarations of the user take precedence. Without this, a column of text would be taken for a nominal one.
    """
    if model.started:
        return
    declared = model.declared()
    columns: dict[str, Any] = {
        name: (list(column.values) if column.values is not None else column.kind)
        for name, column in source.columns.items()
        if column.kind != "numeric"
    }
    model.reset(replace(declared, columns={**columns, **declared.columns}))
