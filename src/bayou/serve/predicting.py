"""Predictions in micro-batches: records that wait at the same moment are scored by one kernel call."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayou.block import Floats
from bayou.errors import BayouError, NotFittedError
from bayou.schema import Label
from bayou.serve.bodies import Batch
from bayou.serve.errors import BusyError, DeadlineError
from bayou.serve.living import LivingModel
from bayou.serve.snapshot import Published

MOST_WAITING = 4_096  # records that wait to be scored
MOST_LARGE = 64  # batches that wait for a thread
SMALL = 32  # rows scored on the event loop, which is quicker than to hand them to a thread
SHOWN = 20  # names of ignored columns that are told


@dataclass(frozen=True)
class Predicted:
    """Class probabilities of rows, [n, K] in the order of `classes`, what was decided, and by which snapshot.

    `ignored` are columns of the rows that the model does not know.
    """

    published: Published
    classes: Sequence[Label]
    proba: Floats
    decided: Sequence[int]
    ignored: Sequence[str] = ()

    def row(self, i: int, ignored: Sequence[str]) -> Predicted:
        """What was predicted for one of the rows."""
        return Predicted(
            self.published, self.classes, self.proba[i : i + 1], self.decided[i : i + 1], ignored
        )


def predicted(published: Published, rows: Any) -> Predicted:
    """Score rows (records, an Arrow table, or columns by name) with a snapshot; any thread may do so."""
    model = published.model
    classes = model.labels() if model.started else []
    if not classes:
        raise NotFittedError("the model has met no class yet; learn labelled rows first")
    proba = model.proba(model.encode(rows))
    return Predicted(published, classes, proba, model.decide(proba).tolist(), unknown_columns(model, rows))


def predicted_one(published: Published, record: Any) -> Predicted:
    """Score one record: the same bits by the quicker way that models have for records."""
    model = published.model
    found = model.predict_proba_one(record) if model.started else {}
    if not found:  # nothing is learned, or every class is impossible
        return predicted(published, [record])
    proba = np.array([list(found.values())])
    return Predicted(
        published, list(found), proba, model.decide(proba).tolist(), unknown_columns(model, [record])
    )


def unknown_columns(model: Any, rows: Any) -> list[str]:
    """Names in the rows that mean nothing to a model; to a model of words, new words are ordinary."""
    if model.numbers_are_words:
        return []
    if isinstance(rows, list):
        names = dict.fromkeys(name for row in rows for name in row)
    else:
        names = dict.fromkeys(rows.column_names if hasattr(rows, "column_names") else rows)
    schema = model.schema_
    return [name for name in names if name not in schema.place and name not in schema.dates][:SHOWN]


class Predictor:
    """Scores what requests bring, from the snapshot published last; it belongs to one event loop."""

    def __init__(self, living: LivingModel, pool: ThreadPoolExecutor) -> None:
        self.living = living
        self._pool = pool
        self._waiting: list[tuple[Any, float, asyncio.Future[Predicted]]] = []
        self._large = 0

    async def predict(self, batch: Batch, deadline: float) -> Predicted:
        """What the model says about the rows, before the moment of the loop's clock that is the deadline."""
        if batch.single:
            return await self._one(batch.rows[0], deadline)
        if batch.size <= SMALL:
            return predicted(self.living.published, batch.rows)
        if self._large >= MOST_LARGE:
            raise BusyError(f"{MOST_LARGE} batches wait to be scored; try again")
        self._large += 1
        try:
            loop = asyncio.get_running_loop()
            async with asyncio.timeout_at(deadline):
                return await loop.run_in_executor(self._pool, predicted, self.living.published, batch.rows)
        except TimeoutError:
            raise DeadlineError("the deadline passed before the rows were scored") from None
        finally:
            self._large -= 1

    async def _one(self, record: Any, deadline: float) -> Predicted:
        if len(self._waiting) >= MOST_WAITING:
            raise BusyError(f"{MOST_WAITING:,} records wait to be scored; try again")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Predicted] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._drain)
        self._waiting.append((record, deadline, future))
        return await future

    def _drain(self) -> None:
        """Score all records that wait; where one of them is bad, each by itself."""
        waiting, self._waiting = self._waiting, []
        now = asyncio.get_running_loop().time()
        asked = [entry for entry in waiting if not entry[2].done()]
        for _, _, future in (late := [entry for entry in asked if entry[1] < now]):
            future.set_exception(DeadlineError("the deadline passed before the record was scored"))
        asked = [entry for entry in asked if entry not in late] if late else asked
        published = self.living.published
        if len(asked) > 1:
            try:
                found = predicted(published, [record for record, _, _ in asked])
            except BayouError:
                pass
            else:
                for i, (record, _, future) in enumerate(asked):
                    future.set_result(found.row(i, _own(found.ignored, record)))
                return
        for record, _, future in asked:
            try:
                future.set_result(predicted_one(published, record))
            except Exception as problem:  # whatever it is, the request that brought it gets it
                future.set_exception(problem)


def _own(ignored: Sequence[str], record: Any) -> list[str]:
    return [name for name in ignored if name in record]
