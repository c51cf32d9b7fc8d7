"""Test-then-train: every row is predicted before it is learned, and all rows are scored."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
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
from bayou.evaluate.record import Labels, Record, point_of
from bayou.evaluate.result import Result
from bayou.evaluate.sets import SetRecords, Sets
from bayou.evaluate.shared_encoding import SharedEncoding, shared_encodings
from bayou.protocols import Arrays
from bayou.streams.source import Source
from bayou.summaries.outcomes import scored_rows
from bayou.threads import SharedWork
from bayou.training.batches import LabelledBatch, is_source
from bayou.training.loop import declare_columns, feed

_LABELS_ONLY = (NoChange, MajorityClass)  # baselines that use no column
THREADED_ROWS = 1000  # rows of a batch that are worth a second thread
MOST_LABELS_TO_LEARN = 1 << 16  # per baseline, before it learns them


@dataclass(frozen=True)
class Progress:
    """The progress of an evaluation, which the callback gets after every block."""

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

    The models learn in place. No-change and the majority class are evaluated with them. The scores do not depend on
    `block`.

    Parameters
    ----------
    models
        A classifier, a list of them, or a mapping from names to classifiers.
    stream
        A source, or a pair (X, y).
    rows
        Stop after this many rows.
    window
        Rows in the window of the windowed metrics.
    every
        Rows between two points of the learning curve; by default chosen to give at most 400 points.
    progress
        Called after every block.
    block
        Rows that are processed at once; by default as many as are fast.

    Returns
    -------
    Evaluation
        Results by name, the two baselines among them; with one model, its scores are attributes (`found.accuracy`).

    Examples
    --------
    >>> from bayou.classifiers import NaiveBayes
    >>> from bayou.streams.generators import MixedGaussian
    >>> found = prequential(NaiveBayes(), MixedGaussian(seed=1), rows=2000)
    >>> found.accuracy > found["majority"].accuracy, found.curve.rows
    (True, (1000, 2000))
    """
    run = Prequential(models, window=window, every=every)
    run.pipelined = True
    after = None if progress is None else lambda _: progress(run.progress(stream))
    try:
        feed(run.declare_columns(stream), run.step, rows=rows, pace=block, after=after)
    finally:  # after an error, too, the models have learned the rows before it
        run.finish()
    return run.evaluation(rejected(stream))


