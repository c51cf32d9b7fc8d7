"""The classifiers behind one name: the answering one, and shadows that learn the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayou.errors import BayouError
from bayou.persist.checkpoint import Snapshot
from bayou.persist.errors import CheckpointError
from bayou.protocols import Arrays
from bayou.serve.bodies import ARROW, joined
from bayou.serve.errors import ConflictError
from bayou.serve.measured import Measured
from bayou.serve.queue import Task


class Variants:
    """Measured classifiers by name, one of which answers and decides whether a batch is accepted.

    A shadow that refuses a batch the answering one accepts has not learned it; it counts how often that happens.
    """

    def __init__(self, models: Mapping[str, Any], answering: str) -> None:
        self.measured = {name: Measured(model) for name, model in models.items()}
        self.answering = answering
        self.rows = self.unlearned = 0

    @property
    def model(self) -> Any:
        """The classifier that answers."""
        return self.measured[self.answering].model

    def carry_out(self, tasks: Sequence[Task]) -> list[BayouError | None]:
        """Learn, unlearn and promote, in order; return for each task the error that refused it, or None.

        Batches of records that follow each other are learned as one: the bits are the same however rows are cut.
        """
        refusals: list[BayouError | None] = []
        while len(refusals) < len(tasks):
            run = _run(tasks[len(refusals) :])
            problem = self._together(run)
            if problem is None or len(run) == 1:
                refusals += [problem] * len(run)
            else:  # one batch is bad, so none was learned: each by itself
                refusals += [self._together([task]) for task in run]
        return refusals

    def _together(self, tasks: Sequence[Task]) -> BayouError | None:
        try:
            if tasks[0].verb == "promote":
                self._promote(tasks[0].batch.body.decode())
            else:
                self._each(tasks[0].verb, *joined([task.batch for task in tasks]))
        except BayouError as problem:
            return problem
        return None

    def _each(self, verb: str, rows: Any, labels: Any) -> None:
        first = self.measured[self.answering]
        getattr(first, verb)(rows, labels)
        for name, shadow in self.measured.items():
            if name == self.answering:
                continue
            try:
                getattr(shadow, verb)(rows, labels)
            except BayouError:
                shadow.refused += 1
        if verb == "learn":
            self.rows += len(labels)
        else:
            self.unlearned += len(labels)

    def _promote(self, name: str) -> None:
        if name not in self.measured:
            raise ConflictError(f"there is no {name!r} to promote; there are {', '.join(self.measured)}")
        self.answering = name

    def saved(self) -> tuple[dict[str, Any], Arrays, dict[str, Any]]:
        """The models, other arrays, and notes that a checkpoint stores."""
        models = {name: each.model for name, each in self.measured.items()}
        arrays = {
            f"{i}.{name}": array
            for i, each in enumerate(self.measured.values())
            for name, array in each.arrays().items()
        }
        return models, arrays, {"answering": self.answering}

    def restore(self, checkpoint: Snapshot) -> None:
        """Restore the state of a checkpoint, which must hold classifiers of these names."""
        if set(checkpoint.models) != set(self.measured):
            raise CheckpointError(
                f"the checkpoint holds {', '.join(checkpoint.models)} and the server was given "
                f"{', '.join(self.measured)}; give the same names, or an empty folder"
            )
        if checkpoint.notes.get("answering") not in checkpoint.models:
            raise CheckpointError("the checkpoint does not say which of its models answers")
        self.measured = {}
        for i, (name, model) in enumerate(checkpoint.models.items()):
            arrays = {
                k.removeprefix(f"{i}."): a for k, a in checkpoint.evaluator.items() if k.startswith(f"{i}.")
            }
            self.measured[name] = Measured(model)
            self.measured[name].restore(arrays)
        self.answering = checkpoint.notes["answering"]
        self.rows, self.unlearned = checkpoint.rows, checkpoint.position["unlearned"]


def _run(tasks: Sequence[Task]) -> Sequence[Task]:
    """The first tasks that can be learned as one batch."""
    end = 1
    if _joins(tasks[0]):
        while end < len(tasks) and _joins(tasks[end]):
            end += 1
    return tasks[:end]


def _joins(task: Task) -> bool:
    return task.verb == "learn" and task.batch.form != ARROW
