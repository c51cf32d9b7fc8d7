"""Learn on some rows, test on others."""

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
from bayou.evaluate.label_index import LabelIndex, met
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
    a pair (X, y), all its rows are in hand, and a model that `depends_on_order` learns them in a hashed order, as
    `fit` does; a source is a stream, and is learned as it comes.

    Parameters
    ----------
    models
        A classifier, a list of them, or a mapping from names to classifiers.
    train, test
        A source each, or a pair (X, y).

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
        [(competitors, train)] if is_source(train) else in_their_order(competitors, RowsInMemory.of(train))
    )
    learned = 0

    def learn(together: list[SharedEncoding], batch: LabelledBatch) -> None:
        nonlocal learned
        learned = batch.number + batch.size
        for shared in together:
            clock = Clock()
            block = shared.encode(batch.rows, batch.labels, learn=True)
            reading = clock.lap()
            for name in shared.models:
                shared.learn(name, block)
                seconds[name] += reading + clock.lap()

    for group, data in groups:
        feed(data, partial(learn, shared_encodings(group)))
    for model in competitors.values():
        model.refresh()
    records, labels, rows = tested(competitors, test)
    scores = {name: record.running for name, record in records.items()}
    rival = _rival(competitors, scores)
    results = {
        name: Result(
            name,
            repr(model),
            labels,
            rows,
            replace(scores[name], majority=rival, majority_peeking=rival),
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


def in_their_order(
    models: dict[str, Estimator], rows: RowsInMemory
) -> list[tuple[dict[str, Estimator], tuple[Any, Any]]]:
    """Models with the rows they learn, (X, y): as they stand, or in a hashed order for models that depend on it."""
    ordered = {name: model for name, model in models.items() if model.depends_on_order}
    others = {name: model for name, model in models.items() if name not in ordered}
    groups = [(others, (rows.table, rows.labels))] if others else []
    if ordered:
        hashed = rows.take(hashed_order(rows.table, rows.labels))
        groups.append((ordered, (hashed.table, hashed.labels)))
    return groups


def tested(
    models: dict[str, Estimator], test: Source | tuple[Any, Any]
) -> tuple[dict[str, Record], tuple[Any, ...], int]:
    """Track records of fitted models on rows they do not learn, the classes, and the number of rows."""
    book = LabelIndex()
    records = {name: Record() for name in models}
    rows = 0
    together = shared_encodings(models)

    def predict(batch: LabelledBatch) -> None:
        nonlocal rows
        plan = book.admit([*met(batch.labels), *(c for model in models.values() for c in model.labels())])
        codes_of = book.codes(batch.labels)
        for shared in together:
            block = shared.encode(batch.rows)
            for name, model in shared.models.items():
                if plan is not None:
                    records[name].realign(plan)
                records[name].update(book.scored(codes_of, model.proba(block), model))
        rows += batch.size

    feed(test, predict)
    return records, tuple(book.labels), rows


def _rival(models: dict[str, Estimator], scores: dict[str, Scores]) -> float:
    """Weight of the rows the majority class of the training rows gets right."""
    name = next(name for name, model in models.items() if type(model).__name__ == "MajorityClass")
    return float(scores[name].right.sum())