class Prequential:
    """Test-then-train, one batch at a time: use this class instead of `prequential()` to drive the loop yourself.

    It can be saved and continued in another process. Models with equal schemas share every encoded batch.
    `on_predicted`, where it is set, is called with every batch and, by name, the probabilities that each model gave its
    rows before they were learned. If it is `pipelined`, the models may learn a batch in another thread, while the
    next one is read and encoded: get them from `models`, which waits for it, or call `finish` first. Also call `finish`
    before you take a model's lock (`model.locked()`) between two steps: the other thread may need it to learn, and
    `step`, `accuracy` and `models` would wait for that thread for ever.
    """

    def __init__(self, models: Models, *, window: int = 1000, every: int | None = None) -> None:
        self._models, self._added = with_baselines(named(models))
        self._label_index = LabelIndex()
        self._records = {name: Record(window) for name in self._models}
        self._curves = {name: CurveBuilder() for name in self._models}
        self._seconds = dict.fromkeys(self._models, 0.0)
        self._window, self._spacing = window, Spacing(every, window)
        self._start = time.perf_counter()
        self._shared_encodings: list[SharedEncoding] = []
        self.drifts = Drifts(self._models)
        self._sets = SetRecords(self._models, window)
        self.pipelined = False
        self._learning: SharedWork | None = None  # the learning of the last batch, in another thread
        self._after = 0  # the number of the row after that batch
        self._counting: SharedWork | None = None  # the counting of the rows of the last batch
        # Names of the models whose predictions follow from the labels
        self._follow_from_labels: set[str] = set()
        # Labels that baselines have yet to learn, by the names of these
        self._labels_to_learn: dict[tuple[str, ...], list[Codes]] = {}
        self.rows = 0
        self.on_predicted: Callable[[LabelledBatch, Mapping[str, Floats]], None] | None = None

    def declare_columns(self, stream: Source | tuple[Any, Any]) -> Source | tuple[Any, Any]:
        """Tell the models what a source declares about its columns."""
        if is_source(stream):
            for model in self.models.values():
                if not isinstance(model, _LABELS_ONLY):
                    declare_columns(model, stream)
        return stream

    @property
    def models(self) -> dict[str, Estimator]:
        """The models by name, with all rows learned."""
        self.finish()
        self._teach_baselines()
        return self._models

    def step(self, batch: LabelledBatch) -> None:
        """Predict and learn the rows of a batch, in order."""
        shared, *others = self._shared_encodings or self._group_models()
        clock = Clock()
        start = shared.position if self._learning is None else self._after
        block, growth = shared.encode_ahead(_rows_for(shared, batch), batch.labels, start)
        encoding = clock.lap()
        self._finish_learning()
        shared.admit(growth)
        labels = [self._labels_for_baselines(group, batch, shared, block) for group in others]
        learn = partial(self._learn, batch, block, encoding, labels)
        if self._can_pipeline(batch, labels):
            self._learning, self._after = SharedWork(learn, ()), start + block.n
        else:
            learn()

    def _can_pipeline(self, batch: LabelledBatch, labels: Sequence[Codes | None]) -> bool:
        """Whether another thread may learn this batch: nothing is left to encode, and this one holds no lock.

        An error in a row is thus raised by the `step` that was given the row, and not by a later one.
        """
        return (
            self.pipelined
            and self.on_predicted is None
            and batch.size >= THREADED_ROWS
            and all(codes is not None for codes in labels)
            and not any(model.locked().held for model in self._models.values())
        )

    def _finish_learning(self) -> None:
        learning, self._learning = self._learning, None
        if learning is not None:
            learning.finish()

    def finish(self) -> None:
        """Finish what other threads do: learning and counting the rows of the last batch."""
        try:
            self._finish_learning()
        finally:
            self._finish_counting()

    def _learn(
        self, batch: LabelledBatch, block: Block, encoding: float, labels: Sequence[Codes | None]
    ) -> None:
        """Predict and learn rows that were encoded for the first group of models in `encoding` seconds; score them.

        `labels` has for each other group the labels that it is to learn, None if it predicts the rows itself.
        """
        shared, *others = self._shared_encodings
        clock = Clock()
        proba = {}
        for name in shared.models:
            proba[name] = shared.test_then_train(name, block)
            self._seconds[name] += encoding + clock.lap()
        for group, codes_of_group in zip(others, labels, strict=True):
            if codes_of_group is not None:
                self._labels_to_learn.setdefault(tuple(group.models), []).append(codes_of_group)
            else:
                if (
                    tuple(group.models) in self._labels_to_learn
                ):  # their predictions were not needed until now
                    self._finish_counting()
                    self._teach_baselines()
                proba |= self._test_then_train(group, batch)
        plan = self._label_index.admit(c for name in proba for c in self._models[name].labels())
        if plan is not None:
            self._realign(plan)
        classes = next(iter(shared.models.values())).schema_.classes
        codes = self._label_index.translated(block.y, classes.values)
        if self.on_predicted is not None:
            self.on_predicted(batch, proba)
        self._score(batch, codes, proba)

    def _labels_for_baselines(
        self, group: SharedEncoding, batch: LabelledBatch, known: SharedEncoding, block: Block
    ) -> Codes | None:
        """The labels of a batch in the codes of baselines: those of other models where their classes are the same.

        None if the group is to predict, as its predictions do not follow from the labels or somebody wants to see them.
        """
        if self.on_predicted is not None or not self._follow_from_labels.issuperset(group.models):
            return None
        return block.y if group.same_classes(known) else self._encode(group, batch).y

    def _teach_baselines(self) -> None:
        """Let the baselines learn the labels that they have yet to learn."""
        labels_to_learn, self._labels_to_learn = self._labels_to_learn, {}
        self._teach(labels_to_learn)

    def _teach(self, labels_to_learn: Mapping[tuple[str, ...], list[Codes]]) -> None:
        for names, labels in labels_to_learn.items():
            block = scored_rows(np.concatenate(labels), None)
            for name in names:
                clock = Clock()
                self._models[name].learn(block)
                self._seconds[name] += clock.lap()

    def _score(self, batch: LabelledBatch, codes: Codes, proba: Mapping[str, Floats]) -> None:
        """Score the predictions for a batch."""
        predicted = {
            name: self._label_index.predictions(probabilities, self._models[name])
            for name, probabilities in proba.items()
            if name not in self._follow_from_labels
        }
        self._count(codes, predicted, self._sets.latest())
        self.drifts.collect(self.rows)

    def _count(
        self, y: Codes, predicted: Mapping[str, tuple[Floats, Codes]], sets: Mapping[str, Sets]
    ) -> None:
        """Score rows with their labels, the probabilities and decisions of models, and the prediction sets of some.

        The predictions of the other models follow from the labels. If there are threads, the rows are counted while
        the models go on; `_finish_counting` counts the rest.
        """
        self._finish_counting()
        size = len(y)
        row, points = self.rows, self._spacing.points(self.rows, size)
        first = next(iter(self._records.values()))
        labels: list[Labels] = []

        def count_labels() -> None:
            labels.append(first.count_labels(y, points))

        def count(name: str, record: Record) -> None:
            if name in predicted:
                metrics = record.update_predicted(labels[0], *predicted[name])
            else:
                clock = Clock()
                metrics = record.update_baseline(labels[0], isinstance(self._models[name], MajorityClass))
                self._seconds[name] += clock.lap()
            self._curves[name].extend([row + point for point in points], metrics)

        tasks = [partial(count, name, record) for name, record in self._records.items()]
        if row % MOST_LABELS_TO_LEARN + size >= MOST_LABELS_TO_LEARN:
            tasks.append(partial(self._teach, self._labels_to_learn))
            self._labels_to_learn = {}
        self.rows += size
        self._counting = SharedWork(count_labels, tasks, size >= THREADED_ROWS and not sets)
        self._sets.update(row, points, sets)

    def _finish_counting(self) -> None:
        """Finish counting the rows predicted so far, and thin out the curves if they have too many points."""
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
        self._finish_counting()
        for record in self._records.values():
            record.realign(plan)

    def _encode(self, shared: SharedEncoding, batch: LabelledBatch) -> Block:
        return shared.encode(_rows_for(shared, batch), batch.labels, learn=True)

    def _test_then_train(self, shared: SharedEncoding, batch: LabelledBatch) -> dict[str, Floats]:
        """The probabilities that the models of a group give each row before they learn it."""
        proba = {}
        clock = Clock()
        block = self._encode(shared, batch)
        encoding = clock.lap()
        for name in shared.models:
            proba[name] = shared.test_then_train(name, block)
            self._seconds[name] += encoding + clock.lap()
        return proba

    def _group_models(self) -> list[SharedEncoding]:
        """Group the models that share encoded batches: models that use columns, given baselines, added baselines."""
        using_columns: dict[str, Estimator] = {}
        given_baselines: dict[str, Estimator] = {}
        added_baselines: dict[str, Estimator] = {}
        for name, model in self._models.items():
            if not isinstance(model, _LABELS_ONLY):
                using_columns[name] = model
            elif name in self._added:
                added_baselines[name] = model
            else:
                given_baselines[name] = model
        self._shared_encodings = [
            *shared_encodings(using_columns),
            *shared_encodings(given_baselines),
            *shared_encodings(added_baselines),
        ]
        self._follow_from_labels = {name for name in self._models if self._follows_from_labels(name)}
        return self._shared_encodings

    def _follows_from_labels(self, name: str) -> bool:
        """Whether the predictions of a model follow from the labels that its record has counted."""
        return has_learned_labels(self._models[name], self._records[name], self._label_index.labels)

    def accuracy(self) -> dict[str, float]:
        """Running accuracy by name."""
        self.finish()
        return {name: record.running.accuracy for name, record in self._records.items()}

    def progress(self, stream: Any = None) -> Progress:
        """The progress of the evaluation of this stream."""
        self.finish()
        share = stream.progress() if is_source(stream) else self.rows / max(1, len(stream[1]))
        return Progress(
            self.rows,
            time.perf_counter() - self._start,
            share,
            self.accuracy(),
            rejected(stream),
        )

    def arrays(self) -> Arrays:
        """The state of the evaluation, from which, with the models, it can be continued."""
        self.finish()
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
        plan = self._label_index.admit(
            label for model in self.models.values() if model.started for label in model.labels()
        )
        if plan is not None:
            self._realign(plan)
        for i, name in enumerate(self.models):
            record_arrays = {k.removeprefix(f"{i}."): a for k, a in arrays.items() if k.startswith(f"{i}.")}
            self._curves[name].restore(points.tolist(), record_arrays.pop("curve"))
            self._records[name].restore(record_arrays)

    def evaluation(self, rejected: int = 0) -> Evaluation:
        """The results so far."""
        self.finish()
        for model in self.models.values():
            if model.started:
                tell_unknown(getattr(model, "decision", None), model.labels())
        scores = {name: record.scores() for name, record in self._records.items()}
        if self.rows:
            for name, curve in self._curves.items():
                curve.add(self.rows, point_of(scores[name]))
        results = {
            name: Result(
                name,
                repr(model),
                tuple(self._label_index.labels),
                self.rows,
                *scores[name],
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


def _rows_for(group: SharedEncoding, batch: LabelledBatch) -> Any:
    """The rows of a batch as the models of a group use them: baselines use no column."""
    uses_labels_only = isinstance(next(iter(group.models.values())), _LABELS_ONLY)
    return Table(batch.size) if uses_labels_only else batch.rows


def rejected(stream: Any) -> int:
    """Number of rows and cells that the source rejected."""
    return stream.rejects.rows + stream.rejects.cells if is_source(stream) else 0
