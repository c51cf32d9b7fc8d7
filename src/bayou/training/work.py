"""What is done with the rows of a source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from bayou.evaluate.batches import Batch
from bayou.evaluate.competitors import told
from bayou.persist.errors import CheckpointError
from bayou.protocols import Arrays
from bayou.streams import Source


class Work(Protocol):
    """What is done with the rows of a source, and all that a checkpoint keeps of it: models, and other arrays."""

    @property
    def models(self) -> Mapping[str, Any]: ...

    def tell(self, source: Source) -> object:
        """Take in what the source declares about its columns, before the first row."""

    def step(self, batch: Batch) -> None:
        """Work on the rows, in order."""

    def arrays(self) -> Arrays:
        """The whole state besides the models."""

    def restore(self, arrays: Arrays) -> None:
        """Take a state given by `arrays`, which belongs to the models."""


class Learning:
    """The usual work: a model learns the rows."""

    def __init__(self, model: Any) -> None:
        self.models = {"model": model}

    def tell(self, source: Source) -> None:
        told(self.models["model"], source)

    def step(self, batch: Batch) -> None:
        self.models["model"].learn_batch(batch.rows, batch.labels)

    def arrays(self) -> Arrays:
        return {}

    def restore(self, arrays: Arrays) -> None:
        if arrays:
            raise CheckpointError(
                "this checkpoint belongs to more than learning; resume it with the work it was made by"
            )
