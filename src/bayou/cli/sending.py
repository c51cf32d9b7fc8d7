"""Predictions that go to a topic or a file, each with the place of its row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from bayou.errors import OptionError

if TYPE_CHECKING:
    from bayou.evaluate.prequential import Prequential
    from bayou.streams.brokers.log import Place
    from bayou.streams.source import Source
    from bayou.training.batches import LabelledBatch


class Sending:
    """Sends the predictions of an evaluation, row by row; for records that wait for their label, at arrival.

    After a crash, what was sent after the last checkpoint is sent again: with the same place, and with the same
    prediction where the rows come in the same order.
    """

    def __init__(self, where: str, stream: Source, work: Prequential) -> None:
        from bayou.classifiers.baselines import MajorityClass, NoChange
        from bayou.streams.brokers.outlets import open_outlet

        self._log = placed(stream)
        self._stream: Any = stream
        self._models = {n: m for n, m in work.models.items() if not isinstance(m, NoChange | MajorityClass)}
        self._models = self._models or work.models
        self._joined = hasattr(stream, "counts")
        self._outlet = open_outlet(where)
        self.flush = self._outlet.flush
        work.on_predicted = self._send

    def _send(self, batch: LabelledBatch, proba: Mapping[str, Any]) -> None:
        places = self._stream.places()
        rows = list(range(batch.size))
        if self._joined:  # a record comes twice: it is predicted when it has no label yet
            rows = [i for i, label in enumerate(batch.labels.is_null().to_pylist()) if label]
        for name, model in self._models.items():
            probabilities = proba[name][rows]
            row_places = [places[i] for i in rows]
            self._outlet.send(messages(self._log, row_places, name, model, probabilities))
        self._outlet.flush()  # predictions do not wait for the next checkpoint

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._outlet.__exit__(*exception)


def placed(stream: Source) -> str:
    """The name of a log in messages about its rows; refuses a stream whose rows have no place in a log."""
    if not hasattr(stream, "places"):
        raise OptionError(
            "rows of a file have no place in a log", remedy="read it as one: tail://FILE?until=end"
        )
    return str(stream.identity["path"])


def messages(log: str, places: Sequence[Place], name: str, model: Any, proba: Any) -> list[bytes]:
    """A message for each row: its place, the model, the prediction and all probabilities above 0."""
    from bayou.streams.brokers.outlets import letter

    labels = model.labels() if model.started else []
    names = [str(label) for label in labels]
    chosen = model.decide(proba).tolist() if labels and len(places) else [-1] * len(places)
    out = []
    for place, best, row in zip(places, chosen, proba.tolist(), strict=True):
        # Nothing of a class that was not met yet: whether it is known here depends on how rows are cut into batches.
        known = {label: p for label, p in zip(names, row, strict=True) if p > 0.0}
        prediction = labels[best] if best >= 0 and known else None
        out.append(letter(log, place, {"model": name, "prediction": prediction, "probabilities": known}))
    return out
