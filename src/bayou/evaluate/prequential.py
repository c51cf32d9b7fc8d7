"""Test-then-train: every row is predicted before it is learned, and all of them count."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Codes, Floats
from bayou.checks import require, rising
from bayou.classifiers.baselines import MajorityClass, NoChange
from bayou.classifiers.estimator import Estimator
from bayou.decisions import tell_unknown
from bayou.encoding.table import Table
from bayou.evaluate.clock import Clock
from bayou.evaluate.competitors import Models, has_learned_labels, named, with_baselines
from bayou.evaluate.curve import CurveBuilder, Spacing
from bayou.evaluate.drifts import Drifts
from bayou.evaluate.evaluation import Evaluation
from bayou.evaluate.label_index import LabelIndex
from bayou.evaluate.record import Labels, Record
from bayou.evaluate.result import Result
from bayou.evaluate.sets import SetRecords, Sets
from bayou.evaluate.shared_encoding import SharedEncoding, shared_encodings
from bayou.protocols import Arrays
from bayou.streams.source import Source
from bayou.summaries.outcomes import scored_rows
from bayou.threads import SharedWork
from bayou.training.batches import LabelledBatch, is_source
from bayou.training.loop import declare_columns, feed

_BLIND = (NoChange, MajorityClass)  # they never look at a column
BESIDE = 1000  # rows of a batch that are worth a second thread
PATIENCE = 1 << 16  # rows after which baselines learn the labels that wait for them


@dataclass(frozen=True)
class Progress:
    """How far an evaluation is: handed to the callback after every block."""

    rows: int
    seconds: float
    share: float | None
    accuracy: dict[str, float]
    rejected: int


def prequential(
    models: Models,
    stream: Source | tuple[Any, Any],
    *,
    rows: int | None = None,
    window: int = 1000,
    every: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    block: int | None = None,
) -> Evaluation:
    """Prequential evaluation: predict each row, then learn it; several models in one pass over the stream.

    The models learn in place. No-change and the majority class run along. The numbers do not depend on `block`.

    Parameters
    ----------
    models
        A classifier, a list of them, or a mapping from names to classifiers.
    stream
        A source, or a pair (X, y).
    rows
        Stop after so many rows.
    window
        Rows of the windowed metrics.
    every
        Rows between two points of the learning curve; chosen to give at most 400 points if left out.
    progress
        Called after every block.
    block
        Rows that are handled at once; as many as are quick if left out.

    Returns
    -------
    Evaluation
        Results by name, the two baselines among them; with one model, its scores at once (`found.accuracy`).

    Examples
    --------
    >>> from bayou.classifiers import NaiveBayes
    >>> from bayou.streams.generators import MixedGaussian
    >>> found = prequential(NaiveBayes(), MixedGaussian(seed=1), rows=2000)
    >>> found.accuracy > found["majority"].accuracy, found.curve.rows
    (True, (1000, 2000))
    """
    run = Prequential(models, window=window, every=every)
    after = None if progress is None else lambda _: progress(run.progress(stream))
    feed(run.declare_columns(stream), run.step, rows=rows, pace=block, after=after)
    return run.evaluation(rejected(stream))


class Prequential:
    """Test-then-train, one batch at a time: use this class instead of `prequential()` to drive the loop yourself.

    It can be saved and go on in another process. Models that read rows alike (equal schemas) share every encoded batch.
    `on_predicted`, where it is set, is called with every batch and, by name, what each model said of its rows before
    they were learned.
    """

    def __init__(self, models: Models, *, window: int = 1000, every: int | None = None) -> None:
        self._models, self._added = with_baselines(named(models))
        self._book = LabelIndex()
        self._records = {name: Record(window) for name in self._models}
        self._curves = {name: CurveBuilder() for name in self._models}
        self._seconds = dict.fromkeys(self._models, 0.0)
        self._window, self._spacing = window, Spacing(every, window)
        self._start = time.perf_counter()
        self._shared_encodings: list[SharedEncoding] = []
        self.drifts = Drifts(self._models)
        self._sets = SetRecords(self._models, window)
        self._counting: SharedWork | None = None  # of the rows of the last batch
        # Models whose records need no predictions
        self._by_labels: set[str] = set()
        # Labels, by the names of the baselines that have not learned them
        self._to_learn: dict[tuple[str, ...], list[Codes]] = {}
        self.rows = 0
        self.on_predicted: Callable[[LabelledBatch, Mapping[str, Floats]], None] | None = None

    def declare_columns(self, stream: Source | tuple[Any, Any]) -> Source | tuple[Any, Any]:
        """Tell the models what a source declares about its columns."""
        if is_source(stream):
            for model in self.models.values():
                if not isinstance(model, _BLIND):
                    declare_columns(model, stream)
        return stream

    @property
    def models(self) -> dict[str, Estimator]:
        """The models by name, with all rows learned."""
        self._settle()
        self._teach_baselines()
        return self._models

    def step(self, batch: LabelledBatch) -> None:
        """Predict and learn the rows of a batch, in order."""
        shared, *others = self._shared_encodings or self._meet()
        clock = Clock()
        block = self._encode(shared, batch)
        reading = clock.lap()
        proba = {}
        for name in shared.models:
            proba[name] = shared.test_then_train(name, block)
            self._seconds[name] += reading + clock.lap()
        for group in others:
            if self.on_predicted is None and self._by_labels.issuperset(group.models):
                labels = self._labels_alone(group, batch, shared, block)
                self._to_learn.setdefault(tuple(group.models), []).append(labels)
            else:
                if tuple(group.models) in self._to_learn:  # until now, nobody wanted to see what they predict
                    self._settle()
                    self._teach_baselines()
                proba |= self._test_then_train(group, batch)
        plan = self._book.admit(c for name in proba for c in self._models[name].labels())
        if plan is not None:
            self._realign(plan)
        classes = next(iter(shared.models.values())).schema_.classes
        codes = self._book.translated(block.y, classes.values)
        if self.on_predicted is not None:
            self.on_predicted(batch, proba)
        self._score(batch, codes, proba)

    def _labels_alone(
        self, group: SharedEncoding, batch: LabelledBatch, known: SharedEncoding, block: Block
    ) -> Codes:
        """The labels of a batch as models know them that look at nothing else; those of others, where they agree."""
        return block.y if group.same_classes(known) else self._encode(group, batch).y

    def _teach_baselines(self) -> None:
        """Let the baselines learn the labels that wait for them."""
        waiting, self._to_learn = self._to_learn, {}
        self._teach(waiting)

    def _teach(self, waiting: Mapping[tuple[str, ...], list[Codes]]) -> None:
        for names, labels in waiting.items():
            block = scored_rows(np.concatenate(labels), None)
            for name in names:
                clock = Clock()
                self._models[name].learn(block)
                self._seconds[name] += clock.lap()

    def _score(self, batch: LabelledBatch, codes: Codes, proba: Mapping[str, Floats]) -> None:
        """Count how right the probabilities of a batch were."""
        blocks = {
            name: self._book.scored(codes, said, self._models[name])
            for name, said in proba.items()
            if name not in self._by_labels
        }
        self._count(codes, blocks, self._sets.latest())
        self.drifts.look(self.rows)

    def _count(self, y: Codes, blocks: Mapping[str, Block], sets: Mapping[str, Sets]) -> None:
        """Take in rows with their labels: what models said of them, and the sets of those who give any.

        What the other models said follows from the labels. Where there are threads for it, the rows are counted while
        the models go on; `_settle` counts what is left.
        """
        self._settle()
        size = len(y)
        row, points = self.rows, self._spacing.points(self.rows, size)
        first = next(iter(self._records.values()))
        labels: list[Labels] = []

        def count_labels() -> None:
            block = next(iter(blocks.values()), None) or scored_rows(y, None)
            labels.append(first.count_labels(block, points))

        def count(name: str, record: Record) -> None:
            if name in blocks:
                read = record.update(blocks[name], points, labels[0])
            else:
                clock = Clock()
                read = record.update_baseline(labels[0], isinstance(self._models[name], MajorityClass))
                self._seconds[name] += clock.lap()
            self._curves[name].extend([row + point for point in points], read)

        tasks = [partial(count, name, record) for name, record in self._records.items()]
        if row % PATIENCE + size >= PATIENCE:
            tasks.append(partial(self._teach, self._to_learn))
            self._to_learn = {}
        self.rows += size
        self._counting = SharedWork(count_labels, tasks, size >= BESIDE and not sets)
        self._sets.update(row, points, sets)

    def _settle(self) -> None:
        """Count what is left of the rows predicted so far, and make room for further points."""
        counting, self._counting = self._counting, None
        if counting is None:
            return
        counting.finish()
        while self._spacing.widen(len(next(iter(self._curves.values())).rows)):
            for curve in self._curves.values():
                curve.thin(self._spacing.every)
            self._sets.thin(self._spacing.every)

    def _realign(self, plan: Alignment) -> None:
        """Make room for new classes."""
        self._settle()
        for record in self._records.values():
            record.realign(plan)

    def _encode(self, shared: SharedEncoding, batch: LabelledBatch) -> Block:
        return shared.encode(Table(batch.size) if _is_blind(shared) else batch.rows, batch.labels, learn=True)

    def _test_then_train(self, shared: SharedEncoding, batch: LabelledBatch) -> dict[str, Floats]:
        """What the models of a group say of each row before they learn it."""
        proba = {}
        clock = Clock()
        block = self._encode(shared, batch)
        reading = clock.lap()
        for name in shared.models:
            proba[name] = shared.test_then_train(name, block)
            self._seconds[name] += reading + clock.lap()
        return proba

    def _meet(self) -> list[SharedEncoding]:
        """Who shares encoded batches with whom: models that look at columns, others, baselines that run along."""
        looking: dict[str, Estimator] = {}
        blind: dict[str, Estimator] = {}
        added: dict[str, Estimator] = {}
        for name, model in self._models.items():
            home = looking if not isinstance(model, _BLIND) else added if name in self._added else blind
            home[name] = model
        self._shared_encodings = [
            *shared_encodings(looking),
            *shared_encodings(blind),
            *shared_encodings(added),
        ]
        self._by_labels = {name for name in self._models if self._follows_from_labels(name)}
        return self._shared_encodings

    def _follows_from_labels(self, name: str) -> bool:
        """Whether what a model says of a row follows from the labels that its record has counted."""
        return has_learned_labels(self._models[name], self._records[name], self._book.labels)

    def accuracy(self) -> dict[str, float]:
        """Running accuracy by name."""
        self._settle()
        return {name: record.running.accuracy for name, record in self._records.items()}

    def progress(self, stream: Any = None) -> Progress:
        """How far the evaluation of this stream has come."""
        share = stream.progress() if is_source(stream) else self.rows / max(1, len(stream[1]))
        return Progress(
            self.rows,
            time.perf_counter() - self._start,
            share,
            self.accuracy(),
            rejected(stream),
        )

    def arrays(self) -> Arrays:
        """All that was found so far; with the models, all there is to go on from."""
        self._settle()
        curves = list(self._curves.values())
        out: dict[str, Any] = {
            "numbers": np.array([self.rows, self._window, self._spacing.every], np.int64),
            "baselines": np.array([name in self._added for name in self.models]),
            "seconds": np.array([time.perf_counter() - self._start, *self._seconds.values()]),
            "points": np.array(curves[0].rows, np.int64),
            **self.drifts.arrays(),
            **self._sets.arrays(),
        }
        for i, (curve, record) in enumerate(zip(curves, self._records.values(), strict=True)):
            out[f"{i}.curve"] = curve.array()
            out |= {f"{i}.{name}": array for name, array in record.arrays().items()}
        return out

    def restore(self, arrays: Arrays) -> None:
        """Take a state given by `arrays` that belongs to the models; refuses an impossible one."""
        numbers, flags, seconds, points = (
            arrays[name] for name in ("numbers", "baselines", "seconds", "points")
        )
        require(numbers.dtype == np.int64 and numbers.shape == (3,), "an evaluation has three numbers")
        rows, window, every = numbers.tolist()
        require(rows >= 0 and window == self._window and every >= 1, "the evaluation has another window")
        require(
            flags.dtype == np.bool_ and len(flags) == len(self.models), "every model is a baseline or not"
        )
        require(seconds.shape == (len(self.models) + 1,), "every model has its time")
        require(points.dtype == np.int64 and points.ndim == 1, "points of a curve are row numbers")
        rising("the points of a curve", points)
        self.rows, self._spacing.every = rows, every
        self._added = {name for name, added in zip(self.models, flags.tolist(), strict=True) if added}
        self._start = time.perf_counter() - float(seconds[0])
        self._seconds = dict(zip(self.models, seconds[1:].tolist(), strict=True))
        self.drifts.restore(arrays)
        self._sets.restore(arrays)
        plan = self._book.admit(
            label for model in self.models.values() if model.started for label in model.labels()
        )
        if plan is not None:
            self._realign(plan)
        for i, name in enumerate(self.models):
            own = {k.removeprefix(f"{i}."): a for k, a in arrays.items() if k.startswith(f"{i}.")}
            self._curves[name].restore(points.tolist(), own.pop("curve"))
            self._records[name].restore(own)

    def evaluation(self, rejected: int = 0) -> Evaluation:
        """What was found so far."""
        self._settle()
        for model in self.models.values():
            if model.started:
                tell_unknown(getattr(model, "decision", None), model.labels())
        if self.rows:
            for name, record in self._records.items():
                self._curves[name].add(self.rows, record.point())
        results = {
            name: Result(
                name,
                repr(model),
                tuple(self._book.labels),
                self.rows,
                self._records[name].running,
                self._records[name].windowed,
                self._records[name].fading,
                self._curves[name].curve(),
                self._records[name].copy(),
                name in self._added,
                self._seconds[name],
                model.memory_bytes,
                tuple(self.drifts.rows.get(name, ())),
                self._sets.scores(name, self.rows),
                getattr(model, "decision", None),
            )
            for name, model in self.models.items()
        }
        seconds = time.perf_counter() - self._start
        return Evaluation("prequential", results, self.rows, self._window, seconds, rejected, self.models)


def _is_blind(group: SharedEncoding) -> bool:
    return isinstance(next(iter(group.models.values())), _BLIND)


def rejected(stream: Any) -> int:
    """Rows and cells the source did not accept."""
    return stream.rejects.rows + stream.rejects.cells if is_source(stream) else 0
