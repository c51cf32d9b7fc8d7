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
SHOWN = 20  # names of ignored columns that an answer lists


@dataclass(frozen=True)
class Predictions:
    """Class probabilities of rows, [n, K] in the order of `classes`, the predicted classes, and the snapshot used.

    `decided` are indices into `classes`, -1 where a decision rule abstained; `ignored` are columns of the rows that
    the model does not know.
    """

    published: Published
    classes: Sequence[Label]
    proba: Floats
    decided: Sequence[int]
    ignored: Sequence[str] = ()

    def row(self, i: int, ignored: Sequence[str]) -> Predictions:
        """The prediction of one row."""
        return Predictions(
            self.published, self.classes, self.proba[i : i + 1], self.decided[i : i + 1], ignored
        )


def predict_rows(published: Published, rows: Any) -> Predictions:
    """Score rows (records, an Arrow table, or columns by name) with a snapshot; safe in any thread."""
    model = published.model
    classes = model.labels() if model.started else []
    if not classes:
        raise NotFittedError("the model has met no class yet; learn labelled rows first")
    proba = model.proba(model.encode(rows))
    return Predictions(published, classes, proba, model.decide(proba).tolist(), unknown_columns(model, rows))


def predict_record(published: Published, record: Any) -> Predictions:
    """Score one record by `predict_proba_one`: the same bits as `predict_rows`, quicker."""
    model = published.model
    probabilities = model.predict_proba_one(record) if model.started else {}
    if not probabilities:  # nothing is learned, or every class is impossible
        return predict_rows(published, [record])
    proba = np.array([list(probabilities.values())])
    return Predictions(
        published, list(probabilities), proba, model.decide(proba).tolist(), unknown_columns(model, [record])
    )


def unknown_columns(model: Any, rows: Any) -> list[str]:
    """Names of columns in the rows that the model does not know; none for a model of words, whose words are open."""
    if model.numbers_are_words:
        return []
    if isinstance(rows, list):
        names = dict.fromkeys(name for row in rows for name in row)
    else:
        names = dict.fromkeys(rows.column_names if hasattr(rows, "column_names") else rows)
    schema = model.schema_
    return [name for name in names if name not in schema.place and name not in schema.dates][:SHOWN]


class Predictor:
    """Scores the rows of requests with the snapshot published last; belongs to one event loop."""

    def __init__(self, living: LivingModel, pool: ThreadPoolExecutor) -> None:
        self.living = living
        self._pool = pool
        self._waiting: list[tuple[Any, float, asyncio.Future[Predictions]]] = []
        self._large = 0

    async def predict(self, batch: Batch, deadline: float) -> Predictions:
        """Score the rows; raises DeadlineError past `deadline`, a moment of the event loop's clock."""
        if batch.single:
            return await self._one(batch.rows[0], deadline)
        if batch.size <= SMALL:
            return predict_rows(self.living.published, batch.rows)
        if self._large >= MOST_LARGE:
            raise BusyError(f"{MOST_LARGE} batches wait to be scored; try again")
        self._large += 1
        try:
            loop = asyncio.get_running_loop()
            async with asyncio.timeout_at(deadline):
                return await loop.run_in_executor(self._pool, predict_rows, self.living.published, batch.rows)
        except TimeoutError:
            raise DeadlineError("the deadline passed before the rows were scored") from None
        finally:
            self._large -= 1

    async def _one(self, record: Any, deadline: float) -> Predictions:
        if len(self._waiting) >= MOST_WAITING:
            raise BusyError(f"{MOST_WAITING:,} records wait to be scored; try again")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Predictions] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._drain)
        self._waiting.append((record, deadline, future))
        return await future

    def _drain(self) -> None:
        """Score all waiting records at once; if that fails, each by itself, so that only the bad ones fail."""
        waiting, self._waiting = self._waiting, []
        now = asyncio.get_running_loop().time()
        pending = [entry for entry in waiting if not entry[2].done()]
        for _, _, future in (late := [entry for entry in pending if entry[1] < now]):
            future.set_exception(DeadlineError("the deadline passed before the record was scored"))
        pending = [entry for entry in pending if entry not in late] if late else pending
        published = self.living.published
        if len(pending) > 1:
            try:
                predictions = predict_rows(published, [record for record, _, _ in pending])
            except BayouError:
                pass
            else:
                for i, (record, _, future) in enumerate(pending):
                    future.set_result(
                        predictions.row(i, [name for name in predictions.ignored if name in record])
                    )
                return
        for record, _, future in pending:
            try:
                future.set_result(predict_record(published, record))
            except Exception as problem:  # handed to the request that sent the record
                future.set_exception(problem)
