"""Hold-out evaluation: learn some rows, test on others."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any

from bayou.classifiers.estimator import Estimator
from bayou.encoding.hashed_order import hashed_order
from bayou.evaluate.clock import Clock
from bayou.evaluate.competitors import Models, named, with_baselines
from bayou.evaluate.curve import CurveBuilder
from bayou.evaluate.evaluation import Evaluation
from bayou.evaluate.label_index import LabelIndex, distinct_labels
from bayou.evaluate.record import Record
from bayou.evaluate.result import Result
from bayou.evaluate.shared_encoding import SharedEncoding, shared_encodings
from bayou.readings.metrics import Scores
from bayou.streams.source import Source
from bayou.training.batches import LabelledBatch, RowsInMemory, is_source
from bayou.training.loop import declare_columns, feed


def holdout(models: Models, train: Source | tuple[Any, Any], test: Source | tuple[Any, Any]) -> Evaluation:
    """Hold-out evaluation: learn all rows of `train`, then predict those of `test`; the models learn in place.

    Kappa-M compares with the majority class of the training rows. Both parts are read once, in blocks. If `train` is
    a pair (X, y), all its rows are in memory, and a model that `depends_on_order` learns them in a hashed order, as
    `fit` does; a source is a stream, and is learned in its own order.

    Parameters
    ----------
    models
        A classifier, a list of them, or a mapping from names to classifiers.
    train, test
        Two sources, or pairs (X, y).

    Returns
    -------
    Evaluation
        Results by name over the rows of `test`, the two baselines among them.

    Examples
    --------
    >>> from bayou.classifiers import NaiveBayes
    >>> from bayou.streams.generators import MixedGaussian
    >>> found = holdout(NaiveBayes(), MixedGaussian(seed=1, rows=3000), MixedGaussian(seed=2, rows=1000))
    >>> found.rows, sorted(found)
    (1000, ['NaiveBayes', 'majority', 'no-change'])
    """
    start = time.perf_counter()
    competitors, added = with_baselines(named(models))
    seconds = dict.fromkeys(competitors, 0.0)
    if is_source(train):
        for model in competitors.values():
            declare_columns(model, train)
    groups = (
        [(competitors, train)] if is_source(train) else by_learning_order(competitors, RowsInMemory.of(train))
    )
    learned = 0

    def learn(together: list[SharedEncoding], batch: LabelledBatch) -> None:
        nonlocal learned
        learned = batch.number + batch.size
        for shared in together:
            clock = Clock()
            block = shared.encode(batch.rows, batch.labels, learn=True)
            encoding = clock.lap()
            for name in shared.models:
                shared.learn(name, block)
                seconds[name] += encoding + clock.lap()

    for group, data in groups:
        feed(data, partial(learn, shared_encodings(group)))
    for model in competitors.values():
        model.refresh()
    records, labels, rows = track_records(competitors, test)
    scores = {name: record.running for name, record in records.items()}
    majority_hits = _majority_hits(competitors, scores)
    results = {
        name: Result(
            name,
            repr(model),
            labels,
            rows,
            replace(scores[name], majority=majority_hits, majority_peeking=majority_hits),
            None,
            None,
            CurveBuilder().curve(),
            records[name],
            name in added,
            seconds[name],
            model.memory_bytes,
            decision=getattr(model, "decision", None),
        )
        for name, model in competitors.items()
    }
    protocol = f"hold-out, {learned:,} rows learned"
    return Evaluation(protocol, results, rows, None, time.perf_counter() - start, models=competitors)


def by_learning_order(
    models: dict[str, Estimator], rows: RowsInMemory
) -> list[tuple[dict[str, Estimator], tuple[Any, Any]]]:
    """Models with the rows (X, y) that they learn: in the given order, or hashed for models that depend on it."""
    dependent = {name: model for name, model in models.items() if model.depends_on_order}
    others = {name: model for name, model in models.items() if name not in dependent}
    groups = [(others, (rows.table, rows.labels))] if others else []
    if dependent:
        hashed = rows.take(hashed_order(rows.table, rows.labels))
        groups.append((dependent, (hashed.table, hashed.labels)))
    return groups


def track_records(
    models: dict[str, Estimator], test: Source | tuple[Any, Any]
) -> tuple[dict[str, Record], tuple[Any, ...], int]:
    """Track records of fitted models on rows they do not learn, the classes, and the number of rows."""
    label_index = LabelIndex()
    records = {name: Record() for name in models}
    rows = 0
    together = shared_encodings(models)

    def predict(batch: LabelledBatch) -> None:
        nonlocal rows
        plan = label_index.admit(
            [*distinct_labels(batch.labels), *(c for model in models.values() for c in model.labels())]
        )
        codes = label_index.codes(batch.labels)
        for shared in together:
            block = shared.encode(batch.rows)
            for name, model in shared.models.items():
                if plan is not None:
                    records[name].realign(plan)
                records[name].update(label_index.scored(codes, model.proba(block), model))
        rows += batch.size

    feed(test, predict)
    return records, tuple(label_index.labels), rows


def _majority_hits(models: dict[str, Estimator], scores: dict[str, Scores]) -> float:
    """Weight of the rows whose class is the majority class of the training rows."""
    name = next(name for name, model in models.items() if type(model).__name__ == "MajorityClass")
    return float(scores[name].right.sum())
