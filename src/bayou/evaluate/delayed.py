"""Test-then-train with labels that arrive later: the prediction made when a record arrived is scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment
from bayou.block import Codes, Flags, Floats
from bayou.checks import require, rising
from bayou.errors import DataError
from bayou.evaluate.competitors import Models
from bayou.evaluate.prequential import Prequential
from bayou.evaluate.sets import Sets
from bayou.protocols import Arrays
from bayou.streams.brokers.joined import JoinedRows
from bayou.summaries.outcomes import MOST_PROBABLE
from bayou.training.batches import LabelledBatch


class Delayed(Prequential):
    """Prequential evaluation of records whose labels arrive later, from logs opened with `at_arrival=True`.

    Every record comes twice: when it arrives, without a label, it is predicted; when its label arrives, the prediction
    made at arrival is scored, and the record is learned. For the models this is one pass over these
    rows, in which those that arrive are unlabelled. Predictions of records that wait are part of the state.

    Parameters
    ----------
    models, window, every
        As in `Prequential`.
    """

    def __init__(self, models: Models, *, window: int = 1000, every: int | None = None) -> None:
        super().__init__(models, window=window, every=every)
        self._events = 0
        self._pending = _Predictions(list(self.models), list(self._sets.records))

    def _realign(self, plan: Alignment) -> None:
        super()._realign(plan)
        self._pending.realign(plan.classes.to, plan.classes.size)

    def _follows_from_labels(self, name: str) -> bool:
        return False  # predictions are kept until the label arrives

    def _can_pipeline(self, batch: LabelledBatch, labels: Sequence[Codes | None]) -> bool:
        return False  # records arrive one by one

    def _score(self, batch: LabelledBatch, codes: Codes, proba: Mapping[str, Floats]) -> None:
        rows = batch.rows
        if not isinstance(rows, JoinedRows):
            raise DataError("these rows are not joined with labels that come later", remedy="use Prequential")
        arrived, labelled = np.flatnonzero(codes < 0), np.flatnonzero(codes >= 0)
        predictions = self._predictions_of(rows.tickets, arrived, proba)
        self._pending.add(predictions)
        place = self._pending.places(rows.tickets[labelled])
        y = codes[labelled]
        predicted = {}
        for i, name in enumerate(self.models):
            decided = self._pending.decided[i][place] if self._decides(name) else MOST_PROBABLE
            predicted[name] = self._pending.proba[i][place], decided
        sets: dict[str, Sets] = {
            name: (self._pending.sets[i][place], y) for i, name in enumerate(self._sets.records)
        }
        before, events, self._events = self.rows, self._events, self._events + batch.size
        self._count(y, predicted, sets)
        self.drifts.collect(
            self._events, lambda event: before + int(np.searchsorted(labelled, event - events))
        )
        self._pending.forget(rows.tickets[labelled], rows.oldest)

    def _predictions_of(
        self, tickets: NDArray[np.int64], arrived: NDArray[np.intp], proba: Mapping[str, Floats]
    ) -> _Predictions:
        """The predictions for records that arrive, coded by the classes of this evaluation."""
        predictions = _Predictions(list(self.models), list(self._sets.records))
        predictions.tickets = tickets[arrived]
        size = len(self._label_index.labels)
        for i, (name, model) in enumerate(self.models.items()):
            labels = model.labels()
            predictions.proba[i] = self._label_index.spread(proba[name][arrived], labels)
            predictions.decided[i] = np.full(len(arrived), -1, np.int32)
            if self._decides(name) and labels:
                chosen = model.decide(proba[name][arrived]).astype(np.int32)
                predictions.decided[i] = self._label_index.translated(chosen, labels)
        latest = self._sets.latest()
        for i, (name, (sets, _)) in enumerate(latest.items()):
            predictions.sets[i] = np.zeros((len(arrived), size), np.bool_)
            known = self.models[name].schema_.classes.values
            predictions.sets[i][
                :, self._label_index.translated(np.arange(len(known), dtype=np.int32), known)
            ] = sets[arrived]
        return predictions

    def _decides(self, name: str) -> bool:
        return getattr(self.models[name], "decision", None) is not None

    def arrays(self) -> Arrays:
        """The state of the evaluation, with the predictions for records that wait."""
        events = np.array([self._events], np.int64)
        return {**super().arrays(), "delayed.events": events, **self._pending.arrays()}

    def restore(self, arrays: Arrays) -> None:
        """Take a state given by `arrays` that belongs to the models; refuses an impossible one."""
        super().restore(arrays)
        events = arrays["delayed.events"]
        require(events.dtype == np.int64 and events.shape == (1,), "a delayed evaluation counts its rows")
        self._events = int(events[0])
        self._pending.restore(arrays, len(self._label_index.labels))


class _Predictions:
    """Predictions for records that wait for their label, in rising order of the numbers of the records."""

    def __init__(self, models: list[str], with_sets: list[str]) -> None:
        self.tickets: NDArray[np.int64] = np.zeros(0, np.int64)
        self.proba: list[Floats] = [np.zeros((0, 0)) for _ in models]
        self.decided: list[Codes] = [np.zeros(0, np.int32) for _ in models]
        self.sets: list[Flags] = [np.zeros((0, 0), np.bool_) for _ in with_sets]

    def realign(self, to: NDArray[np.int64], size: int) -> None:
        """Make room for new classes, which have probability 0 and are in no set."""
        places = np.append(to, -1).astype(np.int32)
        for i, old in enumerate(self.proba):
            self.proba[i] = np.zeros((len(old), size))
            self.proba[i][:, to] = old
        for i, codes in enumerate(self.decided):
            self.decided[i] = places[codes]
        for i, sets in enumerate(self.sets):
            self.sets[i] = np.zeros((len(sets), size), np.bool_)
            self.sets[i][:, to] = sets

    def add(self, new: _Predictions) -> None:
        """Append the predictions for records that have arrived."""
        self.tickets = np.concatenate([self.tickets, new.tickets])
        for arrays, new_arrays in (
            (self.proba, new.proba),
            (self.decided, new.decided),
            (self.sets, new.sets),
        ):
            for i, array in enumerate(new_arrays):
                arrays[i] = np.concatenate([arrays[i], array])

    def places(self, tickets: NDArray[np.int64]) -> NDArray[np.intp]:
        """The positions of these records; refuses unknown ones."""
        place = np.searchsorted(self.tickets, tickets)
        known = place < len(self.tickets)
        if not known.all() or (self.tickets[place] != tickets).any():
            raise DataError(
                "a label came for a record that was not predicted",
                remedy="open the logs with at_arrival=True",
            )
        return place

    def forget(self, tickets: NDArray[np.int64], oldest: int) -> None:
        """Drop records that have got their label, and those before `oldest`, which never will."""
        kept = (self.tickets >= oldest) & ~np.isin(self.tickets, tickets)
        self.tickets = self.tickets[kept]
        self.proba = [array[kept] for array in self.proba]
        self.decided = [array[kept] for array in self.decided]
        self.sets = [array[kept] for array in self.sets]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state under stable names."""
        out: dict[str, NDArray[Any]] = {"delayed.tickets": self.tickets}
        out |= {f"delayed.{i}.proba": array for i, array in enumerate(self.proba)}
        out |= {f"delayed.{i}.decided": array for i, array in enumerate(self.decided)}
        return out | {f"delayed.{i}.sets": array for i, array in enumerate(self.sets)}

    def restore(self, arrays: Arrays, classes: int) -> None:
        """Take a state given by `arrays`; refuses an impossible one."""
        tickets = arrays["delayed.tickets"]
        require(tickets.dtype == np.int64 and tickets.ndim == 1, "records that wait have numbers")
        rising("the numbers of records that wait", tickets)
        n = len(tickets)
        proba = [arrays[f"delayed.{i}.proba"] for i in range(len(self.proba))]
        decided = [arrays[f"delayed.{i}.decided"] for i in range(len(self.decided))]
        sets = [arrays[f"delayed.{i}.sets"] for i in range(len(self.sets))]
        for array in proba:
            require(array.dtype == np.float64 and array.shape == (n, classes), "a probability for each class")
            require(bool(((array >= 0) & (array <= 1)).all()), "probabilities are between 0 and 1")
        for array in decided:
            require(array.dtype == np.int32 and array.shape == (n,), "a decision for each record")
            require(bool(((array >= -1) & (array < classes)).all()), "decisions are classes")
        for array in sets:
            require(array.dtype == np.bool_ and array.shape == (n, classes), "sets are made of classes")
        self.tickets = tickets.copy()
        self.proba, self.decided, self.sets = proba, decided, sets
