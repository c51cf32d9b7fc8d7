"""The one loop that moves rows from a stream into models.

Learning, evaluating, learning a shard and the light first pass over a stream are all this loop with another `step`:
it reads a batch, hands it over, and tells whoever wants to know. Checkpoints (`bayou.training.run`) hang on its hooks.
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
    """Hand the rows of a stream to `step`, batch after batch; returns whether all rows were handed over.

    Parameters
    ----------
    stream
        A source, or a pair (X, y).
    step
        Called with every batch.
    rows
        Stop after so many rows.
    pace
        Rows per batch: a number, something that tells the next number, or as many as are quick if left out. Nothing
        that is learned depends on it.
    after
        Called after every batch with the number of rows handed over so far; it ends the loop by returning True.

    Examples
    --------
    >>> from bayou.classifiers import NaiveBayes
    >>> model = NaiveBayes()
    >>> feed(([{"sky": "blue"}, {"sky": "grey"}], ["dry", "wet"]), Learning(model).step)
    True
    >>> model.predict_one({"sky": "grey"})
    'wet'
    """
    done = 0
    for batch in batches(stream, pace, rows):
        if batch.size:  # a stream that is followed may have nothing new
            with lines_in_errors(stream, batch.rows):
                step(batch)
        done += batch.size
        if after is not None and after(done):
            return False
    return True


@contextmanager
def lines_in_errors(stream: Stream, rows: Any) -> Iterator[None]:
    """Errors about the rows handed out last name the row of the stream, rather than the model's, and the line."""
    try:
        yield
    except DataError as problem:
        if problem.index is None or not is_source(stream):
            raise
        raise problem.in_row(rows.start + problem.index, stream.line_of(problem.index)) from None


class Work(Protocol):
    """What is done with the rows of a source, and all that a checkpoint keeps of it: models, and other arrays."""

    @property
    def models(self) -> Mapping[str, Any]:
        """The models at work, by name."""

    def declare_columns(self, source: Source) -> object:
        """Take in what the source declares about its columns, before the first row."""

    def step(self, batch: LabelledBatch) -> None:
        """Work on the rows, in order."""

    def arrays(self) -> Arrays:
        """The whole state besides the models."""

    def restore(self, arrays: Arrays) -> None:
        """Take a state given by `arrays`, which belongs to the models."""


class Learning:
    """The usual work: a model learns the rows."""

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
    """Tell a model that has seen nothing yet what the stream knows: text columns, nominal ones and their values.

    What the user declared wins. Without this, a column of text would look like one of nominal values.
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
